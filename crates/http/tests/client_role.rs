//! The client role: RFC 9112 §4, §6.3 and §9 from the side that reads responses.

use crate::common::{AtEnd, check_answer};
use vervet_http::field::{FieldBlock, FieldSlots};
use vervet_http::h1::state::{Proposal, State};
use vervet_http::h1::{
    Client, Framing, HeadLimits, Length, Next, Received, RequestToSend, SendError, Violation,
};
use vervet_http::method::Method;

fn check_get(input: &str, expected: &[&str]) {
    check_answer("GET", input, AtEnd::Open, expected);
}

fn ok(fields: &str, content: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{fields}\r\n{content}")
}

/// §4: `status-line = HTTP-version SP status-code SP [ reason-phrase ]`.
#[test]
fn refuses_malformed_status_lines() {
    for line in [
        "HTTP/1.1 20 OK",
        "HTTP/1.1 2000 OK",
        "HTTP/1.1  200 OK",
        "HTTP/1.1 099 OK",
        "HTTP/1.1 abc OK",
        "HTTP/1.1",
        "HTTP/1.1 200 \u{1}",
    ] {
        check_get(&format!("{line}\r\n\r\n"), &["502 StatusLine"]);
    }
    check_get("http/1.1 200 OK\r\n\r\n", &["400 VersionMalformed"]);
    check_get("HTTP/2.0 200 OK\r\n\r\n", &["505 VersionUnsupported"]);
    check_get("\r\nHTTP/1.1 200 OK\r\n\r\n", &["502 StatusLine"]);
    check_get("HTTP/1.1 200 OK\n\r\n", &["400 BareLf"]);
    check_get("HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n", &["400 FieldFolded"]);
    check_get("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", &["200", "end", "Request"]);
    check_get("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", &["200", "end", "Request"]);
    check_get("HTTP/1.1 999 \u{e9}\r\nContent-Length: 0\r\n\r\n", &["999", "end", "Request"]);
}

/// §6.3: a response that two readers could end in two places (`FreeUnit` 1.36: a repeated upstream
/// Content-Length).
#[test]
fn refuses_doubtful_framing() {
    for (fields, violation) in [
        ("Content-Length: 5\r\nContent-Length: 5\r\n", "400 ContentLengthRepeated"),
        ("Content-Length: 5, 5\r\n", "400 ContentLengthRepeated"),
        ("Content-Length: -5\r\n", "400 ContentLengthMalformed"),
        ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "400 TransferEncodingWithLength"),
        ("Transfer-Encoding: gzip\r\n", "400 TransferEncodingNotChunked"),
        ("Transfer-Encoding: gzip, chunked\r\n", "501 TransferEncodingUnknown"),
    ] {
        check_get(&ok(fields, "hello"), &[violation]);
        check_answer("HEAD", &ok(fields, ""), AtEnd::Open, &[violation]);
    }
    check_get(
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        &["400 TransferEncodingInOldVersion"],
    );
    check_get(
        "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
        &["502 TransferEncodingUnexpected"],
    );
    check_get(
        "HTTP/1.1 100 Continue\r\nTransfer-Encoding: chunked\r\n\r\n",
        &["502 TransferEncodingUnexpected"],
    );
}

/// §6.3, 1: HEAD, 1xx, 204 and 304 end with the head, whatever their fields say.
#[test]
fn knows_responses_without_content() {
    check_answer("HEAD", &ok("Content-Length: 5\r\n", ""), AtEnd::Open, &["200", "end", "Request"]);
    check_answer(
        "HEAD",
        &ok("Transfer-Encoding: chunked\r\n", ""),
        AtEnd::Open,
        &["200", "end", "Request"],
    );
    check_answer("HEAD", &ok("", ""), AtEnd::Open, &["200", "end", "Request"]);
    for status in ["204 No Content", "304 Not Modified"] {
        check_get(
            &format!("HTTP/1.1 {status}\r\nContent-Length: 5\r\n\r\n"),
            &[&status[..3], "end", "Request"],
        );
    }
    check_get(
        "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
        &["304", "end", "Request"],
    );
}

