//! Who is ahead, who is not told apart, and who has no place.

mod common;

use common::{Lab, closed, run};
use vervet_lab::record::{Outcome, Role, Watched};
use vervet_lab::statistics::{Figure, Standing};
use vervet_report::{ErrorClass, Finding, Verdict};

/// Places as `1 a, 1= b`, and reasons of those that have none.
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

fn failed() -> Finding {
    Finding {
        rule: "rate_asked".to_owned(),
        verdict: Verdict::Failed,
        measured: "50 % of what was asked".to_owned(),
        bound: String::new(),
        meaning: String::new(),
        advice: String::new(),
    }
}

#[test]
fn a_step_that_failed_its_audit_is_shown_and_not_ranked() {
    let mut bad = run(900.0, &[(1.0, 1)]);
    bad.findings.push(failed());
    let lab = Lab::new(&["a", "b"])
        .rates("a", 10, &[100.0, 101.0, 102.0])
        .run("b", closed(10), &bad)
        .run("b", closed(10), &bad);
    check(
        &lab,
        &["1 a"],
        &["b: audit: rate_asked (50 % of what was asked)"],
    );
    let panel = lab.panel();
    let point = &panel.curve("b").unwrap().points[0];
    assert_eq!(point.median(Figure::Goodput), Some(900.0), "it is shown");
}

#[test]
fn a_repeat_that_failed_its_audit_leaves_the_others() {
    let mut bad = run(900.0, &[(1.0, 1)]);
    bad.findings.push(failed());
    let lab = Lab::new(&["a"])
        .rates("a", 10, &[100.0, 102.0])
        .run("a", closed(10), &bad);
    let point = lab.point();
    assert_eq!(point.standing(), Standing::Partly { counted: 2, of: 3 });
    assert_eq!(point.median(Figure::Goodput), Some(101.0));
}

#[test]
fn who_crashes_once_has_no_place_there() {
    let lab = Lab::new(&["a", "b"])
        .rates("a", 10, &[100.0, 100.0])
        .rates("b", 10, &[500.0, 500.0])
        .step("b", closed(10), |step| {
            step.outcome = Outcome::Crashed {
                reason: "signal 11".to_owned(),
            };
        });
    check(&lab, &["1 a"], &["b: it crashed: signal 11"]);
}

#[test]
fn wrong_answers_and_no_answers_have_no_place() {
    let lab = Lab::new(&["a", "b"])
        .step("a", closed(10), |step| {
            step.outcome = Outcome::WrongAnswers {
                reason: "status 404".to_owned(),
            };
        })
        .step("b", closed(10), |step| {
            step.outcome = Outcome::NotReady {
                reason: "5 s".to_owned(),
            };
        });
    let reasons = [
        "a: wrong answers: status 404",
        "b: it did not become ready: 5 s",
    ];
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
    let lab = Lab::new(&["one", "two"])
        .rates("one", 10, &rates)
        .rates("two", 10, &rates);
    check(&lab, &["1= one", "1= two"], &[]);
    assert!(!lab.panel().ranking.tells_apart());
}

#[test]
fn one_repeat_tells_nobody_apart() {
    let lab = Lab::new(&["a", "b"])
        .rates("a", 10, &[100.0])
        .rates("b", 10, &[900.0]);
    check(&lab, &["1= b", "1= a"], &[]);
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
    // Under 20 connections the ceiling was not measured: its greatest goodput stands for it.
    assert_eq!(points[1].share_of_ceiling, Some(119.0 / 120.0));
    assert_eq!(points[1].findings[0].rule, "client_limited");
    assert!(points[0].findings.is_empty());
}

#[test]
fn efficiency_stands_beside_it() {
    // 1,000 good answers in two seconds of processor time.
    let lab = Lab::new(&["a"]).rates("a", 10, &[100.0]);
    let point = lab.point();
    let value = |figure| point.median(figure).unwrap();
    assert_eq!(value(Figure::CpuPerRequest).to_bits(), 2000.0_f64.to_bits());
    assert_eq!(
        value(Figure::RequestsPerCpuSecond).to_bits(),
        500.0_f64.to_bits()
    );
    assert_eq!(value(Figure::CoresBusy).to_bits(), 0.2_f64.to_bits());
    assert_eq!(
        value(Figure::MemoryPeak).to_bits(),
        8_388_608.0_f64.to_bits()
    );
}

#[test]
fn a_server_that_was_not_watched_has_no_efficiency() {
    let run = run(100.0, &[(100.0, 1)]);
    let lab = Lab::new(&["a"]).step("a", closed(10), |step| {
        step.run = Some(vervet_lab::record::StoredRun::of(&run).unwrap());
        step.server = Watched::Invalid {
            reason: "restarted at 3.2 s".to_owned(),
        };
    });
    let point = lab.point();
    assert_eq!(point.median(Figure::CpuPerRequest), None);
    assert_eq!(point.median(Figure::Goodput), Some(100.0));
    assert_eq!(point.all_findings()[0].rule, "server_unwatched");
}
