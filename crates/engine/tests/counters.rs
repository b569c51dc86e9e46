//! Counters: each event is counted once, in its own counter, over all reactors.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::common::{Server, echo_target, get, post};
use vervet_engine::counters::{TimeoutTotals, Totals};
use vervet_engine::http::status::Status;
use vervet_engine::limits::Limits;
use vervet_engine::listener::ListenOptions;
use vervet_engine::reactor::FileSlice;
use vervet_engine::{Content, Engine, Exchange, Outcome, Response};
use vervet_testkit::{PATIENCE, RawClient, skip, wait_until};

fn totals(server: &Server) -> Totals {
    server.running().control().totals()
}

/// Waits until this has been counted.
#[track_caller]
fn check(server: &Server, expected: Totals) {
    let reached = wait_until(PATIENCE, || totals(server) == expected);
    assert!(reached, "{:#?} instead of {expected:#?}", totals(server));
}

/// Sends this and waits for the end of the connection; what the server has counted since it began.
#[track_caller]
fn bytes_of(request: &str) -> (Totals, usize) {
    let server = Server::start(Limits::default(), |exchange: Exchange<'_>| {
        let status = exchange.head().target[1..].to_vec();
        let status = String::from_utf8(status).unwrap().parse().unwrap();
        let response = Response::plain(Status::new(status).unwrap(), "0123456789");
        Outcome::Done(response)
    });
    let mut client = server.connect();
    client.send(request);
    client.finish();
    let sent = client.read_to_close().len();
    server.wait_for_connections(0);
    server.wait_for_count(|counters| &counters.closed, 1);
    (totals(&server), sent)
}

#[test]
fn a_violation_is_counted_apart_from_requests() {
    let request = "GET /200 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n";
    let (counted, sent) = bytes_of(request);
    let content = "400 Bad Request: ".len();
    assert!(counted.content_bytes > content as u64);
    let expected = Totals {
        accepted: 1,
        connections: 1,
        closed: 1,
        violations: 1,
        responses: [0, 0, 0, 1, 0],
        received_bytes: request.len() as u64,
        sent_bytes: sent as u64,
        content_bytes: counted.content_bytes,
        ..Totals::default()
    };
    assert_eq!(counted, expected);
}

#[test]
fn requests_answers_and_bytes() {
    let requests =
        ["200", "204", "301", "404", "500", "503"].map(|status| get(&format!("/{status}")));
    let request = requests.concat();
    let (counted, sent) = bytes_of(&request);
    let expected = Totals {
        accepted: 1,
        connections: 1,
        closed: 1,
        requests: 6,
        responses: [0, 2, 1, 1, 2],
        received_bytes: request.len() as u64,
        sent_bytes: sent as u64,
        content_bytes: 50,
        ..Totals::default()
    };
    assert_eq!(counted, expected);
}

/// All rejected connections, including those that are closed without an answer in a flood.
#[test]
fn refusals_by_their_cause() {
    for (limits, which) in [
        (Limits { connections_max: 1, ..Limits::default() }, [100, 0]),
        (Limits { connections_per_address_max: 1, ..Limits::default() }, [0, 100]),
    ] {
        let options = ListenOptions { defer_accept: Duration::ZERO, ..ListenOptions::default() };
        let server = Server::listening(Engine::builder().limits(limits), &options, echo_target);
        let mut held = server.connect();
        held.exchange(get("/"));
        let extra: Vec<_> = (0..100).map(|_| server.connect()).collect();
        let refused = |totals: &Totals| [totals.refused, totals.refused_address];
        assert!(wait_until(PATIENCE, || refused(&totals(&server)) == which));
        let counted = totals(&server);
        assert_eq!((counted.accepted, counted.connections), (101, 1));
        drop(extra);
    }
}

const HUGE: u64 = 5 << 30;

/// Content of 5 GiB by its kind: a sparse file, shared bytes (64 MiB), or a stream without an end.
fn huge(file: &Arc<File>, exchange: &Exchange<'_>) -> Content {
    match exchange.head().target {
        b"/file" => Content::File(FileSlice { file: Arc::clone(file), offset: 0, length: HUGE }),
        b"/bytes" => Content::from(vec![b'x'; 64 << 20]),
        target => {
            let (mut sender, reader) = exchange.stream();
            exchange.spawner().spawn(async move {
                while sender.send(Bytes::from_static(&[b'x'; 10_000])).await.is_ok() {}
            });
            Content::Stream { length: (target == b"/stream").then_some(HUGE), reader }
        }
    }
}

