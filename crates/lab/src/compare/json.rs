//! A comparison for programs.

use serde_json::{Value, json};

use super::comparison::{Change, ChangeVerdict, Comparison, Measure, Row};
use crate::statistics::Ratio;

/// The version of this form. A field that is added does not raise it.
const VERSION: u32 = 1;

/// The comparison as JSON.
pub fn comparison_json(comparison: &Comparison) -> Value {
    let unmatched = comparison.unmatched.iter().map(|one| {
        json!({
            "panel": one.panel, "subject": one.subject, "load": one.load,
            "reason": one.reason, "lost": one.lost,
        })
    });
    json!({
        "version": VERSION,
        "tolerance": comparison.tolerance,
        "cautions": comparison.cautions,
        "rows": comparison.rows.iter().map(row).collect::<Vec<Value>>(),
        "tasks": comparison.tasks.iter().map(row).collect::<Vec<Value>>(),
        "gone": unmatched.collect::<Vec<Value>>(),
    })
}

fn row(row: &Row) -> Value {
    let changes: Vec<Value> = row.changes.iter().map(change).collect();
    match row.load {
        Some(load) => json!({
            "panel": row.panel, "subject": row.subject, "load": load.to_string(), "changes": changes,
        }),
        None => json!({ "group": row.panel, "task": row.subject, "phases": changes }),
    }
}

fn change(change: &Change) -> Value {
    let (ratio, verdict) = (ratio(change.ratio), verdict(change.verdict));
    match &change.measure {
        Measure::Figure(figure) => json!({
            "figure": figure.name(), "base": change.base, "other": change.other,
            "other_by_base": ratio, "repeats": change.repeats, "tell": verdict,
        }),
        Measure::Phase { name, .. } => json!({
            "phase": name, "base_seconds": change.base, "other_seconds": change.other,
            "other_by_base": ratio, "repeats": change.repeats, "tell": verdict,
        }),
    }
}

fn ratio(ratio: Option<Ratio>) -> Option<Value> {
    ratio.map(|ratio| {
        let interval = ratio.has_interval.then_some([ratio.low, ratio.high]);
        json!({ "ratio": ratio.ratio, "interval": interval })
    })
}

fn verdict(verdict: ChangeVerdict) -> &'static str {
    match verdict {
        ChangeVerdict::Better => "better",
        ChangeVerdict::Worse => "worse",
        ChangeVerdict::NoDifference => "no significant difference",
        ChangeVerdict::Unproven => "unproven",
    }
}
