//! Headers and cookies of the request in templates, decoded when they are used.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Enumerator, Object};
use percent_encoding::percent_decode_str;

/// Field lines, copied for one rendering into memory that the next one uses again.
#[derive(Debug, Default, Clone)]
pub(crate) struct Lines {
    text: String,
    /// Where name and value of each line end in `text`.
    ends: Vec<(usize, usize)>,
}

impl Lines {
    /// Takes other lines. Bytes that are not UTF-8 show as U+FFFD.
    pub(crate) fn refill<'a>(&mut self, lines: impl Iterator<Item = (&'a str, &'a [u8])>) {
        self.text.clear();
        self.ends.clear();
        for (name, value) in lines {
            self.text.push_str(name);
            let name_end = self.text.len();
            self.text.push_str(&String::from_utf8_lossy(value));
            self.ends.push((name_end, self.text.len()));
        }
    }

    fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut begin = 0;
        self.ends.iter().map(move |&(name_end, end)| {
            let line = (&self.text[begin..name_end], &self.text[name_end..end]);
            begin = end;
            line
        })
    }

    fn named<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a str> + use<'a, 'n> {
        let of_name = self.iter().filter(move |(own, _)| is_same(own, name));
        of_name.map(|(_, value)| value)
    }
}

/// The fields of the request, by name, whatever the case. Lines of one name are joined by commas
/// (RFC 9110 §5.3).
#[derive(Debug, Default, Clone)]
pub(crate) struct FieldsSeen(pub(crate) Lines);

/// The cookies of the request (RFC 6265 §5.4). Of several with one name the first counts: it is of
/// the longest path.
#[derive(Debug, Default, Clone)]
pub(crate) struct CookiesSeen(pub(crate) Lines);

impl FieldsSeen {
    fn value(&self, name: &str) -> Option<Cow<'_, str>> {
        let mut values = self.0.named(name);
        let first = values.next()?;
        let Some(second) = values.next() else {
            return Some(Cow::Borrowed(first));
        };
        let comma = if is_same("cookie", name) { "; " } else { ", " };
        let all: Vec<_> = [first, second].into_iter().chain(values).collect();
        Some(Cow::Owned(all.join(comma)))
    }
}

impl Object for FieldsSeen {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        self.value(key).map(Value::from)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let mut seen = BTreeSet::new();
        let names = self.0.iter().map(|(name, _)| name.to_ascii_lowercase());
        let once = names.filter(|name| seen.insert(name.clone()));
        Enumerator::Values(once.map(Value::from).collect())
    }
}

impl CookiesSeen {
    fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.0.iter().flat_map(|(_, value)| value.split(';'));
        pairs.filter_map(|pair| {
            let (name, value) = pair.split_once('=')?;
            Some((name.trim(), unquoted(value.trim())))
        })
    }

    fn value(&self, name: &str) -> Option<Cow<'_, str>> {
        let (_, value) = self.pairs().find(|(own, _)| *own == name)?;
        Some(percent_decode_str(value).decode_utf8_lossy())
    }
}

impl Object for CookiesSeen {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        self.value(key).map(Value::from)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let mut seen = BTreeSet::new();
        let names = self.pairs().map(|(name, _)| name);
        Enumerator::Values(names.filter(|name| seen.insert(*name)).map(Value::from).collect())
    }
}

/// Whether a field has this name. A template that writes `fields.user_agent` means `User-Agent`.
fn is_same(own: &str, asked: &str) -> bool {
    let fold = |byte: u8| match byte {
        b'_' => b'-',
        other => other.to_ascii_lowercase(),
    };
    own.len() == asked.len() && own.bytes().map(fold).eq(asked.bytes().map(fold))
}

fn unquoted(value: &str) -> &str {
    let inner = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(of: &[(&str, &str)]) -> Lines {
        let mut lines = Lines::default();
        lines.refill(of.iter().map(|(name, value)| (*name, value.as_bytes())));
        lines
    }

    fn check_field(of: &[(&str, &str)], name: &str, expected: Option<&str>) {
        assert_eq!(FieldsSeen(lines(of)).value(name).as_deref(), expected);
    }

    fn check_cookie(value: &str, name: &str, expected: Option<&str>) {
        let cookies = CookiesSeen(lines(&[("Cookie", value)]));
        assert_eq!(cookies.value(name).as_deref(), expected, "{value}");
    }

    #[test]
    fn fields_are_found_in_any_spelling() {
        let of = [("User-Agent", "x"), ("Accept", "a"), ("accept", "b"), ("Accept", "c")];
        check_field(&of, "host", None);
        check_field(&of, "user-agent", Some("x"));
        check_field(&of, "USER-AGENT", Some("x"));
        check_field(&of, "user_agent", Some("x"));
        check_field(&of, "accept", Some("a, b, c"));
        check_field(&[("Cookie", "a=1"), ("Cookie", "b=2")], "cookie", Some("a=1; b=2"));
    }

    #[test]
    fn cookies_are_taken_apart() {
        check_cookie("", "a", None);
        check_cookie("a", "a", None);
        check_cookie("A=1", "a", None);
        check_cookie("a=1; b=2", "b", Some("2"));
        check_cookie("a=1;b=2 ;", "b", Some("2"));
        check_cookie("a=1; a=2", "a", Some("1"));
        check_cookie("a=\"x y\"", "a", Some("x y"));
        check_cookie("a=b=c", "a", Some("b=c"));
        check_cookie("a=%3B%C3%BC+", "a", Some(";ü+"));
        check_cookie("a=", "a", Some(""));
    }
}
