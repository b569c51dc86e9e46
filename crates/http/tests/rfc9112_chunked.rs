//! RFC 9112 §7.1: chunked content and trailers.

use crate::common::{check, check_with};
use vervet_http::field::FieldSlots;
use vervet_http::h1::{CHUNK_LINE_BYTES_MAX, HeadLimits, Received, Server};

const HEAD: &str = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

/// The events after the head of a chunked request.
fn check_chunks(chunks: &str, expected: &[&str]) {
    let all: Vec<&str> =
        std::iter::once("POST / +chunked").chain(expected.iter().copied()).collect();
    check(&format!("{HEAD}{chunks}"), &all);
}

/// §7.1: `chunk-size = 1*HEXDIG`.
#[test]
fn refuses_sizes_that_are_not_hexadecimal_digits() {
    for line in [
        "", "x", "+5", "-5", " 5", "\t5", "0x5", "5g", "5,", "5\0", "\n", ";a", "5.0", "5_",
        "\u{b2}",
    ] {
        check_chunks(&format!("{line}\r\nhello\r\n0\r\n\r\n"), &["400 ChunkSizeMalformed"]);
    }
}

/// §7.1: "Recipients MUST anticipate potentially large hexadecimal numerals and prevent parsing
/// errors due to integer conversion overflows".
#[test]
fn refuses_sizes_that_cannot_be_counted() {
    check_chunks("10000000000000000\r\n", &["413 ChunkSizeTooLarge"]);
    check_chunks("fffffffffffffffff\r\n", &["413 ChunkSizeTooLarge"]);
    check_chunks("10000000000000005\r\nhello\r\n0\r\n\r\n", &["413 ChunkSizeTooLarge"]);
    check_chunks("ffffffffffffffff\r\nx", &["content x"]);
    check_chunks("00000000000000000000005\r\nhello\r\n0\r\n\r\n", &["content hello", "end"]);
}

/// What is announced after a head and these bytes, of which the machine has consumed what it can.
fn announced(chunks: &str) -> u64 {
    let input = [HEAD, chunks].concat();
    let mut server = Server::new();
    let mut at = 0;
    loop {
        let mut slots = FieldSlots::new();
        let rest = &input.as_bytes()[at..];
        match server.receive(rest, &mut slots, &HeadLimits::DEFAULT).unwrap() {
            Received::Head { consumed, .. }
            | Received::Content { consumed, .. }
            | Received::End { consumed, .. } => at += consumed,
            _ => return server.content_announced(rest),
        }
    }
}

/// A chunk can be refused by its size before it arrives.
#[test]
fn announces_the_size_of_a_chunk() {
    for (chunks, expected) in [
        ("", 0),
        ("ffff", 0),
        ("ffff\r", 0),
        ("ffff\r\n", 0xffff),
        ("ffff;a=b\r\n", 0xffff),
        ("ffff\r\nx", 0xfffe),
        ("ffffffffffffffff\r\n", u64::MAX),
        ("1\r\nx", 0),
        ("1\r\nx\r\n", 0),
        ("1\r\nx\r\n5\r\n", 5),
        ("1\r\nx\r\n5\r\nhello\r\n0\r\n", 0),
        ("1\r\nx\r\n0\r\n\r\n", 0),
    ] {
        assert_eq!(announced(chunks), expected, "{chunks:?}");
    }
}

/// §2.2 and §7.1: every line of the coding ends with CRLF. nginx 1.29.4 took LF alone.
#[test]
fn refuses_bare_lf_and_bare_cr() {
    check_chunks("5\nhello\r\n0\r\n\r\n", &["400 BareLf"]);
    check_chunks("5;a\nhello\r\n0\r\n\r\n", &["400 BareLf"]);
    check_chunks("5 \nhello\r\n0\r\n\r\n", &["400 BareLf"]);
    check_chunks("5\rhello\r\n0\r\n\r\n", &["400 BareCr"]);
    check_chunks("5;a\rb\r\nhello\r\n0\r\n\r\n", &["400 BareCr"]);
    check_chunks("5\r\nhello\n0\r\n\r\n", &["content hello", "400 ChunkEndMissing"]);
    check_chunks("5\r\nhello\r0\r\n\r\n", &["content hello", "400 ChunkEndMissing"]);
    check_chunks("5\r\nhello\r\n0\n\r\n", &["content hello", "400 BareLf"]);
    check_chunks("5\r\nhello\r\n0\r\n\n", &["content hello", "400 BareLf"]);
}

/// The chunk ends where its size says.
#[test]
fn refuses_chunks_of_another_length() {
    check_chunks("4\r\nhello\r\n0\r\n\r\n", &["content hell", "400 ChunkEndMissing"]);
    check_chunks("6\r\nhello\r\n0\r\n\r\n", &[r"content hello\r", "400 ChunkEndMissing"]);
    check_chunks("5\r\nhello0\r\n\r\n", &["content hello", "400 ChunkEndMissing"]);
}

