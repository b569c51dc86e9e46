//! What a line costs: in the steady state no memory is asked for.

#![allow(clippy::unwrap_used)]

#[path = "support/scribe.rs"]
mod support;

use std::hint::black_box;
use std::sync::Arc;

use support::{Ended, memory_plan};
use vervet_server::access_log::{Condition, RequestIds, Scribe};
use vervet_testkit::{PATIENCE, wait_until};

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
fn a_line_asks_for_no_memory() {
    check("common");
    check("combined");
    check("json");
    check("pretty");
    check(
        "{target} {cookie:sid} {response:content-type} {query:b} {field:user-agent} {time:iso_ms} {request_id}",
    );
}
