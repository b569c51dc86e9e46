//! What a line costs: in the steady state no memory is asked for.

use std::hint::black_box;
use std::sync::Arc;

use crate::support::log_writer::{Ended, logs, memory_plan, with_head};
use rustix::time::{ClockId, clock_gettime};
use vervet_engine::exchange::Finished;
use vervet_server::access_log::{Condition, LogPlan, LogWriter, RequestIds};
use vervet_server::log_sinks::{LogSink, Target};
use vervet_testkit::{PATIENCE, TempTree, wait_until};

/// Lines in the measurement: fewer bytes than the buffers have room for after the warm-up.
const LINES: usize = 100;

/// A target that makes a line as long as the buffers are to be.
const LONG_BYTES: usize = 30_000;

#[track_caller]
fn check(format: &str) {
    let (_logs, sink, plan, log_set) = memory_plan(format, Condition::default());
    let mut writer = LogWriter::new(&Arc::new(plan));
    let mut ids = RequestIds::new();
    let large = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(LONG_BYTES));
    let short = Ended {
        request: "GET /a?b=1 HTTP/1.1\r\nHost: a\r\nUser-Agent: \u{e9}\"curl\r\nCookie: sid=1\r\nReferer: http://b/\r\n\r\n",
        ..Ended::default()
    };
    let mut sent = 0;
    let mut log = |ended: &Ended<'_>, writer: &mut LogWriter| {
        let id = ids.next_id();
        ended.log(writer, |info| {
            info.logs = log_set;
            info.request_id = Some(id);
        });
        sent += 1;
        sent
    };
    // Each buffer of lines takes its turn with the writer: both have to have grown.
    for _ in 0..4 {
        let ended = Ended { request: &large, ..Ended::default() };
        let sent = log(&ended, &mut writer);
        assert!(wait_until(PATIENCE, || sink.written() == sent));
    }
    log(&short, &mut writer);
    let counted = allocation_counter::measure(|| {
        for _ in 0..LINES {
            log(&short, &mut writer);
        }
    });
    assert_eq!(counted.count_total, 0, "{format}: {counted:?}");
}

/// What a line of this format costs the reactor and the writer, in nanoseconds of the processor,
/// and its bytes.
fn cost(format: &str) -> (u64, u64, u64) {
    const BATCHES: u64 = 8000;
    const BATCH: u64 = 100;
    /// Lines that may wait: more bytes than make the writer hurry, in every format, and fewer than
    /// a buffer keeps.
    const WAITING_MAX: u64 = 900;
    let (tree, request) = (TempTree::new(), "GET /13.txt HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n");
    let file = tree.join("log");
    let logs = logs();
    let mut plan = LogPlan::new();
    let mut log_set = plan.log_set(&[]);
    if format != NO_LOG {
        let sink = logs.open(&Target::file(&file)).unwrap();
        let log = plan.add_log(format.parse().unwrap(), Condition::default(), sink);
        log_set = plan.log_set(log.as_slice());
    }
    let (site, route) = (plan.add_site("default"), plan.add_route("root"));
    let mut writer = LogWriter::new(&Arc::new(plan));
    let mut ids = RequestIds::new();
    let ended = Ended::default();
    let cpu_ns = |clock| {
        let time = clock_gettime(clock);
        u64::try_from(time.tv_sec * 1_000_000_000 + time.tv_nsec).unwrap()
    };
    let mine = || cpu_ns(ClockId::ThreadCPUTime);
    let (mut reactor, all, waited) = (0, cpu_ns(ClockId::ProcessCPUTime), mine());
    with_head(request, |info| {
        info.logs = log_set;
        (info.origin.site, info.origin.route) = (Some(site), Some(route));
        let finished = ended.finished(None);
        for batch in 1..=BATCHES {
            let began = mine();
            for _ in 0..BATCH {
                info.request_id = (format == "json").then(|| ids.next_id());
                let tag = Some(writer.begin(info));
                black_box(writer.finish(&Finished { tag, ..finished }));
            }
            reactor += mine() - began;
            let sinks = logs.sinks();
            let is_behind = |sink: &LogSink| sink.written() + WAITING_MAX < batch * BATCH;
            while sinks.iter().any(is_behind) {
                std::thread::yield_now();
            }
        }
    });
    logs.finish(PATIENCE);
    let others = cpu_ns(ClockId::ProcessCPUTime) - all - (mine() - waited);
    let bytes = file.metadata().map_or(0, |log| log.len());
    let lines = BATCHES * BATCH;
    (reactor / lines, others / lines, bytes / lines)
}

const NO_LOG: &str = "no log";

#[test]
#[ignore = "prints figures, proves nothing"]
fn what_a_line_costs() {
    for format in [NO_LOG, "common", "combined", "json"] {
        let (reactor, writer, bytes) = cost(format);
        println!("{format}: reactor {reactor} ns, writer {writer} ns, {bytes} bytes");
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