/// §6.3, 6 to 8.
#[test]
fn reads_content_by_its_framing() {
    check_get(
        &ok("Content-Length: 5\r\n", "hello"),
        &["200 +5", "content hello", "end", "Request"],
    );
    check_get(
        &ok("Transfer-Encoding: Chunked\r\n", "5\r\nhello\r\n0\r\nX: y\r\n\r\n"),
        &["200 +chunked", "content hello", "end X=y", "Request"],
    );
    check_answer(
        "GET",
        &ok("", "hello"),
        AtEnd::Close,
        &["200 +until-close", "content hello", "OfMessage"],
    );
    check_answer("GET", &ok("", ""), AtEnd::Close, &["200 +until-close", "OfMessage"]);
}

/// §8: "a message body ... is incomplete if" the stream ends before the length or the last chunk.
#[test]
fn reports_truncated_responses() {
    check_answer("GET", "", AtEnd::Close, &["400 Truncated"]);
    check_answer("GET", "HTTP/1.1 200 OK\r\n", AtEnd::Close, &["400 Truncated"]);
    check_answer("GET", "HTTP/1.1 100 Continue\r\n\r\n", AtEnd::Close, &["100", "400 Truncated"]);
    check_answer(
        "GET",
        &ok("Content-Length: 5\r\n", "hell"),
        AtEnd::Close,
        &["200 +5", "content hell", "400 Truncated"],
    );
    check_answer(
        "GET",
        &ok("Transfer-Encoding: chunked\r\n", "1\r\na\r\n0\r\n"),
        AtEnd::Close,
        &["200 +chunked", "content a", "400 Truncated"],
    );
}

/// RFC 9110 §15.2: "A client MUST be able to parse one or more 1xx responses received prior to a
/// final response".
#[test]
fn reads_interim_heads() {
    let input = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n";
    check_get(input, &["100", "103", "204", "end", "Request"]);
}

/// §9.2: "If a client receives data on a connection that doesn't have outstanding requests, the
/// client MUST NOT consider that data to be a valid response".
#[test]
fn refuses_answers_to_nothing() {
    let answer = ok("Content-Length: 0\r\n", "");
    check_get(&format!("{answer}{answer}"), &["200", "end", "Request", "502 Unsolicited"]);
    check_get(
        &ok("Content-Length: 4\r\n", "hello"),
        &["200 +4", "content hell", "end", "Request", "502 Unsolicited"],
    );
    check_answer(
        "HEAD",
        &ok("Content-Length: 5\r\n", "h"),
        AtEnd::Open,
        &["200", "end", "Request", "502 Unsolicited"],
    );
    let mut slots = FieldSlots::new();
    let received = Client::new().receive(b"H", &mut slots, &HeadLimits::DEFAULT);
    assert_eq!(received.err(), Some(Violation::Unsolicited));
}

/// §9.3: the server ends the connection by option, by version, or by content that ends with it.
#[test]
fn does_not_reuse_a_connection_that_the_server_closes() {
    for input in [
        ok("Connection: close\r\nContent-Length: 0\r\n", ""),
        String::from("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ] {
        let version = if input.starts_with("HTTP/1.0") { "200 (1.0)" } else { "200" };
        check_get(&input, &[version, "end"]);
    }
    let kept = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n";
    check_get(kept, &["200 (1.0)", "end", "Request"]);
}

/// RFC 9110 §9.3.6: after a 2xx to CONNECT comes the tunnel; framing fields "MUST" be ignored.
#[test]
fn enters_a_tunnel() {
    check_answer(
        "CONNECT",
        &ok("Content-Length: 5\r\n", "tunnel"),
        AtEnd::Open,
        &["200", "content tunnel"],
    );
    check_answer(
        "CONNECT",
        "HTTP/1.1 407 X\r\nContent-Length: 2\r\n\r\nno",
        AtEnd::Open,
        &["407 +2", "content no", "end", "Request"],
    );
}

/// RFC 9110 §7.8: "A server MUST NOT switch to a protocol that was not indicated by the client".
#[test]
fn switches_only_after_a_proposal() {
    let input =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n";
    check_get(input, &["502 SwitchUnasked"]);
    check_answer("CONNECT", input, AtEnd::Open, &["502 SwitchUnasked"]);
    let mut client = Client::new();
    let request = RequestToSend { proposal: Proposal::Pending, ..request("GET") };
    let mut out = Vec::new();
    client.send_head(&mut out, &request).unwrap();
    client.send_end(&mut out, None).unwrap();
    assert_eq!(out, b"GET /a HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\n\r\n");
    let mut slots = FieldSlots::new();
    let received = client.receive(input.as_bytes(), &mut slots, &HeadLimits::DEFAULT);
    assert!(matches!(received, Ok(Received::Head { .. })), "{received:?}");
    assert_eq!((client.sending(), client.receiving()), (State::Switched, State::Switched));
    assert_eq!(client.start_next(), Next::Switched);
}

fn request(method: &str) -> RequestToSend<'_> {
    RequestToSend {
        method,
        target: b"/a",
        encoded: b"Host: a\r\n",
        content: None,
        proposal: Proposal::None,
    }
}

