//! Two labs of tasks compared: phase by phase, with the verdict on each, and what fails.

use crate::common::tasks::Tasks;
use vervet_lab::compare::{
    ChangeVerdict, Comparison, Guarded, TOLERANCE, comparison_json, comparison_text,
};
use vervet_lab::statistics::Figure;

fn compared(base: &Tasks, other: &Tasks) -> Comparison {
    Comparison::new(&base.record, &other.record, TOLERANCE).unwrap()
}

/// The verdict on each phase of the first task.
fn told(comparison: &Comparison) -> Vec<(&str, ChangeVerdict)> {
    let phases = comparison.tasks[0].changes.iter();
    phases.map(|change| (change.measure.label(), change.verdict)).collect()
}

const GOODPUT: [Guarded; 1] = [Guarded::Figure(Figure::Goodput)];
const STEADY: [(u64, u64); 5] =
    [(1_000, 500), (1_010, 500), (990, 500), (1_000, 500), (1_000, 500)];
/// A fifth more for the puts.
const SLOWER: [(u64, u64); 5] =
    [(1_200, 500), (1_210, 500), (1_190, 500), (1_200, 500), (1_200, 500)];

#[test]
fn a_change_beyond_the_interval_is_told_of_each_phase() {
    let base = Tasks::new().took("redb", &STEADY);
    let slower = Tasks::new().took("redb", &SLOWER);
    let comparison = compared(&base, &slower);
    let expected = [
        ("put", ChangeVerdict::Worse),
        ("get", ChangeVerdict::NoDifference),
        ("all phases", ChangeVerdict::Worse),
    ];
    assert_eq!(told(&comparison), expected);
    // 1,200 of 1,010 and of 990.
    let text = comparison_text(&comparison);
    for line in [
        "stores\n  redb\n",
        "    put: 1.20 s against 1.00 s, +20.0 % of 1.00 s (interval +18.8 % to +21.2 %, 5 repeats): worse\n",
        "    get: 500 ms against 500 ms: no significant difference (interval 0.0 % to 0.0 %, 5 repeats)\n",
        "    all phases: 1.70 s against 1.50 s, +13.3 % of 1.50 s (",
    ] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
    let back = told_of_both(&slower, &base);
    assert_eq!(back[0], ("put".to_owned(), ChangeVerdict::Better));
    let json = comparison_json(&comparison);
    assert_eq!(json["tasks"][0]["task"], "redb");
    assert_eq!(json["tasks"][0]["phases"][0]["tell"], "worse");
    assert_eq!(json["tasks"][0]["phases"][0]["base_seconds"], 1.0);
}

fn told_of_both(base: &Tasks, other: &Tasks) -> Vec<(String, ChangeVerdict)> {
    let comparison = compared(base, other);
    let told = told(&comparison).into_iter();
    told.map(|(phase, tell)| (phase.to_owned(), tell)).collect()
}

#[test]
fn what_fails_is_the_whole_or_the_phase_that_is_named() {
    let base = Tasks::new().took("redb", &STEADY);
    let check = |times: &[(u64, u64)], guarded: &[Guarded], expected: bool| {
        let other = Tasks::new().took("redb", times);
        let found = compared(&base, &other).has_regressed(guarded);
        assert_eq!(found, expected, "{times:?} {guarded:?}");
    };
    // As much less for one as more for the other: the whole is as it was.
    let shifted = [(900, 600), (910, 600), (890, 600), (900, 600), (900, 600)];
    let phase = |name: &str| [Guarded::Phase(name.to_owned())];
    check(&shifted, &GOODPUT, false);
    check(&shifted, &phase("get"), true);
    check(&shifted, &phase("put"), false);
    check(&SLOWER, &GOODPUT, true);
    check(&SLOWER, &phase("get"), false);
    check(&SLOWER, &[Guarded::Figure(Figure::ResponseP99)], false);
}

#[test]
fn inside_the_noise_is_no_difference() {
    let base = Tasks::new().took("redb", &[(900, 500), (1_000, 500), (1_100, 500)]);
    let other = Tasks::new().took("redb", &[(950, 500), (1_080, 500), (1_200, 500)]);
    let comparison = compared(&base, &other);
    assert_eq!(told(&comparison)[0], ("put", ChangeVerdict::NoDifference));
    assert!(!comparison.has_regressed(&GOODPUT));
}

#[test]
fn too_few_repeats_prove_nothing() {
    let base = Tasks::new().took("redb", &STEADY);
    let other = Tasks::new().took("redb", &[(2_000, 500), (2_000, 500)]);
    let comparison = compared(&base, &other);
    assert_eq!(told(&comparison)[0], ("put", ChangeVerdict::Unproven));
    assert!(!comparison.has_regressed(&GOODPUT));
}

#[test]
fn a_part_of_no_whole_stands_for_itself() {
    let comparison = compared(&Tasks::of_no_whole(1_000), &Tasks::of_no_whole(1_500));
    assert_eq!(told(&comparison), [("call", ChangeVerdict::Worse)]);
    assert!(comparison.has_regressed(&GOODPUT));
}

#[test]
fn who_failed_since_is_lost_and_who_was_not_run_is_not() {
    let base = Tasks::new().took("redb", &STEADY).took("sqlite", &STEADY);
    let other = Tasks::new().took("redb", &STEADY).crashed("redb");
    let comparison = compared(&base, &other);
    let gone: Vec<(&str, &str, bool)> = comparison
        .unmatched
        .iter()
        .map(|gone| (gone.subject.as_str(), gone.reason.as_str(), gone.lost))
        .collect();
    let expected = [("redb", "crashed: signal 11", true), ("sqlite", "not run", false)];
    assert_eq!(gone, expected);
    assert!(comparison.has_regressed(&[]));
    // The other way round nothing was lost.
    assert!(!compared(&other, &base).has_regressed(&GOODPUT));
}

#[test]
fn other_work_is_not_compared() {
    let base = Tasks::new().took("redb", &STEADY);
    let mut other = Tasks::new().took("redb", &[(10, 500), (10, 500), (10, 500)]);
    for step in &mut other.record.tasks {
        step.phases[0].operations = 1;
    }
    let comparison = compared(&base, &other);
    assert_eq!(told(&comparison), [("get", ChangeVerdict::NoDifference)]);
    assert_eq!(comparison.unmatched[0].reason, "100 operations in the base, 1 in the other");
    assert!(!comparison.has_regressed(&GOODPUT));
}

#[test]
fn one_task_of_each_is_compared_whatever_its_name() {
    let base = Tasks::new().took("before", &STEADY);
    let other = Tasks::new().took("after", &STEADY);
    let comparison = compared(&base, &other);
    assert_eq!(comparison.tasks[0].subject, "after against before");
    assert!(comparison.unmatched.is_empty());
    let two = Tasks::new().took("after", &STEADY).took("third", &STEADY);
    let comparison = compared(&base, &two);
    assert!(comparison.is_empty());
    assert_eq!(comparison.unmatched.len(), 3);
}
