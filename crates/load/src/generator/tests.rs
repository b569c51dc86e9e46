//! What a request costs in memory: nothing, once the load is being made. And what counts as lag.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use allocation_counter::measure;
use vervet_engine::reactor::Outgoing;

use super::{Finished, Report, Start, Thread};
use crate::canned::{Canned, CannedAnswer};
use crate::clock::now_ns;
use crate::pacer::{Arrival, Pacer};
use crate::plan::{Load, Plan};
use crate::script::{ContentOfAnswer, Request};
use crate::{Check, Fixed};
use vervet_report::Reuse;

/// The slowest requests are described, and each is slower than those before: their number grows by
/// the logarithm.
const ALLOCATIONS_OF_MORE_REQUESTS_MAX: u64 = 400;

/// A run of so many requests.
fn plan(address: &Outgoing, requests: u64) -> Plan {
    let kind = Request { check: 0, step: 0, content: ContentOfAnswer::AsFramed, due: None };
    let fixed = Fixed::new("/", &b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"[..], kind);
    let mut plan = Plan::new("test", address.clone(), Arc::new(fixed));
    plan.duration = None;
    plan.requests = Some(requests);
    plan.connections = 8;
    plan.interval = Duration::from_mins(10);
    plan
}

/// Runs a plan on this thread, late by this much.
fn run(plan: Plan, late_ns: u64) -> Box<Finished> {
    let plan = Arc::new(plan);
    let (reports_to, reports) = mpsc::channel();
    let thread = Thread::new(&plan, plan.share(0), reports_to).unwrap();
    thread.run(Start { epoch_ns: now_ns().saturating_sub(late_ns) }).unwrap();
    let finished = reports.iter().find_map(|report| match report {
        Report::Finished(_, finished) => Some(finished),
        Report::Interval(..) => None,
    });
    finished.unwrap()
}

/// Allocations of a whole run of so many requests, on this thread.
fn allocations(address: &Outgoing, requests: u64, change: impl Fn(&mut Plan)) -> u64 {
    let mut plan = plan(address, requests);
    change(&mut plan);
    let mut done = 0;
    let counted = measure(|| done = run(plan, 0).stats.total.done);
    assert_eq!(done, requests);
    counted.count_total
}

#[track_caller]
fn check(change: impl Fn(&mut Plan)) {
    let address = "127.0.0.1:0".parse().unwrap();
    let canned = Canned::start(&address, &CannedAnswer::default()).unwrap();
    let outgoing = Outgoing::tcp(canned.address().unwrap());
    let few = allocations(&outgoing, 500, &change);
    let many = allocations(&outgoing, 10_500, &change);
    let more = many.saturating_sub(few);
    assert!(more <= ALLOCATIONS_OF_MORE_REQUESTS_MAX, "{more} for 10,000 more requests");
}

#[test]
fn closed_load_asks_for_no_memory() {
    check(|_| ());
    check(|plan| plan.pipelining = 4);
}

#[test]
fn open_load_asks_for_no_memory() {
    check(|plan| {
        plan.load = Load::Open {
            pacer: Arc::new(Pacer::constant(10_000.0)),
            arrival: Arrival::Poisson { seed: 1 },
        };
    });
}

/// A text to be found is looked for without a copy that stays.
#[test]
fn a_check_that_reads_content_asks_for_what_one_answer_needs() {
    let text = Check { length: Some(13), ..Check::default() };
    check(move |plan| plan.checks = vec![text.clone()]);
}

/// Users that are free wait for the generator alone: a start that is late by 100 ms is lag of the
/// requests that were due until then.
#[test]
fn a_late_generator_lags() {
    let address = "127.0.0.1:0".parse().unwrap();
    let canned = Canned::start(&address, &CannedAnswer::default()).unwrap();
    let mut plan = plan(&Outgoing::tcp(canned.address().unwrap()), 20);
    // Without a connection in advance, users are free from the beginning.
    plan.reuse = Reuse::Close;
    plan.connections = 20;
    let pacer = Arc::new(Pacer::constant(1000.0));
    plan.load = Load::Open { pacer, arrival: Arrival::Even };
    let finished = run(plan, 100_000_000);
    let lag_ms = finished.stats.lag.max_ns() / 1_000_000;
    assert!(lag_ms >= 100, "{lag_ms} ms");
}
