//! A comparison as lines for a terminal, with the base of each percentage written out.

use std::fmt::Write as _;

use vervet_report::escape::Printable;

use super::comparison::{Change, ChangeVerdict, Comparison, REPEATS_MIN};

/// The comparison as text.
pub fn comparison_text(comparison: &Comparison) -> String {
    let mut text = String::new();
    for caution in &comparison.cautions {
        let _ = writeln!(text, "caution: {}", Printable(caution));
    }
    if !comparison.cautions.is_empty() {
        text.push('\n');
    }
    if comparison.is_empty() {
        text.push_str("nothing to compare: no subject has figures under the same load in both, and no task is in both\n");
    }
    let mut panel = "";
    for row in comparison.rows.iter().chain(&comparison.tasks) {
        if row.panel != panel {
            panel = &row.panel;
            let _ = writeln!(text, "{}", Printable(panel));
        }
        let load = row.load.map_or(String::new(), |load| format!(", {load}"));
        let _ = writeln!(text, "  {}{load}", Printable(&row.subject));
        for change in &row.changes {
            let _ = writeln!(text, "    {}", change_text(change));
        }
    }
    for one in &comparison.unmatched {
        let side = if one.lost { "lost" } else { "in one of them only" };
        let _ = writeln!(
            text,
            "{side}: {}, {}, {}: {}",
            Printable(&one.panel),
            Printable(&one.subject),
            one.load,
            Printable(&one.reason)
        );
    }
    text
}

/// One figure: `successful responses per second: 29,231/s against 17,222/s, +69.7 % of 17,222/s:
/// better`.
fn change_text(change: &Change) -> String {
    let measure = &change.measure;
    let label = Printable(measure.label());
    let (base, other) = (measure.text(change.base), measure.text(change.other));
    let word = word(change);
    let Some(ratio) = change.ratio else {
        return format!("{label}: {other} against {base}: {word}");
    };
    let percent = |ratio: f64| signed_percent(ratio - 1.0);
    let interval = if ratio.has_interval {
        let (low, high) = (percent(ratio.low), percent(ratio.high));
        format!(" (interval {low} to {high}, {})", repeats_text(change.repeats))
    } else {
        String::new()
    };
    if change.verdict == ChangeVerdict::NoDifference {
        return format!("{label}: {other} against {base}: {word}{interval}");
    }
    let share = percent(ratio.ratio);
    format!("{label}: {other} against {base}, {share} of {base}{interval}: {word}")
}

/// A share with its sign, in percent with one decimal: `+69.7 %`.
fn signed_percent(share: f64) -> String {
    let percent = share * 100.0;
    // No sign before nothing.
    if percent.abs() < 0.05 {
        return "0.0 %".to_owned();
    }
    format!("{percent:+.1} %")
}

fn repeats_text([base, other]: [usize; 2]) -> String {
    if base == other { format!("{base} repeats") } else { format!("{other} and {base} repeats") }
}

fn word(change: &Change) -> String {
    match change.verdict {
        ChangeVerdict::Better => "better".to_owned(),
        ChangeVerdict::Worse => "worse".to_owned(),
        ChangeVerdict::NoDifference => "no significant difference".to_owned(),
        ChangeVerdict::Unproven => {
            format!("too few valid repeats to compare, a difference needs {REPEATS_MIN} of each")
        }
    }
}
