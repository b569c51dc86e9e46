//! What a line costs: in the steady state no memory is asked for.

#![allow(clippy::unwrap_used)]

#[path = "support/scribe.rs"]
mod support;

use std::hint::black_box;
use std::sync::Arc;

use support::{Ended, logs, memory_plan, with_head};
use vervet_engine::exchange::Finished;
use vervet_server::access_log::{Condition, LogPlan, Outlet, RequestIds, Scribe, Target};
use vervet_server::admin::ProcessReport;
use vervet_testkit::{PATIENCE, TempTree, wait_until};

/// Lines in the measurement: fewer bytes than the buffers have room for after the warm-up.
const LINES: usize = 100;

/// A target that makes a line as long as the buffers are to be.
const LONG_BYTES: usize = 30_000;

#[track_caller]
fn check(format: &str) {
    let (_logs, outlet, plan, choice) = memory_plan(format, Condition::default());
    let mut scribe = Scribe::new(&Arc::new(plan));
    let mut ids = RequestIds::new();
    let large = format!(
        "GET /{} HTTP/1.1\r\nHost: a\r\n\r\n",
        "x".repeat(LONG_BYTES)
    );
    let short = Ended {
        request: "GET /a?b=1 HTTP/1.1\r\nHost: a\r\nUser-Agent: \u{e9}\"curl\r\nCookie: sid=1\r\nReferer: http://b/\r\n\r\n",
        ..Ended::default()
    };
    let mut sent = 0;
    let mut log = |ended: &Ended<'_>, scribe: &mut Scribe| {
        black_box(ids.next_id());
        ended.log(scribe, |facts| {
            facts.logs = choice;
            facts.request_id = Some(b"0123456789abcdef0123456789abcdef");
        });
        sent += 1;
        sent
    };
    // Each buffer of lines takes its turn with the writer: both have to have grown.
    for _ in 0..4 {
        let ended = Ended {
            request: &large,
            ..Ended::default()
        };
        let sent = log(&ended, &mut scribe);
        assert!(wait_until(PATIENCE, || outlet.written() == sent));
    }
    log(&short, &mut scribe);
    let counted = allocation_counter::measure(|| {
        for _ in 0..LINES {
            log(&short, &mut scribe);
        }
    });
    assert_eq!(counted.count_total, 0, "{format}: {counted:?}");
}

#[test]
#[ignore = "prints figures, proves nothing"]
fn what_a_line_costs() {
    const REQUESTS: u32 = 400_000;
    let tree = TempTree::new();
    let request = "GET /13.txt HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n";
    let mut first = None;
    for format in ["no log", "common", "combined", "json", "{client} {status}"] {
        let logs = logs();
        let mut plan = LogPlan::new();
        let mut choice = plan.choice(&[]);
        if format != "no log" {
            let outlet = logs.open(&Target::file(tree.join("log"))).unwrap();
            let log = plan.add_log(format.parse().unwrap(), Condition::default(), outlet);
            choice = plan.choice(log.as_slice());
        }
        let mut scribe = Scribe::new(&Arc::new(plan));
        let ended = Ended::default();
        // The writer's thread included.
        let began = ProcessReport::read().cpu_ms;
        with_head(request, |facts| {
            facts.logs = choice;
            let finished = ended.finished(None);
            for _ in 0..REQUESTS {
                let tag = Some(scribe.begin(facts));
                black_box(scribe.finish(&Finished { tag, ..finished }));
            }
        });
        let written = || logs.outlets().iter().map(Outlet::written).sum::<u64>();
        let dropped = || {
            logs.drops()
                .iter()
                .map(|(_, drops)| drops.lines)
                .sum::<u64>()
        };
        let sent = if logs.outlets().is_empty() {
            0
        } else {
            u64::from(REQUESTS)
        };
        assert!(wait_until(PATIENCE, || written() + dropped() >= sent));
        let each = (ProcessReport::read().cpu_ms - began) * 1_000_000 / u64::from(REQUESTS);
        let bytes = tree.join("log").metadata().map_or(0, |log| log.len()) / u64::from(REQUESTS);
        let more = each.saturating_sub(*first.get_or_insert(each));
        println!(
            "{format}: {each} ns, {more} more than without; {bytes} bytes, {} dropped",
            dropped()
        );
        let _ = std::fs::remove_file(tree.join("log"));
        logs.finish(PATIENCE);
    }
}

#[test]
fn a_line_asks_for_no_memory() {
    check("common");
    check("combined");
    check("json");
    check("pretty");
    check(
        "{target} {cookie:sid} {response:content-type} {query:b} {field:user-agent} {time:iso_ms} {request_id}",
    );
}
