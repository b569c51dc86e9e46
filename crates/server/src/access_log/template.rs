//! A format string: text with variables in braces, read once into the pieces of a line.
//!
//! `{client} "{request}" {status}`. A brace that is meant as such is written twice. Whatever a peer sends is escaped so
//! that it can neither end the line nor the value: control bytes, bytes above ASCII, the quote, the backslash, and the
//! byte that follows the value in the format.

use std::fmt;

use super::escape::Delimiter;
use super::layout::{Form, Piece};
use super::variable::{Unknown, value};

/// Bytes that a format string may have.
pub const TEMPLATE_BYTES_MAX: usize = 4096;

/// Why a format string is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// Where the fault begins, in bytes from the beginning of the string.
    pub at: usize,
    /// How many bytes it has; at least one.
    pub length: usize,
    problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    Unclosed,
    Unopened,
    Control,
    Empty,
    TooLong,
    Variable(String, Unknown),
}

impl TemplateError {
    fn new(at: usize, length: usize, problem: Problem) -> Self {
        Self {
            at,
            length,
            problem,
        }
    }

    /// The name that was probably meant.
    pub fn nearest(&self) -> Option<&'static str> {
        match &self.problem {
            Problem::Variable(_, Unknown::Name { nearest } | Unknown::Word { nearest, .. }) => {
                *nearest
            }
            _ => None,
        }
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "at byte {} of the format: ", self.at + 1)?;
        match &self.problem {
            Problem::Unclosed => formatter.write_str("`{` without `}` (write `{{` for a brace)"),
            Problem::Unopened => formatter.write_str("`}` without `{` (write `}}` for a brace)"),
            Problem::Control => {
                formatter.write_str("a line is one line: no control characters but tabs")
            }
            Problem::Empty => formatter.write_str("an empty format writes nothing"),
            Problem::TooLong => write!(formatter, "longer than {TEMPLATE_BYTES_MAX} bytes"),
            Problem::Variable(text, unknown) => explain(formatter, text, unknown),
        }?;
        match self.nearest() {
            Some(nearest) => write!(formatter, " (did you mean `{nearest}`?)"),
            None => Ok(()),
        }
    }
}

fn explain(formatter: &mut fmt::Formatter<'_>, text: &str, unknown: &Unknown) -> fmt::Result {
    match unknown {
        Unknown::Name { .. } => write!(formatter, "there is no variable `{{{text}}}`"),
        Unknown::TakesNothing => write!(formatter, "`{{{text}}}` takes nothing behind a colon"),
        Unknown::NeedsName => {
            write!(
                formatter,
                "`{{{text}}}` needs a name behind a colon, such as `{{field:accept}}`"
            )
        }
        Unknown::Word { words, .. } => {
            write!(formatter, "`{{{text}}}` takes one of {}", words.join(", "))
        }
    }
}

impl std::error::Error for TemplateError {}

/// The pieces of a format string, and the text behind the last.
pub(super) fn compile(text: &str) -> Result<(Vec<Piece>, Vec<u8>), TemplateError> {
    if text.is_empty() {
        return Err(TemplateError::new(0, 1, Problem::Empty));
    }
    if text.len() > TEMPLATE_BYTES_MAX {
        let length = text.len() - TEMPLATE_BYTES_MAX;
        return Err(TemplateError::new(
            TEMPLATE_BYTES_MAX,
            length,
            Problem::TooLong,
        ));
    }
    let (mut pieces, mut before, mut at) = (Vec::new(), Vec::new(), 0);
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at).copied() {
        let doubled = bytes.get(at + 1) == Some(&byte);
        match byte {
            b'{' | b'}' if doubled => {
                before.push(byte);
                at += 2;
            }
            b'{' => {
                let (piece, end) = variable(text, at, std::mem::take(&mut before))?;
                pieces.push(piece);
                at = end;
            }
            b'}' => return Err(TemplateError::new(at, 1, Problem::Unopened)),
            _ if byte.is_ascii_control() && byte != b'\t' => {
                return Err(TemplateError::new(at, 1, Problem::Control));
            }
            _ => {
                before.push(byte);
                at += 1;
            }
        }
    }
    Ok((pieces, before))
}

/// The variable whose brace opens at `at`, and where it ends.
fn variable(text: &str, at: usize, before: Vec<u8>) -> Result<(Piece, usize), TemplateError> {
    let inside = &text[at + 1..];
    let length = inside
        .find(['{', '}'])
        .filter(|end| inside.as_bytes()[*end] == b'}')
        .ok_or_else(|| TemplateError::new(at, 1, Problem::Unclosed))?;
    let name = &inside[..length];
    let value = value(name).map_err(|unknown| {
        TemplateError::new(at, length + 2, Problem::Variable(name.to_owned(), unknown))
    })?;
    let end = at + length + 2;
    let delimiter = text
        .as_bytes()
        .get(end)
        .map_or(Delimiter::QUOTE, |next| Delimiter::before(*next));
    let piece = Piece {
        before,
        value,
        form: Form::Text(delimiter),
    };
    Ok((piece, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let error = compile(text).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(error.length > 0);
    }

    #[test]
    fn each_fault_is_named_with_its_place_and_the_remedy() {
        check(
            "",
            "at byte 1 of the format: an empty format writes nothing",
        );
        check(
            "{status",
            "at byte 1 of the format: `{` without `}` (write `{{` for a brace)",
        );
        check(
            "a {status {bytes}",
            "at byte 3 of the format: `{` without `}` (write `{{` for a brace)",
        );
        check(
            "a}",
            "at byte 2 of the format: `}` without `{` (write `}}` for a brace)",
        );
        check(
            "{status}\n",
            "at byte 9 of the format: a line is one line: no control characters but tabs",
        );
        check(
            "{client} {statsu}",
            "at byte 10 of the format: there is no variable `{statsu}` (did you mean `status`?)",
        );
        check("{}", "at byte 1 of the format: there is no variable `{}`");
        check(
            "{status:x}",
            "at byte 1 of the format: `{status:x}` takes nothing behind a colon",
        );
        check(
            "{field}",
            "at byte 1 of the format: `{field}` needs a name behind a colon, such as `{field:accept}`",
        );
        check(
            "{cookie:a b}",
            "at byte 1 of the format: `{cookie:a b}` needs a name behind a colon, such as `{field:accept}`",
        );
        check(
            "{time:iso_sm}",
            "at byte 1 of the format: `{time:iso_sm}` takes one of common, iso, iso_ms, unix, unix_ms, clock (did you \
             mean `iso_ms`?)",
        );
        check(
            &"x".repeat(TEMPLATE_BYTES_MAX + 1),
            "at byte 4097 of the format: longer than 4096 bytes",
        );
    }

    #[test]
    fn a_format_of_the_longest_length_is_read() {
        assert!(compile(&"x".repeat(TEMPLATE_BYTES_MAX)).is_ok());
    }
}
