//! The view as text, in terminals of each width.

use std::collections::BTreeSet;
use std::time::Duration;

use vervet_report::{ErrorClass, Interval, Mode, Reuse, RunSettings, Stop};

use super::ViewState;
use crate::terminal::Paint;

fn settings() -> RunSettings {
    RunSettings {
        target: "http://a/".to_owned(),
        mode: Mode::Open {
            pacers: BTreeSet::from(["5000/s, even".to_owned()]),
            rate_max_milli: 5_000_000,
        },
        connections: 64,
        reuse: Reuse::KeepAlive,
        pipelining: 1,
        stop: Stop { after_ms: Some(30_000), after_requests: None },
        warm_up_ms: 5000,
        timeout_ms: 1000,
        threads: 1,
        checks: Vec::new(),
    }
}

/// A second in which so many were done.
fn second(done: u64) -> Interval {
    Interval {
        length_ms: 1000,
        asked: Some(5000),
        done,
        generator_cpu_permille: 125,
        generator_lag_ns: 50_000,
        connections: 63,
        p50_ns: Some(1_200_000),
        p99_ns: Some(30_000_000),
        ..Interval::default()
    }
}

fn seen(seconds: &[u64]) -> ViewState {
    let mut seen = ViewState::new(settings());
    for done in seconds {
        seen.take(&second(*done));
    }
    seen
}

/// The lines without what stands at their ends.
fn text(seen: &ViewState, elapsed_ms: u64, columns: usize) -> Vec<String> {
    let lines = seen.lines(Duration::from_millis(elapsed_ms), columns);
    let lines = lines.iter().map(|line| line.text.trim_end().to_owned());
    lines.collect()
}

#[test]
fn a_run_that_is_steady() {
    let seen = seen(&[1000, 2000, 4000]);
    let expected = [
        "http://a/: open load, 5000/s, even",
        "steady     3.2 s of 30.0 s, 26.8 s left",
        "rate       4,000/s of 5,000/s requested      ▃▅█",
        "p50        1.20 ms                           ███",
        "p99        30.0 ms                           ███",
        "failed     none",
        "generator  12.5 % busy, lag 50.0 us          ▂▂▂",
        "connected  63 of 64",
    ];
    assert_eq!(text(&seen, 8200, 79), expected);
}

#[test]
fn a_run_that_warms_up() {
    let lines = text(&seen(&[]), 1200, 79);
    assert_eq!(lines[1], "warm-up    1.2 s of 5.0 s, not counted");
    assert_eq!(lines[2], "rate       - of 5,000/s requested");
    assert_eq!(&lines[3..5], ["p50        -", "p99        -"]);
    assert_eq!(lines[6], "generator  -");
    assert_eq!(lines[7], "connected  - of 64");
}

#[test]
fn a_run_that_ends_by_a_count() {
    let mut seen = seen(&[1000, 2000]);
    seen.asked.stop = Stop { after_ms: None, after_requests: Some(10_000) };
    let phase = |seen: &ViewState| text(seen, 7000, 79)[1].clone();
    assert_eq!(phase(&seen), "steady     2.0 s, 3,000 of 10,000 requests, about 3.5 s left");
    seen.asked.stop.after_ms = Some(4000);
    assert_eq!(phase(&seen), "steady     2.0 s of 4.0 s, 2.0 s left, 3,000 of 10,000 requests");
}

/// All of the run is shown, however long it is and however narrow the terminal; where there is no
/// room, the text alone.
#[test]
fn graphs_are_as_wide_as_the_terminal() {
    let seen = seen(&[1000; 600]);
    let blocks = |columns| {
        let rate = text(&seen, 8200, columns)[2].clone();
        rate.chars().filter(|letter| *letter == '█').count()
    };
    assert_eq!((blocks(79), blocks(199)), (34, 150));
    assert_eq!((blocks(46), blocks(45), blocks(20), blocks(0)), (1, 0, 0, 0));
}

#[test]
fn errors_are_reported_by_class() {
    let mut seen = seen(&[990]);
    let mut interval = second(0);
    for _ in 0..9 {
        interval.errors.add(ErrorClass::Timeout);
    }
    interval.errors.add(ErrorClass::Reset);
    seen.take(&interval);
    let line = &seen.lines(Duration::ZERO, 79)[5];
    assert_eq!(line.text, "failed     10 (1.00 %): 1 reset, 9 timeout");
    assert_eq!(line.paint, Paint::Alarm);
}

#[test]
fn a_generator_without_headroom_is_coloured() {
    let paint = |permille| {
        let mut seen = seen(&[]);
        seen.take(&Interval { generator_cpu_permille: permille, ..second(1) });
        seen.lines(Duration::ZERO, 79)[6].paint
    };
    assert_eq!(paint(800), Paint::Plain);
    assert_eq!(paint(801), Paint::Warning);
    assert_eq!(paint(901), Paint::Alarm);
}

#[test]
fn problems_other_than_failed_requests_are_shown_below() {
    let mut seen = seen(&[5000]);
    seen.note("agent a:1: it said \x1b[2J");
    let lines = seen.lines(Duration::from_secs(6), 79);
    let last = lines.last().unwrap();
    assert_eq!(last.text, "agent a:1: it said \\u{1b}[2J");
    assert_eq!((lines.len(), last.paint), (9, Paint::Alarm));
}

#[test]
fn nothing_of_a_target_steers_the_terminal() {
    let mut seen = seen(&[]);
    seen.asked.target = "\x1b[2J".to_owned();
    assert_eq!(text(&seen, 0, 79)[0], "\\u{1b}[2J: open load, 5000/s, even");
}
