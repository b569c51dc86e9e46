//! A trend for programs.

use serde_json::{Value, json};

use super::mark::{Mark, TREND_TOLERANCE};
use super::series::{Entry, Line, Trend};
use super::tasks::{TaskEntry, TaskLine};
use crate::present::estimate_json;

/// The version of this form. A field that is added does not raise it.
const VERSION: u32 = 1;

/// The trend as JSON: the records, oldest first, and for each line as many entries; null where a record has none.
pub fn trend_json(trend: &Trend) -> Value {
    let records = trend.labels.iter();
    let records = records.map(|(name, began)| json!({ "name": name, "began_unix_ms": began }));
    json!({
        "version": VERSION,
        "tolerance": TREND_TOLERANCE,
        "ends_in_regression": trend.ends_in_regression(),
        "records": records.collect::<Vec<Value>>(),
        "lines": trend.lines.iter().map(line).collect::<Vec<Value>>(),
        "tasks": trend.tasks.iter().map(task).collect::<Vec<Value>>(),
    })
}

fn line(line: &Line) -> Value {
    let entries = line.entries.iter();
    let entries = entries.map(|found| found.as_ref().map(entry));
    json!({
        "panel": line.panel,
        "subject": line.subject,
        "entries": entries.collect::<Vec<Option<Value>>>(),
    })
}

fn entry(entry: &Entry) -> Value {
    let apdex = entry.apdex.iter();
    let apdex = apdex.map(|(load, apdex)| json!({ "load": load, "score": apdex.score() }));
    json!({
        "load": entry.load,
        "goodput": estimate_json(&entry.goodput),
        "mean_ms": entry.mean_ms,
        "apdex": apdex.collect::<Vec<Value>>(),
        "mark": mark(&entry.mark),
    })
}

fn task(line: &TaskLine) -> Value {
    let entries = line.entries.iter();
    let entries = entries.map(|found| found.as_ref().map(task_entry));
    json!({
        "group": line.group,
        "task": line.task,
        "phase": line.phase,
        "is_whole": line.is_whole,
        "entries": entries.collect::<Vec<Option<Value>>>(),
    })
}

fn task_entry(entry: &TaskEntry) -> Value {
    let work = entry.work.iter();
    let work = work.map(|(phase, operations)| json!({ "phase": phase, "operations": operations }));
    json!({
        "seconds": estimate_json(&entry.seconds),
        "work": work.collect::<Vec<Value>>(),
        "mark": mark(&entry.mark),
    })
}

fn mark(mark: &Mark) -> Value {
    match mark {
        Mark::TooFew => json!({ "tell": "too few" }),
        Mark::Usual => json!({ "tell": "usual" }),
        Mark::Regression { before, change } => {
            json!({ "tell": "regression", "before": before, "change": change })
        }
    }
}
