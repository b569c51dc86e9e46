//! The ranking: places, shared places, and subjects without a place.

use crate::common::{Lab, closed, run};
use vervet_lab::record::{Connections, LoadPoint, LoadShape, Outcome, Role, Watched};
use vervet_lab::statistics::{Figure, RankedSubject, Standing};
use vervet_report::ErrorClass;

/// Places as `1 a, 1= b`, and the reasons of subjects without one.
#[track_caller]
fn check(lab: &Lab, places: &[&str], unranked: &[&str]) {
    let ranking = lab.panel().ranking;
    let found: Vec<String> = ranking
        .places
        .iter()
        .map(|place| {
            let tie = if place.tied { "=" } else { "" };
            format!("{}{tie} {}", place.place, place.subject)
        })
        .collect();
    assert_eq!(found, places);
    let found: Vec<String> = ranking
        .unranked
        .iter()
        .map(|entry| format!("{}: {}", entry.subject, entry.reason))
        .collect();
    assert_eq!(found, unranked);
}

#[test]
fn a_step_that_failed_its_audit_is_shown_and_not_ranked() {
    let lab = Lab::new(&["a", "b"]).rates("a", 10, &[100.0, 101.0, 102.0]).failing(
        "b",
        10,
        "rate_asked",
        &[900.0, 900.0],
    );
    check(&lab, &["1 a"], &["b: audit: rate_asked (so much)"]);
    let panel = lab.panel();
    let point = &panel.curve("b").unwrap().points[0];
    assert_eq!(point.median(Figure::Goodput), Some(900.0), "it is shown");
}

#[test]
fn a_repeat_that_failed_its_audit_leaves_the_others() {
    let lab = Lab::new(&["a"]).rates("a", 10, &[100.0, 101.0, 102.0]).failing(
        "a",
        10,
        "rate_asked",
        &[900.0],
    );
    let point = lab.point();
    assert_eq!(point.standing(), Standing::Partly { counted: 3, of: 4 });
    assert_eq!(point.median(Figure::Goodput), Some(101.0));
}

/// A point with so many valid repeats, of so many that were asked for.
#[track_caller]
fn check_enough(valid: &[f64], asked: u32, expected: bool) {
    let mut lab = Lab::new(&["a"]).rates("a", 10, valid);
    lab.record.head.repeats = asked;
    assert_eq!(
        lab.point().is_ranked(),
        expected,
        "{valid:?} of {asked}: {:?}",
        lab.point().standing()
    );
}

#[test]
fn a_load_ranks_with_three_repeats_or_all_of_fewer() {
    check_enough(&[1.0, 2.0, 3.0], 5, true);
    check_enough(&[1.0, 2.0], 5, false);
    check_enough(&[1.0, 2.0], 3, false);
    check_enough(&[1.0, 2.0], 2, true);
    check_enough(&[1.0], 2, false);
    check_enough(&[1.0], 1, true);
}

/// The audit of three repeats left one of the fastest under 400 connections, and all under 100.
fn thinned_by_the_generator() -> Lab {
    Lab::new(&["fast", "slow"])
        .rates("fast", 100, &[20_000.0, 20_100.0, 20_200.0])
        .rates("fast", 400, &[46_000.0])
        .failing("fast", 400, "generator_cpu", &[47_000.0, 48_000.0])
        .rates("slow", 100, &[21_700.0, 21_800.0, 21_900.0])
        .rates("slow", 400, &[21_000.0, 21_100.0, 21_200.0])
}

#[test]
fn what_an_audit_left_of_a_load_is_no_best_step() {
    let lab = thinned_by_the_generator();
    check(&lab, &["1 slow", "2 fast"], &[]);
    let panel = lab.panel();
    let curve = panel.curve("fast").unwrap();
    let sweep = &curve.sweep;
    assert_eq!((sweep.peak, sweep.best, sweep.knee), (Some(0), Some(0), Some(0)));
    assert_eq!(panel.ranking.places[1].load, closed(100));
    assert_eq!(
        curve.points[1].standing().reason().unwrap(),
        "too few valid repeats: 1 of 3 needed for a rank; audit: generator_cpu (so much)"
    );
    // What the generator could not ask for tells nothing of where the server saturates.
    assert_eq!(sweep.saturation, None);
}

#[test]
fn who_was_too_fast_for_the_generator_has_a_lower_bound() {
    let places = thinned_by_the_generator().panel().ranking.places;
    assert!(places[1].is_lower_bound());
    assert_eq!(places[1].limited, [closed(400)]);
    assert!(!places[0].is_lower_bound());
    // Where enough repeats are left, those that are missing were the faster ones all the same.
    let lab = Lab::new(&["a"]).rates("a", 10, &[100.0, 101.0, 102.0]).failing(
        "a",
        10,
        "generator_starved",
        &[120.0],
    );
    assert!(lab.panel().ranking.places[0].is_lower_bound());
    // Another rule says nothing of what the server can do, nor does a lesser load that ranks all
    // the same.
    let lab = Lab::new(&["a"])
        .rates("a", 1, &[10.0, 10.0, 10.0])
        .failing("a", 1, "generator_cpu", &[12.0])
        .rates("a", 10, &[100.0, 101.0, 102.0])
        .failing("a", 20, "listen_overflows", &[110.0, 120.0, 130.0]);
    assert!(!lab.panel().ranking.places[0].is_lower_bound());
}

