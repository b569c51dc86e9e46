//! Persistent connections and pipelined requests: answers in order, in one write, and none after
//! the last.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::common::{ByHand, LATE, Server, echo_target, get, post, post_chunked, target_of};
use vervet_engine::limits::Limits;
use vervet_engine::{Exchange, Outcome, Responder, Response};
use vervet_testkit::{PATIENCE, RawClient};

fn hundred() -> Vec<u8> {
    (0..100).flat_map(|number| get(&format!("/{number}")).into_bytes()).collect()
}

#[track_caller]
fn expect_hundred(client: &mut RawClient) {
    for number in 0..100 {
        let response = client.read_response();
        assert_eq!((response.status, response.text()), (200, &*format!("/{number}")));
    }
}

const NO_LIMIT_OF_REQUESTS: Limits = Limits { requests_per_connection_max: 0, ..Limits::DEFAULT };

#[test]
fn a_request_that_is_broken_ends_the_batch() {
    let server = Server::start(Limits::default(), echo_target);
    let mut client = server.connect();
    client.send([get("/1"), "GET /2\r\n\r\n".to_owned(), get("/3")].concat());
    assert_eq!(client.read_response().text(), "/1");
    assert_eq!(client.read_response().status, 400);
    client.expect_close();
    assert_eq!(server.count(|counters| &counters.requests), 1);
}

#[test]
fn nothing_after_a_request_to_close_is_answered() {
    let server = Server::start(Limits::default(), echo_target);
    let mut client = server.connect();
    client.send(["GET /1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", &get("/2")].concat());
    let last = client.read_response();
    assert_eq!((last.text(), last.field("Connection")), ("/1", Some("close")));
    client.expect_close();
}

#[test]
fn a_hundred_in_one_write_are_answered_in_order_in_one_write() {
    let server = Server::start(Limits::default(), echo_target);
    let mut client = TcpStream::connect(server.address).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.write_all(&hundred()).unwrap();
    // Answers that are written apart arrive apart: the first read would find the first alone.
    let mut buffer = vec![0; 64 * 1024];
    let count = client.read(&mut buffer).unwrap();
    let text = String::from_utf8_lossy(&buffer[..count]);
    let targets: Vec<_> = text
        .split("\r\n\r\n")
        .skip(1)
        .map(|rest| rest.split("HTTP/1.1").next().unwrap_or_default())
        .collect();
    let expected: Vec<_> = (0..100).map(|number| format!("/{number}")).collect();
    assert_eq!(targets, expected);
}

#[test]
fn a_hundred_are_answered_in_order_wherever_the_batch_is_split() {
    let mut server = ByHand::new(NO_LIMIT_OF_REQUESTS, echo_target);
    let mut client = RawClient::connect(server.address);
    let batch = hundred();
    let mut answered = 0;
    for at in (1..batch.len()).step_by(97) {
        client.send(&batch[..at]);
        server.turn();
        client.send(&batch[at..]);
        answered += 100;
        server.turn_until(|counters| counters.requests.get() >= answered);
        expect_hundred(&mut client);
    }
}

#[test]
fn a_batch_with_content_is_answered_in_order_at_every_split() {
    let mut server = ByHand::new(NO_LIMIT_OF_REQUESTS, echo_target);
    let mut client = RawClient::connect(server.address);
    let batch = [
        get("/1").into_bytes(),
        post("/2", "GET /no HTTP/1.1\r\n\r\n"),
        post_chunked("/3", b"GET /no HTTP/1.1\r\n\r\n", 7),
        get("/4").into_bytes(),
    ]
    .concat();
    let mut answered = 0;
    for at in 1..batch.len() {
        client.send(&batch[..at]);
        server.turn();
        client.send(&batch[at..]);
        answered += 4;
        server.turn_until(|counters| counters.requests.get() >= answered);
        for expected in ["/1", "/2", "/3", "/4"] {
            assert_eq!(client.read_response().text(), expected, "split at {at}");
        }
    }
}

#[test]
fn a_batch_may_come_byte_by_byte() {
    let mut server = ByHand::new(Limits::default(), echo_target);
    let mut client = RawClient::connect(server.address);
    for byte in [get("/1"), get("/2")].concat().bytes() {
        client.send([byte]);
        server.turn();
    }
    assert_eq!(client.read_response().text(), "/1");
    assert_eq!(client.read_response().text(), "/2");
}

