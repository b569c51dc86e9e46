//! The charts of a panel, each with a table of its values.

use vervet_report::chart::{
    Axis, Band, Bar, BarChart, Colour, LineChart, Series, Stroke, Unit as ChartUnit,
};
use vervet_report::forms::Table;

use super::candles::candles;
use super::over_time::over_time;
use super::page::{Chart, Picture};
use super::panels::share_text;
use crate::record::{LoadPoint, Role};
use crate::statistics::{Curve, Estimate, Figure, LoadKind, Panel, Point, Unit};

/// Loads that differ by more than this factor have a logarithmic axis.
const LOGARITHMIC_FROM: f64 = 20.0;
/// A ceiling more than this many times above the best contestant is not drawn: it would press all
/// of them onto the axis.
const CEILING_DRAWN_UP_TO: f64 = 8.0;

/// What one chart shows of a panel.
struct Shown<'a> {
    /// The chart's name.
    name: &'a str,
    /// Its title.
    title: &'a str,
    /// Its figure.
    figure: Figure,
    /// Another figure, drawn in dashes, with what it adds to a name.
    dashed: Option<(Figure, &'a str)>,
    /// Whether the ceiling is drawn, too.
    ceiling: Ceiling,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ceiling {
    Drawn,
    LeftOut,
}

/// All charts of a panel; `prefix` makes their names unique in a page.
pub(super) fn pictures(panel: &Panel, prefix: &str) -> Vec<Picture> {
    let plain = |name, title, figure| Shown {
        name,
        title,
        figure,
        dashed: None,
        ceiling: Ceiling::LeftOut,
    };
    let shown = [
        Shown {
            ceiling: Ceiling::Drawn,
            ..plain("rate", "Successful responses per second", Figure::Goodput)
        },
        Shown {
            dashed: Some((Figure::ResponseP99, "p99")),
            ..plain("response", "Response time: median, and p99 dashed", Figure::ResponseP50)
        },
        plain("cpu", "Server CPU per request", Figure::CpuPerRequest),
        plain("memory", "Peak memory of the server", Figure::MemoryPeak),
        plain("errors", "Failed requests", Figure::ErrorShare),
    ];
    let mut pictures: Vec<Picture> = Vec::new();
    for shown in &shown {
        let any = panel.contestants().flat_map(|curve| &curve.points);
        let mut values = any.filter_map(|point| point.median(shown.figure));
        // A chart of nothing but zeros says less than the sentence that is not there.
        if values.any(|value| value > 0.0) {
            pictures.push(by_load(panel, shown, prefix));
        }
        if shown.figure == Figure::ResponseP50 {
            pictures.extend(candles(panel, prefix));
        }
    }
    pictures.extend(share_of_ceiling(panel, prefix));
    pictures.extend(over_time(panel, prefix));
    pictures
}

/// The colour of a contestant: the same in all charts of a panel.
pub(super) fn colour(panel: &Panel, curve: &Curve) -> Colour {
    if curve.role == Role::Ceiling {
        return Colour::Quiet;
    }
    let place = panel.contestants().position(|other| other.subject == curve.subject);
    Colour::nth(place.unwrap_or_default())
}

/// The label and the colour of a subject under a load: what is not ranked says so, and is grey.
pub(super) fn labelled(panel: &Panel, curve: &Curve, point: Option<&Point>) -> (String, Colour) {
    let is_excluded =
        curve.role == Role::Contestant && point.is_some_and(|point| !point.is_ranked());
    if is_excluded {
        return (format!("{} (not ranked)", curve.subject), Colour::Quiet);
    }
    (curve.subject.clone(), colour(panel, curve))
}

/// The axis of loads.
pub(super) fn load_axis(panel: &Panel) -> Axis {
    let (label, unit) = match panel.kind {
        LoadKind::Closed => ("connections", ChartUnit::Count),
        LoadKind::Open => ("requests due per second", ChartUnit::PerSecond),
    };
    let loads = panel.loads();
    let axis = Axis::new(label, unit);
    match (loads.first(), loads.last()) {
        (Some(first), Some(last)) if last.amount() > first.amount() * LOGARITHMIC_FROM => {
            axis.logarithmic()
        }
        _ => axis,
    }
}

/// The axis of a figure, and the factor from its values to the axis.
pub(super) fn figure_axis(figure: Figure) -> (Axis, f64) {
    let (unit, factor) = match figure.unit() {
        Unit::PerSecond => (ChartUnit::PerSecond, 1.0),
        Unit::Share => (ChartUnit::Percent, 100.0),
        Unit::Milliseconds => (ChartUnit::Time, 1e6),
        Unit::Microseconds => (ChartUnit::Time, 1e3),
        Unit::Bytes => (ChartUnit::Bytes, 1.0),
        Unit::Cores | Unit::Number => (ChartUnit::Number, 1.0),
    };
    (Axis::new(figure.label(), unit), factor)
}

fn by_load(panel: &Panel, shown: &Shown<'_>, prefix: &str) -> Picture {
    let loads = panel.loads();
    let chart = match loads.as_slice() {
        [only] => Chart::Bars(bars(panel, shown, *only)),
        _ => Chart::Lines(lines(panel, shown)),
    };
    Picture { name: format!("{prefix}-{}", shown.name), chart, table: table(panel, shown) }
}

fn curves<'a>(panel: &'a Panel, shown: &Shown<'_>) -> impl Iterator<Item = &'a Curve> {
    let with_ceiling = shown.ceiling == Ceiling::Drawn;
    panel.curves.iter().filter(move |curve| with_ceiling || curve.role == Role::Contestant)
}

/// The curves that a chart has; its table has all of [`curves`].
fn drawn<'a>(panel: &'a Panel, shown: &Shown<'_>) -> impl Iterator<Item = &'a Curve> {
    let beyond = ceiling_beyond(panel, shown).is_some();
    curves(panel, shown).filter(move |curve| !beyond || curve.role == Role::Contestant)
}

/// How many times the best contestant's figure the ceiling's is, where that is too far above for
/// one chart.
fn ceiling_beyond(panel: &Panel, shown: &Shown<'_>) -> Option<f64> {
    let ceiling = panel.ceiling().filter(|_| shown.ceiling == Ceiling::Drawn)?;
    let greatest = |curve: &Curve| {
        let medians = curve.points.iter();
        medians.filter_map(|point| point.median(shown.figure)).fold(0.0, f64::max)
    };
    let best = panel.contestants().map(greatest).fold(0.0, f64::max);
    let times = greatest(ceiling) / best;
    (times.is_finite() && times > CEILING_DRAWN_UP_TO).then_some(times)
}

fn title(panel: &Panel, shown: &Shown<'_>) -> String {
    match ceiling_beyond(panel, shown) {
        Some(times) => {
            format!("{} (not drawn: the ceiling, {times:.0} times the best of them)", shown.title)
        }
        None => shown.title.to_owned(),
    }
}

fn lines(panel: &Panel, shown: &Shown<'_>) -> LineChart {
    let (axis, factor) = figure_axis(shown.figure);
    let mut chart = LineChart {
        title: title(panel, shown),
        description: description(panel, shown),
        x: load_axis(panel),
        y: axis,
        bands: Vec::new(),
        series: Vec::new(),
    };
    for curve in drawn(panel, shown) {
        let colour = colour(panel, curve);
        let ceiling = curve.role == Role::Ceiling;
        let counts = |point: &&Point| ceiling || point.is_ranked();
        let solid = estimates(curve.points.iter().filter(counts), shown.figure);
        let excluded = estimates(curve.points.iter().filter(|it| !counts(it)), shown.figure);
        chart.bands.push(Band {
            name: String::new(),
            points: solid
                .iter()
                .map(|(load, estimate)| (*load, estimate.low * factor, estimate.high * factor))
                .collect(),
            colour,
        });
        let stroke = if ceiling { Stroke::Dotted } else { Stroke::Solid };
        let points = medians(&solid, factor);
        chart.series.push(Series::new(&curve.subject, colour, points).stroked(stroke));
        if let Some((figure, suffix)) = shown.dashed {
            let name = format!("{} {suffix}", curve.subject);
            let ranked = curve.points.iter().filter(counts);
            let points = medians(&estimates(ranked, figure), factor);
            chart.series.push(Series::new(name, colour, points).stroked(Stroke::Dashed));
        }
        if !excluded.is_empty() {
            let name = format!("{} (not ranked)", curve.subject);
            let points = medians(&excluded, factor);
            chart.series.push(Series::new(name, colour, points).stroked(Stroke::Dotted));
        }
    }
    let values: Vec<f64> =
        chart.series.iter().flat_map(|series| &series.points).map(|(_, y)| *y).collect();
    let least = values.iter().copied().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(0.0, f64::max);
    // Times that differ by orders of magnitude: on a linear axis only the slowest are seen.
    if shown.dashed.is_some() && greatest > least * LOGARITHMIC_FROM {
        chart.y = chart.y.logarithmic();
    }
    chart
}

fn bars(panel: &Panel, shown: &Shown<'_>, load: LoadPoint) -> BarChart {
    let (axis, factor) = figure_axis(shown.figure);
    let mut bars = Vec::new();
    for curve in drawn(panel, shown) {
        let figures = [Some((shown.figure, "")), shown.dashed];
        for (figure, suffix) in figures.into_iter().flatten() {
            let point = curve.points.iter().find(|point| point.load == load);
            let estimate = point.and_then(|point| point.estimate(figure));
            let interval = estimate.filter(Estimate::has_interval);
            let (label, colour) = labelled(panel, curve, point);
            bars.push(Bar {
                label: format!("{label} {suffix}").trim_end().to_owned(),
                value: estimate.map(|estimate| estimate.median * factor),
                interval: interval.map(|estimate| (estimate.low * factor, estimate.high * factor)),
                colour,
            });
        }
    }
    BarChart {
        title: format!("{}, {}", title(panel, shown).replace(" dashed", ""), load.shape),
        description: description(panel, shown),
        axis,
        bars,
    }
}

fn description(panel: &Panel, shown: &Shown<'_>) -> String {
    let first = panel.ranking.places.first();
    let ahead = first.map_or(String::new(), |place| {
        format!(
            " The highest goodput is that of {}: {}.",
            place.subject,
            Unit::PerSecond.text(place.goodput.median)
        )
    });
    format!("{} for each subject, {}.{ahead}", shown.title, panel.title())
}

/// The loads of points with estimates of a figure.
fn estimates<'a>(points: impl Iterator<Item = &'a Point>, figure: Figure) -> Vec<(f64, Estimate)> {
    points.filter_map(|point| Some((point.load.amount(), point.estimate(figure)?))).collect()
}

