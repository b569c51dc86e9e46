//! Answers whose content is produced while it is sent, by other threads: framing, back-pressure,
//! aborts; and connections that switch protocols.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{LATE, Server, get, noise, target_of};
use bytes::Bytes;
use vervet_engine::http::field::FieldBlock;
use vervet_engine::http::field::Known;
use vervet_engine::http::method::Method;
use vervet_engine::http::status::Status;
use vervet_engine::limits::Limits;
use vervet_engine::pipe::{ContentError, ContentReader, ContentSender, Read, TrySendError};
use vervet_engine::{Content, Exchange, Outcome, Response};
use vervet_testkit::{Framing, PATIENCE, RawClient, sha256_hex};

/// Every answer is a stream whose sender the test gets; the length stands in the target: `/5`, or
/// `/` for unknown.
fn hand_over()
-> (impl FnMut(Exchange<'_>) -> Outcome + Clone + Send + Sync + 'static, Receiver<ContentSender>) {
    let (given, senders) = mpsc::sync_channel(8);
    let handler = move |exchange: Exchange<'_>| {
        let (sender, reader) = exchange.stream();
        given.send(sender).unwrap();
        let length = target_of(&exchange)[1..].parse().ok();
        Response::new(Status::OK).content(Content::Stream { length, reader }).into()
    };
    (handler, senders)
}

fn send(sender: &mut ContentSender, text: &'static str) {
    sender.send_blocking(Bytes::from_static(text.as_bytes())).unwrap();
}

