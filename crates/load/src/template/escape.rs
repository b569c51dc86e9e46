//! Escaping of values for their context.

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escape {
    /// As it is.
    None,
    /// Percent-encoded but for what RFC 3986 §2.3 leaves alone: one piece of a path or a query.
    Component,
    /// Percent-encoded only where a request target cannot hold the byte.
    Target,
    /// Control bytes percent-encoded: they would end the field line.
    Field,
    /// As the inside of a JSON string.
    Json,
}

impl Escape {
    /// Appends `value`.
    pub(super) fn push(self, out: &mut Vec<u8>, value: &[u8]) {
        match self {
            Self::None => out.extend_from_slice(value),
            Self::Component => push_encoded(out, value, |byte| {
                byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
            }),
            Self::Target => {
                push_encoded(out, value, |byte| byte.is_ascii_graphic() && byte != b'#');
            }
            Self::Field => push_encoded(out, value, vervet_http::field::is_value_byte),
            Self::Json => push_json(out, value),
        }
    }
}

fn push_encoded(out: &mut Vec<u8>, value: &[u8], stays: impl Fn(u8) -> bool) {
    for &byte in value {
        if stays(byte) {
            out.push(byte);
        } else {
            out.extend_from_slice(&[b'%', hex(byte >> 4), hex(byte & 15)]);
        }
    }
}

/// RFC 8259 §7: the quote, the backslash and controls must be escaped; all else may stay.
fn push_json(out: &mut Vec<u8>, value: &[u8]) {
    for &byte in value {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => {
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&[hex(byte >> 4), hex(byte & 15)]);
            }
            _ => out.push(byte),
        }
    }
}

/// The hexadecimal digit of a number below 16.
pub(super) fn hex(digit: u8) -> u8 {
    match digit {
        0..10 => b'0' + digit,
        _ => b'A' + digit - 10,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn escaped(escape: Escape, value: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        escape.push(&mut out, value);
        out
    }

    #[test]
    fn values_stay_one_value() {
        let check = |escape: Escape, expected: &str| {
            let value = b"a b/\"?&\\\r\n#\x01\xc3\xa4";
            assert_eq!(escaped(escape, value), expected.as_bytes(), "{escape:?}");
        };
        check(Escape::None, "a b/\"?&\\\r\n#\x01ä");
        check(Escape::Component, "a%20b%2F%22%3F%26%5C%0D%0A%23%01%C3%A4");
        check(Escape::Target, "a%20b/\"?&\\%0D%0A%23%01%C3%A4");
        check(Escape::Field, "a b/\"?&\\%0D%0A#%01ä");
        check(Escape::Json, "a b/\\\"?&\\\\\\r\\n#\\u0001ä");
    }

    proptest! {
        #[test]
        fn no_value_ends_its_line(value in prop::collection::vec(any::<u8>(), 0..64)) {
            for escape in [Escape::Component, Escape::Target, Escape::Field] {
                let out = escaped(escape, &value);
                prop_assert!(!out.contains(&b'\r') && !out.contains(&b'\n') && !out.contains(&0));
            }
            prop_assert!(escaped(Escape::Target, &value).iter().all(u8::is_ascii_graphic));
        }

        #[test]
        fn json_reads_back(value in ".*") {
            let mut out = vec![b'"'];
            Escape::Json.push(&mut out, value.as_bytes());
            out.push(b'"');
            prop_assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), value);
        }
    }
}