fn medians(estimates: &[(f64, Estimate)], factor: f64) -> Vec<(f64, f64)> {
    estimates.iter().map(|(load, estimate)| (*load, estimate.median * factor)).collect()
}

fn table(panel: &Panel, shown: &Shown<'_>) -> Table {
    let mut table = Table::new("Values: median and 95 % interval of the repeats", &["load"]);
    let figures = [Some((shown.figure, "")), shown.dashed];
    for curve in curves(panel, shown) {
        for (_, suffix) in figures.into_iter().flatten() {
            table.numbers(format!("{} {suffix}", curve.subject).trim_end());
        }
    }
    for load in panel.loads() {
        let mut row = vec![load.shape.to_string()];
        for curve in curves(panel, shown) {
            let point = curve.points.iter().find(|point| point.load == load);
            for (figure, _) in figures.into_iter().flatten() {
                let estimate = point.and_then(|point| point.estimate(figure));
                row.push(
                    estimate.map_or("–".to_owned(), |estimate| estimate_text(figure, &estimate)),
                );
            }
        }
        table.row(row);
    }
    table
}

/// A median with its interval: `12,345/s (12,001/s to 12,600/s)`.
pub(super) fn estimate_text(figure: Figure, estimate: &Estimate) -> String {
    let text = |value| figure.unit().text(value);
    if !estimate.has_interval() {
        return format!("{} (one repeat)", text(estimate.median));
    }
    format!("{} ({} to {})", text(estimate.median), text(estimate.low), text(estimate.high))
}

