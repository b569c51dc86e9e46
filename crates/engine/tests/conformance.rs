//! What the engine answers on the wire to valid and invalid requests. The rows of the parser are in
//! `vervet-http`; here: the status, the close, and that nothing after an error is answered.

use crate::common::{Server, echo_target, get, target_of};
use vervet_engine::counters::Counter;
use vervet_engine::limits::Limits;
use vervet_engine::{Exchange, Outcome, Response};

const SMUGGLED: &str = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

/// Reads all content, then answers how much it was.
fn read_all(mut exchange: Exchange<'_>) -> Outcome {
    let Some(mut content) = exchange.content() else {
        return echo_target(exchange);
    };
    let spawner = exchange.spawner().clone();
    let (responder, outcome) = exchange.later();
    spawner.spawn(async move {
        let mut bytes = 0;
        while let Some(Ok(chunk)) = content.read().await {
            bytes += chunk.len();
        }
        responder.send(Response::text(format!("{bytes} bytes")));
    });
    outcome
}

/// Answers before any content is read.
#[allow(clippy::needless_pass_by_value, reason = "what a handler is")]
fn read_nothing(exchange: Exchange<'_>) -> Outcome {
    Response::text(target_of(&exchange)).into()
}

type Handler = fn(Exchange<'_>) -> Outcome;

/// The only answer is of this status and the last one.
#[track_caller]
fn check_with(handler: Handler, request: impl AsRef<[u8]>, status: u16) {
    let server = Server::start(Limits::default(), handler);
    let mut client = server.connect();
    client.send([request.as_ref(), SMUGGLED.as_bytes()].concat());
    let shown = String::from_utf8_lossy(request.as_ref()).into_owned();
    let answer = client.read_response();
    assert_eq!(answer.status, status, "{shown:?}");
    if status >= 400 {
        assert_eq!(answer.field("Connection"), Some("close"), "{shown:?}");
    }
    client.finish();
    client.expect_close();
    server.wait_for_connections(0);
    let answers: u64 = server
        .running()
        .counters()
        .flat_map(|counters| counters.responses.iter().map(Counter::get))
        .sum();
    assert_eq!(answers, 1, "{shown:?}");
}

/// Rejects the request and parses nothing after it.
#[track_caller]
fn refuses(request: impl AsRef<[u8]>, status: u16) {
    check_with(read_all, request, status);
}

/// Answered, and so is what follows.
#[track_caller]
fn accepts(request: impl AsRef<[u8]>, text: &str) {
    for (handler, expected) in [(read_all as Handler, Some(text)), (read_nothing, None)] {
        let server = Server::start(Limits::default(), handler);
        let mut client = server.connect();
        client.send([request.as_ref(), get("/next").as_bytes()].concat());
        let answer = client.read_response();
        assert_eq!(answer.status, 200);
        assert!(expected.is_none_or(|text| answer.text() == text), "{answer:?}");
        assert_eq!(client.read_response().text(), "/next");
    }
}

fn with_fields(fields: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n")
}

fn chunked(content: &str) -> String {
    with_fields("Transfer-Encoding: chunked\r\n") + content
}

/// RFC 9112 §3: "method SP request-target SP HTTP-version".
#[test]
fn request_lines() {
    refuses("GET /\r\n\r\n", 400);
    refuses("GET / \r\nHost: a\r\n\r\n", 400);
    refuses("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400);
    refuses("GET / a HTTP/1.1\r\nHost: a\r\n\r\n", 400);
    refuses("G@T / HTTP/1.1\r\nHost: a\r\n\r\n", 400);
    refuses("GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n", 400);
    refuses("GET / HTTP/1.1\nHost: a\n\n", 400);
    refuses([0x16, 0x03, 0x01, 0x02, 0x00], 400);
    let over = "x".repeat(8192);
    refuses(format!("GET /{over} HTTP/1.1\r\nHost: a\r\n\r\n"), 414);
    accepts(
        format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", &over[1..]),
        &format!("/{}", &over[1..]),
    );
}

/// RFC 9110 §15.6.6, and RFC 9112 §2.3: the name is case-sensitive, so `http/1.1` is malformed, not
/// another version.
#[test]
fn versions() {
    refuses("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505);
    refuses("GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505);
    refuses("GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505);
    refuses("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505);
    refuses("GET / HTTP/11\r\nHost: a\r\n\r\n", 400);
    refuses("GET / http/1.1\r\nHost: a\r\n\r\n", 400);
    refuses("GET / HTTP/1\r\nHost: a\r\n\r\n", 400);
}

/// RFC 9112 §3.2: "A server MUST respond with a 400 (Bad Request) status code to any HTTP/1.1
/// request message that lacks a Host header field and to any request message that contains more
/// than one Host header field line or a Host header field with an invalid field value."
#[test]
fn hosts() {
    refuses("GET / HTTP/1.1\r\n\r\n", 400);
    refuses("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400);
    refuses("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", 400);
    refuses("GET / HTTP/1.1\r\nHost: a:b\r\n\r\n", 400);
    refuses("GET / HTTP/1.1\r\nHost: a:-1\r\n\r\n", 400);
    refuses("GET / HTTP/1.1\r\nHost: [::1]:x\r\n\r\n", 400);
    refuses("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400);
    refuses("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", 400);
    accepts("GET / HTTP/1.1\r\nHOST: a:80\r\n\r\n", "/");
    accepts("GET / HTTP/1.1\r\nhost:[::1]:80\r\n\r\n", "/");
}

/// RFC 9112 §5 and §2.2.
#[test]
fn field_lines() {
    refuses(with_fields("X : y\r\n"), 400);
    refuses(with_fields("X y\r\n"), 400);
    refuses(with_fields(": y\r\n"), 400);
    refuses(with_fields("X: y\r\n folded\r\n"), 400);
    refuses(with_fields("X: y\r\n\tfolded\r\n"), 400);
    refuses(with_fields("X: a\x00b\r\n"), 400);
    refuses(with_fields("X: a\rb\r\n"), 400);
    refuses(with_fields("X: y\n"), 400);
    refuses("GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400);
    refuses(with_fields("Content-Type: a/b\r\nContent-Type: a/b\r\n"), 400);
    // 413 was for content; fields have a status of their own (RFC 6585 §5).
    refuses(with_fields(&format!("X: {}\r\n", "y".repeat(32 * 1024))), 431);
    refuses(with_fields(&"X: y\r\n".repeat(100)), 431);
    accepts(with_fields(&"X: y\r\n".repeat(98)), "/");
}

/// RFC 9112 §6.3, the rules that request smuggling lives on.
#[test]
fn lengths() {
    refuses(with_fields("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n", 400);
    refuses(with_fields("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n") + "0\r\n\r\n", 400);
    refuses(with_fields("Content-Length: 5\r\nContent-Length: 6\r\n") + "abcde", 400);
    // Equal lengths may be accepted as one; we reject them, since the sender is confused already.
    refuses(with_fields("Content-Length: 5\r\nContent-Length: 5\r\n") + "abcde", 400);
    refuses(with_fields("Content-Length: 5, 5\r\n") + "abcde", 400);
    refuses(with_fields("Content-Length: +5\r\n") + "abcde", 400);
    refuses(with_fields("Content-Length: -1\r\n"), 400);
    refuses(with_fields("Content-Length: 0x5\r\n") + "abcde", 400);
    refuses(with_fields("Content-Length: 5 5\r\n") + "abcde", 400);
    refuses(with_fields("Content-Length:\r\n"), 400);
    refuses(with_fields("Content-Length: 99999999999999999999\r\n"), 413);
    refuses(with_fields("Content-Length: 1048577\r\n"), 413);
    accepts(with_fields("Content-Length: 005\r\n") + "abcde", "5 bytes");
    accepts(with_fields("content-LENGTH:5\r\n") + "abcde", "5 bytes");
    // No length and no coding: no content, whatever the method (RFC 9112 §6.3 rule 6); 411 is for a
    // handler to say.
    accepts(with_fields(""), "/");
}

/// RFC 9112 §6.1.
#[test]
fn transfer_codings() {
    refuses(with_fields("Transfer-Encoding: gzip\r\n") + "0\r\n\r\n", 400);
    refuses(with_fields("Transfer-Encoding: chunked, gzip\r\n") + "0\r\n\r\n", 400);
    refuses(with_fields("Transfer-Encoding: chunked, chunked\r\n") + "0\r\n\r\n", 400);
    refuses(with_fields("Transfer-Encoding: xchunked\r\n") + "0\r\n\r\n", 400);
    refuses(
        with_fields("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n") + "0\r\n\r\n",
        400,
    );
    refuses(with_fields("Transfer-Encoding: gzip, chunked\r\n") + "0\r\n\r\n", 501);
    refuses("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400);
    accepts(with_fields("Transfer-Encoding: CHUNKED\r\n") + "0\r\n\r\n", "0 bytes");
}

const BROKEN_CHUNKS: &[(&str, u16)] = &[
    ("x\r\n", 400),
    ("\r\n", 400),
    (" 5\r\nabcde\r\n0\r\n\r\n", 400),
    ("5 \r\nabcde\r\n0\r\n\r\n", 400),
    ("0x5\r\nabcde\r\n0\r\n\r\n", 400),
    ("-5\r\nabcde\r\n0\r\n\r\n", 400),
    ("5\nabcde\r\n0\r\n\r\n", 400),
    ("5\r\nabcde\n0\r\n\r\n", 400),
    ("5\r\nabcdeX\r\n0\r\n\r\n", 400),
    ("5\r\nabcde0\r\n\r\n", 400),
    ("5;a\nb\r\nabcde\r\n0\r\n\r\n", 400),
    ("5;a\rb\r\nabcde\r\n0\r\n\r\n", 400),
    // Without the last CRLF the next request would be read as a trailer, which it cannot be.
    ("5\r\nabcde\r\n0\r\n", 400),
    ("5\r\nabcde\r\n0\r\nX: y\r\n", 400),
    ("5\r\nabcde\r\n0\r\nX: y\n\r\n", 400),
    ("5\r\nabcde\r\n0\r\nX : y\r\n\r\n", 400),
    ("5\r\nabcde\r\n0\r\nContent-Length: 5\r\n\r\n", 400),
    ("5\r\nabcde\r\n0\r\nHost: b\r\n\r\n", 400),
    ("fffffffffffffffff\r\n", 413),
];

/// RFC 9112 §7.1.
#[test]
fn chunks() {
    for &(content, status) in BROKEN_CHUNKS {
        refuses(chunked(content), status);
    }
    accepts(chunked("0\r\n\r\n"), "0 bytes");
    accepts(chunked("5\r\nabcde\r\n0\r\n\r\n"), "5 bytes");
    accepts(chunked("A\r\nabcdefghij\r\n00\r\n\r\n"), "10 bytes");
    accepts(chunked("5;name=\"v;\"\r\nabcde\r\n0;last\r\nX: y\r\n\r\n"), "5 bytes");
}

/// An answer that was given before its request broke is the only one; the request still ends the
/// connection.
#[test]
fn chunks_that_are_invalid_after_their_answer() {
    for &(content, _) in BROKEN_CHUNKS {
        check_with(read_nothing, chunked(content), 200);
    }
}

/// RFC 9112 §2.2: an empty line before a request is skipped.
#[test]
fn empty_lines_before_a_request() {
    accepts(format!("\r\n{}", get("/")), "/");
    refuses(format!("\r\n\r\n{}", get("/")), 400);
}

/// RFC 9112 §8: truncated content is an error of the content; the handler chooses the answer.
#[test]
fn content_shorter_than_announced() {
    for request in [
        with_fields("Content-Length: 10\r\n") + "abcde",
        chunked("a\r\nabcde"),
        chunked("5\r\nabcde\r\n"),
        chunked("5\r\nabcde\r\n0\r\n"),
    ] {
        let server = Server::start(Limits::default(), read_all);
        let mut client = server.connect();
        client.send(&request);
        client.finish();
        let answer = client.read_response();
        assert_eq!(answer.text(), "5 bytes", "{request:?}");
        client.expect_close();
    }
}

/// RFC 9110 §15.5.2: every final answer of the engine itself is complete: a date, a type, a length.
#[test]
fn answers_of_the_engine_are_complete() {
    let server = Server::start(Limits::default(), echo_target);
    let mut client = server.connect();
    let answer = client.exchange("GET / HTTP/1.1\r\n\r\n");
    assert_eq!((answer.status, answer.reason.as_str()), (400, "Bad Request"));
    assert_eq!(answer.field("Content-Type"), Some("text/plain; charset=utf-8"));
    assert!(answer.field("Date").is_some());
    assert_eq!(
        answer.text(),
        "400 Bad Request: peer sent no Host in an HTTP/1.1 request (RFC 9112 §3.2)\n"
    );
}
