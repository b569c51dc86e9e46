//! Answers that come later, from other threads and from futures: each reaches its own exchange,
//! once, or is dropped.

use std::hint;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Server, get, post, target_of};
use bytes::Bytes;
use vervet_engine::limits::Limits;
use vervet_engine::pipe::{Read, pipe};
use vervet_engine::{Exchange, Outcome, Responder, Response};
use vervet_testkit::PATIENCE;

/// Gives the responder of each request to the test, with its target.
fn hand_over() -> (
    impl FnMut(Exchange<'_>) -> Outcome + Clone + Send + Sync + 'static,
    Receiver<(String, Responder)>,
) {
    let (sender, receiver) = mpsc::sync_channel(1024);
    let handler = move |exchange: Exchange<'_>| {
        let target = target_of(&exchange);
        let (responder, outcome) = exchange.later();
        sender.send((target, responder)).unwrap();
        outcome
    };
    (handler, receiver)
}

#[test]
fn a_responder_that_is_dropped_answers_500() {
    let (handler, responders) = hand_over();
    let server = Server::start(Limits::default(), handler);
    let mut client = server.connect();
    for _ in 0..2 {
        client.send(get("/"));
        drop(responders.recv_timeout(PATIENCE).unwrap());
        let answer = client.read_response();
        assert_eq!((answer.status, answer.text()), (500, "the handler sent no response\n"));
        assert_eq!(answer.field("Connection"), None);
    }
}

/// gunicorn#3626: the late answer of a request that had timed out went to the next request.
#[test]
fn an_answer_after_a_timeout_is_dropped() {
    let limits = Limits { content_idle_timeout_ms: 100, ..Limits::default() };
    let (handler, responders) = hand_over();
    let server = Server::start(limits, handler);
    let mut late = Vec::new();
    for _ in 0..4 {
        let mut client = server.connect();
        client.send("POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n");
        late.push(responders.recv_timeout(PATIENCE).unwrap().1);
        assert_eq!(client.read_response().status, 408);
        client.finish();
        client.expect_close();
    }
    server.wait_for_connections(0);
    // New connections take the places of the old ones.
    let mut clients: Vec<_> = (0..4).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.send(get("/next"));
    }
    let next: Vec<_> = (0..4).map(|_| responders.recv_timeout(PATIENCE).unwrap().1).collect();
    for responder in late {
        responder.send(Response::text("late"));
    }
    for responder in next {
        responder.send(Response::text("own"));
    }
    for client in &mut clients {
        assert_eq!(client.read_response().text(), "own");
    }
}

#[test]
fn an_answer_to_a_closed_connection_is_dropped() {
    let (handler, responders) = hand_over();
    let server = Server::start(Limits::default(), handler);
    let mut client = server.connect();
    client.send(get("/1"));
    let (_, late) = responders.recv_timeout(PATIENCE).unwrap();
    // Closed with unread bytes is a reset, which the engine sees at once.
    let mut other = server.connect();
    other.send(get("/2"));
    responders.recv_timeout(PATIENCE).unwrap().1.send(Response::text("2"));
    assert!(!other.is_silent_for(PATIENCE));
    drop(other);
    drop(client);
    let mut next = server.connect();
    next.send(get("/3"));
    let (_, own) = responders.recv_timeout(PATIENCE).unwrap();
    late.send(Response::text("late"));
    own.send(Response::text("own"));
    assert_eq!(next.read_response().text(), "own");
    drop(next);
    server.wait_for_connections(0);
}

/// The engine rejects invalid content; the later answer must not reach the next exchange.
#[test]
fn an_answer_after_a_rejection_is_dropped() {
    let (handler, responders) = hand_over();
    let server = Server::start(Limits::default(), handler);
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n");
    let (_, late) = responders.recv_timeout(PATIENCE).unwrap();
    assert_eq!(client.read_response().status, 400);
    late.send(Response::text("late"));
    client.finish();
    client.expect_close();
}

