//! The Host field (RFC 9110 §7.2, RFC 9112 §3.2).

use std::net::Ipv6Addr;

/// Whether `value` is a host with an optional port, or empty, which a request for a target without
/// authority sends.
///
/// Stricter than the grammar in two places: a port is at most 65535, and a port alone (`:80`) is
/// refused, since an http authority with an empty host is invalid (RFC 9110 §4.2.1).
pub(super) fn is_valid(value: &[u8]) -> bool {
    let (host, port) = match value {
        [] => return true,
        [b'[', ..] => match memchr::memchr(b']', value) {
            Some(end) if is_ip_literal(&value[1..end]) => value.split_at(end + 1),
            _ => return false,
        },
        _ => value.split_at(registered_name_bytes(value)),
    };
    !host.is_empty() && is_port(port)
}

/// An optional colon and digits; digits may be missing (RFC 3986 §3.2.3).
fn is_port(port: &[u8]) -> bool {
    let digits = match port {
        [] => return true,
        [b':', digits @ ..] => digits,
        _ => return false,
    };
    let mut number = 0;
    for byte in digits {
        let digit = u32::from(byte.wrapping_sub(b'0'));
        number = number * 10 + digit;
        if digit > 9 || number > u32::from(u16::MAX) {
            return false;
        }
    }
    true
}

fn is_ip_literal(literal: &[u8]) -> bool {
    std::str::from_utf8(literal).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok())
}

/// How many bytes at the start are a `reg-name` of RFC 3986 §3.2.2, of which an IPv4 address is a
/// case.
fn registered_name_bytes(value: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let rest = &value[at..];
        at += rest
            .iter()
            .position(|&byte| !is_name_byte(byte))
            .unwrap_or(rest.len());
        match &value[at..] {
            [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => at += 3,
            _ => return at,
        }
    }
}

/// `unreserved` and `sub-delims` of RFC 3986 §2. Compared, not looked up in a table, whose lines of
/// memory nothing else would touch.
const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'-' | b'.' | b'_' | b'~' | b'!' | b'$' | b'&' | b'\'' | b'('..=b',' | b';' | b'='
        )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::is_valid;

    fn check(value: &str, expected: bool) {
        assert_eq!(is_valid(value.as_bytes()), expected, "{value:?}");
    }

    #[test]
    fn refuses_what_is_no_authority() {
        let refused = [
            ":80",
            "a b",
            "a/b",
            "a@b",
            "a?b",
            "a#b",
            "a\\b",
            "a:b",
            "a:80:80",
            "a:-1",
            "a:+1",
            "a: 80",
            "a:65536",
            "a:080808",
            "[::1",
            "::1",
            "[::1]x",
            "[::1]80",
            "[::1]:x",
            "[]",
            "[1]",
            "[fe80::1%25eth0]",
            "[v1.x]",
            "a%",
            "a%2",
            "a%zz",
            "\u{e9}",
            "a\tb",
            "[[::1]]",
        ];
        for value in refused {
            check(value, false);
        }
    }

    #[test]
    fn takes_names_and_addresses_with_and_without_port() {
        for value in [
            "",
            "a",
            "example.org",
            "example.org:",
            "example.org:0",
            "a:65535",
            "a:00080",
            "127.0.0.1:8080",
            "[::1]",
            "[::1]:80",
            "a_b",
            "x%2Dy",
            "a,b",
        ] {
            check(value, true);
        }
    }

    /// The grammar from left to right, a byte at a time.
    fn is_authority(value: &str) -> bool {
        let (name, port) = value
            .split_once(':')
            .map_or((value, None), |(name, port)| (name, Some(port)));
        let is_name_byte =
            |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte);
        let mut rest = name.as_bytes();
        while let [first, after @ ..] = rest {
            rest = match (first, after) {
                (b'%', [high, low, after @ ..])
                    if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
                {
                    after
                }
                (&byte, _) if is_name_byte(byte) => after,
                _ => return false,
            };
        }
        let digits = port.unwrap_or_default();
        let number = digits.trim_start_matches('0');
        let is_port = digits.bytes().all(|byte| byte.is_ascii_digit())
            && (number.is_empty() || number.parse::<u16>().is_ok());
        is_port && (!name.is_empty() || value.is_empty())
    }

    proptest! {
        #[test]
        fn reads_names_and_ports_as_the_grammar_does(value in "[a-z.%0-9:@ \u{e9}]{0,12}|[a-z%A]{0,4}:[0-9]{0,7}") {
            prop_assert_eq!(is_valid(value.as_bytes()), is_authority(&value), "{:?}", value);
        }
    }
}
