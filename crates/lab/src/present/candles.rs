//! The candles of a panel: where response times lie under each load, from the shortest to p95.

use vervet_report::chart::{Candle, CandleChart};
use vervet_report::forms::Table;

use super::charts::{figure_axis, labelled};
use super::page::{Chart, Picture};
use crate::record::LoadPoint;
use crate::statistics::{Curve, Figure, Panel, Point};

/// Maximum number of candles; of more loads, evenly spaced ones are drawn. The table has all of
/// them.
const CANDLES_MAX: usize = 24;

/// What a candle and its table show, in this order.
const ENDS: [Figure; 6] = [
    Figure::ResponseMin,
    Figure::ResponseP10,
    Figure::ResponseP50,
    Figure::ResponseP90,
    Figure::ResponseP95,
    Figure::ResponseMean,
];

/// The candles of a panel; `None` without responses.
pub(super) fn candles(panel: &Panel, prefix: &str) -> Option<Picture> {
    let columns = ["load", "subject", "#shortest", "#p10", "#median", "#p90", "#p95", "#mean"];
    let mut table = Table::new("Values, and the mean", &columns);
    let loads = panel.loads();
    let drawn = chosen(&loads, CANDLES_MAX / panel.contestants().count().max(1));
    let mut candles = Vec::new();
    for load in &loads {
        for curve in panel.contestants() {
            let Some(ends) = ends(curve, *load) else {
                continue;
            };
            let text = |(figure, value): (Figure, f64)| figure.unit().text(value);
            let cells = ENDS.into_iter().zip(ends).map(text);
            table.row([load.shape.to_string(), curve.subject.clone()].into_iter().chain(cells));
            if drawn.contains(load) {
                candles.push(candle(panel, curve, *load, ends));
            }
        }
    }
    let (mut axis, _) = figure_axis(Figure::ResponseP50);
    "response time: shortest, p10, median, p90, p95".clone_into(&mut axis.label);
    (!candles.is_empty()).then(|| Picture {
        name: format!("{prefix}-candles"),
        chart: Chart::Candles(CandleChart {
            title: "Distribution of response times".to_owned(),
            description: format!(
                "For each load and subject, a box from p10 to p90 with the median, and whiskers to the minimum and to \
                 p95. {}.",
                panel.title()
            ),
            axis,
            candles,
        }),
        table,
    })
}

fn ends(curve: &Curve, load: LoadPoint) -> Option<[f64; 6]> {
    let point: &Point = curve.points.iter().find(|point| point.load == load)?;
    let values = ENDS.map(|figure| point.median(figure));
    values.iter().all(Option::is_some).then(|| values.map(Option::unwrap_or_default))
}

fn candle(panel: &Panel, curve: &Curve, load: LoadPoint, ends: [f64; 6]) -> Candle {
    let (_, factor) = figure_axis(Figure::ResponseP50);
    let [least, low, middle, high, greatest, _] = ends.map(|value| value * factor);
    let point = curve.points.iter().find(|point| point.load == load);
    let (label, colour) = labelled(panel, curve, point);
    Candle { label: format!("{}: {label}", load.shape), least, low, middle, high, greatest, colour }
}

/// At most `most` evenly spaced loads, including the first and the last.
fn chosen(loads: &[LoadPoint], most: usize) -> Vec<LoadPoint> {
    let (most, last) = (most.max(2), loads.len().saturating_sub(1));
    if loads.len() <= most {
        return loads.to_vec();
    }
    (0..most).map(|number| loads[number * last / (most - 1)]).collect()
}
