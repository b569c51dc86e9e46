//! RFC 9112 §6 and RFC 9110 §6.4, §8.6 from the sender's side: what a response looks like on the
//! wire.

use vervet_http::field::{FieldBlock, FieldSlots, Known};
use vervet_http::h1::state::{Event, Illegal, Role, State};
use vervet_http::h1::{
    Framing, HeadLimits, Length, Next, Received, ResponseHead, SendError, Server,
};
use vervet_http::status::Status;

fn asked(line: &str) -> Server {
    let mut server = Server::new();
    let request = format!("{line}\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
    for input in [request.as_bytes(), b""] {
        let mut slots = FieldSlots::new();
        let received = server.receive(input, &mut slots, &HeadLimits::DEFAULT);
        assert!(
            matches!(received, Ok(Received::Head { .. } | Received::End { .. })),
            "{received:?}"
        );
    }
    server
}

fn head(status: Status, length: Length) -> ResponseHead<'static> {
    ResponseHead { status, encoded: b"S\r\nX: y\r\n", length, date: b"Date: d\r\n" }
}

/// The framing and Connection lines, the content and the rest, of a response whose handler sends
/// `hello` in two pieces.
fn check(line: &str, status: Status, length: Length, expected: &str) {
    let mut server = asked(line);
    let mut out = Vec::new();
    server.send_head(&mut out, &head(status, length)).unwrap();
    for piece in ["he", "", "llo"] {
        server.send_content(&mut out, piece.as_bytes()).unwrap();
    }
    server.send_end(&mut out, None).unwrap();
    let text = String::from_utf8(out).unwrap();
    let rest = text.strip_prefix("S\r\nX: y\r\nDate: d\r\n");
    assert_eq!(rest, Some(expected), "{line} {status:?} {length:?}");
}

const GET: &str = "GET / HTTP/1.1";
const HEAD: &str = "HEAD / HTTP/1.1";
const OLD: &str = "GET / HTTP/1.0";
const FIVE: Length = Length::Known(5);

/// RFC 9110 §8.6: no Content-Length in 204 (and 1xx); §6.4.1: no content for HEAD, 204, 304
/// (gunicorn#3413).
#[test]
fn sends_no_content_where_none_is_allowed() {
    check(GET, Status::NO_CONTENT, FIVE, "\r\n");
    check(GET, Status::NO_CONTENT, Length::Unknown, "\r\n");
    check(GET, Status::NOT_MODIFIED, FIVE, "\r\n");
    check(GET, Status::NOT_MODIFIED, Length::Unknown, "\r\n");
    check(GET, Status::RESET_CONTENT, FIVE, "Content-Length: 0\r\n\r\n");
    check(HEAD, Status::OK, FIVE, "Content-Length: 5\r\n\r\n");
    check(HEAD, Status::OK, Length::Unknown, "\r\n");
    check(HEAD, Status::NO_CONTENT, FIVE, "\r\n");
    check("HEAD / HTTP/1.0", Status::OK, Length::Unknown, "Connection: keep-alive\r\n\r\n");
}

/// §6.1: chunks only to HTTP/1.1; §6.3, 8: an HTTP/1.0 client reads until close.
#[test]
fn frames_content_by_what_is_known() {
    check(GET, Status::OK, FIVE, "Content-Length: 5\r\n\r\nhello");
    check(OLD, Status::OK, FIVE, "Content-Length: 5\r\nConnection: keep-alive\r\n\r\nhello");
    check(
        GET,
        Status::OK,
        Length::Unknown,
        "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
    );
    check(OLD, Status::OK, Length::Unknown, "Connection: close\r\n\r\nhello");
    let other = Status::new(999).unwrap();
    check(GET, other, FIVE, "Content-Length: 5\r\n\r\nhello");
}

#[test]
fn holds_a_handler_to_its_length() {
    let mut server = asked(GET);
    let mut out = Vec::new();
    server.send_head(&mut out, &head(Status::OK, FIVE)).unwrap();
    let sent = out.len();
    assert_eq!(server.send_content(&mut out, b"hello!"), Err(SendError::TooLong { left: 5 }));
    assert_eq!(server.sent(6), Err(SendError::TooLong { left: 5 }));
    server.sent(4).unwrap();
    assert_eq!(server.send_end(&mut out, None), Err(SendError::TooShort { left: 1 }));
    assert_eq!(out.len(), sent);
    server.sent(1).unwrap();
    server.send_end(&mut out, None).unwrap();
    assert_eq!(server.start_next(), Next::Close);
}

#[test]
fn counts_no_chunks_that_it_did_not_write() {
    let mut server = asked(GET);
    assert_eq!(
        server.send_head(&mut Vec::new(), &head(Status::OK, Length::Unknown)),
        Ok(Framing::Chunked)
    );
    assert_eq!(server.sent(1), Err(SendError::NeedsChunks));
}

/// RFC 9112 §7.1: the size in hexadecimal, over all its digits.
#[test]
fn writes_chunk_sizes() {
    for (size, line) in [
        (1, "1"),
        (15, "f"),
        (16, "10"),
        (255, "ff"),
        (256, "100"),
        (65536, "10000"),
        (0xABCDE, "abcde"),
    ] {
        let mut server = asked(GET);
        server.send_head(&mut Vec::new(), &head(Status::OK, Length::Unknown)).unwrap();
        let mut out = Vec::new();
        server.send_content(&mut out, &vec![b'x'; size]).unwrap();
        assert!(out.starts_with(format!("{line}\r\nx").as_bytes()) && out.ends_with(b"x\r\n"));
        assert_eq!(out.len(), line.len() + 2 + size + 2);
    }
}

/// RFC 9110 §6.5.1: trailers need chunks; without them they are dropped.
#[test]
fn sends_trailers_after_chunks_only() {
    let mut trailers = FieldBlock::new();
    trailers.push(b"X-Sum", b"1").unwrap();
    trailers.push_known(Known::ETag, b"\"e\"").unwrap();
    for (length, expected) in
        [(Length::Unknown, "0\r\nX-Sum: 1\r\nETag: \"e\"\r\n\r\n"), (Length::Known(0), "")]
    {
        let mut server = asked(GET);
        server.send_head(&mut Vec::new(), &head(Status::OK, length)).unwrap();
        let mut out = Vec::new();
        server.send_end(&mut out, Some(&trailers)).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}

/// Calls in an order that the table does not have change nothing and write nothing.
#[test]
fn refuses_calls_out_of_order() {
    let illegal =
        |state, event| Err(SendError::Illegal(Illegal { role: Role::Server, state, event }));
    let mut out = Vec::new();
    let mut server = Server::new();
    assert_eq!(server.send_content(&mut out, b"x"), illegal(State::Idle, Event::Content));
    assert_eq!(server.send_end(&mut out, None), illegal(State::Idle, Event::End));
    let mut server = asked(GET);
    assert_eq!(server.send_end(&mut out, None), illegal(State::SendResponse, Event::End));
    assert_eq!(out, b"");
    server.send_head(&mut out, &head(Status::OK, Length::Known(0))).unwrap();
    let sent = out.len();
    assert!(server.send_head(&mut out, &head(Status::OK, Length::Known(0))).is_err());
    server.send_end(&mut out, None).unwrap();
    assert_eq!(server.send_content(&mut out, b"x"), illegal(State::Done, Event::Content));
    assert_eq!(server.sent(1), illegal(State::Done, Event::Content));
    assert_eq!(out.len(), sent);
}
