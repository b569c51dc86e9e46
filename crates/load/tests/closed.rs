//! Closed load: what is counted, what is not, and when it ends.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use crate::common::{GOOD, answering, canned, plan, plan_of, request, requests, run, server, take};
use vervet_engine::reactor::Outgoing;
use vervet_load::canned::{CannedAnswer, CannedContent};
use vervet_load::{Check, Plan, StartError, StatusSet};
use vervet_report::{Ended, ErrorClass, Mode};

type Change = fn(&mut Plan);

#[test]
fn refuses_invalid_plans() {
    let address = "127.0.0.1:9".parse().unwrap();
    let rows: [(Change, &str); 9] = [
        (|plan| plan.connections = 0, "connections must be"),
        (|plan| plan.pipelining = 0, "pipelined requests must be"),
        (|plan| plan.threads = 0, "threads must be"),
        (|plan| plan.duration = None, "a run needs an end"),
        (|plan| plan.duration = Some(Duration::ZERO), "the duration must be"),
        (|plan| plan.requests = Some(0), "the number of requests must be"),
        (|plan| plan.interval = Duration::ZERO, "the interval must be"),
        (|plan| plan.connect_rate = Some(f64::NAN), "the connect rate must be"),
        (|plan| plan.outgoing.clear(), "the target has no address"),
    ];
    for (change, expected) in rows {
        let mut plan = plan(address);
        change(&mut plan);
        let refused = vervet_load::run(plan).unwrap_err();
        assert!(matches!(refused, StartError::Plan(_)), "{refused}");
        assert!(refused.to_string().starts_with(expected), "{refused}");
    }
}

#[test]
fn makes_as_many_requests_as_asked() {
    let (_canned, address) = canned(&CannedAnswer::default());
    let mut plan = requests(plan(address), 1001);
    plan.connections = 7;
    plan.threads = 2;
    let run = run(plan);
    assert_eq!(run.achieved.done, 1001, "{:?}", run.errors);
    assert_eq!(run.achieved.ended, Ended::AsAsked);
    assert_eq!(run.achieved.content_bytes, 1001 * 13);
    assert_eq!(run.achieved.connections_opened, 7);
    assert_eq!(run.statuses.get(&200), Some(&1001));
    assert_eq!((run.errors.total(), run.censored.count), (0, 0));
    assert_eq!((run.asked.threads, &run.asked.mode), (2, &Mode::Closed));
    assert_eq!(run.asked.checks, ["status 200 to 399"]);
    for times in [&run.timings.response, &run.timings.service, &run.timings.first_byte] {
        assert_eq!(times.count(), 1001);
    }
    assert_eq!(run.timings.connect.count(), 7);
    let done: u64 = run.intervals.iter().map(|interval| interval.done).sum();
    assert_eq!(done, 1001);
}

#[test]
fn ends_at_its_duration_and_reports_each_interval() {
    let (_canned, address) = canned(&CannedAnswer::default());
    let mut plan = plan(address);
    plan.connections = 4;
    plan.duration = Some(Duration::from_millis(550));
    plan.interval = Duration::from_millis(100);
    let mut told = 0;
    let run = vervet_load::start(plan).unwrap().finish(|_| told += 1);
    let starts: Vec<_> = run.intervals.iter().map(|it| (it.start_ms, it.length_ms)).collect();
    let expected = [(0, 100), (100, 100), (200, 100), (300, 100), (400, 100), (500, 50)];
    assert_eq!(starts, expected);
    assert_eq!(told, 6);
    assert_eq!(run.achieved.window_us, 550_000);
    // Each connection has one under way at the end; those whose answer came just then have none.
    assert!(run.censored.count <= 4, "{:?}", run.censored);
    assert!(run.achieved.done > 0 && run.errors.total() == 0);
}

/// What was done before the window is in no figure.
#[test]
fn a_warm_up_is_not_counted() {
    let address = server(|mut stream| {
        let mut slow = 3;
        while request(&mut stream).is_some() {
            if slow > 0 {
                slow -= 1;
                take(Duration::from_millis(150));
            }
            let _ = stream.write_all(GOOD);
        }
    });
    let mut plan = requests(plan(address), 20);
    plan.warm_up = Duration::from_secs(1);
    let run = run(plan);
    assert_eq!(run.achieved.done, 20);
    assert_eq!(run.timings.connect.count(), 0, "it was connected before");
    assert!(run.timings.response.min_ns() < 150_000_000);
    assert_eq!(run.asked.warm_up_ms, 1000);
}

