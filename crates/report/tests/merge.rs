//! Runs of several agents as one: what does not belong together, and that nothing is lost.

use proptest::prelude::*;
use vervet_report::forms::{from_json, json};
use vervet_report::{
    ErrorClass, Finding, Histogram, Interval, MergeError, Mode, Reuse, Run, RunSettings,
    SlowRequest, StepFigures, Stop, Verdict, Watched, WatchedSample,
};

fn settings() -> RunSettings {
    RunSettings {
        target: "http://127.0.0.1:8080/".to_owned(),
        mode: Mode::Open { pacers: ["1,000/s, even".to_owned()].into(), rate_max_milli: 1_000_000 },
        connections: 8,
        reuse: Reuse::KeepAlive,
        pipelining: 1,
        stop: Stop { after_ms: Some(10_000), after_requests: Some(100) },
        warm_up_ms: 0,
        timeout_ms: 30_000,
        threads: 1,
        checks: vec!["status 200 to 299".to_owned()],
    }
}

/// A run in which each request took one of these times, in nanoseconds.
fn run(times_ns: &[u64]) -> Run {
    let mut run = Run::new("vervet 0.1.0", settings());
    let seed = times_ns.iter().fold(7, |sum: u64, time_ns| sum.wrapping_mul(31) ^ time_ns);
    run.started_unix_ms = seed % 1000;
    run.achieved.window_us = 10_000_000 + seed % 10;
    let count = times_ns.len() as u64;
    (run.achieved.done, run.achieved.asked) = (count, (seed % 2 == 0).then_some(count));
    let mut times = Histogram::new();
    for (at, time_ns) in times_ns.iter().enumerate() {
        times.record_ns(*time_ns);
        run.slowest.add(SlowRequest {
            response_ns: *time_ns,
            service_ns: *time_ns,
            due_ms: at as u64,
            status: 200,
            request: "/".to_owned(),
        });
        *run.statuses.entry(200 + u16::try_from(time_ns % 3).unwrap()).or_default() += 1;
        run.errors.add(ErrorClass::ALL[(*time_ns % 9) as usize]);
    }
    run.intervals.push(
        Interval { start_ms: seed % 3 * 1000, length_ms: 1000, done: count, ..Interval::default() }
            .with_response(&times),
    );
    run.steps.push(StepFigures {
        name: "log in".to_owned(),
        done: count,
        assertions: [(format!("field {}", seed % 2), 1)].into(),
        response: times.clone(),
        ..StepFigures::default()
    });
    run.timings.response = times.clone();
    run.timings.service = times;
    run.findings.push(Finding {
        rule: ["generator_cpu", "littles_law"][(seed % 2) as usize].to_owned(),
        verdict: [Verdict::Passed, Verdict::Warning, Verdict::Failed][(seed % 3) as usize],
        measured: format!("{seed}"),
        bound: String::new(),
        meaning: String::new(),
        advice: String::new(),
    });
    run.kernel.listen_drops = (seed % 3 == 0).then_some(seed % 100);
    run.watched.push(Watched {
        name: format!("pid {}", seed % 5),
        samples: vec![WatchedSample::default()],
        ..Watched::default()
    });
    run.environment.insert("kernel".to_owned(), [format!("6.{}", seed % 4)].into());
    run
}

