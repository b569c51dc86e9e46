//! Pages over a connection: methods, forms as they arrive, and what the engine makes of it.

use std::borrow::Cow;
use std::sync::Arc;

use crate::support::wire::Wire;
use vervet_engine::http::target::{RequestTarget, Scheme};
use vervet_engine::reactor::Now;
use vervet_engine::{Exchange, Outcome, Service};
use vervet_server::matching::Captures;
use vervet_server::pages::{Page, PageAction, PageOptions};
use vervet_server::web::{Action, Handler, Request};
use vervet_testkit::{RawClient, Response, TempTree};

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

/// A server whose every request comes to one page.
struct Sole(Box<dyn Handler>);

impl Service for Sole {
    fn call(&mut self, exchange: Exchange<'_>) -> Outcome {
        let head = exchange.head();
        let target = RequestTarget::parse(head.target, head.method).unwrap();
        let request = Request {
            head,
            raw_path: Cow::Borrowed(target.raw_path().unwrap()),
            path: Cow::Borrowed(target.raw_path().unwrap()),
            query: target.raw_query().map(Cow::Borrowed),
            host: vervet_server::web::HostName::new(head.host().unwrap_or_default()),
            peer: exchange.peer(),
            forwarded_client: None,
            scheme: Scheme::Http,
            captures: Captures::default(),
            rest_at: None,
            request_id: None,
            resumed: None,
            user: None,
            held: Vec::new(),
            now: exchange.now(),
        };
        self.0.answer(&request, exchange)
    }
}

fn start(template: &str) -> (TempTree, Wire) {
    let tree = TempTree::new().file("page.html", template);
    let mut options = PageOptions::new(tree.path(), "page.html");
    options.limits.form_bytes_max = 1000;
    options.limits.time_max = std::time::Duration::from_mins(1);
    let page: Arc<Page> = Page::new(options, Now::read()).unwrap();
    assert!(page.problems().is_empty(), "{:?}", page.problems());
    let action = PageAction::new(page);
    (tree, Wire::start(move |_| Sole(action.handler())))
}

fn exchange(client: &mut RawClient, request: &str) -> Response {
    client.exchange(request)
}

#[track_caller]
fn check(wire: &Wire, request: &str, expected: (u16, &str)) {
    let mut client = RawClient::connect(wire.address);
    let response = exchange(&mut client, request);
    let text = String::from_utf8_lossy(&response.content);
    assert_eq!(response.status, expected.0, "{request}: {text}");
    assert!(text.contains(expected.1), "{request}: {text}");
}

fn post(fields: &str, content: &str) -> String {
    format!(
        "POST / HTTP/1.1\r\nHost: x\r\n{fields}Content-Length: {}\r\n\r\n{content}",
        content.len()
    )
}

#[test]
fn other_methods_are_refused() {
    let (_tree, wire) = start("page");
    for (request, status, allow) in [
        ("PUT / HTTP/1.1\r\nHost: x\r\n\r\n", 405, Some("GET, HEAD, POST, OPTIONS")),
        ("DELETE / HTTP/1.1\r\nHost: x\r\n\r\n", 405, Some("GET, HEAD, POST, OPTIONS")),
        ("BREW / HTTP/1.1\r\nHost: x\r\n\r\n", 501, Some("GET, HEAD, POST, OPTIONS")),
        ("OPTIONS / HTTP/1.1\r\nHost: x\r\n\r\n", 204, Some("GET, HEAD, POST, OPTIONS")),
        ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 200, None),
    ] {
        let mut client = RawClient::connect(wire.address);
        let response = exchange(&mut client, request);
        assert_eq!((response.status, response.field("allow")), (status, allow), "{request}");
    }
    wire.stop();
}

#[test]
fn head_tells_what_get_would() {
    let (_tree, wire) = start("hello {{ query.name }}");
    let mut client = RawClient::connect(wire.address);
    client.send("HEAD /?name=otter HTTP/1.1\r\nHost: x\r\n\r\n");
    let response = client.read_head_response();
    assert_eq!((response.status, response.field("content-length")), (200, Some("11")));
    assert_eq!(response.field("content-type"), Some("text/html; charset=utf-8"));
    check(&wire, "GET /?name=otter HTTP/1.1\r\nHost: x\r\n\r\n", (200, "hello otter"));
    wire.stop();
}

