//! Ending: a drain loses no request that was sent on an established connection, and ends in its
//! time.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{LATE, Server, echo_target, get, load, target_of};
use bytes::Bytes;
use vervet_engine::http::status::Status;
use vervet_engine::limits::Limits;
use vervet_engine::listener::ListenOptions;
use vervet_engine::pipe::ContentSender;
use vervet_engine::reactor::Overload;
use vervet_engine::{Content, Engine, Exchange, Outcome, Responder, Response};
use vervet_testkit::{PATIENCE, RawClient};

const LONG_MS: u64 = 60_000;

/// FEATURES A12.
#[test]
fn no_accepted_request_is_lost_under_load() {
    let runs: Vec<_> = (0..10)
        .map(|run| {
            let builder = Engine::builder().workers(1 + run % 2);
            let server = Server::with(builder, echo_target);
            let address = server.address;
            let clients: Vec<_> =
                (0..4).map(|_| thread::spawn(move || load(address, "/load", "/load"))).collect();
            server.wait_for_count(|counters| &counters.requests, 300);
            let begin = Instant::now();
            server.running().control().drain(LONG_MS);
            server.ended();
            assert!(begin.elapsed() < LATE, "took {:?}", begin.elapsed());
            clients
        })
        .collect();
    for client in runs.into_iter().flatten() {
        assert!(client.join().unwrap() > 0);
    }
}

#[test]
fn idle_connections_end_promptly() {
    let options = ListenOptions { defer_accept: Duration::ZERO, ..ListenOptions::default() };
    let server = Server::listening(Engine::builder(), &options, echo_target);
    let mut clients: Vec<_> = (0..20).map(|_| server.connect()).collect();
    for client in &mut clients[..10] {
        client.exchange(get("/"));
    }
    // The other ten have not sent a byte yet.
    server.wait_for_connections(20);
    let begin = Instant::now();
    server.running().control().drain(LONG_MS);
    clients.iter_mut().for_each(RawClient::expect_close);
    server.ended();
    assert!(begin.elapsed() < LATE, "took {:?}", begin.elapsed());
}

#[test]
fn a_request_that_crosses_the_drain_is_answered_and_is_the_last() {
    let server = Server::start(Limits::default(), echo_target);
    let mut client = server.connect();
    client.exchange(get("/"));
    server.running().control().drain(LONG_MS);
    // Requests that arrive before the drain begins are not the last ones.
    while client.exchange(get("/last")).field("Connection").is_none() {}
    client.finish();
    client.expect_close();
    server.ended();
}

#[test]
fn a_drain_waits_for_an_incomplete_head() {
    let server = Server::start(Limits::default(), echo_target);
    let mut client = server.connect();
    client.exchange(get("/"));
    client.send("GET /half HTTP/1.1\r\n");
    let mut other = server.connect();
    other.send(get("/barrier"));
    other.read_response();
    server.running().control().drain(LONG_MS);
    other.expect_close();
    client.send("Host: a\r\n\r\n");
    assert_eq!(client.read_response().text(), "/half");
    client.finish();
    client.expect_close();
    server.ended();
}

enum Given {
    Responder(Responder),
    Sender(ContentSender),
}

/// `/later` gives its responder to the test, everything else the sender of its stream.
fn hand_over()
-> (impl FnMut(Exchange<'_>) -> Outcome + Clone + Send + Sync + 'static, mpsc::Receiver<Given>) {
    let (given, receiver) = mpsc::sync_channel(8);
    let handler = move |exchange: Exchange<'_>| {
        if target_of(&exchange) == "/later" {
            let (responder, outcome) = exchange.later();
            given.send(Given::Responder(responder)).unwrap();
            return outcome;
        }
        let (sender, reader) = exchange.stream();
        given.send(Given::Sender(sender)).unwrap();
        Response::new(Status::OK).content(Content::Stream { length: None, reader }).into()
    };
    (handler, receiver)
}

