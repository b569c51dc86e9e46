//! Changes to answers that come later: made once and in order, for each kind of answer.

use std::sync::mpsc::{self, Receiver};
use std::thread;

use crate::common::{Server, get};
use vervet_engine::limits::Limits;
use vervet_engine::{Exchange, Outcome, Responder, Response};
use vervet_testkit::PATIENCE;

/// Adds a field that shows the order of the changes.
fn sign(mut response: Response, name: &str) -> Response {
    let before = response.field_value("X-Signed").unwrap_or_default();
    let all = [before, name.as_bytes()].concat();
    response.set_field("X-Signed", &all).unwrap();
    response
}

/// Two changes are requested before the answer is deferred, two on its outcome.
fn signed()
-> (impl FnMut(Exchange<'_>) -> Outcome + Clone + Send + Sync + 'static, Receiver<Responder>) {
    let (sender, receiver) = mpsc::sync_channel(8);
    let handler = move |mut exchange: Exchange<'_>| {
        exchange.amend(|response| sign(response, "a"));
        exchange.amend(|response| sign(response, "b"));
        let outcome = if exchange.head().target == b"/now" {
            Response::text("now").into()
        } else {
            let (responder, outcome) = exchange.later();
            sender.send(responder).unwrap();
            outcome
        };
        let outcome = outcome.amend(|response| sign(response, "c"));
        outcome.amend(|response| sign(response, "d"))
    };
    (handler, receiver)
}

/// Requests these targets and expects these fields; later answers are sent from another thread.
#[track_caller]
fn check(target: &str, answer: fn(Responder), expected: (u16, &str)) {
    let (handler, responders) = signed();
    let server = Server::start(Limits::default(), handler);
    let mut client = server.connect();
    for _ in 0..3 {
        client.send(get(target));
        if target != "/now" {
            let responder = responders.recv_timeout(PATIENCE).unwrap();
            thread::spawn(move || answer(responder)).join().unwrap();
        }
        let response = client.read_response();
        let signed = response.field("X-Signed").unwrap();
        assert_eq!((response.status, signed), expected);
    }
}

#[test]
fn the_answer_to_a_dropped_responder_is_changed_too() {
    check("/later", drop, (500, "abcd"));
}

#[test]
fn a_later_answer_is_changed_in_the_order_of_the_calls() {
    check(
        "/later",
        |responder| responder.send(sign(Response::text("later"), "own-")),
        (200, "own-abcd"),
    );
}

/// A handler that answers at once can change its own answer; a wrapper changes the outcome.
#[test]
fn an_immediate_answer_is_changed_by_its_outcome() {
    check("/now", drop, (200, "cd"));
}

/// Status and content may be replaced; the length on the wire is that of what is sent.
#[test]
fn the_whole_answer_may_be_replaced() {
    let server = Server::start(Limits::default(), |mut exchange: Exchange<'_>| {
        exchange.amend(|response| Response::plain(response.status(), "other content"));
        let (responder, outcome) = exchange.later();
        thread::spawn(move || responder.send(Response::text("content")));
        outcome
    });
    let mut client = server.connect();
    for _ in 0..3 {
        assert_eq!(client.exchange(get("/")).text(), "other content");
    }
}
