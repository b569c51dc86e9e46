//! Two records compared: percentages with their base, noise that is no difference, and what makes a
//! comparison hard to believe.

use crate::common::{Lab, closed, run};
use vervet_lab::compare::{
    ChangeVerdict, Comparison, Guarded, Measure, TOLERANCE, comparison_json, comparison_text,
};
use vervet_lab::record::{Asset, Outcome, Weight};
use vervet_lab::statistics::Figure;

fn compared(base: &Lab, other: &Lab) -> Comparison {
    Comparison::new(&base.record, &other.record, TOLERANCE).unwrap()
}

/// The verdict on goodput, the line about it, and whether it is a regression.
#[track_caller]
fn check(base: &[f64], other: &[f64], tell: ChangeVerdict, line: &str) {
    let of = |rates: &[f64]| {
        let mut lab = Lab::new(&["a"]).rates("a", 10, rates);
        lab.record.ended_unix_ms = Some(1);
        lab
    };
    let comparison = compared(&of(base), &of(other));
    let change = &comparison.rows[0].changes[0];
    assert_eq!(
        (&change.measure, change.verdict),
        (&Measure::Figure(Figure::Goodput), tell),
        "{change:?}"
    );
    let text = comparison_text(&comparison);
    assert_eq!(text.lines().nth(2).unwrap().trim(), line);
    assert_eq!(
        comparison.has_regressed(&[Guarded::Figure(Figure::Goodput)]),
        tell == ChangeVerdict::Worse
    );
}

#[test]
fn the_post_of_2012_with_the_right_base() {
    let (slow, fast) = ([17_222.0; 5], [29_231.0; 5]);
    check(
        &slow,
        &fast,
        ChangeVerdict::Better,
        "successful responses per second: 29,231/s against 17,222/s, +69.7 % of 17,222/s (interval +69.7 % to +69.7 %, 5 repeats): better",
    );
    check(
        &fast,
        &slow,
        ChangeVerdict::Worse,
        "successful responses per second: 17,222/s against 29,231/s, -41.1 % of 29,231/s (interval -41.1 % to -41.1 %, 5 repeats): worse",
    );
}

#[test]
fn a_single_repeat_proves_nothing() {
    check(
        &[17_222.0],
        &[29_231.0],
        ChangeVerdict::Unproven,
        "successful responses per second: 29,231/s against 17,222/s, +69.7 % of 17,222/s: too few valid repeats to compare, a difference needs 5 of each",
    );
}

#[test]
fn fewer_than_five_repeats_are_no_difference() {
    check(
        &[17_222.0; 5],
        &[29_231.0; 4],
        ChangeVerdict::Unproven,
        "successful responses per second: 29,231/s against 17,222/s, +69.7 % of 17,222/s (interval +69.7 % to +69.7 %, 4 and \
         5 repeats): too few valid repeats to compare, a difference needs 5 of each",
    );
}

#[test]
fn what_an_audit_left_proves_nothing_and_is_not_lost() {
    let base = Lab::new(&["a"]).rates("a", 10, &[100.0, 100.0, 100.0]);
    let other =
        Lab::new(&["a"]).rates("a", 10, &[50.0, 50.0]).failing("a", 10, "generator_cpu", &[50.0]);
    for (one, two) in [(&base, &other), (&other, &base)] {
        let comparison = compared(one, two);
        assert_eq!(comparison.rows[0].changes[0].verdict, ChangeVerdict::Unproven);
        assert!(comparison.unmatched.is_empty());
        assert!(!comparison.has_regressed(&[Guarded::Figure(Figure::Goodput)]));
    }
}

#[test]
fn inside_the_noise_is_no_difference() {
    // Least by greatest is 95 by 105, greatest by least 110 by 90.
    check(
        &[90.0, 100.0, 105.0],
        &[95.0, 104.0, 110.0],
        ChangeVerdict::NoDifference,
        "successful responses per second: 104/s against 100/s: no significant difference (interval -9.5 % to +22.2 %, 3 repeats)",
    );
}

#[test]
fn the_tolerance_is_held_to_the_kinder_end() {
    let base = [1_000.0; 5];
    let told = |rate: f64| {
        let comparison = compared(
            &Lab::new(&["a"]).rates("a", 10, &base),
            &Lab::new(&["a"]).rates("a", 10, &[rate; 5]),
        );
        comparison.rows[0].changes[0].verdict
    };
    assert_eq!(told(981.0), ChangeVerdict::NoDifference);
    assert_eq!(told(979.0), ChangeVerdict::Worse);
    assert_eq!(told(1_019.0), ChangeVerdict::NoDifference);
    assert_eq!(told(1_021.0), ChangeVerdict::Better);
}

#[test]
fn less_is_better_for_times_and_costs() {
    let base = Lab::new(&["a"]).rates("a", 10, &[100.0; 5]);
    let other = Lab::new(&["a"]).rates("a", 10, &[200.0; 5]);
    let comparison = compared(&base, &other);
    let tell = |figure| {
        let changes = &comparison.rows[0].changes;
        changes.iter().find(|change| change.measure == Measure::Figure(figure)).unwrap().verdict
    };
    assert_eq!(tell(Figure::ResponseP99), ChangeVerdict::Better);
    assert_eq!(tell(Figure::CpuPerRequest), ChangeVerdict::Better);
    assert_eq!(tell(Figure::MemoryPeak), ChangeVerdict::NoDifference);
    assert_eq!(tell(Figure::ErrorShare), ChangeVerdict::NoDifference, "none and none");
    let back = compared(&other, &base);
    assert!(back.has_regressed(&[Guarded::Figure(Figure::ResponseP99)]));
    assert!(!back.has_regressed(&[Guarded::Figure(Figure::MemoryPeak)]));
}

