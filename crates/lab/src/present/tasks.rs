//! The report of a lab of tasks: for each group the time of each phase with its share of the whole,
//! then each phase with its interval, what failed, and what else the tasks reported.

use vervet_report::chart::{Axis, Bar, BarChart, Colour, Unit as ChartUnit};
use vervet_report::forms::Table;
use vervet_report::units;

use super::page::{Block, Chart, Picture, Section};
use super::report::file_name;
use crate::record::{LabRecord, OldFigure, Outcome};
use crate::statistics::{Estimate, PhaseFigures, SPREAD_MAX, TaskFigures, TaskGroup};

/// Definitions of the phases of stores.
const PHASES: [(&str, &str); 5] = [
    ("Create", "An empty store is created: a file with its table, or an empty server."),
    ("Connect", "The store is opened again."),
    (
        "Put",
        "Values are put one after the other, each in its own transaction, over one connection that waits for each response.",
    ),
    (
        "Get",
        "Each value is read once, in a different order, and compared with the one that was put.",
    ),
    ("Close", "The connection is closed; a store within the client flushes and closes its file."),
];
/// Placeholder for a missing value.
const NONE: &str = "–";

/// The section of a group.
pub(super) fn group_section(group: &TaskGroup, number: usize) -> Section {
    let title = match group.name.as_str() {
        "" => "Time by phase".to_owned(),
        name => format!("Time by phase: {name}"),
    };
    let mut section = Section::new(title);
    if group.tasks.iter().any(|task| task.total.is_some()) {
        section.text(
            "The median time of each phase, and its share of the total of the same repeat. Ranks are by the total; tasks \
             without a significant difference share a rank.",
        );
        section.table(matrix(group));
        section.blocks.push(Block::Picture(Box::new(whole(group, number))));
        section.blocks.push(Block::Folded(phases(group)));
    } else {
        section.text("The median of each, with its interval. There is no total.");
        section.table(phases(group));
    }
    section
}

/// A row for each task, a column for each phase.
fn matrix(group: &TaskGroup) -> Table {
    let mut names: Vec<&str> = Vec::new();
    for phase in group.tasks.iter().flat_map(|task| &task.phases) {
        if phase.share.is_some() && !names.contains(&phase.name.as_str()) {
            names.push(&phase.name);
        }
    }
    let mut table = Table::new("", &["rank", "task"]);
    for name in &names {
        table.numbers(*name);
    }
    table.numbers("total");
    for task in &group.tasks {
        let mut cells = vec![place(group, task), task.name.clone()];
        cells.extend(names.iter().map(|name| cell(task.phase(name))));
        cells.push(task.total.map_or(NONE.to_owned(), |total| time(total.median)));
        table.row(cells);
    }
    table
}

fn place(group: &TaskGroup, task: &TaskFigures) -> String {
    let Some(place) = task.place else {
        return NONE.to_owned();
    };
    let same = group.tasks.iter().filter(|other| other.place == task.place);
    if same.count() > 1 { format!("{place}, tied") } else { place.to_string() }
}

fn cell(phase: Option<&PhaseFigures>) -> String {
    let Some(phase) = phase else {
        return NONE.to_owned();
    };
    let share =
        phase.share.map_or(String::new(), |share| format!(" ({})", units::percent(share.median)));
    format!("{}{share}", time(phase.seconds.median))
}

/// The whole of each task as a bar, with the same as numbers.
fn whole(group: &TaskGroup, number: usize) -> Picture {
    let mut table = Table::new("Values", &["task", "#total", "#95 % interval", "#repeats"]);
    let mut bars = Vec::new();
    for (index, task) in group.tasks.iter().enumerate() {
        let total = task.total.filter(Estimate::has_interval);
        bars.push(Bar {
            label: task.name.clone(),
            value: task.total.map(|total| total.median * 1e9),
            interval: total.map(|total| (total.low * 1e9, total.high * 1e9)),
            colour: Colour::nth(index),
        });
        table.row([
            task.name.clone(),
            task.total.map_or(NONE.to_owned(), |total| time(total.median)),
            task.total.map_or(NONE.to_owned(), |total| interval(&total)),
            task.measured.to_string(),
        ]);
    }
    Picture {
        name: format!("{}-whole", file_name(&format!("{number}-{}", group.name))),
        chart: Chart::Bars(BarChart {
            title: "All phases together".to_owned(),
            description: "The total time of all phases of each task.".to_owned(),
            axis: Axis::new("time", ChartUnit::Time),
            bars,
        }),
        table,
    }
}