/// gunicorn#3382: the content has not ended before its last CRLF.
#[test]
fn waits_for_the_last_crlf() {
    check_chunks("5\r\nhello\r\n0\r\n", &["content hello"]);
    check_chunks("5\r\nhello\r\n0\r\n\r", &["content hello"]);
    check_chunks("5\r\nhello\r\n0", &["content hello"]);
    check_chunks("5\r\nhello\r\n", &["content hello"]);
    let next = "GET /b HTTP/1.1\r\nHost: a\r\n\r\n";
    check_chunks(&format!("0\r\n{next}"), &["400 TrailerForbidden"].map(|_| "400 FieldName"));
    check_chunks(&format!("0\r\n\r\n{next}"), &["end", "GET /b", "end"]);
}

/// §7.1: sizes in either case, several chunks, next request after the end.
#[test]
fn reads_chunks() {
    check_chunks("0\r\n\r\n", &["end"]);
    check_chunks("000\r\n\r\n", &["end"]);
    check_chunks("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", &["content hello world", "end"]);
    check_chunks(
        "A\r\n0123456789\r\na\r\nabcdefghij\r\n0\r\n\r\n",
        &["content 0123456789abcdefghij", "end"],
    );
    check_chunks(
        "2\r\n\r\n\r\n0\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
        &[r"content \r\n", "end", "GET /b", "end"],
    );
}

/// §7.1.1: "A recipient MUST ignore unrecognized chunk extensions", and "ought to limit the total
/// length".
#[test]
fn ignores_bounded_extensions() {
    for line in ["5;a", "5;a=b", "5;a=\"b;c\"", "5 ;a", "5\t; a = b", "5;", "5;;", "5;\u{e9}"] {
        check_chunks(&format!("{line}\r\nhello\r\n0;x=y\r\n\r\n"), &["content hello", "end"]);
    }
    for line in ["5 ", "5\t", "5 x", "5 5", "5;a\0", "5;\u{7f}", "5 \r"] {
        check_chunks(&format!("{line}\r\nhello\r\n0\r\n\r\n"), &["400 ChunkExtensionMalformed"]);
    }
    let line = |bytes: usize| format!("5;{}\r\nhello\r\n0\r\n\r\n", "x".repeat(bytes - 4));
    check_chunks(&line(CHUNK_LINE_BYTES_MAX + 1), &["400 ChunkLineTooLong"]);
    check_chunks(&line(CHUNK_LINE_BYTES_MAX), &["content hello", "end"]);
    check_chunks(&"0".repeat(CHUNK_LINE_BYTES_MAX + 1), &["400 ChunkLineTooLong"]);
}

/// §7.1.2: trailers are reported apart from the head.
#[test]
fn reads_trailers() {
    check_chunks("0\r\nX-Sum: 1\r\nx-t:\r\n\r\n", &["end X-Sum=1 x-t="]);
    check_chunks(
        "1\r\na\r\n0\r\nX: y\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
        &["content a", "end X=y", "GET /b", "end"],
    );
}

/// Trailer lines are field lines: every rule of §5 holds.
#[test]
fn refuses_malformed_trailers() {
    check_chunks("0\r\nX : y\r\n\r\n", &["400 FieldSpaceBeforeColon"]);
    check_chunks("0\r\n X: y\r\n\r\n", &["400 FieldLeadingSpace"]);
    check_chunks("0\r\nX: y\r\n z\r\n\r\n", &["400 FieldFolded"]);
    check_chunks("0\r\nX\r\n\r\n", &["400 FieldName"]);
    check_chunks("0\r\nX: y\n\r\n", &["400 BareLf"]);
    check_chunks("0\r\nX: y\rz\r\n\r\n", &["400 BareCr"]);
    check_chunks("0\r\nX: \0\r\n\r\n", &["400 FieldValue"]);
}

/// RFC 9110 §6.5.1: fields "that describe message framing, routing, authentication, request
/// modifiers, response controls, or content format" are not for trailers.
#[test]
fn refuses_fields_that_belong_in_the_head() {
    for name in [
        "Host",
        "Content-Length",
        "transfer-encoding",
        "Connection",
        "Trailer",
        "Authorization",
        "Cookie",
        "Content-Type",
        "Content-Encoding",
        "Content-Range",
        "Expect",
        "Range",
        "If-Match",
        "TE",
        "Upgrade",
        "X-Forwarded-For",
        "Cache-Control",
        "Max-Forwards",
    ] {
        check_chunks(&format!("0\r\nX: y\r\n{name}: 1\r\n\r\n"), &["400 TrailerForbidden"]);
    }
}

#[test]
fn bounds_the_trailer_section() {
    let limits = HeadLimits { trailer_bytes_max: 40, ..HeadLimits::DEFAULT };
    let request = |bytes: usize| format!("{HEAD}0\r\nX: {}\r\n\r\n", "y".repeat(bytes - 7));
    check_with(request(41).as_bytes(), limits, &["POST / +chunked", "431 TrailersTooLarge"]);
    let value = "y".repeat(33);
    check_with(request(40).as_bytes(), limits, &["POST / +chunked", &format!("end X={value}")]);
    let lines = |lines: usize| format!("0\r\n{}\r\n", "X: y\r\n".repeat(lines));
    check_chunks(&lines(33), &["431 FieldsTooMany"]);
    check_chunks(&lines(32), &[&format!("end{}", " X=y".repeat(32))]);
}
