//! How tasks went: the rule of regressions at its edge, what stands for a task, gaps, and every
//! form of it.

use crate::common::tasks::Tasks;
use vervet_lab::record::LabRecord;
use vervet_lab::trend::{Line, Mark, Trend, trend_html, trend_json, trend_text};

fn trend(days: Vec<Tasks>) -> Trend {
    let records = days.into_iter().enumerate().map(|(day, tasks)| {
        let mut record: LabRecord = tasks.record;
        record.head.began_unix_ms = day as u64 * 86_400_000;
        (format!("day {day}"), record)
    });
    Trend::new(records.collect()).unwrap()
}

/// A task of which each day has three repeats of `put` and `get`, in milliseconds.
fn days(times_ms: &[[(u64, u64); 3]]) -> Trend {
    let days = times_ms.iter();
    trend(days.map(|times| Tasks::new().took("redb", times)).collect())
}

fn line<'a>(trend: &'a Trend, phase: &str) -> &'a Line {
    let mut lines = trend.tasks.iter();
    lines.find(|line| line.phase == phase).unwrap()
}

/// The days that are regressions of a phase.
fn regressions(trend: &Trend, phase: &str) -> Vec<usize> {
    let entries = line(trend, phase).points.iter().enumerate();
    let is_one = |mark: &Mark| matches!(mark, Mark::Regression { .. });
    entries
        .filter(|(_, entry)| entry.as_ref().is_some_and(|entry| is_one(&entry.mark)))
        .map(|(day, _)| day)
        .collect()
}

/// The same in each of three repeats.
const fn steady(put: u64, get: u64) -> [(u64, u64); 3] {
    [(put, get); 3]
}

#[track_caller]
fn check(times_ms: &[[(u64, u64); 3]], expected: &[usize]) {
    let trend = days(times_ms);
    assert_eq!(regressions(&trend, "all phases"), expected);
    let last = times_ms.len() - 1;
    assert_eq!(trend.ends_in_regression(), expected.contains(&last));
}

#[test]
fn two_records_before_it_are_needed() {
    let (usual, slow) = (steady(600, 400), steady(1_200, 800));
    check(&[usual, slow], &[]);
    check(&[usual, usual, slow], &[2]);
}

#[test]
fn the_whole_interval_must_lie_above_by_more_than_five_percent() {
    let usual = steady(600, 400);
    check(&[usual, usual, steady(650, 400)], &[]);
    check(&[usual, usual, steady(651, 400)], &[2]);
    check(&[usual, usual, [(640, 400), (700, 400), (700, 400)]], &[]);
    // Less time is better.
    check(&[usual, usual, steady(300, 200)], &[]);
}

#[test]
fn a_slower_level_becomes_usual() {
    let (usual, slow) = (steady(600, 400), steady(900, 600));
    check(&[usual, usual, usual, slow, slow, slow, slow], &[3, 4, 5]);
}

#[test]
fn a_phase_is_marked_and_the_whole_decides() {
    // As much more for one as less for the other.
    let trend = days(&[steady(600, 400), steady(600, 400), steady(500, 500)]);
    assert_eq!(regressions(&trend, "get"), [2]);
    assert_eq!(regressions(&trend, "put"), [0_usize; 0]);
    assert!(!line(&trend, "get").is_whole && line(&trend, "all phases").is_whole);
    assert!(!trend.ends_in_regression());
}

#[test]
fn a_part_of_no_whole_stands_for_itself() {
    let days = [1_000, 1_000, 1_500].map(Tasks::of_no_whole);
    let trend = trend(days.into());
    assert_eq!(trend.tasks.len(), 1, "there are no phases together");
    assert!(trend.ends_in_regression());
    let html = trend_html(&trend);
    assert!(html.contains("Time of call"), "it has a chart");
}

#[test]
fn other_work_is_not_compared() {
    let more = |times: &[(u64, u64)]| {
        let mut tasks = Tasks::new().took("redb", times);
        for step in &mut tasks.record.tasks {
            step.phases[0].operations = 1_000;
        }
        tasks
    };
    let usual = || Tasks::new().took("redb", &steady(100, 400));
    let trend = trend(vec![
        usual(),
        usual(),
        more(&steady(1_000, 400)),
        usual(),
        more(&steady(1_000, 400)),
        more(&steady(2_000, 400)),
    ]);
    assert_eq!(regressions(&trend, "put"), [5]);
    assert_eq!(regressions(&trend, "get"), [0_usize; 0]);
    assert_eq!(regressions(&trend, "all phases"), [5]);
}

#[test]
fn too_few_repeats_prove_nothing() {
    let usual = || Tasks::new().took("redb", &steady(600, 400));
    let few = Tasks::new().took("redb", &[(1_200, 400), (1_200, 400)]).crashed("redb");
    let trend = trend(vec![usual(), usual(), few, usual()]);
    assert_eq!(regressions(&trend, "all phases"), [0_usize; 0]);
    let text = trend_text(&trend);
    assert!(text.contains("day 2: 1.60 s, too few repeats\n"), "{text}");
}

#[test]
fn who_came_later_or_failed_has_gaps() {
    let usual = || Tasks::new().took("redb", &steady(600, 400));
    let both = usual().took("sqlite", &steady(60, 40));
    let trend = trend(vec![usual(), both, Tasks::new().crashed("redb")]);
    let there = |task: &str| -> Vec<bool> {
        let mut lines = trend.tasks.iter();
        let line = lines.find(|line| line.subject == task).unwrap();
        line.points.iter().map(Option::is_some).collect()
    };
    assert_eq!(there("redb"), [true, true, false]);
    assert_eq!(there("sqlite"), [false, true, false]);
}

#[test]
fn every_form_tells_them() {
    let trend = days(&[steady(600, 400), steady(600, 400), steady(800, 400)]);
    let text = trend_text(&trend);
    let expected = "stores
  redb
    put
      day 0: 600 ms, 100 operations
      day 1: 600 ms, 100 operations
      day 2: 800 ms, 100 operations: regression, +33.3 % of 600 ms
    get
      day 0: 400 ms, 100 operations
      day 1: 400 ms, 100 operations
      day 2: 400 ms, 100 operations
    all phases
      day 0: 1.00 s
      day 1: 1.00 s
      day 2: 1.20 s: regression, +20.0 % of 1.00 s
";
    assert_eq!(text, expected);
    let json = trend_json(&trend);
    assert_eq!(json["ends_in_regression"], true);
    assert_eq!(json["records"][2]["name"], "day 2");
    let whole = &json["tasks"][2];
    assert_eq!((&whole["task"], &whole["phase"]), (&"redb".into(), &"all phases".into()));
    let last = &whole["entries"][2];
    assert_eq!(last["seconds"]["median"], 1.2);
    assert_eq!(last["mark"]["tell"], "regression");
    assert_eq!(last["mark"]["before"], 1.0);
    assert_eq!(last["work"][1]["operations"], 100);
    let html = trend_html(&trend);
    for piece in [
        "more than 5 % above the median",
        "Time of all phases together",
        "+20.0 %",
        "Each phase in each record",
    ] {
        assert!(html.contains(piece), "{piece}");
    }
    assert!(!html.contains("more than 5 % below"), "there is no goodput in it");
}