/// A client that leaves after 100,000 bytes: what counts is what the kernel took.
#[track_caller]
fn check_cut_off(target: &str, expected: impl FnOnce(u64, u64)) {
    let file = tempfile::tempfile().unwrap();
    if file.set_len(HUGE).is_err() {
        skip!("needs a file system with sparse files of 5 GB");
    }
    let file = Arc::new(file);
    let server = Server::start(Limits::default(), move |exchange: Exchange<'_>| {
        Response::new(Status::OK).content(huge(&file, &exchange)).into()
    });
    let mut client = server.connect();
    client.send(get(target));
    let head_bytes = client.read_head_response().head.len();
    client.read_exact(100_000);
    drop(client);
    server.wait_for_count(|counters| &counters.closed, 1);
    let Totals { sent_bytes, content_bytes, responses, .. } = totals(&server);
    assert_eq!(responses, [0, 1, 0, 0, 0]);
    assert!((100_000..64 << 20).contains(&sent_bytes), "{target}: {sent_bytes} bytes sent");
    expected(content_bytes, sent_bytes - head_bytes as u64);
}

#[test]
fn a_response_that_is_cut_off_counts_what_was_sent() {
    for target in ["/file", "/bytes", "/stream"] {
        check_cut_off(target, |content, sent| assert_eq!(content, sent, "{target}"));
    }
    // Between the chunks is their framing, 8 bytes for 10,000.
    check_cut_off("/chunks", |content, sent| {
        assert!(content < sent && sent - content < sent / 100, "{content} bytes of {sent}");
    });
}

fn read_all(mut exchange: Exchange<'_>) -> Outcome {
    let Some(mut content) = exchange.content() else {
        return echo_target(exchange);
    };
    let spawner = exchange.spawner().clone();
    let (responder, outcome) = exchange.later();
    spawner.spawn(async move {
        while let Some(Ok(_)) = content.read().await {}
        responder.send(Response::text("read"));
    });
    outcome
}

/// Sends an incomplete request, which must be closed by the timeout of this name.
#[track_caller]
fn check_timeout(begin: &[u8], timeouts: TimeoutTotals) {
    let limits = Limits {
        head_timeout_ms: 200,
        proxy_header_timeout_ms: 200,
        content_idle_timeout_ms: 200,
        keep_alive_idle_ms: 200,
        ..Limits::default()
    };
    let proxied = timeouts.proxy_header > 0;
    let networks = if proxied { "127.0.0.0/8" } else { "192.0.2.0/24" };
    let options = ListenOptions {
        proxy_protocol_from: vec![networks.parse().unwrap()],
        ..ListenOptions::default()
    };
    let server = Server::listening(Engine::builder().limits(limits), &options, read_all);
    let mut client = server.connect();
    client.send(begin);
    assert!(wait_until(PATIENCE, || totals(&server).timeouts == timeouts));
    let _ = client.read_to_close();
    server.wait_for_connections(0);
    assert_eq!(totals(&server).timeouts, timeouts);
}

#[test]
fn timeouts_by_their_limit() {
    let none = TimeoutTotals::default();
    let head = TimeoutTotals { head: 1, ..none };
    check_timeout(b"GET / HT", head);
    let proxy_header = TimeoutTotals { proxy_header: 1, ..none };
    check_timeout(b"PROXY TCP4 192", proxy_header);
    let content_idle = TimeoutTotals { content_idle: 1, ..none };
    let request = post("/", "hello");
    check_timeout(&request[..request.len() - 1], content_idle);
}

/// An idle connection that is closed after its time is normal.
#[test]
fn closing_an_idle_connection_is_not_counted_as_a_timeout() {
    let limits = Limits { keep_alive_idle_ms: 100, ..Limits::default() };
    let server = Server::start(limits, echo_target);
    let mut client = server.connect();
    client.exchange(get("/"));
    client.expect_close();
    server.wait_for_connections(0);
    assert_eq!(totals(&server).timeouts, TimeoutTotals::default());
}

#[test]
fn counters_of_workers_are_summed_and_separate() {
    let server = Server::with(Engine::builder().workers(3), echo_target);
    let mut clients: Vec<RawClient> = (0..30).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.exchange(get("/"));
    }
    let control = server.running().control();
    let apart: Vec<_> = control.counters().map(|counters| counters.requests.get()).collect();
    assert_eq!(apart.len(), 3);
    assert_eq!(apart.iter().sum::<u64>(), 30);
    assert_eq!(control.loads().iter().sum::<usize>(), 30);
    let counted = totals(&server);
    check(
        &server,
        Totals {
            accepted: 30,
            connections: 30,
            requests: 30,
            responses: [0, 30, 0, 0, 0],
            content_bytes: 30,
            ..counted
        },
    );
}
