//! Inserts the tables of a lab into a Markdown page, between markers.

use std::collections::HashSet;

use vervet_report::forms::Table;
use vervet_report::units;

use super::markdown::sections_markdown;
use super::page::Section;
use super::setup::environment_section;
use super::setup::rules_section;
use super::tasks::{facts_section, group_section};
use crate::record::{LabRecord, Role};
use crate::statistics::{Analysis, Curve, Figure, Panel, Point};

/// The markers around all tables.
const TABLES: [&str; 2] = ["<!-- bench:begin -->", "<!-- bench:end -->"];
/// The markers around a single table of all workloads.
const SUMMARY: [&str; 2] = ["<!-- lab table: begin -->", "<!-- lab table: end -->"];

/// The page with the tables of a lab between its markers; `None` without markers.
pub fn inserted(page: &str, record: &LabRecord, analysis: &Analysis) -> Option<String> {
    let tables = || sections_markdown(&tables(record, analysis), "###");
    let summary = || sections_markdown(&[summary(analysis)], "###");
    let with_tables = between(page, TABLES, tables);
    let page_now = with_tables.as_deref().unwrap_or(page);
    between(page_now, SUMMARY, summary).or(with_tables)
}

fn between(page: &str, [begin, end]: [&str; 2], text: impl Fn() -> String) -> Option<String> {
    let from = page.find(begin)? + begin.len();
    let to = from + page[from..].find(end)?;
    Some(format!("{}\n{}{}", &page[..from], text(), &page[to..]))
}

fn tables(record: &LabRecord, analysis: &Analysis) -> Vec<Section> {
    let mut sections: Vec<Section> = rules_section(record, analysis).into_iter().collect();
    for (number, group) in analysis.groups.iter().enumerate() {
        sections.push(group_section(group, number + 1));
    }
    sections.extend(facts_section(record));
    for panel in &analysis.panels {
        let mut section =
            Section::new(format!("{}: {}", panel.workload.name, panel.workload.description));
        section.table(panel_table(panel));
        sections.push(section);
    }
    sections.push(environment_section(record));
    sections
}

/// Every subject under the greatest load of a panel.
fn panel_table(panel: &Panel) -> Table {
    let columns = [
        "subject",
        "#requests per CPU-second",
        "#of the ceiling",
        "#requests/s",
        "#p50",
        "#p99",
        "#memory idle, peak",
        "remarks",
    ];
    let mut table = Table::new("", &columns);
    let ceiling = panel.ceiling().and_then(|curve| curve.points.last());
    let limit = ceiling.and_then(|point| point.median(Figure::RequestsPerCpuSecond));
    for curve in &panel.curves {
        let Some(point) = curve.points.last() else {
            continue;
        };
        let rate = point.estimate(Figure::RequestsPerCpuSecond);
        let share = rate.zip(limit).map(|(rate, limit)| rate.median / limit);
        table.row([
            curve.subject.clone(),
            rate.map_or("–".to_owned(), |rate| {
                format!("{:.0} ({:.0} to {:.0})", rate.median, rate.least, rate.greatest)
            }),
            share.map_or("–".to_owned(), |share| format!("{share:.2}")),
            point.text(Figure::Goodput),
            point.text(Figure::ResponseP50),
            point.text(Figure::ResponseP99),
            format!("{}, {}", point.text(Figure::MemoryIdle), point.text(Figure::MemoryPeak)),
            remarks(point),
        ]);
    }
    table
}

fn remarks(point: &Point) -> String {
    point.standing().reason().unwrap_or_default()
}

/// Requests per CPU-second of the subjects that take part in at least half of the workloads, and of
/// the ceiling, under the workloads in which two of them compete; of a workload under several
/// congestion controls, the first.
fn summary(analysis: &Analysis) -> Section {
    let mut names: Vec<(&str, Role)> = Vec::new();
    for curve in analysis.panels.iter().flat_map(|panel| &panel.curves) {
        let of_subject = |panel: &&Panel| panel.curve(&curve.subject).is_some();
        let workloads = analysis.panels.iter().filter(of_subject).count();
        let is_new = !names.iter().any(|(name, _)| *name == curve.subject);
        if is_new && 2 * workloads >= analysis.panels.len() {
            names.push((&curve.subject, curve.role));
        }
    }
    names.sort_by_key(|(_, role)| *role == Role::Ceiling);
    let mut table = Table::new("", &["workload"]);
    for (name, _) in &names {
        table.numbers(*name);
    }
    let mut shown = HashSet::new();
    for panel in &analysis.panels {
        let competes =
            |(name, role): &&(&str, Role)| *role != Role::Ceiling && panel.curve(name).is_some();
        if names.iter().filter(competes).count() < 2 {
            continue;
        }
        let rate = |(name, _): &(&str, Role)| {
            let point = panel.curve(name).and_then(|curve: &Curve| curve.points.last());
            let rate = point.and_then(|point| point.median(Figure::RequestsPerCpuSecond));
            rate.map_or(String::new(), units::rate)
        };
        let name = match panel.workload.description.as_str() {
            "" => &panel.workload.name,
            description => description,
        };
        // The same workload under a further congestion control.
        if !shown.insert(name) {
            continue;
        }
        let cells = names.iter().map(rate);
        table.row(std::iter::once(name.to_owned()).chain(cells));
    }
    let mut section = Section::new("");
    section.table(table);
    section
}