#[track_caller]
fn check_refused(change: impl Fn(&mut Run), expected: &str) {
    let mut other = run(&[2]);
    change(&mut other);
    let error: MergeError = run(&[1]).merge(&other).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
    let error = other.merge(&run(&[1])).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn runs_of_different_plans_do_not_merge() {
    check_refused(|run| run.version = 2, "version 2");
    check_refused(|run| run.tool = "vervet 0.2.0".to_owned(), "vervet 0.2.0");
    check_refused(|run| run.asked.target.push('x'), "the target differs between agents");
    check_refused(|run| run.asked.mode = Mode::Closed, "the kind of load");
    check_refused(|run| run.asked.reuse = Reuse::Close, "the reuse of connections");
    check_refused(|run| run.asked.pipelining = 2, "pipelining");
    check_refused(|run| run.asked.stop.after_ms = None, "the duration");
    check_refused(|run| run.asked.warm_up_ms = 1, "the warm-up");
    check_refused(|run| run.asked.timeout_ms = 1, "the timeout");
    check_refused(|run| run.asked.checks.clear(), "the list of checks");
    check_refused(|run| run.steps.clear(), "the list of steps");
    check_refused(|run| run.steps[0].name.push('x'), "the list of steps");
}

#[test]
fn what_was_asked_adds_up() {
    let merged = run(&[1]).merge(&run(&[2])).unwrap().merge(&run(&[3])).unwrap();
    assert_eq!((merged.agents, merged.asked.connections, merged.asked.threads), (3, 24, 3));
    assert_eq!(merged.asked.stop.after_requests, Some(300));
    let Mode::Open { pacers, rate_max_milli } = merged.asked.mode else {
        panic!("open load stays open")
    };
    assert_eq!((pacers.len(), rate_max_milli), (1, 3_000_000));
}

#[test]
fn intervals_that_begin_together_become_one() {
    let at = |start_ms, length_ms, time_ns| {
        let mut run = run(&[time_ns]);
        run.intervals[0].start_ms = start_ms;
        run.intervals[0].length_ms = length_ms;
        run
    };
    let merged =
        at(1000, 1000, 5).merge(&at(0, 1000, 6)).unwrap().merge(&at(1000, 900, 900)).unwrap();
    let seen: Vec<_> = merged
        .intervals
        .iter()
        .map(|interval| {
            (interval.start_ms, interval.length_ms, interval.done, interval.p50_ns, interval.max_ns)
        })
        .collect();
    let expected = [(0, 1000, 1, Some(6), Some(6)), (1000, 1000, 2, Some(5), Some(900))];
    assert_eq!(seen, expected);
}

#[test]
fn neighbours_put_together_keep_their_times() {
    let at = |start_ms, time_ns: u64| {
        let mut times = Histogram::new();
        times.record_ns(time_ns);
        Interval {
            start_ms,
            length_ms: 1000,
            asked: Some(2),
            done: 1,
            generator_cpu_permille: u32::try_from(time_ns).unwrap(),
            ..Interval::default()
        }
        .with_response(&times)
    };
    let fine: Vec<_> = (0..7).map(|second| at(second * 1000, second + 1)).collect();
    let check = |most: usize, expected: &[(u64, u64, u64, u64, u32)]| {
        let seen: Vec<_> = Interval::coarser(&fine, most)
            .iter()
            .map(|one| {
                let max_ns = one.max_ns.unwrap();
                (one.start_ms, one.length_ms, one.done, max_ns, one.generator_cpu_permille)
            })
            .collect();
        assert_eq!(seen, expected);
    };
    check(1, &[(0, 7000, 7, 7, 7)]);
    check(3, &[(0, 3000, 3, 3, 3), (3000, 3000, 3, 6, 6), (6000, 1000, 1, 7, 7)]);
    check(0, &[(0, 7000, 7, 7, 7)]);
    assert_eq!(Interval::coarser(&fine, 7), fine);
    assert_eq!(Interval::coarser(&fine, 1)[0].p50_ns, Some(4));
    assert_eq!(Interval::coarser(&[], 3), []);
}

fn times() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(0u64..10_000_000_000, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_order_makes_no_difference(a in times(), b in times(), c in times()) {
        let (a, b, c) = (run(&a), run(&b), run(&c));
        let left = a.clone().merge(&b).unwrap().merge(&c).unwrap();
        let right = a.clone().merge(&b.clone().merge(&c).unwrap()).unwrap();
        let turned = c.merge(&a).unwrap().merge(&b).unwrap();
        prop_assert_eq!(&left, &right);
        prop_assert_eq!(&left, &turned);
    }

    #[test]
    fn merged_times_are_those_of_one_run(a in times(), b in times()) {
        let all = [a.clone(), b.clone()].concat();
        let (merged, whole) = (run(&a).merge(&run(&b)).unwrap(), run(&all));
        prop_assert_eq!(merged.timings, whole.timings);
        prop_assert_eq!(merged.errors, whole.errors);
        prop_assert_eq!(merged.statuses, whole.statuses);
        prop_assert_eq!(merged.achieved.done, whole.achieved.done);
        prop_assert_eq!(&merged.steps[0].response, &whole.steps[0].response);
    }

    /// Three agents write their runs down; what is read and merged has in each slot what one
    /// histogram of all times has.
    #[test]
    fn documents_of_three_agents_merge_slot_by_slot(parts in prop::array::uniform3(times())) {
        let mut one = Histogram::new();
        for time_ns in parts.iter().flatten() {
            one.record_ns(*time_ns);
        }
        let [a, b, c] = parts.map(|times| from_json(&json(&run(&times))).unwrap());
        let merged = a.merge(&b).unwrap().merge(&c).unwrap();
        let slots = |times: &Histogram| times.recorded().collect::<Vec<_>>();
        prop_assert_eq!(slots(&merged.timings.response), slots(&one));
        prop_assert_eq!(merged.timings.response, one);
    }

    #[test]
    fn a_document_is_read_back_as_it_was(times in times()) {
        let run = run(&times);
        let text = serde_json::to_string(&run).unwrap();
        prop_assert_eq!(serde_json::from_str::<Run>(&text).unwrap(), run);
    }
}