#[test]
fn who_has_too_few_valid_repeats_everywhere_has_no_place() {
    let lab = Lab::new(&["a", "b"])
        .failing("a", 1, "generator_cpu", &[10.0, 10.0, 10.0])
        .rates("a", 10, &[100.0, 101.0])
        .failing("a", 10, "generator_cpu", &[120.0])
        .rates("b", 10, &[50.0, 51.0, 52.0]);
    let reason =
        "a: too few valid repeats: 2 of 3 needed for a rank; audit: generator_cpu (so much)";
    check(&lab, &["1 b"], &[reason]);
    let limited = &lab.panel().ranking.unranked[0].limited;
    assert_eq!(*limited, [closed(1), closed(10)]);
}

#[test]
fn who_crashes_once_has_no_place_there() {
    let lab = Lab::new(&["a", "b"])
        .rates("a", 10, &[100.0, 100.0, 100.0])
        .rates("b", 10, &[500.0, 500.0])
        .step("b", closed(10), |step| {
            step.outcome = Outcome::Crashed { reason: "signal 11".to_owned() };
        });
    check(&lab, &["1 a"], &["b: crashed: signal 11"]);
}

#[test]
fn wrong_answers_and_no_answers_have_no_place() {
    let lab = Lab::new(&["a", "b"])
        .step("a", closed(10), |step| {
            step.outcome = Outcome::WrongAnswers { reason: "status 404".to_owned() };
        })
        .step("b", closed(10), |step| {
            step.outcome = Outcome::NotReady { reason: "5 s".to_owned() };
        });
    let reasons = ["a: wrong responses: status 404", "b: not ready: 5 s"];
    check(&lab, &[], &reasons);
}

#[test]
fn who_is_not_told_apart_shares_a_place() {
    let lab = Lab::new(&["a", "b", "c", "d"])
        .rates("a", 10, &[100.0, 110.0, 120.0])
        .rates("b", 10, &[115.0, 125.0, 130.0])
        .rates("c", 10, &[90.0, 95.0, 99.0])
        .rates("d", 10, &[10.0, 11.0, 12.0]);
    check(&lab, &["1= b", "1= a", "3 c", "4 d"], &[]);
}

#[test]
fn the_same_program_twice_is_a_tie() {
    let rates = [100.0, 103.0, 101.0];
    let lab = Lab::new(&["one", "two"]).rates("one", 10, &rates).rates("two", 10, &rates);
    check(&lab, &["1= one", "1= two"], &[]);
}

#[test]
fn one_repeat_tells_nobody_apart() {
    let lab = Lab::new(&["a", "b"]).rates("a", 10, &[100.0]).rates("b", 10, &[900.0]);
    check(&lab, &["1= b", "1= a"], &[]);
    assert!(!lab.panel().ranking.places.iter().any(RankedSubject::is_proven));
}

#[test]
fn failures_do_not_count_as_goodput() {
    // The post on operating systems: 160/s with every second one failed is 80/s.
    let mut half = run(80.0, &[(1.0, 1)]);
    for _ in 0..800 {
        half.errors.add(ErrorClass::WrongStatus);
    }
    let lab = Lab::new(&["good", "half"])
        .rates("good", 100, &[120.0, 120.0])
        .run("half", closed(100), &half)
        .run("half", closed(100), &half);
    check(&lab, &["1 good", "2 half"], &[]);
    let panel = lab.panel();
    let point = &panel.curve("half").unwrap().points[0];
    assert_eq!(point.median(Figure::ErrorShare), Some(0.5));
}

#[test]
fn the_greatest_goodput_of_a_sweep_ranks() {
    let lab = Lab::new(&["a", "b"])
        .rates("a", 1, &[50.0, 50.0])
        .rates("a", 10, &[400.0, 400.0])
        .rates("b", 1, &[90.0, 90.0])
        .rates("b", 10, &[300.0, 300.0]);
    check(&lab, &["1 a", "2 b"], &[]);
    assert_eq!(lab.panel().ranking.places[0].load, closed(10));
}

#[test]
fn the_ceiling_is_no_contestant() {
    let mut lab = Lab::new(&["a", "canned"])
        .rates("a", 10, &[90.0, 90.0])
        .rates("canned", 10, &[120.0, 120.0])
        .rates("a", 20, &[119.0, 119.0]);
    lab.record.head.subjects[1].role = Role::Ceiling;
    check(&lab, &["1 a"], &[]);
    let panel = lab.panel();
    let points = &panel.curve("a").unwrap().points;
    assert_eq!(points[0].share_of_ceiling, Some(0.75));
    // Under 20 connections the ceiling was not measured: its highest goodput stands for it.
    assert_eq!(points[1].share_of_ceiling, Some(119.0 / 120.0));
    assert_eq!(points[1].findings[0].rule, "client_limited");
    assert!(points[0].findings.is_empty());
}