/// Agrees with what the server took: the median within 1 %, taken over what a busy machine adds by
/// the best of three.
#[test]
fn times_are_those_of_the_server() {
    const DELAY_MS: u64 = 200;
    let address = server(|mut stream| {
        while request(&mut stream).is_some() {
            take(Duration::from_millis(DELAY_MS));
            let (head, content) = GOOD.split_at(20);
            let _ = stream.write_all(head);
            take(Duration::from_millis(DELAY_MS));
            let _ = stream.write_all(content);
        }
    });
    let near = |ns: u64, ms: u64| ns.abs_diff(ms * 1_000_000) <= ms * 10_000;
    let mut seen = Vec::new();
    for _ in 0..3 {
        let mut plan = requests(plan(address), 20);
        plan.connections = 4;
        let run = run(plan);
        let median = |times: &vervet_report::Histogram| times.quantile_ns(0.5);
        let first = median(&run.timings.first_byte);
        let whole = median(&run.timings.service);
        assert!(first >= DELAY_MS * 1_000_000 && whole >= 2 * DELAY_MS * 1_000_000);
        if near(first, DELAY_MS) && near(whole, 2 * DELAY_MS) {
            return;
        }
        seen.push((first, whole));
    }
    panic!("{seen:?} ns");
}

fn check_answer(check: Check, answer: &[u8], expected: Option<ErrorClass>) {
    let mut plan = requests(plan(answering(answer)), 5);
    plan.checks = vec![check];
    let run = run(plan);
    let (done, failed) = match expected {
        Some(_) => (0, 5),
        None => (5, 0),
    };
    assert_eq!((run.achieved.done, run.errors.total()), (done, failed));
    assert_eq!(run.timings.response.count(), done, "failures have no time");
    if let Some(class) = expected {
        assert_eq!(run.errors.count(class), 5, "{:?}", run.errors);
    }
    // Wrong as it is, it came in full: the connection goes on.
    assert_eq!(run.achieved.connections_opened, 1);
}

#[test]
fn answers_are_compared_with_their_check() {
    let text = |text: &[u8]| Check { text: Some(Arc::from(text)), ..Check::default() };
    let length = |length| Check { length: Some(length), ..Check::default() };
    let missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno";
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nHello,\r\n7\r\n world\n\r\n0\r\n\r\n";
    let empty = b"HTTP/1.1 204 No Content\r\n\r\n";
    check_answer(Check::default(), missing, Some(ErrorClass::WrongStatus));
    check_answer(length(12), GOOD, Some(ErrorClass::WrongContent));
    check_answer(text(b"moon"), GOOD, Some(ErrorClass::WrongContent));
    check_answer(text(b"moon"), empty, Some(ErrorClass::WrongContent));
    check_answer(text(b"lo, world"), GOOD, None);
    check_answer(text(b"lo, world"), chunked, None);
    check_answer(length(13), chunked, None);
    check_answer(Check::default(), empty, None);
    let only_404 = Check { status: StatusSet::parse("404").unwrap(), ..Check::default() };
    check_answer(only_404, missing, None);
}

#[test]
fn an_answer_to_head_has_no_content() {
    let address = answering(&b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n"[..]);
    let plan = plan_of(Outgoing::tcp(address), "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    let run = run(requests(plan, 10));
    assert_eq!((run.achieved.done, run.achieved.content_bytes), (10, 0));
}

#[test]
fn an_interim_answer_is_not_the_answer() {
    let answer = [b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", GOOD].concat();
    let run = run(requests(plan(answering(answer)), 10));
    assert_eq!((run.achieved.done, run.errors.total()), (10, 0));
    assert_eq!(run.statuses.into_iter().collect::<Vec<_>>(), [(200, 10)]);
}

#[test]
fn large_answers_come_in_pieces() {
    let large = CannedAnswer { content: CannedContent::Bytes(300_000), ..CannedAnswer::default() };
    let (_canned, address) = canned(&large);
    let mut plan = requests(plan(address), 200);
    plan.connections = 3;
    let run = run(plan);
    assert_eq!(run.achieved.done, 200, "{:?}", run.errors);
    assert_eq!(run.achieved.content_bytes, 200 * 300_000);
}
