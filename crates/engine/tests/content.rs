//! Request content on its way to a handler: complete, limited, held back, aborted, dropped.

use std::io::{Read as _, Seek, Write as _};
use std::net::TcpStream;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{LATE, Server, echo_target, get, noise, post, post_chunked};
use vervet_engine::limits::Limits;
use vervet_engine::pipe::{ContentError, ContentReader, Read};
use vervet_engine::{Exchange, Outcome, Responder, Response};
use vervet_testkit::{PATIENCE, RawClient, sha256_hex};

/// Hashes the content on a thread of its own and answers with the hash, or with what went wrong.
fn hash(mut exchange: Exchange<'_>) -> Outcome {
    let Some(mut content) = exchange.content() else {
        return echo_target(exchange);
    };
    let (responder, outcome) = exchange.later();
    thread::spawn(move || {
        let text = match content.read_all_blocking(usize::MAX) {
            Ok(bytes) => sha256_hex(bytes),
            Err(error) => error.to_string(),
        };
        responder.send(Response::text(text));
    });
    outcome
}

/// Gives content and responder to the test.
fn hand_over() -> (
    impl FnMut(Exchange<'_>) -> Outcome + Clone + Send + Sync + 'static,
    Receiver<(ContentReader, Responder)>,
) {
    let (sender, receiver): (SyncSender<_>, _) = mpsc::sync_channel(8);
    let handler = move |mut exchange: Exchange<'_>| {
        let Some(content) = exchange.content() else {
            return echo_target(exchange);
        };
        let (responder, outcome) = exchange.later();
        sender.send((content, responder)).unwrap();
        outcome
    };
    (handler, receiver)
}

fn expecting(length: usize) -> String {
    format!(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\nExpect: 100-continue\r\n\r\n"
    )
}

/// Sends this many bytes of content against a limit of 10,000.
#[track_caller]
fn check_limit(length: usize, status: u16) {
    let limits = Limits { content_bytes_max: 10_000, ..Limits::default() };
    let server = Server::start(limits, hash);
    let content = noise(length);
    for request in [
        post("/", &content),
        post_chunked("/", &content, 4096),
        post_chunked("/", &content, 10_000),
    ] {
        let mut client = server.connect();
        let answer = client.exchange(&request);
        assert_eq!(answer.status, status, "{length} bytes");
        if status == 200 {
            assert_eq!(answer.text(), sha256_hex(&content));
            assert_eq!(client.exchange(get("/next")).text(), "/next");
        } else {
            assert_eq!(answer.field("Connection"), Some("close"));
            client.finish();
            client.expect_close();
        }
    }
}

#[test]
fn the_limit_of_content_holds_at_its_edge() {
    check_limit(10_001, 413);
    check_limit(10_000, 200);
}

#[test]
fn content_over_the_limit_is_refused_before_it_is_sent() {
    let limits = Limits { content_bytes_max: 10_000, ..Limits::default() };
    let server = Server::start(limits, hash);
    let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    for request in [
        expecting(10_001),
        format!("{chunked}2711\r\n"),
        format!("{chunked}2711\r\nx"),
        format!("{chunked}5\r\nhello\r\n270c\r\n"),
        format!("{chunked}ffffffffffffffff\r\n"),
    ] {
        let mut client = server.connect();
        assert_eq!(client.exchange(&request).status, 413, "{request}");
        client.finish();
        client.expect_close();
    }
    let mut client = server.connect();
    client.send(format!("{chunked}5\r\nhello\r\n270b\r\n"));
    let rest = noise(9_995);
    client.send([&rest[..], b"\r\n0\r\n\r\n"].concat());
    assert_eq!(client.read_response().text(), sha256_hex([&b"hello"[..], &rest].concat()));
}

/// The handler learns that the content is too large, as it does when it has come.
#[test]
fn a_handler_learns_that_a_chunk_is_too_large() {
    let limits = Limits { content_bytes_max: 10_000, ..Limits::default() };
    let (handler, exchanges) = hand_over();
    let server = Server::start(limits, handler);
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2711\r\n");
    let (mut reader, _responder) = exchanges.recv_timeout(PATIENCE).unwrap();
    let failed = Read::Failed(ContentError::TooLarge(10_000));
    assert_eq!(reader.read_blocking(PATIENCE), failed);
    assert_eq!(client.read_response().status, 413);
}