/// A ceiling with these rates, of which a rule of its audit failed; none if it is empty.
fn below(rates: &[f64], rule: &str) -> Lab {
    let lab = Lab::new(&["a", "canned"]).rates("a", 10, &[400.0, 410.0, 420.0]);
    let mut lab = match rule {
        "" => lab.rates("canned", 10, rates),
        rule => lab.failing("canned", 10, rule, rates),
    };
    lab.record.head.subjects[1].role = Role::Ceiling;
    lab
}

#[test]
fn a_ceiling_that_failed_its_audit_is_no_base() {
    let share = |rule: &str| {
        let panel = below(&[800.0, 820.0, 840.0], rule).panel();
        panel.curve("a").unwrap().points[0].share_of_ceiling
    };
    assert_eq!(share("generator_lag"), None);
    assert_eq!(share("generator_starved"), None);
    assert_eq!(share("wrong_answers"), None);
    // The generator at its limit is what a ceiling is.
    assert_eq!(share("generator_cpu"), Some(0.5));
    assert_eq!(share(""), Some(0.5));
}

#[test]
fn more_than_the_ceiling_is_no_share_of_it() {
    let point = |rates: &[f64]| below(rates, "").panel().curve("a").unwrap().points[0].clone();
    let above = point(&[90.0, 91.0, 92.0]);
    assert_eq!(above.share_of_ceiling, None);
    assert_eq!(above.findings[0].rule, "ceiling_exceeded");
    assert!(above.findings[0].measured.starts_with("450.5 % of the ceiling (interval "));
    assert!(above.findings[0].meaning.contains("not an upper bound for this workload"));
    // Within the interval it is noise, and close to the ceiling.
    let close = point(&[399.0, 400.0, 405.0]);
    assert_eq!(close.share_of_ceiling, Some(1.025));
    assert_eq!(close.findings[0].rule, "client_limited");
}

#[test]
fn an_open_load_that_the_ceiling_keeps_up_with_is_no_share_of_it() {
    let at = |rate: f64| LoadPoint {
        shape: LoadShape::Open { rate },
        connections: Connections::KeepAlive,
        idle_connections: 0,
        pipelining: 1,
    };
    let times = [(1.0, 1)];
    let lab = |answered: f64| {
        let mut lab = Lab::new(&["a", "canned"])
            .run("a", at(100.0), &run(100.0, &times))
            .run("canned", at(100.0), &run(100.0, &times))
            .run("canned", at(400.0), &run(answered, &times));
        lab.record.head.subjects[1].role = Role::Ceiling;
        lab.panel().curve("a").unwrap().points[0].clone()
    };
    let point = lab(400.0);
    assert_eq!(point.share_of_ceiling, None, "both did as they were asked");
    assert!(point.findings.is_empty());
    // It could not keep up with 400/s: what it did then is what the kernel can do.
    assert_eq!(lab(200.0).share_of_ceiling, Some(0.5));
}

#[test]
fn repeats_around_nothing_lie_apart() {
    let lab = Lab::new(&["a"])
        .run("a", closed(10), &run(0.0, &[]))
        .run("a", closed(10), &run(0.0, &[]))
        .rates("a", 10, &[100.0]);
    let point = lab.point();
    assert_eq!(point.findings[0].rule, "spread");
    assert_eq!(point.findings[0].measured, "100/s between the lowest and the highest of 3 repeats");
}

#[test]
fn efficiency_stands_beside_it() {
    // 1,000 successful responses in two seconds of CPU time.
    let lab = Lab::new(&["a"]).rates("a", 10, &[100.0]);
    let point = lab.point();
    let value = |figure| point.median(figure).unwrap();
    assert_eq!(value(Figure::CpuPerRequest).to_bits(), 2000.0_f64.to_bits());
    assert_eq!(value(Figure::RequestsPerCpuSecond).to_bits(), 500.0_f64.to_bits());
    assert_eq!(value(Figure::CoresBusy).to_bits(), 0.2_f64.to_bits());
    assert_eq!(value(Figure::MemoryPeak).to_bits(), 8_388_608.0_f64.to_bits());
}

#[test]
fn a_server_that_was_not_watched_has_no_efficiency() {
    let run = run(100.0, &[(100.0, 1)]);
    let lab = Lab::new(&["a"]).step("a", closed(10), |step| {
        step.run = Some(vervet_lab::record::StoredRun::new(&run).unwrap());
        step.server = Watched::Invalid { reason: "restarted at 3.2 s".to_owned() };
    });
    let point = lab.point();
    assert_eq!(point.median(Figure::CpuPerRequest), None);
    assert_eq!(point.median(Figure::Goodput), Some(100.0));
    assert_eq!(point.all_findings()[0].rule, "server_unwatched");
}