/// What a request gets from a stream of these chunks.
#[track_caller]
fn check(request: &str, chunks: &[&'static str], framing: Framing, persists: bool) {
    let (handler, senders) = hand_over();
    let server = Server::start(Limits::default(), handler);
    let mut client = server.connect();
    client.send(request);
    let mut sender = senders.recv_timeout(PATIENCE).unwrap();
    for chunk in chunks {
        send(&mut sender, chunk);
    }
    sender.finish(None);
    let response = client.read_response();
    assert_eq!(response.text(), chunks.concat(), "{request}");
    assert_eq!(response.framing, framing, "{request}");
    if persists {
        client.send(get("/2"));
        send(&mut senders.recv_timeout(PATIENCE).unwrap(), "ab");
        assert_eq!(client.read_response().text(), "ab");
    } else {
        client.expect_close();
    }
}

#[test]
fn streams_are_framed_by_what_is_known_and_by_version() {
    let chunks = ["hel", "lo"];
    check(&get("/"), &chunks, Framing::Chunked, true);
    check(&get("/"), &[], Framing::Chunked, true);
    check(&get("/5"), &chunks, Framing::Length(5), true);
    check(&get("/0"), &[], Framing::Length(0), true);
    check("GET / HTTP/1.0\r\n\r\n", &chunks, Framing::UntilClose, false);
    check("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", &chunks, Framing::UntilClose, false);
    check("GET /5 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", &chunks, Framing::Length(5), true);
}

#[test]
fn each_chunk_leaves_when_it_is_there() {
    let (handler, senders) = hand_over();
    let server = Server::start(Limits::default(), handler);
    let mut client = server.connect();
    client.send(get("/"));
    let mut sender = senders.recv_timeout(PATIENCE).unwrap();
    while !client.read_exact(1).ends_with(b"\n") || client.read_exact(2) != b"\r\n" {}
    for text in ["a", "b", "c"] {
        send(&mut sender, text);
        assert_eq!(client.read_exact(6), format!("1\r\n{text}\r\n").as_bytes());
    }
    sender.finish(None);
    assert_eq!(client.read_exact(5), b"0\r\n\r\n");
}

/// Ends the stream by `end`; the client must not take it for a complete answer.
#[track_caller]
fn check_broken(target: &str, end: impl FnOnce(ContentSender)) {
    let (handler, senders) = hand_over();
    let server = Server::start(Limits::default(), handler);
    let mut client = TcpStream::connect(server.address).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.write_all(get(target).as_bytes()).unwrap();
    let mut sender = senders.recv_timeout(PATIENCE).unwrap();
    send(&mut sender, "hel");
    end(sender);
    let mut received = Vec::new();
    let ended = client.read_to_end(&mut received);
    assert_eq!(
        ended.map_err(|error| error.kind()),
        Err(std::io::ErrorKind::ConnectionReset),
        "{:?}",
        String::from_utf8_lossy(&received)
    );
    assert!(!received.ends_with(b"0\r\n\r\n"));
    server.wait_for_connections(0);
}

#[test]
fn a_stream_of_the_wrong_length_is_a_reset() {
    check_broken("/5", |sender| sender.finish(None));
    check_broken("/5", drop);
    check_broken("/", drop);
    check_broken("/", |sender| sender.abort(ContentError::ProducerFailed));
    check_broken("/5", |mut sender| {
        // Accepted by the pipe, and rejected when the length is checked.
        let _ = sender.send_blocking(Bytes::from_static(b"lo, too long"));
    });
}

#[test]
fn an_aborted_stream_of_http_1_0_is_a_reset_and_not_an_end() {
    let (handler, senders) = hand_over();
    let server = Server::start(Limits::default(), handler);
    let mut client = TcpStream::connect(server.address).unwrap();
    client.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    drop(senders.recv_timeout(PATIENCE).unwrap());
    assert!(client.read_to_end(&mut Vec::new()).is_err());
}

#[test]
fn trailers_are_sent_only_after_chunks() {
    let mut trailers = FieldBlock::new();
    trailers.push(b"Digest", b"x").unwrap();
    for (target, expected) in [("/", vec![("Digest".to_owned(), "x".to_owned())]), ("/2", vec![])] {
        let (handler, senders) = hand_over();
        let server = Server::start(Limits::default(), handler);
        let mut client = server.connect();
        client.send(get(target));
        let mut sender = senders.recv_timeout(PATIENCE).unwrap();
        send(&mut sender, "ab");
        sender.finish(Some(trailers.clone()));
        let response = client.read_response();
        assert_eq!((response.text(), &response.trailers), ("ab", &expected));
    }
}

#[test]
fn a_slow_reader_holds_the_producer_back_and_gets_everything() {
    let (handler, senders) = hand_over();
    let server = Server::start(Limits::default(), handler);
    let mut client = server.connect();
    client.send(get("/"));
    let mut sender = senders.recv_timeout(PATIENCE).unwrap();
    let content = Bytes::from(noise(40_000_000));
    // Fill all buffers until nothing has moved for a while.
    let (mut at, mut moved) = (0, Instant::now());
    while moved.elapsed() < Duration::from_millis(300) {
        match sender.try_send(content.slice(at..at + 10_000)) {
            Ok(()) => (at, moved) = (at + 10_000, Instant::now()),
            Err(TrySendError::Full(_)) => thread::yield_now(),
            Err(TrySendError::Closed(_)) => panic!("closed"),
        }
        assert!(at < 20_000_000, "{at} bytes were taken and nobody read them");
    }
    let rest = content.slice(at..);
    let producing = thread::spawn(move || {
        for start in (0..rest.len()).step_by(10_000) {
            let end = rest.len().min(start + 10_000);
            sender.send_blocking(rest.slice(start..end)).unwrap();
        }
        sender.finish(None);
    });
    assert_eq!(sha256_hex(client.read_response().content), sha256_hex(&content));
    producing.join().unwrap();
}

#[test]
fn the_producer_learns_that_the_reader_is_gone() {
    let (handler, senders) = hand_over();
    let server = Server::start(Limits::default(), handler);
    let mut client = server.connect();
    client.send(get("/"));
    let mut sender = senders.recv_timeout(PATIENCE).unwrap();
    drop(client);
    let begin = Instant::now();
    while sender.send_blocking(Bytes::from(vec![0; 10_000])).is_ok() {
        assert!(begin.elapsed() < PATIENCE, "nobody told the producer");
    }
    server.wait_for_connections(0);
}

/// The answer of this status, by request, has no content, no framing but this length, and keeps the
/// connection.
#[track_caller]
fn check_without_content(
    method: &str,
    status: u16,
    content: fn(ContentReader) -> Content,
    length: Option<&str>,
) {
    let server = Server::start(Limits::default(), move |exchange: Exchange<'_>| {
        let (mut sender, reader) = exchange.stream();
        let _ = sender.try_send("hello".into());
        sender.finish(None);
        Response::new(Status::new(status).unwrap()).content(content(reader)).into()
    });
    let mut client = server.connect();
    for _ in 0..2 {
        client.send(format!("{method} / HTTP/1.1\r\nHost: a\r\n\r\n"));
        let response =
            if method == "HEAD" { client.read_head_response() } else { client.read_response() };
        assert_eq!(response.status, status);
        assert_eq!(response.content, b"");
        assert_eq!(response.field("Content-Length"), length, "{method} {status}");
        assert_eq!(response.field("Connection"), None);
        if status != 200 {
            assert_eq!(response.field("Transfer-Encoding"), None, "{method} {status}");
        }
    }
}

