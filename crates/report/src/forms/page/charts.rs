//! The charts of a run.

use crate::chart::{Axis, Bar, BarChart, Colour, LineChart, Range, Series, Stroke, Unit, nines};
use crate::histogram::Histogram;
use crate::interval::Interval;
use crate::machine::WatchedSample;
use crate::run::Run;
use crate::units::rate as per_second;

use super::super::tables::at;
use super::super::words::of_ns_if_known;

/// Points of a distribution for each nine.
const POINTS_PER_NINE: u32 = 16;
/// The nines that are drawn at most: 99.9999 %.
const NINES_MAX: u32 = 6;

/// The requested and the achieved rate.
pub(super) fn rate(run: &Run, intervals: &[Interval]) -> LineChart {
    let of = |value: fn(&Interval) -> f64| -> Vec<(f64, f64)> {
        intervals.iter().map(|interval| (middle(interval), value(interval))).collect()
    };
    let mut series = Vec::new();
    if run.achieved.asked.is_some() {
        let asked = of(|interval| interval.rate_asked().unwrap_or(f64::NAN));
        series.push(Series::new("requested", Colour::Quiet, asked).stroked(Stroke::Dashed));
    }
    series.push(Series::new("successful responses", Colour::nth(0), of(Interval::rate)));
    if run.errors.total() > 0 {
        let failed = of(Interval::failed_rate);
        series.push(Series::new("failed", Colour::Rose, failed).stroked(Stroke::Dotted));
    }
    let slowest = run.intervals.iter().map(Interval::rate).fold(f64::INFINITY, f64::min);
    LineChart {
        title: if run.achieved.asked.is_some() { "Requested and achieved rate" } else { "Rate" }
            .to_owned(),
        description: format!(
            "Successful responses per second over time: {} on average, {} in the slowest interval.",
            per_second(run.achieved.rate()),
            per_second(slowest)
        ),
        x: time_axis(run),
        y: Axis::new("per second", Unit::PerSecond),
        bands: Vec::new(),
        series,
    }
}

/// Response times interval by interval.
pub(super) fn quantiles(run: &Run, intervals: &[Interval]) -> LineChart {
    // Where nothing was answered there is no time: the line has a gap.
    let of = |value: fn(&Interval) -> Option<u64>| -> Vec<(f64, f64)> {
        let point =
            |interval: &Interval| (middle(interval), value(interval).map_or(f64::NAN, float));
        intervals.iter().map(point).collect()
    };
    let worst = run.intervals.iter().filter_map(|interval| interval.p99_ns).max();
    LineChart {
        title: "Response time over time".to_owned(),
        description: format!(
            "Response times by interval on a logarithmic axis: overall p50 {}, highest p99 of an interval {}.",
            at(&run.timings.response, 0.5),
            of_ns_if_known(worst)
        ),
        x: time_axis(run),
        y: Axis::new("response time", Unit::Time).logarithmic(),
        bands: Vec::new(),
        series: vec![
            Series::new("longest", Colour::nth(3), of(|interval| interval.max_ns))
                .stroked(Stroke::Dotted),
            Series::new("p99", Colour::nth(1), of(|interval| interval.p99_ns))
                .stroked(Stroke::Dashed),
            Series::new("p50", Colour::nth(0), of(|interval| interval.p50_ns)),
        ],
    }
}

/// Response and service time by percentile.
pub(super) fn distribution(run: &Run) -> LineChart {
    let (response, service) = (&run.timings.response, &run.timings.service);
    LineChart {
        title: "Times by percentile".to_owned(),
        description: format!(
            "Response time {} at p50, {} at p99, {} at p99.9; service time {}, {} and {}.",
            at(response, 0.5),
            at(response, 0.99),
            at(response, 0.999),
            at(service, 0.5),
            at(service, 0.99),
            at(service, 0.999),
        ),
        x: Axis::new("of successful responses took at most", Unit::Nines).reaching(Range::Exact),
        y: Axis::new("time", Unit::Time).logarithmic(),
        bands: Vec::new(),
        series: vec![
            Series::new("response time", Colour::nth(0), by_percentile(response)),
            Series::new("service time", Colour::nth(2), by_percentile(service))
                .stroked(Stroke::Dashed),
        ],
    }
}