#[test]
fn many_answers_in_any_order_reach_their_own_requests() {
    let (handler, responders) = hand_over();
    let server = Server::start(Limits::default(), handler);
    let mut clients: Vec<_> = (0..200).map(|_| server.connect()).collect();
    for round in 0..3 {
        for (number, client) in clients.iter_mut().enumerate() {
            client.send(get(&format!("/{round}/{number}")));
        }
        let mut waiting: Vec<_> =
            (0..clients.len()).map(|_| responders.recv_timeout(PATIENCE).unwrap()).collect();
        // Neither the order of the requests nor its reverse: 77 and 200 have no common factor.
        waiting.sort_by_key(|(target, _)| {
            let number: usize = target.rsplit('/').next().unwrap().parse().unwrap();
            number * 77 % 200
        });
        let threads: Vec<_> = (0..4).map(|_| waiting.split_off(waiting.len() - 50)).collect();
        let threads: Vec<_> = threads
            .into_iter()
            .map(|share| {
                thread::spawn(move || {
                    for (target, responder) in share {
                        responder.send(Response::text(target));
                    }
                })
            })
            .collect();
        for (number, client) in clients.iter_mut().enumerate() {
            assert_eq!(client.read_response().text(), format!("/{round}/{number}"));
        }
        for thread in threads {
            thread.join().unwrap();
        }
    }
}

#[test]
fn futures_run_on_the_reactor_that_took_the_request() {
    let server = Server::start(Limits::default(), |mut exchange: Exchange<'_>| {
        let content = exchange.content();
        let spawner = exchange.spawner().clone();
        let reactor = thread::current().id();
        let (responder, outcome) = exchange.later();
        spawner.spawn(async move {
            let mut text = Vec::new();
            if let Some(mut content) = content {
                while let Some(Ok(bytes)) = content.read().await {
                    text.extend_from_slice(&bytes);
                }
            }
            assert_eq!(thread::current().id(), reactor);
            responder.send(Response::text(text));
        });
        outcome
    });
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello");
    assert!(client.is_silent_for(Duration::from_millis(20)));
    assert_eq!(client.exchange("world").text(), "helloworld");
    assert_eq!(client.exchange(post("/", "again")).text(), "again");
}

/// A future that is dropped with its responder answers too.
#[test]
fn a_future_that_ends_without_an_answer_is_a_500() {
    let server = Server::start(Limits::default(), |exchange: Exchange<'_>| {
        let spawner = exchange.spawner().clone();
        let (responder, outcome) = exchange.later();
        spawner.spawn(async move { drop(responder) });
        outcome
    });
    assert_eq!(server.connect().exchange(get("/")).status, 500);
}

/// A future is woken from another thread just as the reactor goes to sleep: again and again, for a
/// wake-up that is lost leaves it waiting for ever.
#[test]
fn no_wake_up_from_another_thread_is_lost() {
    const ROUNDS: usize = 50_000;
    let server = Server::start(Limits::default(), |exchange: Exchange<'_>| {
        let (mut to_future, mut from_thread) = pipe(1, std::sync::Arc::new(|| ()));
        let (mut to_thread, mut from_future) = pipe(1, std::sync::Arc::new(|| ()));
        let spawner = exchange.spawner().clone();
        let (responder, outcome) = exchange.later();
        thread::spawn(move || {
            for round in 0..ROUNDS {
                // Blocking would be too slow to meet the moment, so the thread spins, a little
                // longer each time.
                for _ in 0..round % 128 {
                    hint::spin_loop();
                }
                to_future.try_send(Bytes::from_static(b"x")).unwrap();
                let begin = Instant::now();
                while from_future.try_read() == Read::Pending {
                    hint::spin_loop();
                    if begin.elapsed() > PATIENCE {
                        return;
                    }
                }
            }
            to_future.finish(None);
        });
        spawner.spawn(async move {
            let mut rounds = 0;
            while let Some(Ok(bytes)) = from_thread.read().await {
                rounds += 1;
                to_thread.send(bytes).await.unwrap();
            }
            responder.send(Response::text(rounds.to_string()));
        });
        outcome
    });
    let mut client = server.connect();
    client.patience(PATIENCE * 3);
    assert_eq!(client.exchange(get("/")).text(), ROUNDS.to_string());
}