/// RFC 9110 §9.3.2, §15.3.5, §15.4.5, §8.6: gunicorn once sent a length with 204, and content with
/// HEAD and 304.
#[test]
fn answers_that_have_no_content_send_none() {
    let stream: fn(ContentReader) -> Content = |reader| Content::Stream { length: None, reader };
    let known: fn(ContentReader) -> Content = |reader| Content::Stream { length: Some(5), reader };
    let bytes: fn(ContentReader) -> Content = |_| "hello".into();
    check_without_content("HEAD", 200, stream, None);
    check_without_content("HEAD", 200, known, Some("5"));
    check_without_content("HEAD", 200, bytes, Some("5"));
    for content in [stream, known, bytes] {
        check_without_content("GET", 204, content, None);
        check_without_content("GET", 304, content, None);
        check_without_content("HEAD", 304, content, None);
        check_without_content("GET", 205, content, Some("0"));
    }
}

/// Switches to a protocol that sends everything back.
fn echo(mut exchange: Exchange<'_>) -> Outcome {
    assert!(exchange.content().is_none());
    let Some(mut content) = exchange.tunnel() else {
        return Response::text("no upgrade").into();
    };
    let (mut sender, reader) = exchange.stream();
    let (responder, outcome) = exchange.later();
    thread::spawn(move || {
        let response = Response::new(Status::SWITCHING_PROTOCOLS)
            .field(Known::Upgrade, b"echo")
            .unwrap()
            .content(Content::Stream { length: None, reader });
        responder.send(response);
        loop {
            match content.read_blocking(PATIENCE) {
                Read::Data(bytes) => {
                    if sender.send_blocking(bytes).is_err() {
                        return;
                    }
                }
                Read::End => return sender.finish(None),
                _ => return,
            }
        }
    });
    outcome
}

const UPGRADE: &str = "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n";

#[track_caller]
fn upgraded(server: &Server, and: &[u8]) -> RawClient {
    let mut client = server.connect();
    let response = client.exchange([UPGRADE.as_bytes(), and].concat());
    assert_eq!(response.status, 101);
    assert_eq!(response.field("Upgrade"), Some("echo"));
    assert_eq!(response.field("Connection"), Some("upgrade"));
    assert_eq!(response.field("Content-Length"), None);
    assert_eq!(response.field("Transfer-Encoding"), None);
    client
}

#[test]
fn an_upgraded_connection_carries_bytes_both_ways() {
    let server = Server::start(Limits::default(), echo);
    let mut client = upgraded(&server, b"");
    for text in ["one", "two", "GET / HTTP/1.1\r\n\r\n"] {
        client.send(text);
        assert_eq!(client.read_exact(text.len()), text.as_bytes());
    }
    client.finish();
    client.expect_close();
    server.wait_for_connections(0);
}

#[test]
fn bytes_after_the_request_belong_to_the_new_protocol() {
    let server = Server::start(Limits::default(), echo);
    let mut client = upgraded(&server, b"early");
    assert_eq!(client.read_exact(5), b"early");
}

#[test]
fn a_declined_upgrade_goes_on_in_http() {
    let server = Server::start(Limits::default(), |mut exchange: Exchange<'_>| {
        let tunnel = exchange.tunnel();
        let (responder, outcome) = exchange.later();
        responder.send(Response::text(if tunnel.is_some() { "no" } else { "plain" }));
        outcome
    });
    let mut client = server.connect();
    client.send([UPGRADE, UPGRADE, &get("/")].concat());
    for expected in ["no", "no", "plain"] {
        let response = client.read_response();
        assert_eq!((response.status, response.text()), (200, expected));
    }
}

/// RFC 9110 §9.3.6: "Any 2xx (Successful) response indicates that the sender [...] will switch to
/// tunnel mode immediately after the response header section".
#[test]
fn connect_opens_a_tunnel() {
    let server = Server::start(Limits::default(), |mut exchange: Exchange<'_>| {
        let Some(mut tunnel) = exchange.tunnel() else {
            return Response::text("no tunnel").into();
        };
        let (mut sender, reader) = exchange.stream();
        thread::spawn(move || {
            while let Read::Data(bytes) = tunnel.read_blocking(PATIENCE) {
                sender.send_blocking(bytes).unwrap();
            }
            sender.finish(None);
        });
        Response::new(Status::OK).content(Content::Stream { length: None, reader }).into()
    });
    let mut client = server.connect();
    client.send("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n");
    // Not as a response with content: a tunnel does not count as content.
    let mut head = client.read_head_response();
    assert_eq!(head.status, 200);
    assert!(head.fields.drain(..).all(|(name, _)| name == "Date"));
    client.send("one");
    assert_eq!(client.read_exact(3), b"one");
    client.finish();
    client.expect_close();
}