/// §11.1: nothing in a request line can begin another line.
#[test]
fn writes_no_injected_request_line() {
    for method in ["", "G T", "GET\r\nX:", "G\u{e9}T"] {
        assert_eq!(
            Client::new().send_head(&mut Vec::new(), &request(method)),
            Err(SendError::RequestLine)
        );
    }
    for target in ["", "/ HTTP/1.1\r\nX: y", "/a b", "/\u{e9}", "/\n", "/\u{7f}"] {
        let request = RequestToSend { target: target.as_bytes(), ..request("GET") };
        let mut out = Vec::new();
        assert_eq!(Client::new().send_head(&mut out, &request), Err(SendError::RequestLine));
        assert_eq!(out, b"");
    }
}

#[test]
fn writes_requests() {
    let write = |content: Option<Length>, framing: Framing| {
        let (mut client, mut out) = (Client::new(), Vec::new());
        let request = RequestToSend { content, ..request("POST") };
        assert_eq!(client.send_head(&mut out, &request), Ok(framing));
        client.send_content(&mut out, b"hi").unwrap();
        let mut trailers = FieldBlock::new();
        trailers.push(b"X", b"y").unwrap();
        client.send_end(&mut out, Some(&trailers)).unwrap();
        String::from_utf8(out).unwrap()
    };
    let start = "POST /a HTTP/1.1\r\nHost: a\r\n";
    assert_eq!(write(None, Framing::None), format!("{start}\r\n"));
    assert_eq!(
        write(Some(Length::Known(2)), Framing::Length(2)),
        format!("{start}Content-Length: 2\r\n\r\nhi")
    );
    let chunked = format!("{start}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX: y\r\n\r\n");
    assert_eq!(write(Some(Length::Unknown), Framing::Chunked), chunked);
}

#[test]
fn announces_its_last_request() {
    let (mut client, mut out) = (Client::new(), Vec::new());
    client.close_after_this();
    client.send_head(&mut out, &request("GET")).unwrap();
    assert_eq!(out, b"GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    client.send_end(&mut out, None).unwrap();
    let mut slots = FieldSlots::new();
    let answer = b"HTTP/1.1 204 No Content\r\n\r\n";
    assert!(client.receive(answer, &mut slots, &HeadLimits::DEFAULT).is_ok());
    let mut slots = FieldSlots::new();
    assert!(matches!(
        client.receive(b"", &mut slots, &HeadLimits::DEFAULT),
        Ok(Received::End { .. })
    ));
    assert_eq!(client.start_next(), Next::Close);
}

/// Bytes that were made once are sent by others; the machine only needs to know of what kind they
/// were.
#[test]
fn counts_a_request_that_went_out_whole() {
    let mut client = Client::new();
    client.sent_whole(Method::Head).unwrap();
    assert!(client.sent_whole(Method::Get).is_err(), "one at a time");
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    let mut slots = FieldSlots::new();
    let received = client.receive(answer, &mut slots, &HeadLimits::DEFAULT);
    assert!(matches!(received, Ok(Received::Head { consumed: 38, .. })));
    let mut slots = FieldSlots::new();
    let received = client.receive(b"", &mut slots, &HeadLimits::DEFAULT);
    assert!(matches!(received, Ok(Received::End { .. })), "HEAD has no content");
    assert_eq!(client.start_next(), Next::Request);
    client.sent_whole(Method::Get).unwrap();
}
