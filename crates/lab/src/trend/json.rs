//! A trend for programs.

use serde_json::{Value, json};

use super::series::{Line, Mark, TREND_TOLERANCE, Trend, TrendPoint};
use crate::present::estimate_json;

/// The version of this form. A field that is added does not raise it.
const VERSION: u32 = 1;

/// The trend as JSON: the records, oldest first, and for each line as many entries, null if a
/// record has none.
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
    json!({
        "panel": line.panel,
        "subject": line.subject,
        "entries": entries(line, |point| {
            let apdex = point.apdex.iter();
            let apdex = apdex.map(|(load, apdex)| json!({ "load": load, "score": apdex.score() }));
            json!({
                "load": point.load,
                "goodput": estimate_json(&point.value),
                "mean_ms": point.mean_ms,
                "apdex": apdex.collect::<Vec<Value>>(),
                "mark": mark(&point.mark),
            })
        }),
    })
}

fn task(line: &Line) -> Value {
    json!({
        "group": line.panel,
        "task": line.subject,
        "phase": line.phase,
        "is_whole": line.is_whole,
        "entries": entries(line, |point| {
            let work = point.work.iter();
            let work = work
                .map(|(phase, operations)| json!({ "phase": phase, "operations": operations }));
            json!({
                "seconds": estimate_json(&point.value),
                "work": work.collect::<Vec<Value>>(),
                "mark": mark(&point.mark),
            })
        }),
    })
}

fn entries(line: &Line, entry: impl Fn(&TrendPoint) -> Value) -> Vec<Option<Value>> {
    let points = line.points.iter();
    points.map(|point| point.as_ref().map(&entry)).collect()
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
