//! How one value stands in a line: escaped, padded, coloured, or left out if it is not known.

use std::io::Write as _;
use std::net::IpAddr;

use vervet_engine::http::h1::RequestHead;
use vervet_engine::http::method::Method;
use vervet_engine::http::status::Status;

use super::bytes::{push_address, push_number, push_three};
use super::clock::{Clock, TimeStyle};
use super::escape::{Delimiter, push_json, push_text};

/// The form of a value in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Escaped text; `-` if it is not known.
    Text(Delimiter),
    /// As [`Form::Text`], padded on the right to a width.
    Left(usize),
    /// As [`Form::Text`], padded on the left to a width.
    Right(usize),
    /// A status in the colour of its class.
    Colored,
    /// A number of bytes with a unit, nine characters wide: `   1.2 kB`.
    Size,
    /// Text of a JSON member whose quote is open; the member is left out if it is not known.
    Member,
    /// As it is; left out with the text before it if it is not known.
    Optional,
    /// As [`Form::Optional`], followed by a closing parenthesis.
    Parenthesized,
}

/// Writes one value. Its methods return whether the value is known.
#[derive(Debug)]
pub(super) struct ValueWriter<'a> {
    out: &'a mut Vec<u8>,
    form: Form,
}

impl<'a> ValueWriter<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, form: Form) -> Self {
        Self { out, form }
    }

    /// Whether values that say nothing new are left out.
    pub(super) fn omits_defaults(&self) -> bool {
        matches!(self.form, Form::Member | Form::Optional)
    }

    /// Writes text that needs no escape.
    pub(super) fn plain(&mut self, text: &[u8]) -> bool {
        self.out.extend_from_slice(text);
        true
    }

    /// Writes bytes of a peer or of a document, escaped.
    pub(super) fn text(&mut self, bytes: &[u8]) -> bool {
        match self.form {
            Form::Text(delimiter) => push_text(self.out, bytes, delimiter),
            Form::Member => push_json(self.out, bytes),
            _ => push_text(self.out, bytes, Delimiter::QUOTE),
        }
        true
    }

    pub(super) fn optional(&mut self, bytes: Option<&[u8]>) -> bool {
        bytes.is_some_and(|bytes| self.text(bytes))
    }

    pub(super) fn number(&mut self, number: u64) -> bool {
        if self.form == Form::Size {
            push_size(self.out, number);
        } else {
            push_number(self.out, number);
        }
        true
    }

    pub(super) fn optional_number(&mut self, number: Option<u64>) -> bool {
        number.is_some_and(|number| self.number(number))
    }

    pub(super) fn address(&mut self, address: Option<IpAddr>) -> bool {
        push_address(self.out, address);
        true
    }

    /// Writes a method; a registered one needs no escape.
    pub(super) fn method(&mut self, head: &RequestHead<'_>) -> bool {
        match head.method {
            Method::Unknown => self.text(head.method_token.as_bytes()),
            method => self.plain(method.as_str().as_bytes()),
        }
    }

    pub(super) fn status(&mut self, status: Status) -> bool {
        if self.form == Form::Colored {
            push_colored(self.out, status);
        } else {
            push_three(self.out, status.code());
        }
        true
    }

    /// Writes milliseconds as seconds with three decimals.
    pub(super) fn seconds(&mut self, time_ms: u64) -> bool {
        push_number(self.out, time_ms / 1000);
        self.out.push(b'.');
        push_three(self.out, (time_ms % 1000) as u16);
        true
    }

    pub(super) fn time(&mut self, clock: &Clock, style: TimeStyle) -> bool {
        clock.push(self.out, style);
        true
    }
}

/// Ends a value that begins at `begin`, in a form that text follows.
pub(super) fn end_value(out: &mut Vec<u8>, begin: usize, form: Form) {
    match form {
        Form::Parenthesized => out.push(b')'),
        Form::Left(width) => {
            let padded = out.len().max(begin + width);
            out.resize(padded, b' ');
        }
        Form::Right(width) => {
            let missing = (begin + width).saturating_sub(out.len());
            out.resize(out.len() + missing, b' ');
            out[begin..].rotate_right(missing);
        }
        Form::Text(_) | Form::Colored | Form::Size | Form::Member | Form::Optional => {}
    }
}

fn push_colored(out: &mut Vec<u8>, status: Status) {
    let color: &[u8] = match status.code() {
        200..300 => b"\x1b[32m",
        300..400 => b"\x1b[36m",
        400..500 => b"\x1b[33m",
        _ => b"\x1b[31m",
    };
    out.extend_from_slice(color);
    push_three(out, status.code());
    out.extend_from_slice(b"\x1b[0m");
}

const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];

/// Appends `    13 B`, `   1.2 kB`: nine characters wide.
fn push_size(out: &mut Vec<u8>, bytes: u64) {
    // Writing to a Vec does not fail.
    if bytes < 1000 {
        let _ = write!(out, "{bytes:>6}  B");
        return;
    }
    // Tenths of the unit, in whole numbers.
    let (mut tenths, mut unit) = (bytes / 100, 0);
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1000;
        unit += 1;
    }
    let _ = write!(out, "{:>4}.{} {}", tenths / 10, tenths % 10, UNITS[unit]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_size(bytes: u64, expected: &str) {
        let mut out = Vec::new();
        push_size(&mut out, bytes);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn sizes_are_short_and_aligned() {
        check_size(0, "     0  B");
        check_size(999, "   999  B");
        check_size(1000, "   1.0 kB");
        check_size(999_999, " 999.9 kB");
        check_size(1_000_000, "   1.0 MB");
        check_size(12_345_678_901, "  12.3 GB");
        check_size(u64::MAX, "18446.7 PB");
    }

    #[test]
    fn values_are_padded_to_their_width_and_not_cut() {
        let check = |form, value: &str, expected: &str| {
            let mut out = format!("ab{value}").into_bytes();
            end_value(&mut out, 2, form);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        };
        check(Form::Left(4), "xy", "abxy  ");
        check(Form::Right(4), "xy", "ab  xy");
        check(Form::Left(1), "xy", "abxy");
        check(Form::Right(1), "xy", "abxy");
    }
}
