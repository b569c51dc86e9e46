//! The run that every form is shown with: open load of ten seconds with a stall of one, a scenario
//! with a step that fails, a watched server, an audit with each verdict, and names that would like
//! to steer what they are shown on.

use std::collections::BTreeSet;
use std::time::Duration;

use vervet_report::{
    Censored, Condition, Ended, Errors, Finding, Generator, Histogram, Interval, KernelCounters,
    Mode, Reuse, Run, RunSettings, Search, SlowRequest, StepFigures, Stop, Try, TryOutcome,
    Verdict, Watched, WatchedSample,
};

/// A name as a hostile file or target may have it.
pub(crate) const HOSTILE: &str = "=1+1 </script><script>alert('x')</script>\u{1b}[2J\u{202e}\"&";

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// The run.
pub(crate) fn sample() -> Run {
    let mut run = Run::new("vervet 0.1.0", settings());
    run.started_unix_ms = 1_795_327_807_000;
    run.achieved.window_us = 10_000_000;
    run.achieved.asked = Some(10_000);
    run.achieved.connections_opened = 66;
    run.achieved.ended = Ended::AsAsked;
    let mut numbers = Numbers(7);
    for second in 0..10 {
        add_second(&mut run, second, &mut numbers);
    }
    for _ in 0..66 {
        run.timings.connect.record_ns(30_000 + numbers.below(90_000));
    }
    run.achieved.bytes_received = run.achieved.done * 358;
    run.achieved.bytes_sent = run.achieved.done * 61;
    run.achieved.content_bytes = run.achieved.done * 200;
    run.statuses = [(200, run.achieved.done), (503, 12)].into();
    run.censored = Censored { count: 3, longest_ns: 512_000_000 };
    run.findings = findings();
    run.generator = generator(&mut numbers);
    run.kernel = KernelCounters {
        listen_overflows: Some(4),
        listen_drops: Some(4),
        retransmitted_segments: Some(7),
        loss_probes: Some(5),
        retransmitted_syns: None,
    };
    let restarted = Watched { invalid: "restarted at 4.2 s".to_owned(), ..watched(HOSTILE, 3, 1) };
    run.watched = vec![watched("nginx (pid 4711 and 2 more)", 5, 0), restarted];
    run.environment.insert("kernel".to_owned(), ["6.12.48".to_owned()].into());
    run.environment
        .insert("congestion control".to_owned(), ["bbr".to_owned(), "cubic".to_owned()].into());
    let conditions = ["p99>20ms", "errors>1%", "connect.p99<1ms", "rate>=999"];
    run.conditions =
        conditions.map(|text| text.parse::<Condition>().unwrap().evaluate(&run)).to_vec();
    run.search = Some(search());
    run
}

/// Three tries: one too low, one too high, and one between whose requests failed.
fn search() -> Search {
    let one = |rate: u64, outcome, p99_ns| Try {
        rate_asked_milli: rate * 1000,
        rate_milli: rate * 998,
        outcome,
        measured: format!("{:.1} ms", f64::from(p99_ns) / 1e6),
        window_us: 5_000_000,
        asked: rate * 5,
        done: rate * 499 / 100,
        errors: Errors {
            timeout: u64::from(outcome == TryOutcome::RequestsFailed) * rate,
            ..Errors::default()
        },
        p50_ns: Some(240_000),
        p99_ns: Some(u64::from(p99_ns)),
        generator_cpu_permille: 80,
    };
    Search {
        condition: "p99<10ms".to_owned(),
        holds_milli: Some(1_000_000),
        fails_milli: Some(1_500_000),
        tries: vec![
            one(1000, TryOutcome::Holds, 400_000_u32),
            one(2000, TryOutcome::DoesNotHold, 12_000_000),
            one(1500, TryOutcome::RequestsFailed, 900_000),
        ],
    }
}

fn settings() -> RunSettings {
    RunSettings {
        target: "http://127.0.0.1:8080/shop".to_owned(),
        mode: Mode::Open { pacers: ["1,000/s, even".to_owned()].into(), rate_max_milli: 1_000_000 },
        connections: 64,
        reuse: Reuse::KeepAlive,
        pipelining: 1,
        stop: Stop { after_ms: Some(10_000), after_requests: None },
        warm_up_ms: 2_000,
        timeout_ms: 30_000,
        threads: 1,
        checks: vec!["status 200 to 299".to_owned(), format!("content has {HOSTILE}")],
    }
}

