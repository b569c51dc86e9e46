//! The formats of a line: built-in ones by name, and format strings.

use std::fmt;
use std::str::FromStr;

use super::clock::TimeStyle;
use super::escape::Delimiter;
use super::layout::{Layout, Piece};
use super::template::{TemplateError, compile};
use super::value_writer::Form;
use super::variable::{JsonKind, VARIABLES, Value};
use crate::log_sinks::FIELD_MARK;

/// Width of the common methods; longer ones push the rest of their line to the right.
const METHOD_WIDTH: usize = 7;
const DURATION_WIDTH: usize = 6;
/// Width of an IPv4 address of nine digits; wider ones push the target to the right.
const CLIENT_WIDTH: usize = 12;

/// The format of a line.
#[derive(Clone, Debug)]
pub struct Format {
    pieces: Vec<Piece>,
    tail: Vec<u8>,
}

/// The names of the built-in formats.
pub const FORMATS: &[&str] = &["common", "combined", "json", "pretty"];

/// Whether a status has the colour of its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// With the escape sequences of terminals.
    On,
    /// Plain text without escape sequences.
    Off,
}

/// Why a text is not a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// A name that is not a built-in format.
    Name(String),
    /// An invalid format string.
    Template(TemplateError),
}

impl fmt::Display for FormatError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(
                formatter,
                "unknown format `{name}`: expected {} or a string with variables, such as \
                 `{{client}} {{status}}`",
                FORMATS.join(", ")
            ),
            Self::Template(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for FormatError {}

/// The NCSA common log format, as a format string.
pub const COMMON: &str = "{client} - {user} [{time}] \"{request}\" {status} {bytes}";
/// The combined log format, as a format string.
pub const COMBINED: &str = "{client} - {user} [{time}] \"{request}\" {status} {bytes} \
    \"{field:referer}\" \"{field:user-agent}\"";

impl Format {
    /// The NCSA common log format, in UTC: client, user, time, request line, status, bytes of body.
    pub fn common() -> Self {
        Self::built_in(COMMON)
    }

    /// The common log format with Referer and User-Agent.
    pub fn combined() -> Self {
        Self::built_in(COMBINED)
    }

    /// One JSON object. A member whose value is not known is left out: `jq` and similar tools read
    /// `null` for both.
    pub fn json() -> Self {
        let members = VARIABLES.iter().flat_map(|variable| {
            let members = variable.json.iter();
            members.map(|member| (member, (variable.value)(member.argument)))
        });
        let pieces = members.enumerate().map(|(number, (member, value))| {
            // The first member, the time, is always known.
            let separator = if number == 0 { '{' } else { ',' };
            let (quote, form) = match member.kind {
                JsonKind::Text => ("\"", Form::Member),
                JsonKind::Number => ("", Form::Optional),
            };
            let before = format!("{separator}\"{}\":{quote}", member.name);
            Piece { before: before.into_bytes(), value, form }
        });
        Self { pieces: pieces.collect(), tail: b"}".to_vec() }
    }

    /// Short and aligned columns for people:
    /// `19:30:00  200  GET      1.2 kB     3 ms  127.0.0.1  /index.html`.
    pub fn pretty(color: Color) -> Self {
        const TEXT: Form = Form::Text(Delimiter::QUOTE);
        let status = match color {
            Color::On => Form::Colored,
            Color::Off => TEXT,
        };
        let columns = [
            ("", Value::Time(TimeStyle::TimeOfDay), TEXT),
            ("  ", Value::Status, status),
            ("  ", Value::Method, Form::Left(METHOD_WIDTH)),
            ("", Value::Bytes, Form::Size),
            (" ", Value::Milliseconds, Form::Right(DURATION_WIDTH)),
            (" ms  ", Value::Client, Form::Left(CLIENT_WIDTH)),
            ("  ", Value::Target, TEXT),
            (" (", Value::Fault, Form::Parenthesized),
        ];
        let pieces = columns.map(|(before, value, form)| Piece {
            before: before.as_bytes().to_vec(),
            value,
            form,
        });
        Self { pieces: pieces.into(), tail: Vec::new() }
    }

    /// A format string of [`VARIABLES`](super::VARIABLES).
    pub fn template(text: &str) -> Result<Self, TemplateError> {
        let (pieces, tail) = compile(text)?;
        Ok(Self { pieces, tail })
    }

    /// A built-in format string; a test compiles them all.
    fn built_in(text: &str) -> Self {
        Self::template(text).unwrap_or_else(|_| Self::json())
    }

    /// The line for all targets but the journal.
    pub(super) fn layout(self) -> Layout {
        Layout::new(self.pieces, self.tail)
    }

    /// The line as the message of an entry of the journal, followed by fields.
    pub(super) fn journal_layout(self) -> Layout {
        const MESSAGE: &[u8] = b"MESSAGE=";
        let mut pieces = self.pieces;
        let mut before = match pieces.first_mut() {
            Some(first) => {
                first.before.splice(..0, MESSAGE.iter().copied());
                self.tail
            }
            None => [MESSAGE, &self.tail].concat(),
        };
        for (name, value) in JOURNAL_FIELDS {
            before.push(FIELD_MARK);
            before.extend_from_slice(name.as_bytes());
            before.push(b'=');
            // The first value is always known: the end of the message is never left out.
            pieces.push(Piece { before: std::mem::take(&mut before), value, form: Form::Optional });
        }
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

/// Fields of an entry of the journal in addition to its message.
const JOURNAL_FIELDS: [(&str, Value); 9] = [
    ("VERVET_STATUS", Value::Status),
    ("VERVET_CLIENT", Value::Client),
    ("VERVET_DURATION_MS", Value::Milliseconds),
    ("VERVET_METHOD", Value::Method),
    ("VERVET_TARGET", Value::Target),
    ("VERVET_USER", Value::User),
    ("VERVET_REQUEST_ID", Value::RequestId),
    ("VERVET_SITE", Value::Site),
    ("VERVET_ROUTE", Value::Route),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_format_strings_are_valid() {
        for text in [COMMON, COMBINED] {
            assert!(Format::template(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn an_unknown_format_is_reported_with_the_known_ones() {
        let error = "combind".parse::<Format>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown format `combind`: expected common, combined, json, pretty or a string with \
             variables, such as `{client} {status}`"
        );
        for name in FORMATS {
            assert!(name.parse::<Format>().is_ok(), "{name}");
        }
    }
}
