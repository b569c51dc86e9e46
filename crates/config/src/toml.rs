//! Names and texts as TOML writes them.

use std::fmt::Write as _;

/// A name, in quotes where it needs them.
pub fn key(name: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !name.is_empty() && name.bytes().all(is_bare) {
        name.to_owned()
    } else {
        string(name)
    }
}

/// A text in double quotes on one line, as TOML reads it.
pub fn string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            other if other.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\u{:04X}", u32::from(other));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, as_key: &str, as_string: &str) {
        assert_eq!((&*key(text), &*string(text)), (as_key, as_string));
    }

    #[test]
    fn quotes_what_needs_it() {
        check("", "\"\"", "\"\"");
        check("a b", "\"a b\"", "\"a b\"");
        check("a.b", "\"a.b\"", "\"a.b\"");
        check(
            "\"\\\n\u{1}\u{85}",
            "\"\\\"\\\\\\n\\u0001\\u0085\"",
            "\"\\\"\\\\\\n\\u0001\\u0085\"",
        );
        check("ü", "\"ü\"", "\"ü\"");
        check("a_b-9", "a_b-9", "\"a_b-9\"");
    }
}