#[test]
fn who_had_figures_and_has_none_is_lost() {
    let base = Lab::new(&["a", "b"]).rates("a", 10, &[100.0, 100.0]).rates("b", 10, &[5.0, 5.0]);
    let other =
        Lab::new(&["a", "b"]).rates("a", 10, &[100.0, 100.0]).step("b", closed(10), |step| {
            step.outcome = Outcome::Crashed { reason: "signal 11".to_owned() };
        });
    let comparison = compared(&base, &other);
    assert!(comparison.has_regressed(&[]));
    let text = comparison_text(&comparison);
    assert!(
        text.contains(
            "lost: hello: closed load, keep-alive, b, 10 connections: crashed: signal 11"
        ),
        "{text}"
    );
    // What nobody asked for is not lost.
    let less = Lab::new(&["a"]).rates("a", 10, &[100.0, 100.0]);
    assert!(!compared(&base, &less).has_regressed(&[Guarded::Figure(Figure::Goodput)]));
    assert!(!compared(&other, &base).has_regressed(&[Guarded::Figure(Figure::Goodput)]));
}

#[test]
fn single_subjects_are_held_against_each_other_whatever_their_names() {
    let base = Lab::new(&["g-wan"]).rates("g-wan", 100, &[17_222.0, 17_222.0]);
    let other = Lab::new(&["monkey"]).rates("monkey", 100, &[29_231.0, 29_231.0]);
    assert_eq!(compared(&base, &other).rows[0].subject, "monkey against g-wan");
    let two = Lab::new(&["x", "y"]).rates("x", 100, &[1.0]).rates("y", 100, &[1.0]);
    assert!(compared(&base, &two).rows.is_empty());
}

#[test]
fn nothing_in_common_is_said() {
    let base = Lab::new(&["a"]).rates("a", 10, &[100.0, 100.0]);
    let other = Lab::new(&["a"]).run("a", closed(20), &run(100.0, &[(1.0, 1)]));
    let text = comparison_text(&compared(&base, &other));
    assert!(text.contains("nothing to compare"), "{text}");
    assert!(text.contains("in one of them only"), "{text}");
}

#[test]
fn another_machine_or_workload_is_told() {
    let base = Lab::new(&["a"]).rates("a", 10, &[100.0, 100.0]);
    let mut other = Lab::new(&["a"]).rates("a", 10, &[100.0, 100.0]);
    let caution = |other: &Lab| {
        let mut cautions = compared(&base, other).cautions;
        cautions.retain(|caution| !caution.contains("interrupted"));
        cautions
    };
    assert_eq!(caution(&other), Vec::<String>::new());
    let head = &mut other.record.head;
    head.environment.facts[1].value = "6.12.0".to_owned();
    head.environment.facts[2].value = "3.10".to_owned();
    head.environment.add("sysctl", "net.core.somaxconn", "128", Weight::Decides);
    head.subjects[0].version = Some("1.1".to_owned());
    head.subjects[0].command.push("--fast".to_owned());
    head.workloads[0].apdex_seconds = 0.5;
    head.lab.sha256 = "1".repeat(64);
    let expected = [
        "kernel release differs: 6.1.0 in the base, 6.12.0 in the other",
        "sysctl net.core.somaxconn differs: unknown in the base, 128 in the other",
        "the version of a differs: 1.0 in the base, 1.1 in the other",
        "the command of a differs: a --port 0 in the base, a --port 0 --fast in the other",
        "the Apdex T of hello differs: 1.5 s in the base, 0.5 s in the other",
        "the lab files differ: compare their text",
    ];
    assert_eq!(caution(&other), expected);
}

#[test]
fn other_content_is_told() {
    let asset = |hash: &str| Asset {
        path: "app.py".to_owned(),
        bytes: 1,
        sha256: hash.to_owned(),
        text: None,
        executable: false,
    };
    let mut base = Lab::new(&["a"]).rates("a", 10, &[100.0]);
    let mut other = Lab::new(&["a"]).rates("a", 10, &[100.0]);
    base.record.head.assets.push(asset("0123456789abcdef"));
    // A hash that is none must not end the program.
    other.record.head.assets.push(asset("0123456789aüü"));
    let cautions = compared(&base, &other).cautions;
    assert_eq!(
        cautions[0],
        "the content of app.py differs: 0123456789ab in the base, 0123456789aü in the other"
    );
}

#[test]
fn programs_get_the_same() {
    let base = Lab::new(&["a"]).rates("a", 10, &[17_222.0; 5]);
    let other = Lab::new(&["a"]).rates("a", 10, &[29_231.0; 6]);
    let json = comparison_json(&compared(&base, &other));
    let change = &json["rows"][0]["changes"][0];
    assert_eq!(change["figure"], "goodput");
    assert_eq!(change["base"], 17_222.0);
    assert_eq!(change["tell"], "better");
    assert_eq!(change["repeats"], serde_json::json!([5, 6]));
    let ratio = change["other_by_base"]["ratio"].as_f64().unwrap();
    assert_eq!(format!("{ratio:.3}"), "1.697");
}

#[test]
fn names_cannot_steer_a_terminal() {
    let name = "\u{1b}[2J";
    let base = Lab::new(&[name]).rates(name, 10, &[1.0]);
    let text = comparison_text(&compared(&base, &base));
    assert!(!text.contains('\u{1b}'), "{text:?}");
}