/// A second of a thousand requests; the fifth begins with a stall of 900 ms that its requests wait
/// for.
fn add_second(run: &mut Run, second: u64, numbers: &mut Numbers) {
    let mut times = Histogram::new();
    let mut errors = Errors::default();
    for at_ms in 0..1000 {
        let service_ns = 180_000 + numbers.below(120_000) * (1 + numbers.below(40) / 39 * 9);
        let waited_ms = if second == 5 && at_ms < 900 { 900 - at_ms } else { 0 };
        let response_ns = service_ns + waited_ms * 1_000_000;
        if waited_ms > 0 && at_ms % 60 == 0 {
            let class = [&mut errors.timeout, &mut errors.reset, &mut errors.wrong_status];
            *class[usize::try_from(at_ms / 60 % 3).unwrap()] += 1;
            continue;
        }
        times.record_ns(response_ns);
        run.timings.response.record_ns(response_ns);
        run.timings.service.record_ns(service_ns);
        run.timings.first_byte.record_ns(service_ns - 20_000);
        add_to_step(run, at_ms, response_ns);
        if run.slowest.wants(response_ns) {
            run.slowest.add(SlowRequest {
                response_ns,
                service_ns,
                due_ms: second * 1000 + at_ms,
                status: 200,
                request: format!("/shop?item={at_ms}"),
            });
        }
    }
    let done = times.count();
    run.achieved.done += done;
    run.errors.merge(&errors);
    run.intervals.push(
        Interval {
            start_ms: second * 1000,
            length_ms: 1000,
            asked: Some(1000),
            done,
            errors,
            bytes: done * 358,
            generator_cpu_permille: 110 + u32::try_from(numbers.below(30)).unwrap(),
            ..Interval::default()
        }
        .with_response(&times),
    );
}

fn add_to_step(run: &mut Run, at_ms: u64, response_ns: u64) {
    if run.steps.is_empty() {
        run.steps = ["front page", "put into basket", HOSTILE]
            .map(|name| StepFigures { name: name.to_owned(), ..StepFigures::default() })
            .to_vec();
    }
    let step = &mut run.steps[usize::try_from(at_ms % 3).unwrap()];
    step.done += 1;
    step.bytes += 358;
    step.response.record(Duration::from_nanos(response_ns));
    if at_ms == 1 {
        step.errors.wrong_content += 1;
        *step.assertions.entry("the basket has 1 item".to_owned()).or_default() += 1;
    }
}

fn findings() -> Vec<Finding> {
    let finding = |rule: &str, verdict, words: [&str; 4]| Finding {
        rule: rule.to_owned(),
        verdict,
        measured: words[0].to_owned(),
        bound: words[1].to_owned(),
        meaning: words[2].to_owned(),
        advice: words[3].to_owned(),
    };
    vec![
        finding(
            "generator_cpu",
            Verdict::Passed,
            ["busiest thread 12 % of a core", "at most 85 %", "The generator had room.", ""],
        ),
        finding(
            "mean_and_median",
            Verdict::Warning,
            [
                "mean 41.2 ms, median 0.24 ms, sd 158 ms",
                "at most one sd apart",
                "A few slow answers weigh more than all others, so the mean describes none of them.",
                "judge by the percentiles",
            ],
        ),
        finding(
            "listen_overflows",
            Verdict::Failed,
            [
                "4 connections",
                "none",
                "Connections found the queue of the listener full, and waited for the kernel to try again.",
                "Raise the backlog of the server and net.core.somaxconn.",
            ],
        ),
    ]
}

fn generator(numbers: &mut Numbers) -> Generator {
    let mut lag = Histogram::new();
    for _ in 0..1000 {
        lag.record_ns(2_000 + numbers.below(40_000));
    }
    Generator {
        cpu_user_us: 412_000,
        cpu_system_us: 803_000,
        busiest_thread_permille: 122,
        occupied_thread_permille: 131,
        thread_errors: BTreeSet::new(),
        lag,
    }
}

fn watched(name: &str, processes: u32, number: u32) -> Watched {
    let sample = |at: u32| WatchedSample {
        at_ms: u64::from(at) * 500,
        cpu_user_permille: if (10..12).contains(&at) { 0 } else { 120 + at % 3 * 15 + number * 50 },
        cpu_system_permille: if (10..12).contains(&at) { 0 } else { 310 + at % 4 * 20 },
        memory_bytes: u64::from(5_000_000 + at * 120_000 + number * 9_000_000),
        processes,
        threads: processes,
    };
    Watched {
        name: name.to_owned(),
        invalid: String::new(),
        samples: (0..20).map(sample).collect(),
    }
}