/// Gives the responder of each `/later` request to the test.
fn hand_over(
    responders: mpsc::SyncSender<Responder>,
) -> impl FnMut(Exchange<'_>) -> Outcome + Clone + Send + Sync + 'static {
    move |exchange| {
        if target_of(&exchange) != "/later" {
            return echo_target(exchange);
        }
        let (responder, outcome) = exchange.later();
        responders.send(responder).unwrap();
        outcome
    }
}

#[test]
fn an_answer_that_comes_later_keeps_its_place() {
    let (sender, responders) = mpsc::sync_channel(8);
    let server = Server::start(Limits::default(), hand_over(sender));
    let mut client = server.connect();
    client.send([get("/1"), get("/later"), get("/2"), get("/later"), get("/3")].concat());
    assert_eq!(client.read_response().text(), "/1");
    for (answer, next) in [("a", "/2"), ("b", "/3")] {
        let responder = responders.recv_timeout(PATIENCE).unwrap();
        // The next request waits: there is one exchange at a time.
        assert!(responders.try_recv().is_err());
        responder.send(Response::text(answer));
        assert_eq!(client.read_response().text(), answer);
        assert_eq!(client.read_response().text(), next);
    }
}

#[test]
fn requests_after_an_unanswered_one_are_not_lost() {
    let (sender, responders) = mpsc::sync_channel(1);
    let server = Server::start(NO_LIMIT_OF_REQUESTS, hand_over(sender));
    let mut client = server.connect();
    client.send(get("/later"));
    let responder = responders.recv_timeout(PATIENCE).unwrap();
    // More than one read buffer of the reactor.
    for _ in 0..30 {
        client.send(hundred());
    }
    client.finish();
    responder.send(Response::text("late"));
    assert_eq!(client.read_response().text(), "late");
    for _ in 0..30 {
        expect_hundred(&mut client);
    }
    client.expect_close();
}

#[test]
fn the_last_answer_says_so_and_ends_the_connection() {
    let server = Server::start(Limits::default(), echo_target);
    let mut client = server.connect();
    for number in 1..1000 {
        let response = client.exchange(get("/"));
        assert_eq!(response.field("Connection"), None, "answer {number}");
    }
    // A request after the last one is not answered, and does not turn the answer into a reset.
    let last = client.exchange([get("/last"), get("/beyond")].concat());
    assert_eq!((last.text(), last.field("Connection")), ("/last", Some("close")));
    client.finish();
    client.expect_close();
    assert_eq!(server.count(|counters| &counters.requests), 1000);
}

#[test]
fn keeping_connections_can_be_turned_off() {
    let limits = Limits { requests_per_connection_max: 1, ..Limits::default() };
    let server = Server::start(limits, echo_target);
    let mut client = server.connect();
    assert_eq!(client.exchange(get("/")).field("Connection"), Some("close"));
    client.finish();
    client.expect_close();
}

/// A request, what the answer says of the connection, and whether another request is answered.
#[track_caller]
fn check_persistence(request: &str, connection: Option<&str>, persists: bool) {
    let server = Server::start(Limits::default(), echo_target);
    let mut client = server.connect();
    let response = client.exchange(request);
    assert_eq!(response.field("Connection"), connection, "{request}");
    if persists {
        assert_eq!(client.exchange(get("/2")).text(), "/2", "{request}");
    } else {
        client.expect_close();
    }
}

#[test]
fn connections_persist_by_version_and_connection_field() {
    check_persistence("GET / HTTP/1.0\r\n\r\n", Some("close"), false);
    check_persistence("GET / HTTP/1.0\r\nConnection: x\r\n\r\n", Some("close"), false);
    check_persistence(
        "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n",
        Some("close"),
        false,
    );
    check_persistence("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", Some("keep-alive"), true);
    check_persistence("GET / HTTP/1.1\r\nHost: a\r\n\r\n", None, true);
    check_persistence("GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", None, true);
    check_persistence(
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: foo, Close\r\n\r\n",
        Some("close"),
        false,
    );
}

#[test]
fn an_idle_connection_is_closed_in_its_time() {
    let limits = Limits { keep_alive_idle_ms: 300, ..Limits::default() };
    let server = Server::start(limits, echo_target);
    let mut client = server.connect();
    client.exchange(get("/"));
    let begin = Instant::now();
    client.expect_close();
    let idle = begin.elapsed();
    assert!(idle >= Duration::from_millis(290), "closed after {idle:?}");
    assert!(idle < LATE, "closed after {idle:?}");
    assert_eq!(server.timeouts(), 0);
}

#[test]
fn a_client_that_has_finished_sending_gets_all_its_answers() {
    let server = Server::start(Limits::default(), echo_target);
    let mut client = server.connect();
    client.send(hundred());
    client.finish();
    expect_hundred(&mut client);
    client.expect_close();
}
