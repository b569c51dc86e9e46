//! The line for people: `19:30:00  200  GET      1.2 kB     3 ms  127.0.0.1  /index.html`.

use std::io::Write as _;

use vervet_engine::http::status::Status;

use super::end_value::Line;
use super::escape::{Delimiter, push_text};
use super::format::Color;
use super::layout::{Form, Piece};
use super::number::{push_address, push_three};
use super::variable::Value;
use super::when::Style;

/// The longest of the common methods: longer ones push the rest of their line aside.
const METHOD_WIDTH: usize = 7;
/// As wide as an IPv4 address of nine digits; wider ones push the target aside.
const CLIENT_WIDTH: usize = 12;
const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];

/// What the line is made of.
pub(super) fn pieces(color: Color) -> Vec<Piece> {
    let status = match color {
        Color::On => Value::ColoredStatus,
        Color::Off => Value::Status,
    };
    let piece = |before: &str, value| Piece {
        before: before.as_bytes().to_vec(),
        value,
        form: Form::Text(Delimiter::QUOTE),
    };
    vec![
        piece("", Value::Time(Style::OfDay)),
        piece("  ", status),
        piece("  ", Value::AlignedMethod),
        piece("", Value::AlignedSize),
        piece(" ", Value::AlignedMilliseconds),
        piece("  ", Value::AlignedClient),
        piece("  ", Value::Target),
        Piece {
            form: Form::Optional,
            ..piece(" ", Value::FaultInBrackets)
        },
    ]
}

/// What stands for the method of a request that nobody could read, as wide as one.
pub(super) const NO_METHOD: &[u8] = b"-      ";

const _: () = assert!(NO_METHOD.len() == METHOD_WIDTH);

/// Pads the method that begins at `begin`.
pub(super) fn pad_method(out: &mut Vec<u8>, begin: usize) {
    pad(out, begin, METHOD_WIDTH);
}

/// Appends one of this format's own values.
pub(super) fn push(out: &mut Vec<u8>, value: &Value, line: &Line<'_>) {
    let finished = line.finished;
    match value {
        Value::ColoredStatus => push_status(out, finished.status),
        Value::AlignedSize => push_size(out, finished.content_bytes),
        Value::AlignedMilliseconds => {
            // Writing to a Vec does not fail.
            let _ = write!(out, "{:>6} ms", finished.duration_ms);
        }
        Value::AlignedClient => {
            let begin = out.len();
            push_address(out, line.client());
            pad(out, begin, CLIENT_WIDTH);
        }
        Value::FaultInBrackets => {
            out.push(b'(');
            let fault = finished.fault.unwrap_or_default();
            push_text(out, fault.as_bytes(), Delimiter::QUOTE);
            out.push(b')');
        }
        _ => {}
    }
}

fn push_status(out: &mut Vec<u8>, status: Status) {
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

fn pad(out: &mut Vec<u8>, begin: usize, width: usize) {
    let missing = width.saturating_sub(out.len() - begin);
    out.extend(std::iter::repeat_n(b' ', missing));
}

/// Appends `    13 B`, `   1.2 kB`: nine characters wide.
fn push_size(out: &mut Vec<u8>, bytes: u64) {
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
    fn check(bytes: u64, expected: &str) {
        let mut out = Vec::new();
        push_size(&mut out, bytes);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn sizes_are_short_and_aligned() {
        check(0, "     0  B");
        check(999, "   999  B");
        check(1000, "   1.0 kB");
        check(999_999, " 999.9 kB");
        check(1_000_000, "   1.0 MB");
        check(12_345_678_901, "  12.3 GB");
        check(u64::MAX, "18446.7 PB");
    }
}