#[test]
fn a_refusal_asks_for_no_content_and_closes() {
    let server = Server::start(Limits::default(), |_: Exchange<'_>| {
        Response::plain(vervet_engine::http::status::Status::FORBIDDEN, "no\n").into()
    });
    let mut client = server.connect();
    let answer = client.exchange(expecting(5));
    assert_eq!((answer.status, answer.field("Connection")), (403, Some("close")));
    // Whether what comes next would be the content or a request cannot be known, so nothing is
    // waited for.
    let begin = Instant::now();
    client.expect_close();
    assert!(begin.elapsed() < LATE, "closed after {:?}", begin.elapsed());
}

#[test]
fn continue_is_sent_when_the_content_is_taken() {
    let server = Server::start(Limits::default(), hash);
    let mut client = server.connect();
    for _ in 0..2 {
        let interim = client.exchange(expecting(5));
        assert_eq!(interim.status, 100);
        assert!(interim.fields.is_empty(), "{interim:?}");
        assert_eq!(client.exchange("hello").text(), sha256_hex("hello"));
    }
    // A client that does not wait gets no Continue.
    let both = client.exchange(expecting(5) + "hello");
    assert!(both.status == 100 || both.status == 200);
}

#[test]
fn a_client_of_http_1_0_gets_no_continue() {
    let server = Server::start(Limits::default(), hash);
    let mut client = server.connect();
    client.send("POST / HTTP/1.0\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    assert!(client.is_silent_for(Duration::from_millis(50)));
    assert_eq!(client.exchange("hello").text(), sha256_hex("hello"));
}

#[test]
fn uploads_arrive_whole() {
    let limits = Limits { content_bytes_max: 0, ..Limits::default() };
    let server = Server::start(limits, hash);
    let mut client = server.connect();
    let content = noise(3_000_000);
    for length in [1, 65_535, 65_536, 65_537, content.len()] {
        let content = &content[..length];
        let expected = sha256_hex(content);
        assert_eq!(client.exchange(post("/", content)).text(), expected);
        for chunk_bytes in [length.div_ceil(2000), 65_536, length] {
            let request = post_chunked("/", content, chunk_bytes);
            assert_eq!(client.exchange(request).text(), expected);
        }
    }
}

#[test]
fn a_handler_that_does_not_read_holds_the_client_back() {
    let limits = Limits {
        content_bytes_max: 0,
        content_idle_timeout_ms: 300,
        rate_grace_ms: 1_000,
        ..Limits::default()
    };
    let (handler, exchanges) = hand_over();
    let server = Server::start(limits, handler);
    let content = noise(30_000_000);
    let mut client = TcpStream::connect(server.address).unwrap();
    let head = format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", content.len());
    client.write_all(head.as_bytes()).unwrap();
    // The kernel's buffers of both ends take some, the pipe its window, and then it stops. Longer
    // than the peer's own time limits: while it is held back it is not the peer who is slow.
    client.set_write_timeout(Some(Duration::from_millis(1_500))).unwrap();
    let mut sent = 0;
    while let Ok(count) = client.write(&content[sent..]) {
        sent += count;
    }
    assert!(sent < 20_000_000, "{sent} bytes went out and nobody read them");
    let (mut reader, responder) = exchanges.recv_timeout(PATIENCE).unwrap();
    let reading = thread::spawn(move || reader.read_all_blocking(usize::MAX));
    client.set_write_timeout(Some(PATIENCE)).unwrap();
    client.write_all(&content[sent..]).unwrap();
    let received = reading.join().unwrap().unwrap();
    assert_eq!(sha256_hex(received), sha256_hex(&content));
    responder.send(Response::text("done").content("done"));
    let mut answer = [0; 15];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
}

/// Sends this many bytes of content that is not taken, against a limit of 10,000 dropped bytes.
#[track_caller]
fn check_dropped(length: usize, persists: bool) {
    let limits = Limits { lingering_bytes_max: 10_000, ..Limits::default() };
    let server = Server::start(limits, echo_target);
    for request in [post("/1", noise(length)), post_chunked("/1", &noise(length), 999)] {
        let mut client = server.connect();
        client.send(&request);
        assert_eq!(client.read_response().text(), "/1");
        if persists {
            assert_eq!(client.exchange(get("/2")).text(), "/2");
        } else {
            client.expect_close();
        }
    }
}

#[test]
fn unread_content_is_dropped_within_a_limit() {
    check_dropped(10_001, false);
    check_dropped(10_000, true);
    check_dropped(1, true);
}

#[test]
fn content_that_is_read_in_part_does_not_disturb_the_next_request() {
    let (handler, exchanges) = hand_over();
    let server = Server::start(Limits::default(), handler);
    let mut client = server.connect();
    client.send([post("/", noise(500_000)), get("/next").into_bytes()].concat());
    let (mut reader, responder) = exchanges.recv_timeout(PATIENCE).unwrap();
    assert!(matches!(reader.read_blocking(PATIENCE), Read::Data(_)));
    drop(reader);
    responder.send(Response::text("enough"));
    assert_eq!(client.read_response().text(), "enough");
    assert_eq!(client.read_response().text(), "/next");
}

#[test]
fn an_answer_before_the_end_of_the_content_reaches_a_client_that_closes() {
    let (handler, exchanges) = hand_over();
    let server = Server::start(Limits::default(), handler);
    let mut client = server.connect();
    client
        .send("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 500000\r\n\r\nx");
    let (reader, responder) = exchanges.recv_timeout(PATIENCE).unwrap();
    drop(reader);
    responder.send(Response::text("early"));
    assert_eq!(client.read_response().text(), "early");
    // What was under way must not be met by a reset, which could overtake the answer (RFC 9112
    // §9.6).
    for piece in noise(499_999).chunks(10_000) {
        client.send(piece);
    }
    client.finish();
    client.expect_close();
}

/// The client sends a part and calls `leave`; the handler must get this error.
#[track_caller]
fn check_broken(
    limits: Limits,
    leave: impl FnOnce(RawClient) -> Option<RawClient>,
) -> ContentError {
    let (handler, exchanges) = hand_over();
    let server = Server::start(limits, handler);
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhello");
    let (mut reader, responder) = exchanges.recv_timeout(PATIENCE).unwrap();
    assert_eq!(reader.read_blocking(PATIENCE), Read::Data("hello".into()));
    let client = leave(client);
    let error = loop {
        match reader.read_blocking(PATIENCE) {
            Read::Data(_) => {}
            Read::Failed(error) => break error,
            other => panic!("instead of breaking off the content came to {other:?}"),
        }
    };
    if let Some(mut client) = client {
        let answer = client.read_response();
        assert_eq!((answer.status, answer.field("Connection")), (408, Some("close")));
        client.finish();
        client.expect_close();
        assert_eq!(server.timeouts(), 1);
    }
    // The client is gone already.
    responder.send(Response::text("late"));
    server.wait_for_connections(0);
    error
}

#[test]
fn a_handler_learns_that_the_client_left() {
    let error = check_broken(Limits::default(), |client| {
        drop(client);
        None
    });
    assert_eq!(error, ContentError::PeerClosed);
}

#[test]
fn a_handler_learns_that_the_client_stalled() {
    let limits = Limits { content_idle_timeout_ms: 200, ..Limits::default() };
    assert_eq!(check_broken(limits, Some), ContentError::TimedOut);
}

#[test]
fn a_handler_learns_that_the_client_is_too_slow() {
    let limits = Limits { content_rate_min: 1_000, rate_grace_ms: 1_000, ..Limits::default() };
    let begin = Instant::now();
    let error = check_broken(limits, |mut client| {
        while begin.elapsed() < LATE && client.is_silent_for(Duration::from_millis(100)) {
            client.send("x");
        }
        Some(client)
    });
    assert_eq!(error, ContentError::TimedOut);
    let cut = begin.elapsed();
    assert!(cut >= Duration::from_secs(1) && cut < LATE, "cut after {cut:?}");
}

#[test]
fn large_uploads_can_be_spooled_to_a_file_that_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let server = Server::start(Limits::default(), move |mut exchange: Exchange<'_>| {
        let Some(mut content) = exchange.content() else {
            return echo_target(exchange);
        };
        let (responder, outcome) = exchange.later();
        let path = path.clone();
        thread::spawn(move || {
            let mut spool = tempfile::spooled_tempfile_in(500_000, &path);
            std::io::copy(&mut content, &mut spool).unwrap();
            assert!(spool.is_rolled());
            spool.rewind().unwrap();
            let mut bytes = Vec::new();
            spool.read_to_end(&mut bytes).unwrap();
            drop(spool);
            responder.send(Response::text(sha256_hex(bytes)));
        });
        outcome
    });
    let content = noise(600_000);
    let mut client = server.connect();
    assert_eq!(client.exchange(post("/", &content)).text(), sha256_hex(&content));
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

/// A trailer reaches the handler (RFC 9110 §6.5).
#[test]
fn trailers_arrive_after_the_content() {
    let (handler, exchanges) = hand_over();
    let server = Server::start(Limits::default(), handler);
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nDigest: y\r\n\r\n");
    let (mut reader, _responder) = exchanges.recv_timeout(PATIENCE).unwrap();
    assert_eq!(reader.read_all_blocking(9), Ok(b"x".to_vec()));
    let trailers = reader.take_trailers().unwrap();
    assert_eq!(trailers.as_bytes(), b"Digest: y\r\n");
}
