//! A format string: text with variables in braces, parsed once into the pieces of a line.
//!
//! `{client} "{request}" {status}`. A literal brace is doubled. Values are escaped so that a peer
//! can end neither the line nor the value: control bytes, bytes above ASCII, the quote, the
//! backslash, and the byte that follows the value in the format.

use std::fmt;

use super::escape::Delimiter;
use super::layout::Piece;
use super::value_writer::Form;
use super::variable::{VariableError, parse_variable};

/// Maximum length of a format string, in bytes.
pub const TEMPLATE_BYTES_MAX: usize = 4096;

/// An error in a format string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// Where the error begins, in bytes from the beginning of the string.
    pub at: usize,
    /// The length of the invalid text in bytes; at least one.
    pub length: usize,
    problem: Problem,
    /// Further invalid variables.
    others: Vec<TemplateError>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    Unclosed,
    Unopened,
    Control,
    Empty,
    TooLong,
    Variable(String, VariableError),
}

impl TemplateError {
    fn new(at: usize, length: usize, problem: Problem) -> Self {
        Self { at, length, problem, others: Vec::new() }
    }

    /// The closest valid name, if one is similar.
    pub fn nearest(&self) -> Option<&'static str> {
        match &self.problem {
            Problem::Variable(
                _,
                VariableError::Unknown { nearest } | VariableError::UnknownWord { nearest, .. },
            ) => *nearest,
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
                formatter.write_str("control characters other than tab are not allowed")
            }
            Problem::Empty => formatter.write_str("the format is empty"),
            Problem::TooLong => write!(formatter, "longer than {TEMPLATE_BYTES_MAX} bytes"),
            Problem::Variable(text, error) => explain(formatter, text, error),
        }?;
        if let Some(nearest) = self.nearest() {
            write!(formatter, " (did you mean `{nearest}`?)")?;
        }
        self.others.iter().try_for_each(|other| write!(formatter, "; {other}"))
    }
}

fn explain(formatter: &mut fmt::Formatter<'_>, text: &str, error: &VariableError) -> fmt::Result {
    match error {
        VariableError::Unknown { .. } => write!(formatter, "unknown variable `{{{text}}}`"),
        VariableError::NoArgument => {
            write!(formatter, "`{{{text}}}`: this variable takes no argument")
        }
        VariableError::NeedsName => {
            let example = "{field:accept}";
            write!(formatter, "`{{{text}}}` needs a name after a colon, such as `{example}`")
        }
        VariableError::UnknownWord { words, .. } => {
            write!(formatter, "`{{{text}}}`: expected one of {}", words.join(", "))
        }
    }
}

impl std::error::Error for TemplateError {}

/// The pieces of a format string, and the text after the last.
pub(super) fn compile(text: &str) -> Result<(Vec<Piece>, Vec<u8>), TemplateError> {
    if text.is_empty() {
        return Err(TemplateError::new(0, 1, Problem::Empty));
    }
    if text.len() > TEMPLATE_BYTES_MAX {
        let length = text.len() - TEMPLATE_BYTES_MAX;
        return Err(TemplateError::new(TEMPLATE_BYTES_MAX, length, Problem::TooLong));
    }
    let (mut pieces, mut before, mut at) = (Vec::new(), Vec::new(), 0);
    let mut invalid: Option<TemplateError> = None;
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at).copied() {
        let doubled = bytes.get(at + 1) == Some(&byte);
        match byte {
            b'{' | b'}' if doubled => {
                before.push(byte);
                at += 2;
            }
            b'{' => match parse_piece(text, at, std::mem::take(&mut before)) {
                Ok((piece, end)) => {
                    pieces.push(piece);
                    at = end;
                }
                // The other variables are checked as well.
                Err(error) if matches!(error.problem, Problem::Variable(..)) => {
                    at = error.at + error.length;
                    match &mut invalid {
                        Some(first) => first.others.push(error),
                        None => invalid = Some(error),
                    }
                }
                Err(error) => return Err(error),
            },
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
    match invalid {
        Some(error) => Err(error),
        None => Ok((pieces, before)),
    }
}

/// The variable whose brace opens at `at`, and where it ends.
fn parse_piece(text: &str, at: usize, before: Vec<u8>) -> Result<(Piece, usize), TemplateError> {
    let inside = &text[at + 1..];
    let length = inside
        .find(['{', '}'])
        .filter(|end| inside.as_bytes()[*end] == b'}')
        .ok_or_else(|| TemplateError::new(at, 1, Problem::Unclosed))?;
    let name = &inside[..length];
    let value = parse_variable(name).map_err(|error| {
        TemplateError::new(at, length + 2, Problem::Variable(name.to_owned(), error))
    })?;
    let end = at + length + 2;
    let delimiter =
        text.as_bytes().get(end).map_or(Delimiter::QUOTE, |next| Delimiter::before(*next));
    let piece = Piece { before, value, form: Form::Text(delimiter) };
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
    fn errors_name_their_position_and_the_remedy() {
        check("", "at byte 1 of the format: the format is empty");
        check("{status", "at byte 1 of the format: `{` without `}` (write `{{` for a brace)");
        check(
            "a {status {bytes}",
            "at byte 3 of the format: `{` without `}` (write `{{` for a brace)",
        );
        check("a}", "at byte 2 of the format: `}` without `{` (write `}}` for a brace)");
        check(
            "{status}\n",
            "at byte 9 of the format: control characters other than tab are not allowed",
        );
        check(
            "{client} {statsu}",
            "at byte 10 of the format: unknown variable `{statsu}` (did you mean `status`?)",
        );
        check(
            "{clients} {status} {statsu} {x}",
            "at byte 1 of the format: unknown variable `{clients}` (did you mean `client`?); \
             at byte 20 of the format: unknown variable `{statsu}` (did you mean `status`?); \
             at byte 29 of the format: unknown variable `{x}`",
        );
        check("{}", "at byte 1 of the format: unknown variable `{}`");
        check(
            "{status:x}",
            "at byte 1 of the format: `{status:x}`: this variable takes no argument",
        );
        check(
            "{field}",
            "at byte 1 of the format: `{field}` needs a name after a colon, such as `{field:accept}`",
        );
        check(
            "{cookie:a b}",
            "at byte 1 of the format: `{cookie:a b}` needs a name after a colon, such as `{field:accept}`",
        );
        check(
            "{time:iso_sm}",
            "at byte 1 of the format: `{time:iso_sm}`: expected one of common, iso, iso_ms, \
             unix, unix_ms, clock (did you mean `iso_ms`?)",
        );
        check(
            &"x".repeat(TEMPLATE_BYTES_MAX + 1),
            "at byte 4097 of the format: longer than 4096 bytes",
        );
    }

    #[test]
    fn a_format_of_maximum_length_is_accepted() {
        assert!(compile(&"x".repeat(TEMPLATE_BYTES_MAX)).is_ok());
    }
}
