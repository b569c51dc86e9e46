//! The line for people: `19:30:00  200  GET      1.2 kB     3 ms  127.0.0.1  /index.html`.

use std::io::Write as _;

use vervet_engine::http::h1::RequestHead;
use vervet_engine::http::status::Status;

use super::escape::push_text;
use super::format::{Color, LineParts, push_number, push_peer};

/// The longest of the common methods: longer ones push the rest of their line aside.
const METHOD_WIDTH: usize = 7;
/// As wide as an IPv4 address of nine digits; wider ones push the target aside.
const PEER_WIDTH: usize = 12;
const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];

pub(super) fn push_method(out: &mut Vec<u8>, head: &RequestHead<'_>) {
    push_text(out, head.method_token.as_bytes());
}

pub(super) fn push_target(out: &mut Vec<u8>, head: &RequestHead<'_>) {
    push_text(out, head.target);
}

pub(super) fn push_line(out: &mut Vec<u8>, parts: &LineParts<'_>, color: Color) {
    let finished = parts.finished;
    let (method, target) = parts
        .record
        .map_or((b"-".as_slice(), b"".as_slice()), |record| {
            (record.request(), record.rest())
        });
    out.extend_from_slice(parts.second);
    out.extend_from_slice(b"  ");
    push_status(out, finished.status, color);
    out.extend_from_slice(b"  ");
    out.extend_from_slice(method);
    pad(out, METHOD_WIDTH.saturating_sub(method.len()));
    push_size(out, finished.content_bytes);
    // Writing to a Vec does not fail.
    let _ = write!(out, " {:>6} ms  ", finished.duration_ms);
    let begin = out.len();
    push_peer(out, finished.peer);
    let width = out.len() - begin;
    pad(out, PEER_WIDTH.saturating_sub(width));
    out.extend_from_slice(b"  ");
    out.extend_from_slice(target);
    if let Some(fault) = finished.fault {
        out.extend_from_slice(b" (");
        push_text(out, fault.as_bytes());
        out.push(b')');
    }
}

fn push_status(out: &mut Vec<u8>, status: Status, color: Color) {
    let code: &[u8] = match (color, status.code()) {
        (Color::Off, _) => b"",
        (Color::On, 200..300) => b"\x1b[32m",
        (Color::On, 300..400) => b"\x1b[36m",
        (Color::On, 400..500) => b"\x1b[33m",
        (Color::On, _) => b"\x1b[31m",
    };
    out.extend_from_slice(code);
    push_number(out, u64::from(status.code()));
    if color == Color::On {
        out.extend_from_slice(b"\x1b[0m");
    }
}

fn pad(out: &mut Vec<u8>, count: usize) {
    out.extend(std::iter::repeat_n(b' ', count));
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
