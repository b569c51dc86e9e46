//! Analysis of a sweep: knee, best step and saturation.

use super::apdex::BEST_SCORE_MIN;
use super::figure::Figure;
use super::point::Point;
use crate::record::LoadShape;

/// The knee is the least load that reaches this share of the highest goodput.
pub const KNEE_SHARE: f64 = 0.95;
/// A step is saturated when a load that is greater by some factor raises the goodput by less than
/// this power of the factor: an unsaturated server has 1, a saturated one 0.
const ELASTICITY_MIN: f64 = 0.2;
/// An open load is saturated if less than this share of due requests gets a response.
pub(super) const ANSWERED_SHARE_MIN: f64 = 0.95;

/// What a sweep shows. Indices are of its points.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sweep {
    /// The point with the highest goodput among those that are ranked.
    pub peak: Option<usize>,
    /// The least load that reaches [`KNEE_SHARE`] of it, among the same.
    pub knee: Option<usize>,
    /// The point with the highest goodput times Apdex, where Apdex is at least [`BEST_SCORE_MIN`],
    /// among the same.
    pub best: Option<usize>,
    /// The load from which on more load gives no more responses.
    pub saturation: Option<Saturation>,
}

/// The load from which on more load gives no more responses.
#[derive(Debug, Clone, PartialEq)]
pub struct Saturation {
    /// The first point that is saturated.
    pub from: usize,
    /// Successful responses per second from there on, at most.
    pub capacity: f64,
    /// What it means, with the numbers.
    pub meaning: String,
}

impl Sweep {
    /// Analyzes points in ascending order of load.
    pub fn new(points: &[Point]) -> Self {
        let peak = greatest(points, |point| point.median(Figure::Goodput));
        Self {
            peak,
            knee: peak.and_then(|peak| knee(points, peak)),
            best: greatest(points, worth),
            saturation: saturation(points),
        }
    }
}

/// Goodput times Apdex; `None` if Apdex is too low.
fn worth(point: &Point) -> Option<f64> {
    let apdex = point.median(Figure::Apdex)?;
    let goodput = point.median(Figure::Goodput)?;
    (apdex >= BEST_SCORE_MIN).then_some(goodput * apdex)
}

/// The first of the ranked points with the greatest value above zero.
fn greatest(points: &[Point], value: impl Fn(&Point) -> Option<f64>) -> Option<usize> {
    let mut found: Option<(usize, f64)> = None;
    for (index, point) in points.iter().enumerate().filter(|(_, point)| point.is_ranked()) {
        let Some(value) = value(point).filter(|value| *value > 0.0) else {
            continue;
        };
        if found.is_none_or(|(_, greatest)| value > greatest) {
            found = Some((index, value));
        }
    }
    found.map(|(index, _)| index)
}

fn knee(points: &[Point], peak: usize) -> Option<usize> {
    let enough = points[peak].median(Figure::Goodput)? * KNEE_SHARE;
    let reaches = |point: &Point| {
        let goodput = point.median(Figure::Goodput);
        point.is_ranked() && goodput.is_some_and(|goodput| goodput >= enough)
    };
    points.iter().position(reaches)
}

fn saturation(points: &[Point]) -> Option<Saturation> {
    let rates: Vec<(usize, f64, f64)> = points
        .iter()
        .enumerate()
        // What did not count, or crashed, tells nothing of a load. Where the generator was the
        // limit, it is saturated.
        .filter(|(_, point)| point.has_figures())
        .filter(|(_, point)| point.is_ranked() || !point.is_of_generator())
        .filter_map(|(index, point)| {
            let goodput = point.median(Figure::Goodput)?;
            Some((index, point.load.amount(), goodput))
        })
        .collect();
    match points.first()?.load.shape {
        LoadShape::Closed { .. } => closed(points, &rates),
        LoadShape::Open { .. } => open(&rates),
    }
}

/// The first point from which on goodput does not grow with the load.
fn closed(points: &[Point], rates: &[(usize, f64, f64)]) -> Option<Saturation> {
    let grows = |pair: &[(usize, f64, f64)]| {
        let (load, rate) = (pair[1].1 / pair[0].1, pair[1].2 / pair[0].2);
        load > 1.0 && rate.ln() / load.ln() >= ELASTICITY_MIN
    };
    let last_growth = rates.windows(2).rposition(grows).map_or(0, |at| at + 1);
    if last_growth + 1 >= rates.len() {
        return None;
    }
    let (from, load, _) = rates[last_growth];
    let flat = &rates[last_growth..];
    let capacity = greatest_rate(flat);
    if capacity <= 0.0 {
        return None;
    }
    let queue_ms = load / capacity * 1e3;
    let began = if last_growth == 0 { "the sweep starts saturated: " } else { "" };
    let seen = points[from].median(Figure::ResponseMean);
    let seen = seen.map_or(String::new(), |mean| format!(", measured {mean:.1} ms"));
    Some(Saturation {
        from,
        capacity,
        meaning: format!(
            "{began}from {load} connections on, the goodput stays at {capacity:.1}/s, so the mean response time is \
             connections divided by goodput (Little's law: {load} / {capacity:.1}/s = {queue_ms:.1} ms{seen}): it \
             measures the queue, whatever the server does"
        ),
    })
}

fn open(rates: &[(usize, f64, f64)]) -> Option<Saturation> {
    let behind = |(_, asked, rate): &(usize, f64, f64)| *rate < asked * ANSWERED_SHARE_MIN;
    let first = rates.iter().position(behind)?;
    let (from, asked, rate) = rates[first];
    Some(Saturation {
        from,
        capacity: greatest_rate(&rates[first..]),
        meaning: format!(
            "only {rate:.1}/s of {asked}/s due requests got a response: from here on requests pile up, and response \
             times grow as long as the step lasts"
        ),
    })
}

fn greatest_rate(rates: &[(usize, f64, f64)]) -> f64 {
    rates.iter().map(|(_, _, rate)| *rate).fold(0.0, f64::max)
}