#[test]
fn exchanges_in_progress_are_completed() {
    let (handler, given) = hand_over();
    let server = Server::start(Limits::default(), handler);
    let (mut later, mut stream) = (server.connect(), server.connect());
    later.send(get("/later"));
    let Given::Responder(responder) = given.recv_timeout(PATIENCE).unwrap() else {
        panic!("a stream");
    };
    stream.send(get("/stream"));
    let Given::Sender(mut sender) = given.recv_timeout(PATIENCE).unwrap() else {
        panic!("a responder");
    };
    sender.send_blocking(Bytes::from_static(b"one")).unwrap();
    let mut idle = server.connect();
    idle.send(get("/later"));
    drop(given.recv_timeout(PATIENCE).unwrap());
    idle.read_response();
    server.running().control().drain(LONG_MS);
    // This one has ended, so the drain has begun.
    idle.expect_close();
    responder.send(Response::text("done"));
    let answer = later.read_response();
    assert_eq!((answer.text(), answer.field("Connection")), ("done", Some("close")));
    sender.send_blocking(Bytes::from_static(b"two")).unwrap();
    sender.finish(None);
    assert_eq!(stream.read_response().text(), "onetwo");
    for client in [&mut later, &mut stream] {
        client.finish();
        client.expect_close();
    }
    server.ended();
}

/// An exchange that is never completed is closed by `end`, not before `least`.
#[track_caller]
fn check_cut(least: Duration, end: impl FnOnce(&Server)) {
    let (handler, given) = hand_over();
    let server = Server::start(Limits::default(), handler);
    let mut client = server.connect();
    client.send(get("/stream"));
    let Given::Sender(mut sender) = given.recv_timeout(PATIENCE).unwrap() else {
        panic!("a responder");
    };
    let begin = Instant::now();
    end(&server);
    server.ended();
    let took = begin.elapsed();
    assert!(took + Duration::from_millis(20) > least && took < least + LATE, "took {took:?}");
    assert!(!client.read_to_close().ends_with(b"0\r\n\r\n"));
    assert!(sender.send_blocking(Bytes::from_static(b"late")).is_err());
}

#[test]
fn a_drain_closes_remaining_connections_at_its_end() {
    check_cut(Duration::from_millis(500), |server| {
        server.running().control().drain(500);
    });
    check_cut(Duration::ZERO, |server| server.running().control().drain(0));
}

#[test]
fn a_stop_cuts_at_once() {
    check_cut(Duration::ZERO, |server| server.running().control().stop());
    check_cut(Duration::ZERO, |server| {
        server.running().control().drain(LONG_MS);
        server.running().control().stop();
    });
}

/// A connection that waits because of the limit when the drain begins receives a 503.
#[test]
fn connections_that_wait_because_of_the_limit_are_rejected() {
    let limits = Limits { connections_max: 1, ..Limits::default() };
    let builder = Engine::builder().limits(limits);
    let builder = builder.own_answers(Vec::new(), Overload::Wait);
    let (handler, given) = hand_over();
    let server = Server::with(builder, handler);
    let mut held = server.connect();
    held.send(get("/later"));
    let Given::Responder(responder) = given.recv_timeout(PATIENCE).unwrap() else {
        panic!("a stream");
    };
    let mut extra = server.connect();
    extra.send(get("/extra"));
    server.running().control().drain(LONG_MS);
    assert_eq!(extra.read_response().status, 503);
    responder.send(Response::text("done"));
    assert_eq!(held.read_response().text(), "done");
    for client in [&mut held, &mut extra] {
        client.finish();
        client.expect_close();
    }
    server.ended();
}

#[test]
fn the_port_is_free_afterwards() {
    let server = Server::start(Limits::default(), echo_target);
    let address = server.address;
    server.running().control().drain(LONG_MS);
    server.ended();
    let again = Engine::builder().listen(&address.to_string()).unwrap();
    let again = Server::new(again.serve(echo_target).unwrap());
    assert_eq!(again.connect().exchange(get("/")).text(), "/");
}
