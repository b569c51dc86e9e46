//! Estimates of a figure from repeats: the median and its confidence interval.
//!
//! The interval is computed by bootstrap: of many resamples of the repeats, with replacement, the
//! middle 95 % of the medians. It assumes nothing about the shape of the noise. With few repeats it
//! spans minimum and maximum and covers the true median in less than 95 % of cases; with more it
//! excludes the extremes, and may cover it less often, too: see [`Estimate::coverage`].

use fastrand::Rng;

/// How often repeats are drawn. The ends of the interval of five repeats are then always the same.
const RESAMPLES: usize = 2_000;
/// Fixed random seed, so that the same record always gives the same interval.
const SEED: u64 = 0x7665_7276_6574;
/// How much of the drawn medians lies below the interval, and as much above it.
const TAIL: f64 = 0.025;
/// A figure whose repeats differ by more than this share of their median gets a warning.
pub const SPREAD_MAX: f64 = 0.10;

/// The median of repeats and its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The middle repeat; between the two middle ones where their number is even.
    pub median: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// The smallest value of a repeat.
    pub least: f64,
    /// The largest value of a repeat.
    pub greatest: f64,
    /// How many repeats there were.
    pub repeats: usize,
    /// How many of them lie below the interval.
    pub below: usize,
    /// How many of them lie above it.
    pub above: usize,
}

impl Estimate {
    /// Estimates from repeats; `None` if there are none, or one is not finite.
    pub fn from_repeats(values: &[f64]) -> Option<Self> {
        if values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let median = median(values)?;
        let drawn = sorted(drawn_medians(values, &mut Rng::with_seed(SEED)));
        let (low, high) = middle(&drawn);
        Some(Self {
            median,
            low,
            high,
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            greatest: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            repeats: values.len(),
            below: values.iter().filter(|value| **value < low).count(),
            above: values.iter().filter(|value| **value > high).count(),
        })
    }

    /// Whether there is an interval: not with a single repeat.
    pub fn has_interval(&self) -> bool {
        self.repeats > 1
    }

    /// How far the repeats lie apart, as a share of their median; where that is 0 and they are not
    /// all, without bound.
    pub fn spread(&self) -> f64 {
        let apart = self.greatest - self.least;
        if apart == 0.0 {
            return 0.0;
        }
        (apart / self.median).abs()
    }

    /// Minimum probability that the interval covers the true median. Independent repeats lie below
    /// and above it equally often; the interval misses it only if no more of them lie on one side
    /// than are outside of the interval there.
    pub fn coverage(&self) -> f64 {
        let outside = at_most(self.below, self.repeats) + at_most(self.above, self.repeats);
        (1.0 - outside).max(0.0)
    }

    /// Whether there is no significant difference: the intervals overlap, or one of them has none.
    pub fn ties_with(&self, other: &Self) -> bool {
        if !self.has_interval() || !other.has_interval() {
            return true;
        }
        self.low <= other.high && other.low <= self.high
    }
}

/// Probability that at most `count` of `throws` of a coin are heads.
fn at_most(count: usize, throws: usize) -> f64 {
    let mut of_exactly = 0.5_f64.powi(i32::try_from(throws).unwrap_or(i32::MAX));
    let mut sum = of_exactly;
    for heads in 1..=count.min(throws) {
        of_exactly *= number(throws + 1 - heads) / number(heads);
        sum += of_exactly;
    }
    sum
}

#[expect(clippy::cast_precision_loss, reason = "numbers of repeats")]
fn number(count: usize) -> f64 {
    count as f64
}

/// The ratio of the medians of two sets of repeats, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The median of the second, divided by that of the first.
    pub ratio: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// Whether there is an interval: both sets have more than one repeat, and not too many of the
    /// base are 0.
    pub has_interval: bool,
}

impl Ratio {
    /// `second` divided by `first`, the base; `None` if the base is not above zero or a side is
    /// empty.
    pub fn from_repeats(first: &[f64], second: &[f64]) -> Option<Self> {
        let mut values = first.iter().chain(second);
        if values.any(|value| !value.is_finite()) {
            return None;
        }
        let (base, other) = (median(first)?, median(second)?);
        if base <= 0.0 {
            return None;
        }
        let mut rng = Rng::with_seed(SEED);
        let below = drawn_medians(first, &mut rng);
        let above = drawn_medians(second, &mut rng);
        // Nothing to nothing may be any ratio: for the lower end the least, for the upper one that
        // without bound.
        let ratios = |of_nothing: f64| -> Vec<f64> {
            let pairs = above.iter().zip(&below);
            let ratios = pairs.map(|(above, below)| above / below);
            sorted(ratios.map(|ratio| if ratio.is_nan() { of_nothing } else { ratio }).collect())
        };
        let (low, _) = middle(&ratios(0.0));
        let (_, high) = middle(&ratios(f64::INFINITY));
        Some(Self {
            ratio: other / base,
            low,
            high,
            has_interval: first.len() > 1 && second.len() > 1 && high.is_finite(),
        })
    }
}

/// The middle value; between the two middle ones where their number is even.
pub fn median(values: &[f64]) -> Option<f64> {
    let values = sorted(values.to_vec());
    let upper = *values.get(values.len() / 2)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = values[values.len() / 2 - 1];
    Some(f64::midpoint(lower, upper))
}

fn drawn_medians(values: &[f64], rng: &mut Rng) -> Vec<f64> {
    let mut draw = || {
        let drawn: Vec<f64> = values.iter().map(|_| values[rng.usize(..values.len())]).collect();
        median(&drawn).unwrap_or_default()
    };
    (0..RESAMPLES).map(|_| draw()).collect()
}

/// The middle 95 % of what is sorted.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of the number of resamples, which is small and positive"
)]
fn middle(sorted: &[f64]) -> (f64, f64) {
    let outside = (sorted.len() as f64 * TAIL) as usize;
    (sorted[outside], sorted[sorted.len() - 1 - outside])
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}