fn share_of_ceiling(panel: &Panel, prefix: &str) -> Option<Picture> {
    panel.ceiling()?;
    let mut table = Table::new("Values", &["subject", "load", "#of the ceiling"]);
    let mut bars = Vec::new();
    for curve in panel.contestants() {
        let peak = curve.sweep.peak.map(|index| &curve.points[index]);
        let share = peak.and_then(|point| point.share_of_ceiling);
        let (mut label, colour) = labelled(panel, curve, peak.or(curve.points.last()));
        if peak.is_some() && share.is_none() {
            label.push_str(" (the ceiling is not an upper bound)");
        }
        bars.push(Bar { label, value: share.map(|share| share * 100.0), interval: None, colour });
        let load = peak.map_or("–".to_owned(), |point| point.load.shape.to_string());
        let share = peak.map_or("–".to_owned(), share_text);
        table.row([curve.subject.clone(), load, share]);
    }
    Some(Picture {
        name: format!("{prefix}-ceiling"),
        chart: Chart::Bars(BarChart {
            title: "Share of the ceiling, at the highest goodput".to_owned(),
            description: "The goodput of each subject, divided by that of the canned-response server under the \
                          same load in the same lab."
                .to_owned(),
            axis: Axis::new("of the ceiling", ChartUnit::Percent),
            bars,
        }),
        table,
    })
}
