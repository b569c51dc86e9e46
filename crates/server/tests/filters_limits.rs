//! Rates and requests under way, over connections. The rates are so low that no second of the
//! test's own time counts.

use std::sync::{Arc, Mutex};

use crate::support::filtered::{Filtered, Plan};
use crate::support::wire::Wire;
use vervet_config::read_text;
use vervet_engine::{Responder, Response};
use vervet_server::filters::connections::{Concurrency, ConcurrencySettings};
use vervet_server::filters::rate::{RateLimit, RateSettings};
use vervet_testkit::{PATIENCE, RawClient, wait_until};

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

fn rate(text: &str) -> Arc<RateLimit> {
    let section = read_text::<RateSettings>("test.toml", text).value.unwrap();
    Arc::new(RateLimit::from(&section))
}

fn with_field(name: &str, value: &str) -> String {
    format!("GET / HTTP/1.1\r\nHost: a\r\n{name}: {value}\r\n\r\n")
}

#[test]
fn above_its_rate_a_client_is_told_when_to_come_again() {
    let limit = rate("limit = '3/h'");
    let plan = Plan::of(vec![limit.clone()]);
    let wire = Wire::start(move |_| Filtered::new(&plan));
    let statuses: Vec<_> =
        (0..3).map(|_| RawClient::connect(wire.address).exchange(GET).status).collect();
    assert_eq!(statuses, [200, 200, 200]);
    let mut client = RawClient::connect(wire.address);
    let response = client.exchange(GET);
    assert_eq!(response.status, 429);
    assert_eq!(
        response.field("content-type"),
        Some("text/html; charset=utf-8"),
        "as other failures are shown"
    );
    assert!(response.text().contains("<h1>429 Too Many Requests</h1>"), "{}", response.text());
    // A third of an hour, less what has passed meanwhile.
    let retry: u64 = response.field("retry-after").unwrap().parse().unwrap();
    assert!((1..=1200).contains(&retry), "{retry}");
    assert_eq!(client.exchange(GET).status, 429, "the connection goes on");
    assert_eq!(limit.refusals(), 2);
}

#[test]
fn clients_are_told_apart_by_a_field() {
    let plan = Plan::of(vec![rate("limit = '1/h'\nkey = 'X-Api-Key'")]);
    let wire = Wire::start(move |_| Filtered::new(&plan));
    let mut client = RawClient::connect(wire.address);
    for (key, expected) in [("a", 200), ("a", 429), ("b", 200), ("127.0.0.1", 200)] {
        assert_eq!(client.exchange(with_field("x-api-key", key)).status, expected, "{key}");
    }
    assert_eq!(client.exchange(GET).status, 200, "by address");
    assert_eq!(client.exchange(GET).status, 429);
}

/// A server whose answers come when the test sends them.
struct Slow {
    wire: Wire,
    limit: Concurrency,
    waiting: Arc<Mutex<Vec<Responder>>>,
}

impl Slow {
    fn start(text: &str) -> Self {
        let section = read_text::<ConcurrencySettings>("test.toml", text).value.unwrap();
        let limit = Concurrency::new(&section);
        let waiting: Arc<Mutex<Vec<Responder>>> = Arc::default();
        let queue = Arc::clone(&waiting);
        let mut plan = Plan::of(vec![Arc::new(limit.clone())]);
        plan.answer = Arc::new(move |_, exchange| {
            let (responder, outcome) = exchange.later();
            queue.lock().unwrap().push(responder);
            outcome
        });
        Self { wire: Wire::start(move |_| Filtered::new(&plan)), limit, waiting }
    }

    /// A client whose request is under way.
    fn under_way(&self) -> RawClient {
        let before = self.limit.taken();
        let mut client = RawClient::connect(self.wire.address);
        client.send(GET);
        assert!(wait_until(PATIENCE, || self.limit.taken() > before));
        client
    }

    fn answer_all(&self) {
        for responder in self.waiting.lock().unwrap().drain(..) {
            responder.send(Response::text("late\n"));
        }
    }
}

#[test]
fn a_client_has_so_many_requests_under_way() {
    let slow = Slow::start("per_client = 2");
    let mut under_way = [slow.under_way(), slow.under_way()];
    let response = RawClient::connect(slow.wire.address).exchange(GET);
    assert_eq!((response.status, response.field("retry-after")), (429, Some("1")));
    slow.answer_all();
    for client in &mut under_way {
        assert_eq!(client.read_response().text(), "late\n");
    }
    assert!(wait_until(PATIENCE, || slow.limit.taken() == 0));
    drop(slow.under_way());
    assert_eq!(slow.limit.refused_client(), 1);
}

#[test]
fn all_together_have_so_many_requests_under_way() {
    let slow = Slow::start("total = 1");
    let under_way = slow.under_way();
    let response = RawClient::connect(slow.wire.address).exchange(GET);
    assert_eq!((response.status, response.field("retry-after")), (503, Some("1")));
    // A client that goes away without its answer gives its place back.
    drop(under_way);
    slow.answer_all();
    assert!(wait_until(PATIENCE, || slow.limit.taken() == 0));
    assert_eq!(slow.limit.refused_total(), 1);
}