#[test]
fn only_forms_are_taken_where_a_form_is_asked_for() {
    let (_tree, wire) = start("[{{ form.a }}]");
    check(
        &wire,
        &post("Content-Type: text/plain\r\n", "a=1"),
        (415, "application/x-www-form-urlencoded"),
    );
    check(&wire, &post("Content-Type: multipart/form-data; boundary=x\r\n", "--x--"), (415, ""));
    check(&wire, &post("Content-Type: application/json\r\n", "{}"), (415, ""));
    check(&wire, &post("", "a=1"), (415, ""));
    check(&wire, &post(&format!("{FORM}Content-Encoding: gzip\r\n"), "a=1"), (415, ""));
    let mut client = RawClient::connect(wire.address);
    let response = exchange(&mut client, &post("Content-Type: text/plain\r\n", "a=1"));
    assert_eq!(response.field("accept"), Some("application/x-www-form-urlencoded"));
    check(
        &wire,
        &post("Content-Type: Application/X-WWW-Form-Urlencoded; charset=utf-8\r\n", "a=%3C"),
        (200, "[&lt;]"),
    );
    check(&wire, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", (200, "[]"));
    wire.stop();
}

#[test]
fn a_page_without_a_form_takes_no_notice_of_content() {
    let (_tree, wire) = start("hello");
    check(&wire, &post("Content-Type: text/plain\r\n", &"x".repeat(5000)), (200, "hello"));
    wire.stop();
}

#[test]
fn forms_are_taken_up_to_their_limit() {
    let (_tree, wire) = start("{{ form.a|length }}");
    let form = |bytes: usize| format!("a={}", "x".repeat(bytes - 2));
    check(&wire, &post(FORM, &form(1000)), (200, "998"));
    check(&wire, &post(FORM, &form(1001)), (413, "larger than 1000 bytes"));
    let chunked = |bytes: usize| {
        let form = form(bytes);
        let (one, other) = form.split_at(700);
        format!(
            "POST / HTTP/1.1\r\nHost: x\r\n{FORM}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{one}\r\n{:x}\r\n{other}\r\n0\r\n\r\n",
            one.len(),
            other.len()
        )
    };
    check(&wire, &chunked(1000), (200, "998"));
    check(&wire, &chunked(1001), (413, "larger than 1000 bytes"));
    wire.stop();
}

#[test]
fn a_form_of_very_many_fields_is_refused() {
    let (_tree, wire) = start("{{ form|length }}");
    check(&wire, &post(FORM, &"&".repeat(999)), (200, "0"));
    check(&wire, &post(FORM, &"&".repeat(1000)), (400, "more than 1000 fields"));
    wire.stop();
}

#[test]
fn a_form_may_come_in_pieces_and_others_are_answered_meanwhile() {
    let (_tree, wire) = start("[{{ form.a }}{{ query.b }}]");
    let mut slow = RawClient::connect(wire.address);
    slow.send(format!("POST /?b=1 HTTP/1.1\r\nHost: x\r\n{FORM}Content-Length: 5\r\n\r\na=x"));
    check(&wire, "GET /?b=2 HTTP/1.1\r\nHost: x\r\n\r\n", (200, "[2]"));
    check(&wire, &post(FORM, "a=3"), (200, "[3]"));
    slow.send("yz");
    let response = slow.read_response();
    assert_eq!((response.status, response.content.as_slice()), (200, &b"[xyz1]"[..]));
    let response = exchange(&mut slow, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!((response.status, response.content.as_slice()), (200, &b"[]"[..]));
    wire.stop();
}

#[test]
fn a_client_that_waits_for_continue_is_told_to_go_on() {
    let (_tree, wire) = start("[{{ form.a }}]");
    let mut client = RawClient::connect(wire.address);
    client.send(format!(
        "POST / HTTP/1.1\r\nHost: x\r\n{FORM}Content-Length: 3\r\nExpect: 100-continue\r\n\r\n"
    ));
    let go_on = b"HTTP/1.1 100 Continue\r\n\r\n";
    assert_eq!(client.read_exact(go_on.len()), go_on);
    client.send("a=1");
    assert_eq!(client.read_response().content, b"[1]");
    wire.stop();
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let (_tree, wire) = start("{{ query.a }}{{ form.a }};");
    let mut client = RawClient::connect(wire.address);
    let requests = [
        "GET /?a=1 HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        post(FORM, "a=2"),
        "GET /?a=3 HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
    ];
    client.send(requests.concat());
    let contents: Vec<_> = (0..3).map(|_| client.read_response().content).collect();
    assert_eq!(contents.concat(), b"1;2;3;");
    wire.stop();
}

#[test]
fn a_redirection_has_no_content() {
    let (_tree, wire) = start("{{ redirect('/done') }}");
    let mut client = RawClient::connect(wire.address);
    let response = exchange(&mut client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(
        (response.status, response.field("location"), response.field("content-length")),
        (303, Some("/done"), Some("0"))
    );
    wire.stop();
}

#[test]
fn a_large_page_arrives_whole() {
    let (_tree, wire) = start("{% for n in range(50000) %}{{ n }},{% endfor %}");
    let expected: String = (0..50_000).map(|n| format!("{n},")).collect::<Vec<_>>().concat();
    let mut client = RawClient::connect(wire.address);
    for _ in 0..3 {
        let response = exchange(&mut client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(response.content == expected.as_bytes());
    }
    wire.stop();
}
