//! A trend as lines for a terminal.

use std::fmt::Write as _;

use vervet_report::escape::Printable;
use vervet_report::units;

use super::mark::Mark;
use super::page::panels;
use super::series::{Entry, Trend};
use super::tasks::{TaskEntry, TaskLine};
use crate::statistics::Unit;

/// What stands where a record has nothing.
pub(super) const NONE: &str = "–";

/// The trend for a terminal: a line for each record of each subject, and of each phase of a task.
pub fn trend_text(trend: &Trend) -> String {
    let mut text = String::new();
    for panel in panels(trend) {
        let _ = writeln!(text, "{}", Printable(panel));
        for line in trend.lines.iter().filter(|line| line.panel == panel) {
            let _ = writeln!(text, "  {}", Printable(&line.subject));
            let entries = line.entries.iter().map(Option::as_ref);
            records(&mut text, "    ", trend, entries.map(entry_text));
        }
    }
    let mut before: Option<&TaskLine> = None;
    for line in &trend.tasks {
        if before.is_none_or(|before| before.group != line.group) {
            let _ = writeln!(text, "{}", Printable(&line.group));
            before = None;
        }
        if before.is_none_or(|before| before.task != line.task) {
            let _ = writeln!(text, "  {}", Printable(&line.task));
        }
        before = Some(line);
        let _ = writeln!(text, "    {}", Printable(&line.phase));
        let entries = line.entries.iter().map(Option::as_ref);
        records(&mut text, "      ", trend, entries.map(task_entry_text));
    }
    text
}

/// A line for each record.
fn records(text: &mut String, indent: &str, trend: &Trend, entries: impl Iterator<Item = String>) {
    for ((label, _), entry) in trend.labels.iter().zip(entries) {
        let _ = writeln!(text, "{indent}{}: {entry}", Printable(label));
    }
}

/// What a record says of a subject, in words.
pub(super) fn entry_text(entry: Option<&Entry>) -> String {
    let Some(entry) = entry else {
        return NONE.to_owned();
    };
    let mean = entry.mean_ms.map_or(String::new(), |mean| {
        format!(", mean {}", Unit::Milliseconds.text(mean))
    });
    format!(
        "{}{mean}, {}{}",
        Unit::PerSecond.text(entry.goodput.median),
        entry.load,
        mark_text(&entry.mark, |before| Unit::PerSecond.text(before))
    )
}

/// What a record says of a phase, in words.
pub(super) fn task_entry_text(entry: Option<&TaskEntry>) -> String {
    let Some(entry) = entry else {
        return NONE.to_owned();
    };
    let work = match entry.work.as_slice() {
        [(_, operations)] if *operations > 1 => {
            format!(", {} operations", units::count(*operations))
        }
        _ => String::new(),
    };
    let few = if entry.has_enough_repeats {
        ""
    } else {
        ", too few repeats"
    };
    format!(
        "{}{work}{few}{}",
        seconds_text(entry.seconds.median),
        mark_text(&entry.mark, seconds_text)
    )
}

/// A time in seconds, for people.
pub(super) fn seconds_text(seconds: f64) -> String {
    units::time(seconds * 1e9)
}

fn mark_text(mark: &Mark, value: impl Fn(f64) -> String) -> String {
    match mark {
        Mark::TooFew | Mark::Usual => String::new(),
        Mark::Regression { before, change } => {
            let change = change * 100.0;
            format!(": regression, {change:+.1} % of {}", value(*before))
        }
    }
}
