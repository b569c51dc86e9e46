//! The formats of a line by name: which pieces each is made of.

use std::fmt;
use std::str::FromStr;

use vervet_engine::http::field::Known;

use super::layout::{Form, Layout, Piece};
use super::template::{TemplateError, compile};
use super::variable::{FieldName, Value};
use super::when::Style;
use super::{journal, pretty};

/// How a line looks.
#[derive(Clone, Debug)]
pub struct Format {
    pieces: Vec<Piece>,
    tail: Vec<u8>,
}

/// The formats that have a name.
pub const FORMATS: &[&str] = &["common", "combined", "json", "pretty"];

/// Whether a status has its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// Escape sequences of terminals.
    On,
    /// Plain text.
    Off,
}

/// Why a text is no format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// It has no variable and is no name.
    Name(String),
    /// It is a format string with a fault.
    Template(TemplateError),
}

impl fmt::Display for FormatError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(
                formatter,
                "`{name}` is neither a format ({}) nor a string with variables such as `{{client}} {{status}}`",
                FORMATS.join(", ")
            ),
            Self::Template(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for FormatError {}

/// The common log format of NCSA as a format string.
pub const COMMON: &str = "{client} - {user} [{time}] \"{request}\" {status} {bytes}";
/// The combined format as a format string.
pub const COMBINED: &str = "{client} - {user} [{time}] \"{request}\" {status} {bytes} \"{field:referer}\" \"{field:user-agent}\"";

impl Format {
    /// The common log format of NCSA, in UTC: client, user, time, request line, status, bytes of content.
    pub fn common() -> Self {
        Self::written(COMMON)
    }

    /// The common format with Referer and User-Agent.
    pub fn combined() -> Self {
        Self::written(COMBINED)
    }

    /// One JSON object. A member that is not known is left out: `jq` and its like read `null` for both.
    pub fn json() -> Self {
        let pieces = JSON.iter().map(|(before, value)| Piece {
            before: before.as_bytes().to_vec(),
            value: value(),
            form: if before.ends_with('"') {
                Form::Member
            } else {
                Form::Optional
            },
        });
        Self {
            pieces: pieces.collect(),
            tail: b"}".to_vec(),
        }
    }

    /// Short and aligned, for people.
    pub fn pretty(color: Color) -> Self {
        Self {
            pieces: pretty::pieces(color),
            tail: Vec::new(),
        }
    }

    /// A format string of [`VARIABLES`](super::VARIABLES).
    pub fn template(text: &str) -> Result<Self, TemplateError> {
        let (pieces, tail) = compile(text)?;
        Ok(Self { pieces, tail })
    }

    /// One of our own format strings; a test compiles them all.
    fn written(text: &str) -> Self {
        Self::template(text).unwrap_or_else(|_| Self::json())
    }

    /// The line for a target that takes plain lines.
    pub(super) fn layout(self) -> Layout {
        Layout::new(self.pieces, self.tail)
    }

    /// The line as the message of an entry of the journal, with the journal's fields behind it.
    pub(super) fn journal_layout(mut self) -> Layout {
        let mut pieces = std::mem::take(&mut self.pieces);
        journal::add_fields(&mut pieces, self.tail);
        Layout::new(pieces, Vec::new())
    }
}

impl FromStr for Format {
    type Err = FormatError;

    /// One of [`FORMATS`], or a format string.
    fn from_str(text: &str) -> Result<Self, FormatError> {
        match text {
            "common" => Ok(Self::common()),
            "combined" => Ok(Self::combined()),
            "json" => Ok(Self::json()),
            "pretty" => Ok(Self::pretty(Color::Off)),
            _ if text.contains(['{', '}']) => Self::template(text).map_err(FormatError::Template),
            _ => Err(FormatError::Name(text.to_owned())),
        }
    }
}

/// A part of a JSON line: what stands before the value, with an open quote where it is a text; and the value.
type JsonMember = (&'static str, fn() -> Value);

const JSON: &[JsonMember] = &[
    ("{\"time\":\"", || Value::Time(Style::Rfc3339Milliseconds)),
    (",\"client\":\"", || Value::Client),
    (",\"peer\":\"", || Value::Forwarder),
    (",\"method\":\"", || Value::Method),
    (",\"target\":\"", || Value::Target),
    (",\"version\":\"", || Value::Version),
    (",\"host\":\"", || Value::Host),
    (",\"referer\":\"", || field(Known::Referer)),
    (",\"user_agent\":\"", || field(Known::UserAgent)),
    (",\"user\":\"", || Value::User),
    (",\"request_id\":\"", || Value::RequestId),
    (",\"status\":", || Value::Status),
    (",\"bytes\":", || Value::Bytes),
    (",\"duration_ms\":", || Value::Milliseconds),
    (",\"site\":\"", || Value::Site),
    (",\"route\":\"", || Value::Route),
    (",\"sample\":", || Value::Sampled),
    (",\"fault\":\"", || Value::Fault),
];

fn field(name: Known) -> Value {
    Value::Field(FieldName::Known(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_format_strings_are_valid() {
        for text in [COMMON, COMBINED] {
            assert!(Format::template(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_word_that_is_no_format_is_named_with_those_that_are() {
        let error = "combind".parse::<Format>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`combind` is neither a format (common, combined, json, pretty) nor a string with variables such as \
             `{client} {status}`"
        );
        for name in FORMATS {
            assert!(name.parse::<Format>().is_ok(), "{name}");
        }
    }
}
