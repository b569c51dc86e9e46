//! Each rule is provoked.

use std::collections::BTreeSet;

use vervet_report::{Ended, ErrorClass, Mode, Reuse, Run, RunSettings, Stop, Verdict};

use super::{Evidence, RULES, findings};

fn open(rate_max_milli: u64) -> Mode {
    Mode::Open { pacers: BTreeSet::new(), rate_max_milli }
}

/// A run of one second without fault: 1,000 answers of 10 to 20 ms on ten connections.
fn sound() -> (Run, Evidence) {
    let asked = RunSettings {
        target: "http://a/".to_owned(),
        mode: Mode::Closed,
        connections: 10,
        reuse: Reuse::KeepAlive,
        pipelining: 1,
        stop: Stop::default(),
        warm_up_ms: 0,
        timeout_ms: 1000,
        threads: 1,
        checks: Vec::new(),
    };
    let mut run = Run::new("test", asked);
    let mut evidence = Evidence::default();
    for number in 0..1000 {
        let time_ns = 10_000_000 + number * 10_000;
        run.timings.response.record_ns(time_ns);
        evidence.area_ns += u128::from(time_ns);
    }
    evidence.sojourns_ns = evidence.area_ns;
    evidence.answers = vec![100; 10];
    run.generator.lag.record_ns(50_000);
    run.achieved.done = 1000;
    run.achieved.window_us = 1_000_000;
    run.achieved.connections_opened = 10;
    run.kernel.listen_overflows = Some(0);
    run.kernel.retransmitted_segments = Some(0);
    (run, evidence)
}

#[track_caller]
fn check(rule: &str, verdict: Verdict, measured: &str, change: impl Fn(&mut Run, &mut Evidence)) {
    let (mut run, mut evidence) = sound();
    change(&mut run, &mut evidence);
    let findings = findings(&run, &evidence);
    let finding = findings.iter().find(|finding| finding.rule == rule);
    let finding = finding.unwrap_or_else(|| panic!("{rule} says nothing"));
    assert_eq!(finding.verdict, verdict, "{finding:?}");
    assert!(finding.measured.contains(measured), "{finding:?}");
    assert_eq!(finding.advice.is_empty(), verdict == Verdict::Passed);
    assert!(!finding.bound.is_empty() && !finding.meaning.is_empty());
}

use Verdict::{Failed, Passed, Warning};

#[test]
fn a_failed_thread_fails_the_run() {
    check("generator_threads", Verdict::Failed, "too many open files", |run, _| {
        let errors = &mut run.generator.thread_errors;
        errors.insert("too many open files".to_owned());
    });
}

#[test]
fn a_busy_generator_fails_the_audit() {
    let busy = |permille: u32| {
        move |run: &mut Run, _: &mut Evidence| run.generator.busiest_thread_permille = permille
    };
    check("generator_cpu", Passed, "90.0 % of a core", busy(900));
    check("generator_cpu", Failed, "90.1 % of a core", busy(901));
    let starved = |permille: u32| {
        move |run: &mut Run, _: &mut Evidence| run.generator.occupied_thread_permille = permille
    };
    check("generator_cpu", Passed, "90.0 % of the time", starved(900));
    check("generator_cpu", Warning, "0.0 % of a core, occupied 90.1 % of the time", starved(901));
    let (mut short, evidence) = sound();
    short.achieved.window_us = 400_000;
    let rules = findings(&short, &evidence);
    assert!(rules.iter().all(|finding| finding.rule != "generator_cpu"));
}

#[test]
fn generator_lag_is_reported() {
    let late =
        |ns: u64| move |run: &mut Run, _: &mut Evidence| run.generator.lag.record_many_ns(ns, 100);
    check("generator_lag", Passed, "1.000 ms at p99", late(1_000_000));
    check("generator_lag", Warning, "5.001 ms at p99", late(5_000_000));
    let often = |count: u64| {
        move |run: &mut Run, _: &mut Evidence| {
            run.generator.lag.record_many_ns(20_000_000, count);
        }
    };
    check("generator_lag", Failed, "20.0", often(999));
    check("generator_lag", Warning, "20.0", often(998));
}

#[test]
fn a_missed_rate_is_reported() {
    let asked = |asked: u64| {
        move |run: &mut Run, _: &mut Evidence| {
            run.asked.mode = open(1_000_000);
            run.achieved.asked = Some(asked);
            run.censored.count = 500;
        }
    };
    check("rate_asked", Passed, "1000.0/s of 1015.0/s", asked(1015));
    check("rate_asked", Warning, "1000.0/s of 1030.0/s", asked(1030));
    check("rate_asked", Failed, "1000.0/s of 2000.0/s", asked(2000));
    // Failed requests were made.
    check("rate_asked", Passed, "1100.0/s", |run, evidence| {
        asked(1100)(run, evidence);
        for _ in 0..100 {
            run.errors.add(ErrorClass::WrongStatus);
        }
    });
}

#[test]
fn requests_that_were_lost_count_of_break_littles_law() {
    let share = |part: u128| {
        move |_: &mut Run, evidence: &mut Evidence| {
            evidence.sojourns_ns = evidence.area_ns * part / 100;
        }
    };
    check("littles_law", Passed, "4.0 % apart", share(96));
    check("littles_law", Failed, "6.0 % apart", share(94));
    check("littles_law", Failed, "6.0 % apart", share(106));
}

