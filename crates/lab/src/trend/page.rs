//! A trend as a page.

use vervet_report::chart::Unit as ChartUnit;
use vervet_report::units;

use super::charts::{Seen, chart, seen};
use super::mark::{Mark, TREND_TOLERANCE};
use super::series::{Entry, Line, Trend};
use super::task_page::{TASK_RULE, task_regressions, task_sections};
use super::text::{NONE, entry_text};
use crate::present::{Block, Chart, Page, Picture, Section, Table, page_html};
use crate::statistics::Unit;

/// The rule, for people.
const RULE: &str = "A record is a regression when the whole interval of its goodput lies more than 5 % below the median of \
                    the up to five records before it; there must be two of them. Figures are those of the load with the \
                    greatest goodput.";

/// The trend as one file of HTML.
pub fn trend_html(trend: &Trend) -> String {
    page_html(&trend_page(trend))
}

/// The trend as a page.
pub fn trend_page(trend: &Trend) -> Page {
    let mut sections = vec![regressions(trend)];
    for (number, panel) in panels(trend).iter().enumerate() {
        sections.push(panel_section(trend, panel, number));
    }
    sections.extend(task_sections(trend));
    sections.push(records(trend));
    Page {
        title: "Trend of a lab".to_owned(),
        subtitle: format!("{} records", trend.labels.len()),
        sections,
    }
}

/// The headings of what is compared with each other.
pub(super) fn panels(trend: &Trend) -> Vec<&str> {
    distinct(trend.lines.iter().map(|line| line.panel.as_str()))
}

fn regressions(trend: &Trend) -> Section {
    let mut section = Section::new("Regressions");
    if !trend.lines.is_empty() {
        section.text(RULE);
    }
    if !trend.tasks.is_empty() {
        section.text(TASK_RULE);
    }
    let mut table = Table::new(
        "",
        &[
            "record", "panel", "subject", "#goodput", "#before", "#change",
        ],
    );
    for line in &trend.lines {
        for ((label, _), entry) in trend.labels.iter().zip(&line.entries) {
            if let Some(Entry {
                goodput,
                mark: Mark::Regression { before, change },
                ..
            }) = entry
            {
                table.row([
                    label.clone(),
                    line.panel.clone(),
                    line.subject.clone(),
                    Unit::PerSecond.text(goodput.median),
                    Unit::PerSecond.text(*before),
                    format!("{:+.1} %", change * 100.0),
                ]);
            }
        }
    }
    let tasks = task_regressions(trend);
    if table.is_empty() && tasks.is_empty() {
        section.text("No record is one.");
    }
    section.table(table);
    section.table(tasks);
    section
}

/// A chart's name, title and unit, and what it shows of an entry.
type Shown<'a> = (&'a str, &'a str, ChartUnit, &'a dyn Fn(&Entry) -> Seen);

fn panel_section(trend: &Trend, panel: &str, number: usize) -> Section {
    let lines: Vec<&Line> = trend
        .lines
        .iter()
        .filter(|line| line.panel == panel)
        .collect();
    let mut section = Section::new(panel);
    let rate = |entry: &Entry| Some(seen(&entry.goodput, 1.0));
    let mean = |entry: &Entry| {
        entry
            .mean_ms
            .map(|mean| (mean * 1e6, mean * 1e6, mean * 1e6))
    };
    let charts: [Shown<'_>; 2] = [
        (
            "rate",
            "Good answers per second, at the greatest goodput",
            ChartUnit::PerSecond,
            &rate,
        ),
        (
            "mean",
            "Mean response time, at the greatest goodput",
            ChartUnit::Time,
            &mean,
        ),
    ];
    for (name, title, unit, value) in charts {
        let series = lines.iter().map(|line| {
            let entries = line.entries.iter();
            let values = entries.map(|entry| entry.as_ref().and_then(value));
            (line.subject.clone(), values.collect())
        });
        section.blocks.push(Block::Picture(Box::new(Picture {
            name: format!("{}-{name}", number + 1),
            chart: Chart::Lines(chart(title, unit, trend.labels.len(), series)),
            table: by_record(
                trend,
                &lines,
                |line| &line.subject,
                |line, number| entry_text(line.entries[number].as_ref()),
            ),
        })));
    }
    section.table(heat_map(trend, &lines));
    section
}

/// A row for each record, a column for each line of a chart.
pub(super) fn by_record<L>(
    trend: &Trend,
    lines: &[&L],
    name: impl Fn(&L) -> &str,
    cell: impl Fn(&L, usize) -> String,
) -> Table {
    let mut table = Table::new("The same as numbers", &["#record", "name"]);
    for line in lines {
        table.numbers(name(line).to_owned());
    }
    for (number, (label, _)) in trend.labels.iter().enumerate() {
        let cells = lines.iter().map(|line| cell(line, number));
        let head = [(number + 1).to_string(), label.clone()];
        table.row(head.into_iter().chain(cells));
    }
    table
}

/// Each once, in the order in which they come.
pub(super) fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for one in all {
        if !distinct.contains(&one) {
            distinct.push(one);
        }
    }
    distinct
}

/// Apdex by record and load: the rating as a word beside the number, so that it needs no colour.
fn heat_map(trend: &Trend, lines: &[&Line]) -> Table {
    let scores = lines
        .iter()
        .flat_map(|line| line.entries.iter().flatten())
        .flat_map(|entry| &entry.apdex);
    let loads = distinct(scores.map(|(load, _)| load));
    let mut table = Table::new("Apdex of each record under each load", &["subject", "load"]);
    for number in 0..trend.labels.len() {
        table.numbers((number + 1).to_string());
    }
    table.heat = true;
    for line in lines {
        for &load in &loads {
            let score = |entry: &Option<Entry>| {
                let found = entry
                    .as_ref()?
                    .apdex
                    .iter()
                    .find(|(other, _)| other == load)?;
                Some(format!("{:.2} {}", found.1.score(), found.1.rating()))
            };
            let cells = line
                .entries
                .iter()
                .map(|entry| score(entry).unwrap_or_else(|| NONE.to_owned()));
            let head = [line.subject.clone(), load.clone()];
            table.row(head.into_iter().chain(cells));
        }
    }
    table
}

fn records(trend: &Trend) -> Section {
    let mut section = Section::new("Records");
    let mut table = Table::new("", &["#record", "name", "began"]);
    for (number, (label, began)) in trend.labels.iter().enumerate() {
        table.row([
            (number + 1).to_string(),
            label.clone(),
            units::moment(*began),
        ]);
    }
    section.table(table);
    let percent = TREND_TOLERANCE * 100.0;
    section.text(format!("The tolerance of the rule is {percent:.0} %."));
    section
}
