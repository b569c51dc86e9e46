//! RFC 9112 §9, RFC 9110 §7.8, §9.3.6 and §10.1.1: persistence, pipelining, upgrade, tunnel and
//! 100-continue.

use std::fmt::Write;

use crate::common::{check, read};
use vervet_http::field::FieldSlots;
use vervet_http::h1::state::State;
use vervet_http::h1::{
    Framing, HeadLimits, Length, Next, Received, ResponseHead, SendError, Server, StreamEnd,
    Violation,
};
use vervet_http::status::Status;

/// A server that was sent `request` and has read all of its head, and its end if there is no
/// content.
fn asked(request: &str) -> Server {
    let mut server = Server::new();
    let mut slots = FieldSlots::new();
    let received = server.receive(request.as_bytes(), &mut slots, &HeadLimits::DEFAULT);
    assert!(matches!(received, Ok(Received::Head { .. })), "{received:?}");
    let mut slots = FieldSlots::new();
    let received = server.receive(b"", &mut slots, &HeadLimits::DEFAULT);
    assert!(matches!(received, Ok(Received::End { .. } | Received::NeedMore)), "{received:?}");
    server
}

fn answer(server: &mut Server, status: u16, length: Length) -> String {
    let status = Status::new(status).unwrap();
    let mut encoded = Vec::new();
    status.write_line(&mut encoded);
    let head = ResponseHead { status, encoded: &encoded, length, date: b"" };
    let mut out = Vec::new();
    server.send_head(&mut out, &head).unwrap();
    String::from_utf8(out).unwrap()
}

/// The Connection line of an empty 200 to `request`, and what follows.
fn check_persistence(request: &str, line: Option<&str>, next: Next) {
    let mut server = asked(request);
    let head = answer(&mut server, 200, Length::Known(0));
    server.send_end(&mut Vec::new(), None).unwrap();
    let found = head.lines().find(|line| line.starts_with("Connection"));
    assert_eq!(found, line, "{request}");

    assert_eq!(server.start_next(), next, "{request}");
}

/// §9.3: "If the "close" connection option is present ... the connection will not persist"; 1.1
/// persists, 1.0 only by keep-alive.
#[test]
fn persists_by_version_and_option() {
    let close = Some("Connection: close");
    let keep = Some("Connection: keep-alive");
    check_persistence("GET / HTTP/1.0\r\n\r\n", close, Next::Close);
    check_persistence("GET / HTTP/1.0\r\nConnection: close\r\n\r\n", close, Next::Close);
    check_persistence(
        "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n",
        close,
        Next::Close,
    );
    check_persistence("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", keep, Next::Request);
    check_persistence("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", close, Next::Close);
    check_persistence(
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: x\r\nConnection: y, CLOSE\r\n\r\n",
        close,
        Next::Close,
    );
    check_persistence("GET / HTTP/1.1\r\nHost: a\r\n\r\n", None, Next::Request);
    check_persistence(
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
        None,
        Next::Request,
    );
    check_persistence(
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: closed, not-close\r\n\r\n",
        None,
        Next::Request,
    );
}

