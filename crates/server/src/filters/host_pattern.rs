//! A host, or all subdomains of one: `example.org`, `*.example.org`, as in `hosts` of a site.

use std::fmt;

use vervet_config::{FromText, TextShape};

use crate::matching::HostPattern as HostName;

/// A host by name or address, or all below a name. Compared without regard to case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern(HostName);

impl HostPattern {
    /// Whether a host, without port, is meant.
    pub fn matches(&self, host: &[u8]) -> bool {
        match &self.0 {
            HostName::Any => true,
            HostName::Exact(name) => host.eq_ignore_ascii_case(name.as_bytes()),
            HostName::Below(name) => {
                let begin = host.len().checked_sub(name.len());
                let parts = begin.and_then(|begin| host.split_at_checked(begin));
                parts.is_some_and(|(before, end)| {
                    matches!(before, [_, .., b'.']) && end.eq_ignore_ascii_case(name.as_bytes())
                })
            }
            HostName::Address(address) => {
                let text = str::from_utf8(host).unwrap_or_default();
                let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
                text.is_some_and(|text| text.parse() == Ok(*address))
            }
        }
    }
}

impl FromText for HostPattern {
    const SHAPE: TextShape = TextShape { noun: "host", example: "*.example.org", pattern: None };

    fn from_text(text: &str) -> Result<Self, String> {
        match HostName::parse(text) {
            Ok(HostName::Any) => Err("`*` alone is not allowed here".to_owned()),
            Ok(name) => Ok(Self(name)),
            Err(_) if text.contains("://") => {
                Err("expected a hostname without scheme and path".to_owned())
            }
            Err(_) if text.contains(':') => Err("expected a hostname without port".to_owned()),
            Err(_) => Err("invalid hostname".to_owned()),
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
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
            assert_eq!(pattern.matches(host.as_bytes()), expected, "{host} by {pattern}");
        };
        check("a.example", "b.example", false);
        check("a.example", "a.example.", false);
        check("*.example", "example", false);
        check("*.example", ".example", false);
        check("*.example", "aexample", false);
        check("A.Example", "a.eXample", true);
        check("*.Example", "a.b.EXAMPLE", true);
        check("[::1]", "[::1]", true);
        check("[::1]", "[0:0::1]", true);
        check("[::1]", "::1", false);
        check("a.example.", "a.example", true);
    }
}
