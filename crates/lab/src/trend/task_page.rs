//! The sections of tasks in the page of a trend: a chart of what stands for each task, and each phase as a number.

use vervet_report::chart::Unit as ChartUnit;

use super::charts::{chart, seen};
use super::mark::Mark;
use super::page::{by_record, distinct};
use super::series::Trend;
use super::tasks::TaskLine;
use super::text::{seconds_text, task_entry_text};
use crate::present::{Block, Chart, Picture, Section, Table};
use crate::statistics::ALL_PHASES;

/// The rule, for people.
pub(super) const TASK_RULE: &str = "Of a task, a record is a regression when the whole interval of a time lies more than 5 % above \
     the median of the up to five records before it that did as many operations; there must be two of them. Whether the \
     newest record is one is decided by all phases together.";

/// A section for each group.
pub(super) fn task_sections(trend: &Trend) -> Vec<Section> {
    let groups = distinct(trend.tasks.iter().map(|line| line.group.as_str()));
    let numbered = groups.into_iter().enumerate();
    numbered
        .map(|(number, group)| group_section(trend, group, number))
        .collect()
}

/// A row for each time that is a regression.
pub(super) fn task_regressions(trend: &Trend) -> Table {
    let mut table = Table::new(
        "",
        &[
            "record", "group", "task", "phase", "#time", "#before", "#change",
        ],
    );
    for line in &trend.tasks {
        for ((label, _), entry) in trend.labels.iter().zip(&line.entries) {
            let Some(entry) = entry else {
                continue;
            };
            if let Mark::Regression { before, change } = entry.mark {
                table.row([
                    label.clone(),
                    line.group.clone(),
                    line.task.clone(),
                    line.phase.clone(),
                    seconds_text(entry.seconds.median),
                    seconds_text(before),
                    format!("{:+.1} %", change * 100.0),
                ]);
            }
        }
    }
    table
}

fn group_section(trend: &Trend, group: &str, number: usize) -> Section {
    let lines: Vec<&TaskLine> = trend
        .tasks
        .iter()
        .filter(|line| line.group == group)
        .collect();
    let mut section = Section::new(group);
    let wholes = lines.iter().filter(|line| line.is_whole);
    for (place, phase) in distinct(wholes.map(|line| line.phase.as_str()))
        .into_iter()
        .enumerate()
    {
        let of: Vec<&TaskLine> = lines
            .iter()
            .copied()
            .filter(|line| line.is_whole && line.phase == phase)
            .collect();
        section.blocks.push(Block::Picture(Box::new(Picture {
            name: format!("task-{}-{}", number + 1, place + 1),
            chart: Chart::Lines(chart(
                &title(phase),
                ChartUnit::Time,
                trend.labels.len(),
                of.iter().map(|line| (line.task.clone(), values(line))),
            )),
            table: by_record(
                trend,
                &of,
                |line| &line.task,
                |line, number| task_entry_text(line.entries[number].as_ref()),
            ),
        })));
    }
    section.blocks.push(Block::Folded(phases(trend, &lines)));
    section
}

fn title(phase: &str) -> String {
    match phase {
        ALL_PHASES => "Time of all phases together".to_owned(),
        phase => format!("Time of {phase}"),
    }
}

/// What a chart shows of each record, in nanoseconds.
fn values(line: &TaskLine) -> Vec<super::charts::Seen> {
    let entries = line.entries.iter();
    entries
        .map(|entry| entry.as_ref().map(|entry| seen(&entry.seconds, 1e9)))
        .collect()
}

/// A row for each phase of each task, a column for each record.
fn phases(trend: &Trend, lines: &[&TaskLine]) -> Table {
    let mut table = Table::new("Each phase in each record", &["task", "phase"]);
    for number in 0..trend.labels.len() {
        table.numbers((number + 1).to_string());
    }
    for line in lines {
        let cells = line.entries.iter();
        let cells = cells.map(|entry| task_entry_text(entry.as_ref()));
        let head = [line.task.clone(), line.phase.clone()];
        table.row(head.into_iter().chain(cells));
    }
    table
}