/// A1: the engine ends a connection after its last request, or when it drains, and says so in the
/// head.
#[test]
fn announces_a_close_of_its_own() {
    let mut server = asked("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    server.close_after_this();
    assert!(answer(&mut server, 200, Length::Known(0)).contains("Connection: close\r\n"));
    let mut server = Server::new();
    server.close_after_this();
    let mut slots = FieldSlots::new();
    let received =
        server.receive(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", &mut slots, &HeadLimits::DEFAULT);
    assert!(matches!(received, Ok(Received::Head { .. })));
    let head = answer(&mut server, 200, Length::Known(0));
    assert!(head.contains("\r\nConnection: close\r\n"), "{head}");
}

/// §9.3.2: "a server MUST send its responses in the same order". 100 requests in one write, split
/// at any byte.
#[test]
fn reads_pipelined_requests_in_order() {
    let (mut input, mut expected) = (String::new(), Vec::new());
    for number in 0..100 {
        write!(input, "GET /{number} HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        expected.push(format!("GET /{number}"));
        expected.push(String::from("end"));
    }
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check(&input, &expected);
}

/// §9.3: what follows the last request is not read.
#[test]
fn reads_nothing_after_the_last_request() {
    let next = "GET /b HTTP/1.1\r\nHost: a\r\n\r\n";
    check(
        &format!("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n{next}"),
        &["GET /", "end", "close"],
    );
    check(&format!("GET / HTTP/1.0\r\n\r\n{next}"), &["GET / (1.0)", "end", "close"]);
}

/// A request is not read before the one before it was answered.
#[test]
fn pauses_between_the_requests() {
    let mut server = asked("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    let mut slots = FieldSlots::new();
    let received =
        server.receive(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", &mut slots, &HeadLimits::DEFAULT);
    assert!(matches!(received, Ok(Received::Paused)));
    assert_eq!(server.start_next(), Next::Unfinished);
}

const EXPECTING: &str =
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";

/// RFC 9110 §10.1.1: one 100, before the content, and none without an expectation.
#[test]
fn continues_once_and_only_if_awaited() {
    let mut out = Vec::new();
    asked("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n").send_continue(&mut out);
    asked("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        .send_continue(&mut out);
    let mut begun = asked(EXPECTING);
    let mut slots = FieldSlots::new();
    assert!(matches!(
        begun.receive(b"h", &mut slots, &HeadLimits::DEFAULT),
        Ok(Received::Content { .. })
    ));
    begun.send_continue(&mut out);
    assert_eq!(out, b"");
    let mut server = asked(EXPECTING);
    server.send_continue(&mut out);
    server.send_continue(&mut out);
    assert_eq!(out, b"HTTP/1.1 100 Continue\r\n\r\n");
    assert!(!answer(&mut server, 200, Length::Known(0)).contains("Connection"));
}

/// A client that is refused while it waits may or may not send the content, so nothing after it can
/// be read.
#[test]
fn closes_when_it_answers_instead_of_continuing() {
    let mut server = asked(EXPECTING);
    assert!(answer(&mut server, 413, Length::Known(0)).contains("Connection: close\r\n"));
    server.send_end(&mut Vec::new(), None).unwrap();
    assert_eq!(server.start_next(), Next::Close);
}

/// An answer may end before the request does; the rest of the content is then read, or the
/// connection closed.
#[test]
fn may_answer_before_the_request_has_ended() {
    let mut server = asked("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n");
    answer(&mut server, 200, Length::Known(0));
    server.send_end(&mut Vec::new(), None).unwrap();
    assert_eq!(server.start_next(), Next::Unfinished);
    for expected in [2, 0] {
        let mut slots = FieldSlots::new();
        match server.receive(b"hi", &mut slots, &HeadLimits::DEFAULT) {
            Ok(Received::Content { consumed, .. } | Received::End { consumed, .. }) => {
                assert_eq!(consumed, expected);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(server.start_next(), Next::Request);
}

const UPGRADE: &str =
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";

/// RFC 9110 §15.2.2: 101 only to a client that asked, with `Connection: upgrade`; afterwards the
/// bytes are not ours.
#[test]
fn switches_protocols() {
    let mut server = asked(UPGRADE);
    assert_eq!(server.receiving(), State::MightSwitch);
    let head = answer(&mut server, 101, Length::Unknown);
    assert_eq!(head, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\n\r\n");
    let mut slots = FieldSlots::new();
    assert!(matches!(
        server.receive(b"\x81\x00", &mut slots, &HeadLimits::DEFAULT),
        Ok(Received::Opaque)
    ));
    assert_eq!(server.start_next(), Next::Switched);
}

/// A declined proposal changes nothing: what was pipelined after it is a request.
#[test]
fn declines_a_switch() {
    let mut server = asked(UPGRADE);
    answer(&mut server, 200, Length::Known(0));
    server.send_end(&mut Vec::new(), None).unwrap();
    assert_eq!(server.start_next(), Next::Request);
}

#[test]
fn switches_only_if_proposed() {
    let encoded = b"HTTP/1.1 101 Switching Protocols\r\n";
    let head = ResponseHead {
        status: Status::SWITCHING_PROTOCOLS,
        encoded,
        length: Length::Unknown,
        date: b"",
    };
    for request in [
        "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n",
        "GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
        "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
    ] {
        let mut out = Vec::new();
        assert_eq!(
            asked(request).send_head(&mut out, &head),
            Err(SendError::NotProposed),
            "{request}"
        );
        assert_eq!(out, b"");
    }
}

/// RFC 9110 §9.3.6: a 2xx to CONNECT opens the tunnel and has neither content nor framing fields;
/// others are as usual.
#[test]
fn opens_a_tunnel() {
    let mut server = asked("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(answer(&mut server, 200, Length::Known(5)), "HTTP/1.1 200 OK\r\n\r\n");
    assert_eq!(server.start_next(), Next::Switched);
    let mut server = asked("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(
        answer(&mut server, 405, Length::Known(5)),
        "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 5\r\n\r\n"
    );
}

/// RFC 9112 §8: a stream that ends inside a message.
#[test]
fn distinguishes_an_end_between_messages_from_one_inside() {
    let end = |input: &str| {
        let mut server = Server::new();
        let mut slots = FieldSlots::new();
        let _ = server.receive(input.as_bytes(), &mut slots, &HeadLimits::DEFAULT);
        server.end_of_stream(input.as_bytes())
    };
    assert_eq!(end("GET / HT"), Err(Violation::Truncated));
    assert_eq!(
        end("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"),
        Err(Violation::Truncated)
    );
    assert_eq!(end(""), Ok(StreamEnd::BetweenMessages));
    assert_eq!(end("\r\n"), Ok(StreamEnd::BetweenMessages));
}

/// §9.6: a client that has shut down its sending side still gets its answer, and then the
/// connection ends.
#[test]
fn answers_a_client_that_stopped_sending() {
    let mut server = asked("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(server.end_of_stream(b""), Ok(StreamEnd::BetweenMessages));
    assert!(answer(&mut server, 200, Length::Known(0)).contains("Connection: close\r\n"));
    server.send_end(&mut Vec::new(), None).unwrap();
    assert_eq!(server.start_next(), Next::Close);
}

/// An answer to no request (408, 503) is possible and the last one.
#[test]
fn may_speak_first_and_then_closes() {
    let mut server = Server::new();
    assert!(answer(&mut server, 408, Length::Known(0)).contains("Connection: close\r\n"));
    server.send_end(&mut Vec::new(), None).unwrap();
    assert_eq!(server.start_next(), Next::Close);
    let mut slots = FieldSlots::new();
    let late =
        server.receive(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", &mut slots, &HeadLimits::DEFAULT);
    assert!(matches!(late, Ok(Received::Closed)), "{late:?}");
}

/// RFC 9110 §15.2: 1xx is interim, any number of them, and never to HTTP/1.0.
#[test]
fn sends_interim_heads() {
    let hints = |server: &mut Server| {
        let mut out = Vec::new();
        let head = ResponseHead {
            status: Status::EARLY_HINTS,
            encoded: b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n",
            length: Length::Unknown,
            date: b"Date: x\r\n",
        };
        assert_eq!(server.send_head(&mut out, &head), Ok(Framing::None));
        out
    };
    assert_eq!(hints(&mut asked("GET / HTTP/1.0\r\n\r\n")), b"");
    let mut server = asked("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    for _ in 0..2 {
        assert_eq!(hints(&mut server), b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
    }
    answer(&mut server, 200, Length::Known(0));
}

/// A head of n bytes costs n however it comes: 32 KiB byte by byte within the time of a unit test.
#[test]
fn reads_a_large_head_byte_by_byte() {
    let head = format!(
        "GET / HTTP/1.1\r\nHost: a\r\n{}\r\n",
        format!("X: {}\r\n", "y".repeat(250)).repeat(120)
    );
    let bytes: Vec<&[u8]> = head.as_bytes().chunks(1).collect();
    assert_eq!(read(&bytes, HeadLimits::DEFAULT), ["GET /", "end"]);
}
