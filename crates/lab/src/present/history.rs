//! Published figures next to new ones, with what was wrong in them.

use vervet_report::forms::Table;

use super::charts::estimate_text;
use super::page::{Block, Section};
use super::tasks::new_task_figure;
use crate::record::{History, OldFigure};
use crate::statistics::{ALL_PHASES, Analysis, Curve, Figure, Panel};

/// The section of published figures; `None` if the lab file has none.
pub(super) fn history_section(history: &History, analysis: &Analysis) -> Section {
    let new = |old: &OldFigure| {
        new_task_figure(old, &analysis.groups).or_else(|| new_figure(old, analysis))
    };
    let rows: Vec<Row<'_>> = history.figures.iter().map(|old| (old, new(old))).collect();
    let (title, caution) = if has_new(&rows) {
        (
            "Published figures next to new ones",
            "Machine, kernel and versions differ: published and new figures are shown next to each other, not \
             compared.",
        )
    } else {
        (
            "Published figures",
            "Machine, kernel, versions and servers differ from those of this lab: the figures above are not compared with \
             these.",
        )
    };
    let mut section = Section::new(title);
    section.text(history.source.clone());
    section.text(caution);
    section.table(table(&rows));
    if !history.mistakes.is_empty() {
        section.text("Mistakes of the experiment:");
        section.blocks.push(Block::List(history.mistakes.clone()));
    }
    section
}

/// An old figure, the new one, and what that is of.
type Row<'a> = (&'a OldFigure, Option<(String, String)>);

/// Whether any published figure has a new one next to it.
fn has_new(rows: &[Row<'_>]) -> bool {
    rows.iter().any(|(_, new)| new.is_some())
}

/// A row for each old figure.
fn table(rows: &[Row<'_>]) -> Table {
    let has_new = has_new(rows);
    let new_columns: &[&str] = if has_new { &["#here", "at"] } else { &[] };
    let columns = [&["what", "figure", "#published"], new_columns, &["mistake"]].concat();
    let mut table = Table::new("", &columns);
    for (old, new) in rows {
        let label = label(old);
        let connections = old
            .connections
            .map_or(String::new(), |connections| format!(", {connections} connections"));
        let mut cells = vec![old.what.clone(), format!("{label}{connections}"), old.said.clone()];
        if has_new {
            let none = || ("–".to_owned(), String::new());
            let (here, at) = new.clone().unwrap_or_else(none);
            cells.extend([here, at]);
        }
        cells.push(old.wrong.clone());
        table.row(cells);
    }
    table
}

/// Which figure an old one is, in words.
fn label(old: &OldFigure) -> String {
    let of = old.phase.as_deref().unwrap_or(ALL_PHASES);
    match old.figure.as_str() {
        "seconds" => format!("time of {of}"),
        "operations_per_second" => format!("{of} per second"),
        other => Figure::named(other).map_or(other, |figure| figure.label()).to_owned(),
    }
}

/// The new figure and the load that it is of.
fn new_figure(old: &OldFigure, analysis: &Analysis) -> Option<(String, String)> {
    let figure = Figure::named(&old.figure)?;
    let subject = old.subject.as_deref()?;
    let mut panels = analysis.panels.iter().filter(|panel| belongs(old, panel));
    let curve = panels.find_map(|panel| panel.curve(subject))?;
    let point = match old.connections {
        Some(connections) => {
            curve.points.iter().find(|point| point.load.concurrency() == Some(connections))
        }
        None => peak(curve),
    }?;
    let estimate = point.estimate(figure)?;
    Some((estimate_text(figure, &estimate), point.load.to_string()))
}

fn belongs(old: &OldFigure, panel: &Panel) -> bool {
    old.workload.as_ref().is_none_or(|workload| *workload == panel.workload.name)
}

fn peak(curve: &Curve) -> Option<&crate::statistics::Point> {
    curve.points.get(curve.sweep.peak?)
}
