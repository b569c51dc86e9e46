//! A comparison as lines for a terminal, with the base of each percentage written out.

use std::fmt::Write as _;

use vervet_report::escape::Printable;

use super::comparison::{Change, Comparison, Tell};

/// The comparison as text.
pub fn comparison_text(comparison: &Comparison) -> String {
    let mut text = String::new();
    for caution in &comparison.cautions {
        let _ = writeln!(text, "caution: {}", Printable(caution));
    }
    if !comparison.cautions.is_empty() {
        text.push('\n');
    }
    if comparison.rows.is_empty() {
        text.push_str("nothing to compare: no subject has figures under the same load in both\n");
    }
    let mut panel = "";
    for row in &comparison.rows {
        if row.panel != panel {
            panel = &row.panel;
            let _ = writeln!(text, "{}", Printable(panel));
        }
        let _ = writeln!(text, "  {}, {}", Printable(&row.subject), row.load);
        for change in &row.changes {
            let _ = writeln!(text, "    {}", change_text(change));
        }
    }
    for gone in &comparison.gone {
        let side = if gone.lost {
            "lost"
        } else {
            "in one of them only"
        };
        let _ = writeln!(
            text,
            "{side}: {}, {}, {}: {}",
            Printable(&gone.panel),
            Printable(&gone.subject),
            gone.load,
            Printable(&gone.reason)
        );
    }
    text
}

/// One figure: `good answers per second: 29,231/s against 17,222/s, +69.7 % of 17,222/s: better`.
pub(super) fn change_text(change: &Change) -> String {
    let unit = change.figure.unit();
    let (base, other) = (unit.text(change.base), unit.text(change.other));
    let label = change.figure.label();
    let Some(ratio) = change.ratio else {
        return format!("{label}: {other} against {base}: {}", word(change.tell));
    };
    let percent = |ratio: f64| signed_percent(ratio - 1.0);
    let interval = if ratio.has_interval {
        format!(
            " (interval {} to {})",
            percent(ratio.low),
            percent(ratio.high)
        )
    } else {
        String::new()
    };
    if change.tell == Tell::NoDifference {
        return format!("{label}: {other} against {base}: no difference{interval}");
    }
    let share = percent(ratio.ratio);
    format!(
        "{label}: {other} against {base}, {share} of {base}{interval}: {}",
        word(change.tell)
    )
}

/// A share with its sign, in percent with one decimal: `+69.7 %`.
pub(super) fn signed_percent(share: f64) -> String {
    let percent = share * 100.0;
    // No sign before nothing.
    if percent.abs() < 0.05 {
        return "0.0 %".to_owned();
    }
    format!("{percent:+.1} %")
}

fn word(tell: Tell) -> &'static str {
    match tell {
        Tell::Better => "better",
        Tell::Worse => "worse",
        Tell::NoDifference => "no difference",
        Tell::Unproven => "not proven: too few valid repeats",
    }
}
