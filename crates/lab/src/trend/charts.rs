//! The chart of a trend: the records, oldest first, and a line with its band of intervals for each that is compared.

use vervet_report::chart::{Axis, Band, Colour, LineChart, Range, Series, Stroke, Unit};

use crate::statistics::Estimate;

/// A value with its interval, where a record has it.
pub(super) type Seen = Option<(f64, f64, f64)>;

/// An estimate times a factor: its median with its interval.
pub(super) fn seen(estimate: &Estimate, factor: f64) -> (f64, f64, f64) {
    let of = |value: f64| value * factor;
    (of(estimate.median), of(estimate.low), of(estimate.high))
}

/// Names with what each record says of them.
pub(super) fn chart(
    title: &str,
    unit: Unit,
    records: usize,
    lines: impl Iterator<Item = (String, Vec<Seen>)>,
) -> LineChart {
    let place = |index: usize| f64::from(u32::try_from(index + 1).unwrap_or(u32::MAX));
    let ticks = (0..records).map(|index| (place(index), (index + 1).to_string()));
    let mut chart = LineChart {
        title: title.to_owned(),
        description: format!("{title}, over {records} records, oldest first."),
        x: Axis::new("record", Unit::Count)
            .reaching(Range::Exact)
            .with_ticks(ticks.collect()),
        y: Axis::new(title, unit),
        bands: Vec::new(),
        series: Vec::new(),
    };
    for (number, (name, values)) in lines.enumerate() {
        let values = values.into_iter().enumerate();
        let values: Vec<(f64, Seen)> = values.map(|(index, seen)| (place(index), seen)).collect();
        let band = values
            .iter()
            .filter_map(|(x, seen)| seen.map(|(_, low, high)| (*x, low, high)));
        chart.bands.push(Band {
            name: String::new(),
            points: band.collect(),
            colour: Colour::nth(number),
        });
        let points = values
            .iter()
            .map(|(x, seen)| (*x, seen.map_or(f64::NAN, |(median, ..)| median)));
        chart.series.push(Series {
            name,
            points: points.collect(),
            colour: Colour::nth(number),
            stroke: Stroke::Solid,
        });
    }
    chart
}
