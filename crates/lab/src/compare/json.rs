//! A comparison for programs.

use serde_json::{Value, json};

use super::comparison::{Change, Comparison, Row, Tell};
use super::tasks::{PhaseChange, TaskRow};
use crate::statistics::Ratio;

/// The version of this form. A field that is added does not raise it.
const VERSION: u32 = 1;

/// The comparison as JSON.
pub fn comparison_json(comparison: &Comparison) -> Value {
    let gone = comparison.gone.iter().map(|gone| {
        json!({
            "panel": gone.panel, "subject": gone.subject, "load": gone.load,
            "reason": gone.reason, "lost": gone.lost,
        })
    });
    json!({
        "version": VERSION,
        "tolerance": comparison.tolerance,
        "cautions": comparison.cautions,
        "rows": comparison.rows.iter().map(row).collect::<Vec<Value>>(),
        "tasks": comparison.tasks.iter().map(task).collect::<Vec<Value>>(),
        "gone": gone.collect::<Vec<Value>>(),
    })
}

fn row(row: &Row) -> Value {
    json!({
        "panel": row.panel,
        "subject": row.subject,
        "load": row.load.to_string(),
        "changes": row.changes.iter().map(change).collect::<Vec<Value>>(),
    })
}

fn task(row: &TaskRow) -> Value {
    json!({
        "group": row.group,
        "task": row.task,
        "phases": row.phases.iter().map(phase).collect::<Vec<Value>>(),
    })
}

fn phase(change: &PhaseChange) -> Value {
    json!({
        "phase": change.phase,
        "base_seconds": change.base,
        "other_seconds": change.other,
        "other_by_base": ratio(change.ratio),
        "tell": tell(change.tell),
    })
}

fn change(change: &Change) -> Value {
    json!({
        "figure": change.figure.name(),
        "base": change.base,
        "other": change.other,
        "other_by_base": ratio(change.ratio),
        "tell": tell(change.tell),
    })
}

fn ratio(ratio: Option<Ratio>) -> Option<Value> {
    ratio.map(|ratio| {
        let interval = ratio.has_interval.then_some([ratio.low, ratio.high]);
        json!({ "ratio": ratio.ratio, "interval": interval })
    })
}

fn tell(tell: Tell) -> &'static str {
    match tell {
        Tell::Better => "better",
        Tell::Worse => "worse",
        Tell::NoDifference => "no significant difference",
        Tell::Unproven => "unproven",
    }
}
