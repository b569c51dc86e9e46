//! Names and values of headers in a document, validated when it is read: none can end its line.

use std::fmt;

use vervet_config::{FromText, TextShape};
use vervet_http::field::{FieldBlock, FieldError};

/// A header value: no control characters except tab (RFC 9110 §5.5), no spaces at its ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldText(String);

/// The name of a header that can be configured: a token (RFC 9110 §5.1), except headers that the
/// connection writes itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldName(String);

impl FieldText {
    /// Returns the header value.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FieldName {
    /// The name as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromText for FieldText {
    const SHAPE: TextShape = TextShape { noun: "header value", example: "", pattern: None };

    fn from_text(text: &str) -> Result<Self, String> {
        check_value(text)?;
        Ok(Self(text.to_owned()))
    }
}

impl FromText for FieldName {
    const SHAPE: TextShape =
        TextShape { noun: "header name", example: "X-Robots-Tag", pattern: None };

    fn from_text(text: &str) -> Result<Self, String> {
        match FieldBlock::new().push(text.as_bytes(), b"") {
            Ok(()) => Ok(Self(text.to_owned())),
            Err(FieldError::Framing) => Err("the server writes this header itself".to_owned()),
            Err(_) => Err("spaces, colons and other separators are not allowed".to_owned()),
        }
    }
}

/// Whether a text can stand in a field line.
pub(super) fn check_value(text: &str) -> Result<(), String> {
    if text.trim_matches([' ', '\t']) != text {
        return Err("the value must not begin or end with a space".to_owned());
    }
    match FieldBlock::new().push(b"X", text.as_bytes()) {
        Ok(()) => Ok(()),
        Err(_) => {
            Err("the value must not contain line breaks or other control characters".to_owned())
        }
    }
}

impl fmt::Display for FieldText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Display for FieldName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_line_is_no_value() {
        for text in ["a\r\nb", "a\n", "\0", "a\u{7f}", " a", "a\t"] {
            assert!(FieldText::from_text(text).is_err(), "{text:?}");
        }
        for text in ["", "a", "a b", "a\tb", "\u{e4}"] {
            assert_eq!(FieldText::from_text(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn names_are_tokens_and_none_of_the_connection() {
        for text in [
            "",
            "a b",
            "a:",
            "\u{e4}",
            "a\r\n",
            "Content-Length",
            "transfer-encoding",
            "CONNECTION",
        ] {
            assert!(FieldName::from_text(text).is_err(), "{text:?}");
        }
        assert_eq!(FieldName::from_text("X-a").unwrap().as_str(), "X-a");
    }
}
