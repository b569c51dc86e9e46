//! The charts over time: what the repeat in the middle did at the highest goodput.

use vervet_report::chart::{Axis, LineChart, Series, Unit as ChartUnit};
use vervet_report::forms::Table;

use super::charts::{colour, figure_axis};
use super::page::{Chart, Picture};
use crate::statistics::{Curve, Figure, Figures, Moment, Panel, Unit};

/// What is drawn over time.
struct TimeChart {
    /// The name of its chart.
    name: &'static str,
    /// Its title; "at the highest goodput" follows.
    title: &'static str,
    /// Its axis, and the factor from its values to the axis.
    axis: (Axis, f64),
    /// What its values are counted in.
    unit: Unit,
    /// Its value at a moment.
    value: fn(&Moment) -> Option<f64>,
}

/// Successful responses, failures, response time and CPU time over time; empty charts are left out.
pub(super) fn over_time(panel: &Panel, prefix: &str) -> Vec<Picture> {
    let runs: Vec<(&Curve, &Figures)> = panel
        .contestants()
        .filter_map(|curve| Some((curve, middle(curve)?)))
        .filter(|(_, figures)| figures.series.len() > 1)
        .collect();
    let is_seen = |chart: &TimeChart| {
        let moments = runs.iter().flat_map(|(_, figures)| &figures.series);
        moments.filter_map(chart.value).any(|value| value > 0.0)
    };
    let seen = time_charts().into_iter().filter(is_seen);
    seen.map(|chart| picture(panel, &runs, &chart, prefix)).collect()
}

fn time_charts() -> [TimeChart; 4] {
    [
        TimeChart {
            name: "rate-time",
            title: "Successful responses per second over time",
            axis: figure_axis(Figure::Goodput),
            unit: Unit::PerSecond,
            value: |moment| Some(moment.rate),
        },
        TimeChart {
            name: "failed-time",
            title: "Failed requests per second over time",
            axis: (Axis::new("failed requests per second", ChartUnit::PerSecond), 1.0),
            unit: Unit::PerSecond,
            value: |moment| Some(moment.failed_rate),
        },
        TimeChart {
            name: "response-time",
            title: "Response time p99 over time",
            axis: figure_axis(Figure::ResponseP99),
            unit: Unit::Milliseconds,
            value: |moment| moment.p99_ms,
        },
        TimeChart {
            name: "cpu-time",
            title: "Busy cores of the server over time",
            axis: figure_axis(Figure::CoresBusy),
            unit: Unit::Cores,
            value: |moment| moment.cores_busy,
        },
    ]
}

fn picture(panel: &Panel, runs: &[(&Curve, &Figures)], chart: &TimeChart, prefix: &str) -> Picture {
    let (y, factor) = chart.axis.clone();
    let place = |moment: &Moment| {
        let value = (chart.value)(moment).map_or(f64::NAN, |value| value * factor);
        (moment.at_seconds * 1e9, value)
    };
    let series = runs.iter().map(|(curve, figures)| {
        let points = figures.series.iter().map(place).collect();
        Series::new(&curve.subject, colour(panel, curve), points)
    });
    let title = chart.title;
    Picture {
        name: format!("{prefix}-{}", chart.name),
        chart: Chart::Lines(LineChart {
            title: format!("{title}, at the highest goodput"),
            description: format!(
                "{title}, in the median repeat of each subject at its highest goodput, {}.",
                panel.title()
            ),
            x: Axis::new("time since the start of the measurement", ChartUnit::Time),
            y,
            bands: Vec::new(),
            series: series.collect(),
        }),
        table: table(runs, chart),
    }
}

/// A row for each moment, a column for each subject.
fn table(runs: &[(&Curve, &Figures)], chart: &TimeChart) -> Table {
    let mut table = Table::new("Values", &["#second"]);
    for (curve, _) in runs {
        table.numbers(curve.subject.clone());
    }
    let longest = runs.iter().max_by_key(|(_, figures)| figures.series.len());
    for (number, moment) in
        longest.iter().flat_map(|(_, figures)| figures.series.iter().enumerate())
    {
        let cells = runs.iter().map(|(_, figures)| {
            let value = figures.series.get(number).and_then(chart.value);
            value.map_or("–".to_owned(), |value| chart.unit.text(value))
        });
        let second = format!("{:.1}", moment.at_seconds);
        table.row(std::iter::once(second).chain(cells));
    }
    table
}

/// The repeat at the highest goodput whose own goodput is the middle one.
fn middle(curve: &Curve) -> Option<&Figures> {
    let mut shown = curve.points.get(curve.sweep.peak?)?.shown();
    shown.sort_by(|a, b| a.goodput.total_cmp(&b.goodput));
    shown.get(shown.len().checked_sub(1)? / 2).copied()
}
