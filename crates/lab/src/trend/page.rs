//! A trend as a page and as lines for a terminal.

use std::fmt::Write as _;

use vervet_report::chart::{Axis, Band, Colour, LineChart, Series, Stroke, Unit as ChartUnit};
use vervet_report::escape::Printable;
use vervet_report::units;

use super::series::{Entry, Line, Mark, TREND_TOLERANCE, Trend};
use crate::present::{Block, Chart, Page, Picture, Section, Table, page_html};
use crate::statistics::Unit;

/// The rule, for people.
const RULE: &str = "A record is a regression when the whole interval of its goodput lies more than 5 % below the median of \
                    the up to five records before it; there must be two of them. Figures are those of the load with the \
                    greatest goodput.";

/// The trend as one file of HTML.
pub fn trend_html(trend: &Trend) -> String {
    page_html(&trend_page(trend), "")
}

/// The trend as a page.
pub fn trend_page(trend: &Trend) -> Page {
    let mut sections = vec![regressions(trend)];
    for (number, panel) in panels(trend).iter().enumerate() {
        sections.push(panel_section(trend, panel, number));
    }
    sections.push(records(trend));
    Page {
        title: "Trend of a lab".to_owned(),
        subtitle: format!("{} records", trend.labels.len()),
        sections,
    }
}

/// The trend for a terminal: a line for each subject and record.
pub fn trend_text(trend: &Trend) -> String {
    let mut text = String::new();
    for panel in panels(trend) {
        let _ = writeln!(text, "{}", Printable(&panel));
        for line in trend.lines.iter().filter(|line| line.panel == panel) {
            let _ = writeln!(text, "  {}", Printable(&line.subject));
            for ((label, _), entry) in trend.labels.iter().zip(&line.entries) {
                let _ = writeln!(
                    text,
                    "    {}: {}",
                    Printable(label),
                    entry_text(entry.as_ref())
                );
            }
        }
    }
    text
}

fn entry_text(entry: Option<&Entry>) -> String {
    let Some(entry) = entry else {
        return "–".to_owned();
    };
    let mean = entry.mean_ms.map_or(String::new(), |mean| {
        format!(", mean {}", Unit::Milliseconds.text(mean))
    });
    format!(
        "{}{mean}, {}{}",
        Unit::PerSecond.text(entry.goodput.median),
        entry.load,
        mark_text(&entry.mark)
    )
}

fn mark_text(mark: &Mark) -> String {
    match mark {
        Mark::TooFew | Mark::Usual => String::new(),
        Mark::Regression { before, change } => {
            format!(
                ": regression, {:+.1} % of {}",
                change * 100.0,
                Unit::PerSecond.text(*before)
            )
        }
    }
}

fn panels(trend: &Trend) -> Vec<String> {
    let mut panels: Vec<String> = Vec::new();
    for line in &trend.lines {
        if !panels.contains(&line.panel) {
            panels.push(line.panel.clone());
        }
    }
    panels
}

fn regressions(trend: &Trend) -> Section {
    let mut section = Section::new("Regressions");
    section.text(RULE);
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
    if table.is_empty() {
        section.text("No record is one.");
    }
    section.table(table);
    section
}

/// A value with its interval, where a record has it.
type Seen = Option<(f64, f64, f64)>;
/// A chart's name, title and unit, and what it shows of an entry.
type Shown<'a> = (&'a str, &'a str, ChartUnit, &'a dyn Fn(&Entry) -> Seen);

fn panel_section(trend: &Trend, panel: &str, number: usize) -> Section {
    let lines: Vec<&Line> = trend
        .lines
        .iter()
        .filter(|line| line.panel == panel)
        .collect();
    let mut section = Section::new(panel);
    let rate = |entry: &Entry| Some((entry.goodput.median, entry.goodput.low, entry.goodput.high));
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
    for shown in charts {
        section.blocks.push(Block::Picture(Box::new(Picture {
            name: format!("{}-{}", number + 1, shown.0),
            chart: Chart::Lines(chart(trend, &lines, shown)),
            table: entries(trend, &lines),
        })));
    }
    section.table(heat_map(trend, &lines));
    section
}

fn chart(trend: &Trend, lines: &[&Line], (_, title, unit, value): Shown<'_>) -> LineChart {
    let place = |index: usize| f64::from(u32::try_from(index + 1).unwrap_or(u32::MAX));
    let ticks = (0..trend.labels.len()).map(|index| (place(index), (index + 1).to_string()));
    let mut chart = LineChart {
        title: title.to_owned(),
        description: format!(
            "{title}, over {} records, oldest first.",
            trend.labels.len()
        ),
        x: Axis::new("record", ChartUnit::Count)
            .reaching(vervet_report::chart::Range::Exact)
            .with_ticks(ticks.collect()),
        y: Axis::new(title, unit),
        bands: Vec::new(),
        series: Vec::new(),
    };
    for (number, line) in lines.iter().enumerate() {
        let values = line.entries.iter().enumerate();
        let values: Vec<(f64, Seen)> = values
            .map(|(index, entry)| (place(index), entry.as_ref().and_then(value)))
            .collect();
        let band = values
            .iter()
            .filter_map(|(x, value)| value.map(|(_, low, high)| (*x, low, high)));
        chart.bands.push(Band {
            name: String::new(),
            points: band.collect(),
            colour: Colour::nth(number),
        });
        let points = values
            .iter()
            .map(|(x, value)| (*x, value.map_or(f64::NAN, |(median, ..)| median)));
        chart.series.push(Series {
            name: line.subject.clone(),
            points: points.collect(),
            colour: Colour::nth(number),
            stroke: Stroke::Solid,
        });
    }
    chart
}

fn entries(trend: &Trend, lines: &[&Line]) -> Table {
    let mut table = Table::new("The same as numbers", &["#record", "name"]);
    for line in lines {
        table.numbers(line.subject.clone());
    }
    for (number, (label, _)) in trend.labels.iter().enumerate() {
        let cells = lines
            .iter()
            .map(|line| entry_text(line.entries[number].as_ref()));
        let head = [(number + 1).to_string(), label.clone()];
        table.row(head.into_iter().chain(cells));
    }
    table
}

/// Apdex by record and load: the rating as a word beside the number, so that it needs no colour.
fn heat_map(trend: &Trend, lines: &[&Line]) -> Table {
    let mut loads: Vec<String> = Vec::new();
    for (load, _) in lines
        .iter()
        .flat_map(|line| line.entries.iter().flatten())
        .flat_map(|entry| &entry.apdex)
    {
        if !loads.contains(load) {
            loads.push(load.clone());
        }
    }
    let mut table = Table::new("Apdex of each record under each load", &["subject", "load"]);
    for number in 0..trend.labels.len() {
        table.numbers((number + 1).to_string());
    }
    table.heat = true;
    for line in lines {
        for load in &loads {
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
                .map(|entry| score(entry).unwrap_or_else(|| "–".to_owned()));
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
