//! A trend as lines for a terminal.

use std::fmt::Write as _;

use vervet_report::escape::Printable;
use vervet_report::units;

use super::page::distinct;
use super::series::{Line, Mark, Trend, TrendPoint};
use crate::statistics::Unit;

/// Written if a record does not have a figure.
pub(super) const NONE: &str = "–";

/// The trend as text: a line for each record of each subject, and of each phase of a task.
pub fn trend_text(trend: &Trend) -> String {
    let mut text = String::new();
    for lines in [&trend.lines, &trend.tasks] {
        for panel in distinct(lines.iter().map(|line| line.panel.as_str())) {
            let _ = writeln!(text, "{}", Printable(panel));
            let mut subject = None;
            for line in lines.iter().filter(|line| line.panel == panel) {
                if subject != Some(&line.subject) {
                    let _ = writeln!(text, "  {}", Printable(&line.subject));
                }
                subject = Some(&line.subject);
                write_line(&mut text, trend, line);
            }
        }
    }
    text
}

fn write_line(text: &mut String, trend: &Trend, line: &Line) {
    let mut indent = "    ";
    if !line.phase.is_empty() {
        let _ = writeln!(text, "{indent}{}", Printable(&line.phase));
        indent = "      ";
    }
    for ((label, _), point) in trend.labels.iter().zip(&line.points) {
        let point = point_text(line, point.as_ref());
        let _ = writeln!(text, "{indent}{}: {point}", Printable(label));
    }
}

/// Formats the point of one record.
pub(super) fn point_text(line: &Line, point: Option<&TrendPoint>) -> String {
    let Some(point) = point else {
        return NONE.to_owned();
    };
    let mut text = value_text(line, point.value.median);
    if let Some(mean_ms) = point.mean_ms {
        let _ = write!(text, ", mean {}", Unit::Milliseconds.text(mean_ms));
    }
    if !point.load.is_empty() {
        let _ = write!(text, ", {}", point.load);
    }
    if let [(_, operations @ 2..)] = point.work.as_slice() {
        let _ = write!(text, ", {} operations", units::count(*operations));
    }
    if !point.has_enough_repeats {
        text.push_str(", too few repeats");
    }
    if let Mark::Regression { before, change } = point.mark {
        let (change, before) = (change * 100.0, value_text(line, before));
        let _ = write!(text, ": regression, {change:+.1} % of {before}");
    }
    text
}

/// A figure of a line with its unit.
pub(super) fn value_text(line: &Line, value: f64) -> String {
    if line.phase.is_empty() { Unit::PerSecond.text(value) } else { units::time(value * 1e9) }
}
