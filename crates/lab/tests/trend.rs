//! How figures went: the rule of regressions at its edge, gaps, and the order of records.

use crate::common::Lab;
use vervet_lab::record::LabRecord;
use vervet_lab::trend::{Mark, Trend, trend_html, trend_json, trend_text};

fn record(day: u64, rates: &[f64]) -> (String, LabRecord) {
    let mut record = Lab::new(&["a"]).rates("a", 10, rates).record;
    record.head.began_unix_ms = day * 86_400_000;
    (format!("day {day}"), record)
}

/// The days that are regressions.
#[track_caller]
fn check(days: &[&[f64]], expected: &[usize]) {
    let records = days.iter().enumerate().map(|(day, rates)| record(day as u64, rates)).collect();
    let trend = Trend::new(records).unwrap();
    let entries = trend.lines[0].points.iter().enumerate();
    let found: Vec<usize> = entries
        .filter(|(_, entry)| matches!(entry.as_ref().unwrap().mark, Mark::Regression { .. }))
        .map(|(day, _)| day)
        .collect();
    assert_eq!(found, expected);
    assert_eq!(trend.ends_in_regression(), expected.contains(&(days.len() - 1)));
}

#[test]
fn two_records_before_it_are_needed() {
    check(&[&[100.0, 100.0], &[50.0, 50.0]], &[]);
    check(&[&[100.0, 100.0], &[100.0, 100.0], &[50.0, 50.0]], &[2]);
}

#[test]
fn the_whole_interval_must_lie_below_by_more_than_five_percent() {
    check(&[&[100.0, 100.0], &[100.0, 100.0], &[95.0, 95.0]], &[]);
    check(&[&[100.0, 100.0], &[100.0, 100.0], &[94.9, 94.9]], &[2]);
    check(&[&[100.0, 100.0], &[100.0, 100.0], &[90.0, 96.0]], &[]);
}

#[test]
fn one_repeat_proves_nothing() {
    check(&[&[100.0], &[100.0], &[50.0]], &[]);
    check(&[&[100.0], &[100.0], &[50.0, 50.0]], &[2]);
}

#[test]
fn a_lower_level_becomes_usual() {
    let (high, low): (&[f64], &[f64]) = (&[100.0, 100.0], &[80.0, 80.0]);
    check(&[high, high, high, low, low, low, low, low], &[3, 4, 5]);
}

#[test]
fn better_is_no_regression() {
    check(&[&[100.0, 100.0], &[100.0, 100.0], &[200.0, 200.0]], &[]);
}

#[test]
fn records_are_put_in_the_order_in_which_they_began() {
    let records = vec![record(2, &[90.0]), record(0, &[100.0]), record(1, &[110.0])];
    let trend = Trend::new(records).unwrap();
    let names: Vec<&str> = trend.labels.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["day 0", "day 1", "day 2"]);
}

#[test]
fn who_came_later_or_is_gone_has_gaps() {
    let mut both = Lab::new(&["a", "b"]).rates("a", 10, &[100.0]).rates("b", 10, &[7.0]).record;
    both.head.began_unix_ms = 86_400_000;
    let records = vec![record(0, &[100.0]), ("both".to_owned(), both), record(2, &[100.0])];
    let trend = Trend::new(records).unwrap();
    let there = |line: usize| -> Vec<bool> {
        trend.lines[line].points.iter().map(Option::is_some).collect()
    };
    assert_eq!(there(0), [true, true, true]);
    assert_eq!(there(1), [false, true, false]);
    let text = trend_text(&trend);
    assert!(text.contains("both: 7/s") || text.contains("both: 7.00/s"), "{text}");
}

#[test]
fn the_page_says_its_rule_and_colours_by_words() {
    let records =
        vec![record(0, &[100.0, 100.0]), record(1, &[100.0, 100.0]), record(2, &[50.0, 50.0])];
    let html = trend_html(&Trend::new(records).unwrap());
    for piece in
        ["more than 5 % below the median", "-50.0 %", "data-heat=\"excellent\">1.00 excellent"]
    {
        assert!(html.contains(piece), "{piece}");
    }
    assert!(!html.contains("<script"));
}

#[test]
fn programs_are_told_the_same() {
    let json = trend_json(
        &Trend::new(vec![
            record(0, &[100.0, 100.0]),
            record(1, &[100.0, 100.0]),
            record(2, &[50.0, 50.0]),
        ])
        .unwrap(),
    );
    let line = &json["lines"][0];
    assert_eq!(line["subject"], "a");
    assert_eq!(line["entries"][2]["goodput"]["median"], 50.0);
    assert_eq!(line["entries"][2]["mark"]["change"], -0.5);
    assert_eq!(line["entries"][0]["mark"]["tell"], "too few");
    assert_eq!(line["entries"][0]["apdex"][0]["score"], 1.0);
    assert!(json["tasks"].as_array().unwrap().is_empty());
}