/// Failed requests by class.
pub(super) fn errors(run: &Run) -> BarChart {
    let bars = run.errors.occurred().map(|(class, count)| Bar {
        label: format!("{}: {}", class.name(), class.meaning()),
        value: Some(float(count)),
        interval: None,
        colour: Colour::Rose,
    });
    BarChart {
        title: "Failed requests by class".to_owned(),
        description: format!(
            "{} of {} finished requests failed.",
            run.errors.total(),
            run.finished()
        ),
        axis: Axis::new("requests", Unit::Count),
        bars: bars.collect(),
    }
}

/// CPU use of the watched processes.
pub(super) fn processor(run: &Run) -> LineChart {
    let cores = |sample: &WatchedSample| {
        let busy = u64::from(sample.cpu_user_permille) + u64::from(sample.cpu_system_permille);
        float(busy) / 10.0
    };
    LineChart {
        title: "CPU use of the watched processes".to_owned(),
        description: "User and system time; 100 % is one core.".to_owned(),
        x: time_axis(run),
        y: Axis::new("of one core", Unit::Percent),
        bands: Vec::new(),
        series: watched(run, cores),
    }
}

/// Memory of the watched processes.
pub(super) fn memory(run: &Run) -> LineChart {
    LineChart {
        title: "Memory of the watched processes".to_owned(),
        description: "Memory of each watched process tree.".to_owned(),
        x: time_axis(run),
        y: Axis::new("memory", Unit::Bytes),
        bands: Vec::new(),
        series: watched(run, |sample| float(sample.memory_bytes)),
    }
}

fn watched(run: &Run, value: impl Fn(&WatchedSample) -> f64) -> Vec<Series> {
    let strokes = [Stroke::Solid, Stroke::Dashed, Stroke::Dotted];
    let of = |(number, watched): (usize, &crate::Watched)| {
        let points =
            watched.samples.iter().map(|sample| (float(sample.at_ms) * 1e6, value(sample)));
        Series::new(&watched.name, Colour::nth(number), points.collect())
            .stroked(strokes[number % strokes.len()])
    };
    run.watched.iter().enumerate().map(of).collect()
}

/// Time from the beginning of the window to the end of the last interval or reading.
fn time_axis(run: &Run) -> Axis {
    let of_intervals =
        run.intervals.iter().map(|interval| interval.start_ms.saturating_add(interval.length_ms));
    let of_readings =
        run.watched.iter().flat_map(|watched| watched.samples.iter().map(|sample| sample.at_ms));
    let end_ms = of_intervals.chain(of_readings).max().unwrap_or(0).max(1);
    Axis::new("since the start of the measurement", Unit::Time)
        .reaching(Range::Fixed(0.0, float(end_ms) * 1e6))
}

/// The middle of an interval, in nanoseconds since the start of the measurement.
fn middle(interval: &Interval) -> f64 {
    (float(interval.start_ms) + float(interval.length_ms) / 2.0) * 1e6
}

/// Response times by percentile, up to the highest one that the number of responses supports.
fn by_percentile(times: &Histogram) -> Vec<(f64, f64)> {
    if times.is_empty() {
        return Vec::new();
    }
    let nines_max = float(times.count()).log10().min(f64::from(NINES_MAX));
    let steps =
        (0..=NINES_MAX * POINTS_PER_NINE).map(|step| f64::from(step) / f64::from(POINTS_PER_NINE));
    let point = |at: f64| (at, float(times.quantile_ns(1.0 - 10f64.powf(-at))));
    let mut points: Vec<_> = steps.take_while(|at| *at <= nines_max).map(point).collect();
    if let Some(last) = points.last_mut()
        && nines_max < f64::from(NINES_MAX)
    {
        // The highest percentile is the maximum.
        let end = (nines(1.0 - 1.0 / float(times.count()).max(1.0)), float(times.max_ns()));
        if end.0 > last.0 {
            points.push(end);
        } else {
            *last = end;
        }
    }
    points
}

#[expect(clippy::cast_precision_loss, reason = "counts and times below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}
