//! A trend as a page: regressions, charts over the records, and a heat map of Apdex.

use vervet_report::chart::{Axis, Band, Colour, LineChart, Range, Series, Unit as ChartUnit};
use vervet_report::forms::Table;
use vervet_report::units;

use super::series::{Line, Mark, TREND_TOLERANCE, Trend, TrendPoint};
use super::text::{NONE, point_text, value_text};
use crate::present::{Block, Chart, Page, Picture, Section, page_html};
use crate::statistics::{ALL_PHASES, Estimate};

/// The rule for subjects.
const RULE: &str = "A record is a regression if the whole interval of its goodput lies more than 5 % below the \
     median of the up to five records before it, of which there must be two. Figures are those of \
     the load with the highest goodput.";
/// The rule for tasks.
const TASK_RULE: &str = "For tasks, a record is a regression if the whole interval of a time lies more than 5 % above \
     the median of the up to five records before it that did as many operations, of which there \
     must be two. The total of all phases decides whether the newest record is a regression.";

/// The trend as one file of HTML.
pub fn trend_html(trend: &Trend) -> String {
    page_html(&trend_page(trend))
}

/// The trend as a page.
pub fn trend_page(trend: &Trend) -> Page {
    let mut sections = vec![regressions(trend)];
    for (number, (title, lines)) in panels(&trend.lines).into_iter().enumerate() {
        sections.push(panel_section(trend, title, &lines, number + 1));
    }
    for (number, (title, lines)) in panels(&trend.tasks).into_iter().enumerate() {
        sections.push(group_section(trend, title, &lines, number + 1));
    }
    sections.push(records(trend));
    Page {
        title: "Trend of a lab".to_owned(),
        subtitle: format!("{} records", trend.labels.len()),
        sections,
    }
}

/// The headings of lines, each with its lines.
fn panels(lines: &[Line]) -> Vec<(&str, Vec<&Line>)> {
    let titles = distinct(lines.iter().map(|line| line.panel.as_str()));
    let of = |title| lines.iter().filter(move |line| line.panel == title);
    let panels = titles.into_iter();
    panels.map(|title| (title, of(title).collect())).collect()
}

/// Each value once, in the order of first appearance.
pub(super) fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for one in all {
        if !distinct.contains(&one) {
            distinct.push(one);
        }
    }
    distinct
}

fn regressions(trend: &Trend) -> Section {
    let mut section = Section::new("Regressions");
    let of_subjects = ["record", "panel", "subject", "#goodput", "#before", "#change"];
    let of_tasks = ["record", "group", "task", "phase", "#time", "#before", "#change"];
    let subjects = regression_table(trend, &trend.lines, &of_subjects);
    let tasks = regression_table(trend, &trend.tasks, &of_tasks);
    for (lines, rule) in [(&trend.lines, RULE), (&trend.tasks, TASK_RULE)] {
        if !lines.is_empty() {
            section.text(rule);
        }
    }
    if subjects.is_empty() && tasks.is_empty() {
        section.text("There are no regressions.");
    }
    section.table(subjects);
    section.table(tasks);
    section
}

/// A row for each point that is a regression.
fn regression_table(trend: &Trend, lines: &[Line], columns: &[&str]) -> Table {
    let mut table = Table::new("", columns);
    for line in lines {
        for ((label, _), point) in trend.labels.iter().zip(&line.points) {
            let Some(TrendPoint { value, mark: Mark::Regression { before, change }, .. }) = point
            else {
                continue;
            };
            let mut cells = vec![label.clone(), line.panel.clone(), line.subject.clone()];
            cells.extend((!line.phase.is_empty()).then(|| line.phase.clone()));
            cells.extend([value.median, *before].map(|value| value_text(line, value)));
            cells.push(format!("{:+.1} %", change * 100.0));
            table.row(cells);
        }
    }
    table
}

/// The charts and the heat map of a panel.
fn panel_section(trend: &Trend, title: &str, lines: &[&Line], number: usize) -> Section {
    let mut section = Section::new(title);
    section.blocks.push(picture(
        trend,
        lines,
        &Shown {
            name: format!("{number}-rate"),
            title: "Successful responses per second, at the highest goodput",
            unit: ChartUnit::PerSecond,
            value: |point| Some(interval(&point.value, 1.0)),
        },
    ));
    section.blocks.push(picture(
        trend,
        lines,
        &Shown {
            name: format!("{number}-mean"),
            title: "Mean response time, at the highest goodput",
            unit: ChartUnit::Time,
            value: |point| point.mean_ms.map(|mean_ms| [mean_ms * 1e6; 3]),
        },
    ));
    section.table(heat_map(trend, lines));
    section
}

