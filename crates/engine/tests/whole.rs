//! Answers that a handler writes at once from memory: on the wire they equal those that it returns.

use std::sync::mpsc;

use crate::common::{Server, get};
use bytes::Bytes;
use vervet_engine::exchange::Finished;
use vervet_engine::http::status::Status;
use vervet_engine::limits::Limits;
use vervet_engine::{Engine, Exchange, Outcome, Response, Service};

/// Status lines and fields by the status that the target names.
fn head_of(exchange: &Exchange<'_>) -> (Status, Vec<u8>) {
    let code = std::str::from_utf8(&exchange.head().target[1..4]).unwrap();
    let status = Status::new(code.parse().unwrap()).unwrap();
    let mut head = Vec::new();
    status.write_line(&mut head);
    head.extend_from_slice(b"X-Kind: whole\r\n");
    (status, head)
}

fn sent(exchange: Exchange<'_>) -> Outcome {
    let (status, head) = head_of(&exchange);
    exchange.send_whole(status, &head, b"content")
}

#[allow(clippy::needless_pass_by_value)] // what a handler is
fn returned(exchange: Exchange<'_>) -> Outcome {
    let (status, head) = head_of(&exchange);
    Response::encoded(status, Bytes::from(head)).content("content").into()
}

/// The bytes of the answers to some requests, without the date.
fn reply(server: &Server, requests: &str) -> String {
    let mut client = server.connect();
    client.send(requests);
    let text = String::from_utf8(client.read_to_close()).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("Date: "));
    lines.collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(requests: &str) {
    let (first, second) =
        (Server::start(Limits::default(), sent), Server::start(Limits::default(), returned));
    let reply_sent = reply(&first, requests);
    assert_eq!(reply_sent, reply(&second, requests), "{requests}");
    assert!(
        reply_sent.starts_with("HTTP/1.1 ") || requests.starts_with("GET /100"),
        "{reply_sent}"
    );
}

#[test]
fn the_bytes_are_those_of_a_returned_response() {
    let last = "GET /200 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    check(last);
    check(&[&get("/200"), &get("/404"), last].concat());
    check(&["HEAD /200 HTTP/1.1\r\nHost: a\r\n\r\n", last].concat());
    check(&[&get("/204"), &get("/304"), &get("/205"), last].concat());
    check("GET /200 HTTP/1.0\r\n\r\n");
    check("GET /200 HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /200 HTTP/1.0\r\n\r\n");
    check(&["POST /200 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", last].concat());
    check("POST /200 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
}

/// Adds a field to every answer, as a wrapper does.
fn wrapped(mut exchange: Exchange<'_>) -> Outcome {
    exchange.hold_answer();
    sent(exchange).amend(|mut response| {
        response.add_field("X-Wrapped", b"yes").unwrap();
        response
    })
}

#[test]
fn a_wrapper_can_hold_the_answer_and_change_it() {
    let server = Server::start(Limits::default(), wrapped);
    let response = server.connect().exchange(get("/404"));
    assert_eq!((response.status, response.text()), (404, "content"));
    assert_eq!(response.field("x-kind"), Some("whole"));
    assert_eq!(response.field("x-wrapped"), Some("yes"));
}

#[test]
fn a_handler_can_close_the_connection_after_its_answer() {
    for answers in [sent, returned] {
        let handler = move |mut exchange: Exchange<'_>| {
            exchange.close_after();
            answers(exchange)
        };
        let server = Server::start(Limits::default(), handler);
        let mut client = server.connect();
        client.send([get("/200"), get("/200")].concat());
        let response = client.read_response();
        assert_eq!(response.field("connection"), Some("close"));
        client.expect_close();
    }
}

#[test]
fn an_interim_status_as_final_answer_aborts_the_connection() {
    check("GET /100 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
}

/// Sends what is reported of each exchange.
struct Recorder(mpsc::Sender<(Option<u32>, u16, u64)>);

impl Service for Recorder {
    fn call(&mut self, mut exchange: Exchange<'_>) -> Outcome {
        exchange.set_tag(7);
        sent(exchange)
    }

    fn finished(&mut self, finished: &Finished<'_>) {
        let facts = (finished.tag, finished.status.code(), finished.content_bytes);
        self.0.send(facts).unwrap();
    }
}

#[test]
fn it_is_counted_and_reported() {
    let (tell, told) = mpsc::channel();
    let builder = Engine::builder().listen("127.0.0.1:0").unwrap();
    let server = Server::new(builder.start(move |_| Recorder(tell.clone())).unwrap());
    let mut client = server.connect();
    client.send("HEAD /200 HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(client.read_head_response().field("Content-Length"), Some("7"));
    assert_eq!(told.recv().unwrap(), (Some(7), 200, 0));
    for (status, content_bytes) in [(304, 0), (204, 0), (404, 7)] {
        client.send(get(&format!("/{status}")));
        assert_eq!(client.read_response().status, status);
        assert_eq!(told.recv().unwrap(), (Some(7), status, content_bytes));
    }
    server.wait_for_count(|counters| &counters.responses[3], 1);
    assert_eq!(server.count(|counters| &counters.content_bytes), 7);
}
