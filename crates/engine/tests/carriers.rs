//! The same server on each carrier: a plain thread, a tokio runtime, and a custom loop that only
//! polls the descriptor and calls `turn`.

use std::os::fd::AsFd;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{ByHand, Server, get, noise, post, target_of};
use bytes::Bytes;
use rustix::event::{PollFd, PollFlags, poll};
use vervet_engine::http::status::Status;
use vervet_engine::limits::Limits;
use vervet_engine::{Carrier, Content, Engine, Exchange, Outcome, Response};
use vervet_testkit::{Framing, PATIENCE, RawClient, sha256_hex};

fn limits() -> Limits {
    Limits { keep_alive_idle_ms: 2_000, ..Limits::default() }
}

/// One handler for each way to answer.
fn handle(mut exchange: Exchange<'_>) -> Outcome {
    match target_of(&exchange).as_str() {
        "/later" => {
            let (responder, outcome) = exchange.later();
            thread::spawn(move || responder.send(Response::text("later")));
            outcome
        }
        "/stream" => {
            let (mut sender, reader) = exchange.stream();
            thread::spawn(move || {
                for _ in 0..100 {
                    sender.send_blocking(Bytes::from(vec![b's'; 10_000])).unwrap();
                }
                sender.finish(None);
            });
            let stream = Content::Stream { length: None, reader };
            Response::new(Status::OK).content(stream).into()
        }
        "/hash" => {
            let mut content = exchange.content().unwrap();
            let spawner = exchange.spawner().clone();
            let (responder, outcome) = exchange.later();
            spawner.spawn(async move {
                let mut all = Vec::new();
                while let Some(Ok(bytes)) = content.read().await {
                    all.extend_from_slice(&bytes);
                }
                responder.send(Response::text(sha256_hex(all)));
            });
            outcome
        }
        "/large" => Response::text(vec![b'l'; 20_000_000]).into(),
        target => Response::text(target.to_owned()).into(),
    }
}

/// Checks what every carrier must support: both outcomes, both directions, blocked output, timers,
/// wake-ups.
#[track_caller]
fn smoke(connect: impl Fn() -> RawClient) {
    let mut client = connect();
    assert_eq!(client.exchange(get("/now")).text(), "/now");
    let content = noise(500_000);
    for _ in 0..3 {
        client.send([get("/1"), get("/later"), get("/2")].concat());
        for expected in ["/1", "later", "/2"] {
            assert_eq!(client.read_response().text(), expected);
        }
        assert_eq!(client.exchange(post("/hash", &content)).text(), sha256_hex(&content));
        let stream = client.exchange(get("/stream"));
        assert_eq!((stream.framing, stream.content.len()), (Framing::Chunked, 1_000_000));
        assert_eq!(client.exchange(get("/large")).content.len(), 20_000_000);
    }
    let mut others: Vec<_> = (0..50).map(|_| connect()).collect();
    for _ in 0..10 {
        for client in &mut others {
            client.send(get("/many"));
        }
        for client in &mut others {
            assert_eq!(client.read_response().text(), "/many");
        }
    }
    let begin = Instant::now();
    others.iter_mut().for_each(RawClient::expect_close);
    assert!(begin.elapsed() + Duration::from_millis(20) > Duration::from_secs(2));
}

fn check(carrier: Carrier, workers: usize) {
    let builder = Engine::builder().carrier(carrier).workers(workers);
    let server = Server::with(builder.limits(limits()), handle);
    smoke(|| server.connect());
    server.running().control().drain(60_000);
    server.ended();
}

#[test]
fn a_plain_thread() {
    check(Carrier::Thread, 1);
    check(Carrier::Thread, 2);
}

#[test]
fn a_tokio_runtime() {
    check(Carrier::Tokio, 1);
    check(Carrier::Tokio, 2);
}

/// A future of a handler may use what the runtime of its thread offers.
#[test]
fn tokio_timers_work_inside_a_handler() {
    let server =
        Server::with(Engine::builder().carrier(Carrier::Tokio), |exchange: Exchange<'_>| {
            let spawner = exchange.spawner().clone();
            let (responder, outcome) = exchange.later();
            spawner.spawn(async move {
                let begin = Instant::now();
                let never = std::future::pending::<()>();
                let timer = tokio::time::timeout(Duration::from_millis(50), never);
                assert!(timer.await.is_err());
                assert!(begin.elapsed() >= Duration::from_millis(50));
                responder.send(Response::text("slept"));
            });
            outcome
        });
    let mut clients: Vec<_> = (0..20).map(|_| server.connect()).collect();
    for _ in 0..3 {
        for client in &mut clients {
            client.send(get("/"));
        }
        for client in &mut clients {
            assert_eq!(client.read_response().text(), "slept");
        }
    }
}

/// Polls level-triggered and calls `turn`.
#[test]
fn a_custom_event_loop() {
    let (told, telling) = mpsc::channel();
    let carrying = thread::spawn(move || {
        let mut server = ByHand::new(limits(), handle);
        told.send((server.address, server.reactor.handle())).unwrap();
        loop {
            let mut watched = [PollFd::from_borrowed_fd(server.reactor.as_fd(), PollFlags::IN)];
            poll(&mut watched, None).unwrap();
            if server.reactor.turn().unwrap().done {
                return;
            }
        }
    });
    let (address, handle) = telling.recv_timeout(PATIENCE).unwrap();
    smoke(|| RawClient::connect(address));
    handle.drain(60_000);
    carrying.join().unwrap();
}

/// A turn without anything ready does nothing and does not wait.
#[test]
fn a_turn_never_waits() {
    let mut server = ByHand::new(limits(), handle);
    server.settle();
    for _ in 0..1_000 {
        let turn = server.reactor.turn().unwrap();
        assert_eq!((turn.events, turn.more, turn.done), (0, false, false));
    }
    server.reactor.handle().stop();
    assert!(server.reactor.turn().unwrap().done);
    assert!(server.reactor.turn().unwrap().done);
}