/// The charts of a group of tasks, and each phase as a number.
fn group_section(trend: &Trend, title: &str, lines: &[&Line], number: usize) -> Section {
    let mut section = Section::new(title);
    let wholes = lines.iter().filter(|line| line.is_whole);
    let phases = distinct(wholes.map(|line| line.phase.as_str()));
    for (index, phase) in phases.into_iter().enumerate() {
        let is_shown = |line: &&Line| line.is_whole && line.phase == phase;
        let shown: Vec<&Line> = lines.iter().copied().filter(is_shown).collect();
        let title = match phase {
            ALL_PHASES => "Time of all phases together".to_owned(),
            phase => format!("Time of {phase}"),
        };
        section.blocks.push(picture(
            trend,
            &shown,
            &Shown {
                name: format!("task-{number}-{}", index + 1),
                title: &title,
                unit: ChartUnit::Time,
                value: |point| Some(interval(&point.value, 1e9)),
            },
        ));
    }
    let mut table = Table::new("Each phase in each record", &["task", "phase"]);
    for number in 1..=trend.labels.len() {
        table.numbers(number.to_string());
    }
    for line in lines {
        let cells = line.points.iter();
        let cells = cells.map(|point| point_text(line, point.as_ref()));
        let names = [line.subject.clone(), line.phase.clone()];
        table.row(names.into_iter().chain(cells));
    }
    section.blocks.push(Block::Folded(table));
    section
}

/// What a chart shows.
struct Shown<'a> {
    name: String,
    title: &'a str,
    unit: ChartUnit,
    /// The median and the ends of the interval, in the unit of the axis.
    value: fn(&TrendPoint) -> Option<[f64; 3]>,
}

/// The median of an estimate and the ends of its interval, multiplied by a factor.
fn interval(estimate: &Estimate, factor: f64) -> [f64; 3] {
    [estimate.median, estimate.low, estimate.high].map(|value| value * factor)
}

/// A line with its band of intervals for each line of the trend, over the records.
fn picture(trend: &Trend, lines: &[&Line], shown: &Shown<'_>) -> Block {
    let place = |index: usize| f64::from(u32::try_from(index + 1).unwrap_or(u32::MAX));
    let count = trend.labels.len();
    let ticks = (0..count).map(|index| (place(index), (index + 1).to_string()));
    let title = shown.title;
    let mut chart = LineChart {
        title: title.to_owned(),
        description: format!("{title}, over {count} records, oldest first."),
        x: Axis::new("record", ChartUnit::Count).reaching(Range::Exact).with_ticks(ticks.collect()),
        y: Axis::new(title, shown.unit),
        bands: Vec::new(),
        series: Vec::new(),
    };
    for (number, line) in lines.iter().enumerate() {
        let points = line.points.iter().enumerate();
        let value = |point: &Option<TrendPoint>| point.as_ref().and_then(shown.value);
        let values = points.map(|(index, point)| (place(index), value(point)));
        let values: Vec<(f64, Option<[f64; 3]>)> = values.collect();
        let band = values.iter();
        let band = band.filter_map(|(x, value)| value.map(|[_, low, high]| (*x, low, high)));
        chart.bands.push(Band {
            name: String::new(),
            points: band.collect(),
            colour: Colour::nth(number),
        });
        let points = values.iter();
        let points = points.map(|(x, value)| (*x, value.map_or(f64::NAN, |[median, ..]| median)));
        let points = points.collect();
        chart.series.push(Series::new(&line.subject, Colour::nth(number), points));
    }
    Block::Picture(Box::new(Picture {
        name: shown.name.clone(),
        chart: Chart::Lines(chart),
        table: by_record(trend, lines),
    }))
}

/// A row for each record, a column for each line of a chart.
fn by_record(trend: &Trend, lines: &[&Line]) -> Table {
    let mut table = Table::new("Values", &["#record", "name"]);
    for line in lines {
        table.numbers(line.subject.clone());
    }
    for (number, (label, _)) in trend.labels.iter().enumerate() {
        let cells = lines.iter();
        let cells = cells.map(|line| point_text(line, line.points[number].as_ref()));
        let head = [(number + 1).to_string(), label.clone()];
        table.row(head.into_iter().chain(cells));
    }
    table
}

/// Apdex by record and load: the rating as a word after the number, so that it needs no colour.
fn heat_map(trend: &Trend, lines: &[&Line]) -> Table {
    let points = lines.iter().flat_map(|line| line.points.iter().flatten());
    let scores = points.flat_map(|point| &point.apdex);
    let loads = distinct(scores.map(|(load, _)| load));
    let mut table = Table::new("Apdex of each record under each load", &["subject", "load"]);
    for number in 1..=trend.labels.len() {
        table.numbers(number.to_string());
    }
    table.heat = true;
    for line in lines {
        for &load in &loads {
            let score = |point: &Option<TrendPoint>| {
                let mut scores = point.as_ref()?.apdex.iter();
                let (_, apdex) = scores.find(|(other, _)| other == load)?;
                Some(format!("{:.2} {}", apdex.score(), apdex.rating()))
            };
            let cells = line.points.iter();
            let cells = cells.map(|point| score(point).unwrap_or_else(|| NONE.to_owned()));
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
        table.row([(number + 1).to_string(), label.clone(), units::moment(*began)]);
    }
    section.table(table);
    let percent = TREND_TOLERANCE * 100.0;
    section.text(format!("The tolerance of the rule is {percent:.0} %."));
    section
}
