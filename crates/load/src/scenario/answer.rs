//! The response for assertions and captures: its headers one by one, its JSON parsed once.

use std::cell::OnceCell;

use serde_json::Value;

use crate::script::Answer;

/// The response that assertions and captures read.
#[derive(Debug)]
pub(super) struct AnswerView<'a> {
    pub(super) answer: &'a Answer<'a>,
    json: OnceCell<Option<Value>>,
}

impl<'a> AnswerView<'a> {
    pub(super) fn new(answer: &'a Answer<'a>) -> Self {
        Self { answer, json: OnceCell::new() }
    }

    /// The value of the first field of this name.
    pub(super) fn field(&self, name: &str) -> Option<&'a [u8]> {
        fields(self.answer.fields)
            .find(|(known, _)| known.eq_ignore_ascii_case(name.as_bytes()))
            .map(|(_, value)| value)
    }

    /// What a JSON pointer (RFC 6901) names in the content.
    pub(super) fn json(&self, pointer: &str) -> Option<&Value> {
        let read = || serde_json::from_slice(self.answer.content).ok();
        self.json.get_or_init(read).as_ref()?.pointer(pointer)
    }
}

/// Names and values of field lines.
pub(super) fn fields(lines: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    lines.split(|&byte| byte == b'\n').filter_map(|line| {
        let colon = memchr::memchr(b':', line)?;
        Some((&line[..colon], line[colon + 1..].trim_ascii()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_whatever_their_case() {
        let answer = Answer {
            status: 200,
            fields: b"A: 1\r\nSet-Cookie:  a=b \r\nset-cookie: c\r\nodd\r\n",
            content: br#"{"a": [1, {"b/c": "x"}]}"#,
            content_bytes: 0,
        };
        let view = AnswerView::new(&answer);
        assert_eq!(view.field("SET-COOKIE"), Some(&b"a=b"[..]));
        assert_eq!(view.field("odd"), None);
        assert_eq!(fields(answer.fields).count(), 3);
        assert_eq!(view.json("/a/1/b~1c"), Some(&Value::from("x")));
        assert_eq!(view.json("/b"), None);
    }
}
