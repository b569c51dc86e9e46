//! Authorities: the host and port of a target or of the Host field.

use std::net::Ipv6Addr;

use super::TargetError;

/// Host and port of a target or of the Host field (RFC 9110 §7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Authority<'a> {
    host: &'a [u8],
    port: Option<u16>,
}

impl<'a> Authority<'a> {
    /// Parses `host`, `host:port` or `[address]:port`, as in Host. The host may be empty if the
    /// target has no authority (RFC 9112 §3.2), and so may the port (RFC 3986 §3.2.3).
    ///
    /// Stricter than the grammar in two places: a port is at most 65535, and a port alone (`:80`)
    /// is refused, since an http authority with an empty host is invalid (RFC 9110 §4.2.1).
    #[inline]
    pub fn parse(raw: &'a [u8]) -> Result<Self, TargetError> {
        Self::parse_common(raw).map_or_else(|| Self::parse_any(raw), Ok)
    }

    /// Parses the form that nearly every request has: a name or an IPv4 address of at least eight
    /// bytes, with or without a port of at most five digits. `None` for other forms.
    #[inline]
    fn parse_common(raw: &'a [u8]) -> Option<Self> {
        let (mut port, mut power, mut at) = (0, 1, raw.len());
        while at > 0 && power < 100_000 && raw[at - 1].is_ascii_digit() {
            at -= 1;
            port += u32::from(raw[at] - b'0') * power;
            power *= 10;
        }
        let (host, port) = match &raw[..at] {
            [host @ .., b':'] if at < raw.len() => (host, Some(u16::try_from(port).ok()?)),
            _ => (raw, None),
        };
        is_common_name(host).then_some(Self { host, port })
    }

    #[inline(never)]
    fn parse_any(raw: &'a [u8]) -> Result<Self, TargetError> {
        let (host, port) = match raw {
            [b'[', ..] => match memchr::memchr(b']', raw) {
                Some(end) if is_ip_literal(&raw[1..end]) => raw.split_at(end + 1),
                _ => return Err(TargetError::Authority),
            },
            _ => raw.split_at(registered_name_bytes(raw)),
        };
        let port = match port {
            [] | [b':'] => None,
            [b':', digits @ ..] => Some(parse_port(digits).ok_or(TargetError::Authority)?),
            _ => return Err(TargetError::Authority),
        };
        if host.is_empty() && !raw.is_empty() {
            return Err(TargetError::Authority);
        }
        Ok(Self { host, port })
    }

    /// Returns the host as written, including the brackets of an address; compare it
    /// case-insensitively.
    pub fn host(self) -> &'a [u8] {
        self.host
    }

    /// Returns the port, if there is one.
    pub fn port(self) -> Option<u16> {
        self.port
    }
}

fn parse_port(digits: &[u8]) -> Option<u16> {
    digits.iter().try_fold(0_u16, |number, byte| match byte {
        b'0'..=b'9' => number.checked_mul(10)?.checked_add(u16::from(byte - b'0')),
        _ => None,
    })
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
        at += rest.iter().position(|&byte| !is_name_byte(byte)).unwrap_or(rest.len());
        match &value[at..] {
            [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => at += 3,
            _ => return at,
        }
    }
}

/// Returns whether a name has at least eight bytes and only letters, digits, `-` and `.`. Compares
/// eight bytes at a time.
#[inline]
fn is_common_name(name: &[u8]) -> bool {
    const fn all(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }
    /// The high bit of each byte that is in the range, for bytes below 128.
    const fn in_range(word: u64, first: u8, last: u8) -> u64 {
        (word + all(128 - first)) & !(word + all(127 - last))
    }
    let is_common = |word: &[u8; 8]| {
        let word = u64::from_ne_bytes(*word);
        let ascii = word & all(127);
        let letters = in_range(ascii | all(b'a' - b'A'), b'a', b'z');
        let others = in_range(ascii, b'-', b'.') | in_range(ascii, b'0', b'9');
        (letters | others) & !word & all(128) == all(128)
    };
    let (words, _) = name.as_chunks::<8>();
    // The last eight bytes overlap the word before.
    name.last_chunk().is_some_and(is_common) && words.iter().all(is_common)
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

    use super::Authority;

    fn is_valid(value: &[u8]) -> bool {
        Authority::parse(value).is_ok()
    }

    fn check(value: &str, expected: bool) {
        assert_eq!(is_valid(value.as_bytes()), expected, "{value:?}");
    }

    #[test]
    fn rejects_invalid_authorities() {
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
    fn accepts_names_and_addresses_with_and_without_port() {
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
        let (name, port) =
            value.split_once(':').map_or((value, None), |(name, port)| (name, Some(port)));
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

        #[test]
        fn the_common_form_is_read_as_any_other(
            value in "[a-zA-Z0-9._/-]{0,24}(:[0-9]{0,7})?|[ -~\u{e9}]{6,20}"
        ) {
            let value = value.as_bytes();
            prop_assert_eq!(Authority::parse(value), Authority::parse_any(value), "{:?}", value);
        }
    }
}