#[test]
fn full_queues_and_lost_segments_are_reported() {
    let overflows = |count| {
        move |run: &mut Run, _: &mut Evidence| {
            run.kernel.listen_overflows = Some(count);
            run.achieved.connections_opened = 1000;
        }
    };
    check("listen_overflows", Passed, "0 overflows", overflows(0));
    check("listen_overflows", Warning, "1 overflows", overflows(1));
    check("listen_overflows", Failed, "11 overflows", overflows(11));
    let of_few = |count| {
        move |run: &mut Run, evidence: &mut Evidence| {
            overflows(count)(run, evidence);
            run.achieved.connections_opened = 2;
        }
    };
    check("listen_overflows", Warning, "2 overflows", of_few(2));
    check("listen_overflows", Failed, "3 overflows", of_few(3));
    let again = |count| {
        move |run: &mut Run, _: &mut Evidence| run.kernel.retransmitted_segments = Some(count)
    };
    check("retransmits", Passed, "0 segments", again(0));
    check("retransmits", Warning, "1 segments", again(1));
    check("retransmits", Failed, "11 segments", again(11));
    let of_few = |run: &mut Run, _: &mut Evidence| {
        run.achieved.done = 20;
        run.kernel.retransmitted_segments = Some(10);
    };
    check("retransmits", Warning, "10 segments", of_few);
    let probed = |run: &mut Run, _: &mut Evidence| {
        run.kernel.retransmitted_segments = Some(5000);
        run.kernel.loss_probes = Some(5000);
    };
    check("retransmits", Passed, "0 segments", probed);
}

#[test]
fn few_and_uneven_answers_are_reported() {
    let done = |done| move |run: &mut Run, _: &mut Evidence| run.achieved.done = done;
    check("enough_answers", Passed, "100 successful", done(100));
    check("enough_answers", Warning, "99 successful", done(99));
    check("enough_answers", Failed, "0 successful", done(0));
    let first = |answers: u64| {
        move |_: &mut Run, evidence: &mut Evidence| {
            evidence.answers = vec![1000; 10];
            evidence.answers[0] = answers;
        }
    };
    check("even_answers", Passed, "600 to 1000", first(600));
    check("even_answers", Warning, "400 to 1000", first(400));
    check("even_answers", Warning, "1000 to 3000", first(3000));
    check("even_answers", Failed, "0 to 1000", first(0));
}

#[test]
fn constant_times_are_reported() {
    check("p99_and_mean", Passed, "mean 14.9", |_, _| ());
    check("p99_and_mean", Warning, "p99 5.00", |run, _| {
        run.timings.response.clear();
        run.timings.response.record_many_ns(5_000_000, 1000);
    });
}

/// A stall that one response in twenty waits for: ab's rule, mean and median within a standard
/// deviation, passes it and everything else.
#[test]
fn a_mean_far_from_the_median_is_reported() {
    check("mean_and_median", Passed, "median 14.9", |_, _| ());
    let stalled = |slow: u64| {
        move |run: &mut Run, _: &mut Evidence| {
            let times = &mut run.timings.response;
            times.clear();
            times.record_many_ns(1_000_000, 1000 - slow);
            times.record_many_ns(101_000_000, slow);
            assert!((times.mean_ns() - 1e6).abs() <= times.sd_ns());
        }
    };
    check("mean_and_median", Passed, "median 1.000", stalled(9));
    check("mean_and_median", Warning, "median 1.000", stalled(50));
}

#[test]
fn failed_requests_are_reported() {
    let failed = |count: u64| {
        move |run: &mut Run, _: &mut Evidence| {
            run.achieved.done = 1000 - count;
            run.errors.wrong_status = count;
        }
    };
    check("failed_requests", Passed, "10 of 1000 finished requests failed", failed(10));
    check("failed_requests", Warning, "1.10 %", failed(11));
    check("failed_requests", Warning, "10.00 %", failed(100));
    check("failed_requests", Failed, "101 of 1000", failed(101));
}

#[test]
fn short_windows_are_reported() {
    let length = |window_us: u64, after_requests: Option<u64>| {
        move |run: &mut Run, _: &mut Evidence| {
            run.achieved.window_us = window_us;
            run.asked.stop.after_requests = after_requests;
        }
    };
    check("window_length", Passed, "1.000 s", length(1_000_000, None));
    check("window_length", Warning, "1.000 s", length(999_999, None));
    check("window_length", Warning, "0.100 s", length(100_000, None));
    check("window_length", Failed, "0.050 s", length(50_000, None));
    check("window_length", Warning, "0.050 s", length(50_000, Some(1000)));
    check("window_length", Passed, "1.000 s", length(1_000_000, Some(1000)));
    let exhausted = |run: &mut Run, evidence: &mut Evidence| {
        length(50_000, None)(run, evidence);
        run.achieved.ended = Ended::Exhausted;
    };
    check("window_length", Warning, "0.050 s", exhausted);
}

/// What does not apply says nothing, and each rule has a name of its own.
#[test]
fn rules_that_do_not_apply_are_silent() {
    let (run, evidence) = sound();
    let all = findings(&run, &evidence);
    let names: BTreeSet<_> = all.iter().map(|finding| finding.rule.as_str()).collect();
    assert_eq!(names.len(), RULES.len() - 2, "closed load has no rate, and no thread failed");
    let (mut empty, _) = sound();
    empty.achieved.done = 0;
    empty.timings.response.clear();
    empty.generator.lag.clear();
    empty.kernel.listen_overflows = None;
    empty.kernel.retransmitted_segments = None;
    let left = findings(&empty, &Evidence::default());
    let names: Vec<_> = left.iter().map(|finding| finding.rule.as_str()).collect();
    assert_eq!(names, ["generator_cpu", "enough_answers", "window_length"]);
}
