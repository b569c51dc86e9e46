//! Open load: requests are due by the clock, and times count from then.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::{GOOD, canned, plan, request, run, server, take};
use vervet_load::canned::CannedAnswer;
use vervet_load::pacer::{Arrival, Pacer};
use vervet_load::{Load, Plan, StartError};
use vervet_report::{ErrorClass, Mode, Run, Verdict};

fn open(address: SocketAddr, pacer: Pacer) -> Plan {
    let mut plan = plan(address);
    plan.connections = 10;
    plan.load = Load::Open { pacer: Arc::new(pacer), arrival: Arrival::Even };
    plan
}

fn verdict(run: &Run, rule: &str) -> Verdict {
    let found = run.findings.iter().find(|finding| finding.rule == rule);
    found.unwrap_or_else(|| panic!("{rule} says nothing")).verdict
}

#[test]
fn pipelining_is_for_closed_load() {
    let address = "127.0.0.1:9".parse().unwrap();
    let mut plan = open(address, Pacer::constant(1.0));
    plan.pipelining = 2;
    let refused = vervet_load::run(plan).unwrap_err();
    assert!(matches!(refused, StartError::Plan(_)), "{refused}");
    let expected = "pipelining needs closed load";
    assert!(refused.to_string().starts_with(expected), "{refused}");
}

#[test]
fn makes_as_many_requests_as_are_due() {
    let (_canned, address) = canned(&CannedAnswer::default());
    let second = Duration::from_secs(1);
    let stages = "500ms 100\n500ms 300..500".parse::<Pacer>().unwrap();
    let shapes: [(Arc<Pacer>, u64); 3] = [
        (Arc::new(Pacer::constant(200.0)), 200),
        (Arc::new(Pacer::ramp(0.0, 400.0, second)), 200),
        (Arc::new(stages), 250),
    ];
    for (pacer, expected) in shapes {
        let mut plan = open(address, Pacer::constant(1.0));
        plan.threads = 2;
        plan.load = Load::Open { pacer, arrival: Arrival::Even };
        let run = run(plan);
        let asked = run.achieved.asked.unwrap();
        assert!(asked.abs_diff(expected) <= 2, "{asked} instead of {expected}");
        // A machine that is busy with other tests may be late with the last of them, and no more.
        let made = run.finished() + run.censored.count;
        assert!(made.abs_diff(asked) <= 2, "{made} of {asked}");
        assert!(run.achieved.done >= asked / 2, "{:?}", run.achieved);
        let per_interval: u64 = run.intervals.iter().filter_map(|it| it.asked).sum();
        assert_eq!(per_interval, asked);
    }
}

#[test]
fn the_report_names_the_arrival_process() {
    let (_canned, address) = canned(&CannedAnswer::default());
    let mut plan = open(address, Pacer::constant(1.0));
    plan.load = Load::Open {
        pacer: Arc::new(Pacer::constant(300.0)),
        arrival: Arrival::Poisson { seed: 7 },
    };
    let run = run(plan);
    let asked = run.achieved.asked.unwrap();
    // Ten standard deviations of a Poisson number.
    assert!((130..470).contains(&asked), "{asked}");
    let Mode::Open { pacers, rate_max_milli } = &run.asked.mode else {
        panic!("{:?}", run.asked.mode);
    };
    assert!(pacers.contains("300/s, Poisson arrivals"), "{pacers:?}");
    assert_eq!(*rate_max_milli, 300_000);
}

/// One connection, answers of 50 ms, 100 a second asked: every other request waits, ever longer,
/// and the wait counts.
#[test]
fn waiting_for_a_connection_counts() {
    let address = server(|mut stream| {
        while request(&mut stream).is_some() {
            take(Duration::from_millis(50));
            let _ = stream.write_all(GOOD);
        }
    });
    let mut plan = open(address, Pacer::constant(100.0));
    plan.connections = 1;
    let run = run(plan);
    assert!(run.achieved.done <= 20, "{}", run.achieved.done);
    let (response, service) = (&run.timings.response, &run.timings.service);
    assert!(service.min_ns() >= 50_000_000);
    assert!(response.max_ns() >= 400_000_000, "{}", response.max_ns());
    assert!(response.max_ns() > service.max_ns());
    // What nobody was free for is censored, and the audit tells the rate that was not reached.
    assert!(run.censored.count >= 70, "{:?}", run.censored);
    assert!(run.censored.longest_ns >= 400_000_000);
    assert_eq!(verdict(&run, "rate_asked"), Verdict::Failed);
    // It was the target that was late, not the generator.
    let lag_ns = run.generator.lag.max_ns();
    assert!(lag_ns < response.max_ns() / 2, "{lag_ns} of {}", response.max_ns());
}

#[test]
fn a_target_that_refuses_fails_each_request_that_is_due() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = gone.local_addr().unwrap();
    drop(gone);
    let run = run(open(address, Pacer::constant(100.0)));
    assert_eq!(run.errors.count(ErrorClass::Refused), run.errors.total());
    assert!((50..=101).contains(&run.errors.total()), "{:?}", run.errors);
    assert_eq!(run.achieved.done, 0);
}

/// 1,000 a second for ten seconds, and a server that stands still for one of them. Of 10,000
/// requests the 1,000 that came due in that second waited up to a second: p99 over all is about 900
/// ms. Closed load has ten waits and does not see it.
#[test]
fn a_stall_shows_in_open_load_and_hides_in_closed() {
    let mut seen = Vec::new();
    for _ in 0..3 {
        let mut plan = open(stalling(), Pacer::constant(1000.0));
        plan.duration = Some(Duration::from_secs(10));
        plan.connections = 50;
        let open = run(plan);
        let p99_ms = open.timings.response.quantile_ns(0.99) / 1_000_000;
        if (850..=950).contains(&p99_ms) {
            assert_ne!(verdict(&open, "generator_lag"), Verdict::Failed, "{:?}", open.findings);
            return closed_hides_it();
        }
        seen.push(p99_ms);
    }
    panic!("p99 of {seen:?} ms");
}

fn closed_hides_it() {
    let mut plan = plan(stalling());
    plan.duration = Some(Duration::from_secs(4));
    plan.connections = 10;
    let closed = run(plan);
    let p99_ms = closed.timings.response.quantile_ns(0.99) / 1_000_000;
    assert!(p99_ms < 500, "{p99_ms} ms");
    let longest_ms = closed.timings.response.max_ns() / 1_000_000;
    assert!(longest_ms >= 900, "it was there: {longest_ms} ms");
}

/// Answers at once, but stands still for one second, two seconds after its first connection. 2 ms
/// each, so that closed load is made of few enough requests for the test.
fn stalling() -> SocketAddr {
    let begun = std::sync::OnceLock::<Instant>::new();
    server(move |mut stream| {
        let begun = *begun.get_or_init(Instant::now);
        while request(&mut stream).is_some() {
            let elapsed = begun.elapsed();
            let (from, to) = (Duration::from_secs(2), Duration::from_secs(3));
            if (from..to).contains(&elapsed) {
                take(to.saturating_sub(elapsed));
            }
            let _ = stream.write_all(GOOD);
        }
    })
}
