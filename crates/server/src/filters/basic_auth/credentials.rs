//! The credentials of a request: `Authorization: Basic` and base64 of the name, a colon and the
//! password (RFC 7617 §2).

use base64ct::{Base64, Encoding};

/// The longest credentials that are looked at, in bytes of base64.
const ENCODED_BYTES_MAX: usize = 4096;

/// A name and a password, in UTF-8 as the challenge asks for (RFC 7617 §2.1).
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Credentials {
    pub(super) user: String,
    pub(super) password: String,
}

impl Credentials {
    /// Reads the value of Authorization; `None` for another scheme and for what is malformed.
    pub(super) fn parse(value: &[u8]) -> Option<Self> {
        let (scheme, rest) = value.split_at_checked(b"Basic ".len())?;
        if !scheme.eq_ignore_ascii_case(b"Basic ") {
            return None;
        }
        let encoded = rest.trim_ascii();
        if encoded.len() > ENCODED_BYTES_MAX {
            return None;
        }
        let decoded = Base64::decode_vec(str::from_utf8(encoded).ok()?).ok()?;
        let text = String::from_utf8(decoded).ok()?;
        // RFC 7617 §2: control characters are in neither.
        if text.chars().any(char::is_control) {
            return None;
        }
        // A name has no colon; a password may.
        let (user, password) = text.split_once(':')?;
        Some(Self { user: user.to_owned(), password: password.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &str, expected: Option<(&str, &str)>) {
        let found = Credentials::parse(value.as_bytes());
        let found = found.as_ref().map(|found| (found.user.as_str(), found.password.as_str()));
        assert_eq!(found, expected, "{value}");
    }

    /// The credentials of these bytes.
    #[track_caller]
    fn check_text(text: &[u8], expected: Option<(&str, &str)>) {
        check(&format!("Basic {}", Base64::encode_string(text)), expected);
    }

    #[test]
    fn what_is_malformed_is_nobody() {
        for value in [
            "",
            "Basic",
            "Basic ",
            "BasicYTpi",
            "Bearer YTpi",
            "Digest YTpi",
            "Basic YTpi=",
            "Basic YTp",
            "Basic Y Tpi",
            "Basic YTpi, YTpi",
            "Basic \u{e4}",
            "Basic YT-_",
        ] {
            check(value, None);
        }
        check_text(b"no colon", None);
        check_text(b"", None);
        check_text(b"a\0:b", None);
        check_text(b"a:b\n", None);
        check_text(b"a:\xff", None);
        check_text(&[b'a'; ENCODED_BYTES_MAX], None);
    }

    /// RFC 7617 §2 and §2.1, their examples.
    #[test]
    fn names_and_passwords() {
        check("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", Some(("Aladdin", "open sesame")));
        check("Basic dGVzdDoxMjPCow==", Some(("test", "123\u{a3}")));
        check("bAsIC   QWxhZGRpbjpvcGVuIHNlc2FtZQ== ", Some(("Aladdin", "open sesame")));
        check_text(b"a:b:c:", Some(("a", "b:c:")));
        check_text(b":", Some(("", "")));
        check_text(b"a:", Some(("a", "")));
    }
}
