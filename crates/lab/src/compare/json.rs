//! A comparison for programs.

use serde_json::{Value, json};

use super::comparison::{Change, Comparison, Row, Tell};

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

fn change(change: &Change) -> Value {
    let ratio = change.ratio.map(|ratio| {
        let interval = ratio.has_interval.then_some([ratio.low, ratio.high]);
        json!({ "ratio": ratio.ratio, "interval": interval })
    });
    let tell = match change.tell {
        Tell::Better => "better",
        Tell::Worse => "worse",
        Tell::NoDifference => "no difference",
        Tell::Unproven => "unproven",
    };
    json!({
        "figure": change.figure.name(),
        "base": change.base,
        "other": change.other,
        "other_by_base": ratio,
        "tell": tell,
    })
}
