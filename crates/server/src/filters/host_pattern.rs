//! A host, or all hosts below one: `example.org`, `*.example.org`.

use std::fmt;

use vervet_config::{FromText, TextShape};

/// A host by name, or all below a name. Compared without regard to case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern(String);

impl HostPattern {
    /// Whether a host, without port, is meant.
    pub fn matches(&self, host: &[u8]) -> bool {
        let pattern = self.0.as_bytes();
        let Some(end) = pattern.strip_prefix(b"*") else {
            return host.eq_ignore_ascii_case(pattern);
        };
        // The end begins with the dot, so something stands before it where the host is longer.
        let begin = host.len().checked_sub(end.len()).filter(|begin| *begin > 0);
        begin.is_some_and(|begin| host[begin..].eq_ignore_ascii_case(end))
    }
}

impl FromText for HostPattern {
    const SHAPE: TextShape = TextShape {
        noun: "host",
        example: "*.example.org",
        pattern: None,
    };

    fn from_text(text: &str) -> Result<Self, String> {
        let name = text.strip_prefix("*.").unwrap_or(text);
        let is_label = |label: &str| {
            !label.is_empty()
                && label
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        let is_literal = name.starts_with('[') && name.ends_with(']') && name.len() == text.len();
        if is_literal || name.split('.').all(is_label) {
            return Ok(Self(text.to_ascii_lowercase()));
        }
        Err(match text {
            _ if text.contains("://") => "it is a host alone, without scheme and path".to_owned(),
            _ if text.contains(':') => "the port does not count".to_owned(),
            _ => "it is no name of a host".to_owned(),
        })
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_host_is_refused() {
        for text in [
            "",
            "*",
            "*.",
            "*example.org",
            "a.*.b",
            "a..b",
            ".a",
            "a.",
            "a b",
            "https://a",
            "a:80",
            "a/b",
            "*.[::1]",
        ] {
            assert!(HostPattern::from_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn hosts_match_without_regard_to_case() {
        let check = |pattern: &str, host: &str, expected: bool| {
            let pattern = HostPattern::from_text(pattern).unwrap();
            assert_eq!(
                pattern.matches(host.as_bytes()),
                expected,
                "{host} by {pattern}"
            );
        };
        check("a.example", "b.example", false);
        check("a.example", "a.example.", false);
        check("*.example", "example", false);
        check("*.example", ".example", false);
        check("*.example", "aexample", false);
        check("A.Example", "a.eXample", true);
        check("*.Example", "a.b.EXAMPLE", true);
        check("[::1]", "[::1]", true);
    }
}