/// A row for each phase of each task.
fn phases(group: &TaskGroup) -> Table {
    let mut table = Table::new(
        "Each phase with its interval",
        &[
            "task",
            "phase",
            "#operations",
            "#time",
            "#95 % interval",
            "#share of the total",
            "#per operation",
            "#per second",
            "remark",
        ],
    );
    for task in &group.tasks {
        for phase in &task.phases {
            let share = phase.share.map(|share| units::percent(share.median));
            table.row([
                task.name.clone(),
                phase.name.clone(),
                units::count(phase.operations),
                time(phase.seconds.median),
                interval(&phase.seconds),
                share.unwrap_or_else(|| NONE.to_owned()),
                time(phase.seconds_each()),
                units::rate(phase.per_second().median),
                remark(&phase.seconds),
            ]);
        }
    }
    table
}

fn remark(seconds: &Estimate) -> String {
    if seconds.has_interval() && seconds.spread() > SPREAD_MAX {
        format!("repeats differ by {}", units::percent(seconds.spread()))
    } else {
        String::new()
    }
}

fn interval(seconds: &Estimate) -> String {
    if seconds.has_interval() {
        format!("{} to {}", time(seconds.low), time(seconds.high))
    } else {
        "one repeat".to_owned()
    }
}

fn time(seconds: f64) -> String {
    units::time(seconds * 1e9)
}

/// The section of failed runs; `None` if there are none.
pub(super) fn task_failures_section(groups: &[TaskGroup]) -> Option<Section> {
    let mut table = Table::new("", &["task", "outcome"]);
    for task in groups.iter().flat_map(|group| &group.tasks) {
        for text in task.failures.iter().filter_map(Outcome::failure) {
            table.row([task.name.clone(), text]);
        }
    }
    let mut section = Section::new("Failures");
    section.text("These runs were not completed. Their times are not counted.");
    (!table.is_empty()).then(|| {
        section.table(table);
        section
    })
}

/// The section of the facts that the tasks reported; none if there are no facts.
pub(super) fn facts_section(record: &LabRecord) -> Option<Section> {
    let mut table = Table::new("", &["task", "fact", "value"]);
    for step in &record.tasks {
        for (name, value) in &step.facts {
            let row = [step.task.clone(), name.clone(), value.clone()];
            // A fact that all repeats report is listed once.
            if !table.rows.iter().any(|known| *known == row) {
                table.row(row);
            }
        }
    }
    let mut section = Section::new("Facts that the tasks reported");
    (!table.is_empty()).then(|| {
        section.table(table);
        section
    })
}

/// The section of definitions, with those phases that occur.
pub(super) fn task_definitions_section(groups: &[TaskGroup]) -> Section {
    let mut words = vec![
        ("Phase", "A part of a task, timed by the task itself with a monotonic clock."),
        (
            "Share",
            "The time of a phase divided by the total of the same repeat; the median over repeats. Medians need not add up to 100 %.",
        ),
        (
            "Interval",
            "The 95 % confidence interval of the median, by bootstrap. Tasks whose intervals overlap are tied.",
        ),
    ];
    let occurs = |(word, _): &&(&str, &str)| {
        let mut tasks = groups.iter().flat_map(|group| &group.tasks);
        tasks.any(|task| task.phase(&word.to_lowercase()).is_some())
    };
    words.extend(PHASES.iter().filter(occurs));
    let mut section = Section::new("Definitions");
    let words = words.into_iter().map(|(word, meaning)| (word.to_owned(), meaning.to_owned()));
    section.blocks.push(Block::Definitions(words.collect()));
    section
}

/// The new figure for an old one of a task, and what it is of.
pub(super) fn new_task_figure(old: &OldFigure, groups: &[TaskGroup]) -> Option<(String, String)> {
    let name = old.subject.as_deref()?;
    let mut tasks = groups.iter().flat_map(|group| &group.tasks);
    let task = tasks.find(|task| task.name == name)?;
    let phase = old.phase.as_deref();
    let text = match (old.figure.as_str(), phase) {
        ("seconds", None) => time(task.total?.median),
        ("seconds", Some(phase)) => time(task.phase(phase)?.seconds.median),
        ("operations_per_second", Some(phase)) => {
            units::rate(task.phase(phase)?.per_second().median)
        }
        _ => return None,
    };
    Some((text, name.to_owned()))
}
