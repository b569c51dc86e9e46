//! `${NAME}` in texts: the value of an environment variable. `${NAME:-text}` has a fallback for a
//! variable that is not set or empty, `$${` stands for `${` itself, and a `$` before anything else
//! is literal.

use std::borrow::Cow;
use std::ops::Range;

/// Why a text cannot be expanded, and which bytes of it are the cause.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unexpanded {
    pub(crate) range: Range<usize>,
    pub(crate) fault: Fault,
}

/// What is wrong with a reference to a variable.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No environment variable has this name.
    NotSet(String),
    /// The closing `}` is missing.
    Open,
    /// The text in the braces is not a valid name.
    NoName(String),
}

/// Replaces variables by their values, or returns all errors in the text.
pub(crate) fn expand<'t>(
    text: &'t str,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<Cow<'t, str>, Vec<Unexpanded>> {
    if !text.contains("${") {
        return Ok(Cow::Borrowed(text));
    }
    let mut expanded = String::with_capacity(text.len());
    let mut faults = Vec::new();
    let mut at = 0;
    while let Some(begin) = text[at..].find("${").map(|offset| at + offset) {
        if text[at..begin].ends_with('$') {
            expanded.push_str(&text[at..begin - 1]);
            expanded.push_str("${");
            at = begin + 2;
            continue;
        }
        expanded.push_str(&text[at..begin]);
        let Some(end) = text[begin..].find('}').map(|offset| begin + offset) else {
            faults.push(Unexpanded { range: begin..text.len(), fault: Fault::Open });
            return Err(faults);
        };
        match variable(&text[begin + 2..end], lookup) {
            Ok(value) => expanded.push_str(&value),
            Err(fault) => faults.push(Unexpanded { range: begin..end + 1, fault }),
        }
        at = end + 1;
    }
    expanded.push_str(&text[at..]);
    if faults.is_empty() { Ok(Cow::Owned(expanded)) } else { Err(faults) }
}

/// Returns the value for the text between the braces.
fn variable(inner: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<String, Fault> {
    let (name, fallback) = match inner.split_once(":-") {
        Some((name, fallback)) => (name, Some(fallback)),
        None => (inner, None),
    };
    if !is_name(name) {
        return Err(Fault::NoName(name.to_owned()));
    }
    lookup(name)
        .filter(|value| fallback.is_none() || !value.is_empty())
        .or_else(|| fallback.map(str::to_owned))
        .ok_or_else(|| Fault::NotSet(name.to_owned()))
}

fn is_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && !name.as_bytes()[0].is_ascii_digit() && name.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(name: &str) -> Option<String> {
        match name {
            "HOST" => Some("example.org".to_owned()),
            "EMPTY" => Some(String::new()),
            "TRICK" => Some("${HOST}".to_owned()),
            _ => None,
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(expand(text, &lookup).unwrap(), expected, "{text}");
    }

    #[track_caller]
    fn check_refused(text: &str, expected: &[(&str, Fault)]) {
        let faults = expand(text, &lookup).unwrap_err();
        let faults: Vec<_> = faults.into_iter().map(|one| (&text[one.range], one.fault)).collect();
        assert_eq!(faults, expected, "{text}");
    }

    #[test]
    fn names_every_variable_that_is_not_set() {
        check_refused(
            "a ${ONE} ${HOST} ${TWO}",
            &[("${ONE}", Fault::NotSet("ONE".into())), ("${TWO}", Fault::NotSet("TWO".into()))],
        );
    }

    #[test]
    fn refuses_what_is_no_name() {
        check_refused("${}", &[("${}", Fault::NoName(String::new()))]);
        check_refused("${1A}", &[("${1A}", Fault::NoName("1A".into()))]);
        check_refused("${A B}", &[("${A B}", Fault::NoName("A B".into()))]);
        check_refused("x${HOST", &[("${HOST", Fault::Open)]);
    }

    #[test]
    fn puts_values_in_once() {
        check("http://${HOST}/", "http://example.org/");
        check("${HOST}${HOST}", "example.orgexample.org");
        check("a${EMPTY}b", "ab");
        check("${TRICK}", "${HOST}");
    }

    #[test]
    fn falls_back_where_there_is_a_fallback() {
        check("${NONE:-8080}", "8080");
        check("${NONE:-}", "");
        check("${EMPTY:-8080}", "8080");
        check("${HOST:-none}", "example.org");
    }

    #[test]
    fn a_dollar_is_a_dollar() {
        check("^/x$", "^/x$");
        check("$HOST $ {HOST}", "$HOST $ {HOST}");
        check("$${HOST} $$", "${HOST} $$");
    }
}
