//! A comparison as lines for a terminal, with the base of each percentage written out.

use std::fmt::Write as _;

use vervet_report::escape::Printable;

use super::comparison::{Change, Comparison, Tell};
use super::tasks::PhaseChange;
use crate::statistics::{Ratio, Unit};

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
    for row in &comparison.rows {
        heading(&mut text, &mut panel, &row.panel);
        let _ = writeln!(text, "  {}, {}", Printable(&row.subject), row.load);
        for change in &row.changes {
            let _ = writeln!(text, "    {}", change_text(change));
        }
    }
    for row in &comparison.tasks {
        heading(&mut text, &mut panel, &row.group);
        let _ = writeln!(text, "  {}", Printable(&row.task));
        for change in &row.phases {
            let _ = writeln!(text, "    {}", phase_text(change));
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

/// A panel or a group, where it is another than the one before.
fn heading<'a>(text: &mut String, before: &mut &'a str, panel: &'a str) {
    if panel != *before {
        *before = panel;
        let _ = writeln!(text, "{}", Printable(panel));
    }
}

/// One figure: `good answers per second: 29,231/s against 17,222/s, +69.7 % of 17,222/s: better`.
pub(super) fn change_text(change: &Change) -> String {
    let unit = change.figure.unit();
    Line {
        label: change.figure.label(),
        base: unit.text(change.base),
        other: unit.text(change.other),
        ratio: change.ratio,
        tell: change.tell,
    }
    .text()
}

/// One phase: `put: 1.20 s against 1.00 s, +20.0 % of 1.00 s: worse`.
fn phase_text(change: &PhaseChange) -> String {
    let time = |seconds: f64| Unit::Milliseconds.text(seconds * 1e3);
    Line {
        label: &Printable(&change.phase).to_string(),
        base: time(change.base),
        other: time(change.other),
        ratio: change.ratio,
        tell: change.tell,
    }
    .text()
}

/// What is told of something in both.
struct Line<'a> {
    label: &'a str,
    base: String,
    other: String,
    ratio: Option<Ratio>,
    tell: Tell,
}

impl Line<'_> {
    fn text(&self) -> String {
        let Self {
            label, base, other, ..
        } = self;
        let Some(ratio) = self.ratio else {
            return format!("{label}: {other} against {base}: {}", word(self.tell));
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
        if self.tell == Tell::NoDifference {
            return format!("{label}: {other} against {base}: no significant difference{interval}");
        }
        let share = percent(ratio.ratio);
        format!(
            "{label}: {other} against {base}, {share} of {base}{interval}: {}",
            word(self.tell)
        )
    }
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
        Tell::NoDifference => "no significant difference",
        Tell::Unproven => "not proven: too few valid repeats",
    }
}