/// A connection that has left HTTP without a tunnel ends: nobody reads what comes.
#[test]
fn a_switch_without_a_tunnel_closes_the_connection() {
    let head = |status| Response::new(status).head_bytes().to_vec();
    let at_once = move |exchange: Exchange<'_>| Outcome::Done(switching(&exchange));
    let later = move |exchange: Exchange<'_>| {
        let response = switching(&exchange);
        let (responder, outcome) = exchange.later();
        thread::spawn(move || responder.send(response));
        outcome
    };
    let sent = move |exchange: Exchange<'_>| {
        let status = switching(&exchange).status();
        exchange.send_whole(status, &head(status), b"")
    };
    check_closes(at_once);
    check_closes(later);
    check_closes(sent);
}

/// The response that leaves HTTP, without content.
fn switching(exchange: &Exchange<'_>) -> Response {
    let is_connect = exchange.head().method == Method::Connect;
    Response::new(if is_connect { Status::OK } else { Status::SWITCHING_PROTOCOLS })
}

#[track_caller]
fn check_closes<H>(handler: H)
where
    H: FnMut(Exchange<'_>) -> Outcome + Clone + Send + Sync + 'static,
{
    let server = Server::start(Limits::default(), handler);
    for (request, status) in [("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", 200), (UPGRADE, 101)] {
        let mut client = server.connect();
        client.send([request, &get("/swallowed")].concat());
        assert_eq!(client.read_head_response().status, status);
        client.expect_close();
    }
    server.wait_for_connections(0);
}

/// Content that is announced with a switch has the time limit of content.
#[test]
fn content_before_a_switch_is_not_waited_for_without_a_limit() {
    let limits = Limits { content_idle_timeout_ms: 100, ..Limits::default() };
    let server = Server::start(limits, |exchange: Exchange<'_>| switching(&exchange).into());
    let mut client = server.connect();
    client.send(UPGRADE.replace("\r\n\r\n", "\r\nContent-Length: 5\r\n\r\n"));
    assert_eq!(client.read_head_response().status, 101);
    client.expect_close();
    assert_eq!(server.timeouts(), 1);
}

/// A handler need not wait for the end of the content before it answers, and an answer made at once
/// can go on with content that is still to come.
#[test]
fn content_can_be_sent_back_while_it_comes() {
    let limits = Limits { content_bytes_max: 0, ..Limits::default() };
    let server = Server::start(limits, |mut exchange: Exchange<'_>| {
        let mut content = exchange.content().unwrap();
        let (mut sender, reader) = exchange.stream();
        exchange.spawner().spawn(async move {
            while let Some(Ok(bytes)) = content.read().await {
                if sender.send(bytes).await.is_err() {
                    return;
                }
            }
            sender.finish(None);
        });
        Response::new(Status::OK).content(Content::Stream { length: None, reader }).into()
    });
    let mut client = server.connect();
    for _ in 0..2 {
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
        assert_eq!(client.read_response().status, 100);
        while client.read_exact(1) != b"\n" || client.read_exact(2) != b"\r\n" {}
        for _ in 0..3 {
            client.send("5\r\nhello\r\n");
            assert_eq!(client.read_exact(10), b"5\r\nhello\r\n");
        }
        client.send("0\r\n\r\n");
        assert_eq!(client.read_exact(5), b"0\r\n\r\n");
    }
}

#[test]
fn content_limits_do_not_apply_to_upgraded_connections() {
    let limits = Limits {
        content_bytes_max: 1_000,
        content_idle_timeout_ms: 100,
        keep_alive_idle_ms: 100,
        ..Limits::default()
    };
    let server = Server::start(limits, echo);
    let mut client = upgraded(&server, b"");
    let content = noise(1_000);
    for _ in 0..10 {
        client.send(&content);
        assert_eq!(client.read_exact(content.len()), content);
    }
    assert!(client.is_silent_for(Duration::from_millis(600)));
    client.send("x");
    assert_eq!(client.read_exact(1), b"x");
}

#[test]
fn a_server_that_ends_an_upgraded_connection_is_read_to_its_end() {
    let server = Server::start(Limits::default(), |mut exchange: Exchange<'_>| {
        let content = exchange.tunnel();
        let (mut sender, reader) = exchange.stream();
        let (responder, outcome) = exchange.later();
        responder.send(
            Response::new(Status::SWITCHING_PROTOCOLS)
                .field(Known::Upgrade, b"echo")
                .unwrap()
                .content(Content::Stream { length: None, reader }),
        );
        drop(content);
        sender.try_send("bye".into()).unwrap();
        sender.finish(None);
        outcome
    });
    let begin = Instant::now();
    let mut client = upgraded(&server, b"unread");
    assert_eq!(client.read_to_close(), b"bye");
    assert!(begin.elapsed() < LATE);
}
