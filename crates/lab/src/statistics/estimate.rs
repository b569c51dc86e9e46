//! What repeats say of a figure: their median, and the interval that its true value lies in.
//!
//! The interval is found by the bootstrap: repeats are drawn from the repeats, with replacement, again and again, and
//! the middle 95 % of the medians of what was drawn is the interval. It asks nothing of the shape of the noise. With few
//! repeats it is all there can be, from the least to the greatest, and covers the true median less often than 95 %:
//! [`Estimate::coverage`] says how often.

use fastrand::Rng;

/// How often repeats are drawn. The ends of the interval of five repeats are then always the same.
const RESAMPLES: usize = 2_000;
/// Drawing begins here, so that the same record always gives the same interval.
const SEED: u64 = 0x7665_7276_6574;
/// How much of the drawn medians lies below the interval, and as much above it.
const TAIL: f64 = 0.025;
/// A figure whose repeats differ by more than this share of their median is told with a warning.
pub const SPREAD_MAX: f64 = 0.10;

/// What repeats say of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The middle repeat; between the two middle ones where their number is even.
    pub median: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// The least repeat.
    pub least: f64,
    /// The greatest repeat.
    pub greatest: f64,
    /// How many repeats there were.
    pub repeats: usize,
}

impl Estimate {
    /// What these repeats say; none where there is no repeat, or one is no number.
    pub fn of(values: &[f64]) -> Option<Self> {
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
        })
    }

    /// Whether there is an interval: one repeat has none.
    pub fn has_interval(&self) -> bool {
        self.repeats > 1
    }

    /// How far the repeats lie apart, as a share of their median; 0 where the median is 0.
    pub fn spread(&self) -> f64 {
        if self.median == 0.0 {
            return 0.0;
        }
        ((self.greatest - self.least) / self.median).abs()
    }

    /// How often an interval from so many repeats covers the true median: 0.95, and less below six repeats, where even
    /// the least and the greatest repeat leave it out more often.
    pub fn coverage(&self) -> f64 {
        let outside = i32::try_from(self.repeats).map_or(0.0, |count| 2.0 * 0.5_f64.powi(count));
        (1.0 - outside).clamp(0.0, 0.95)
    }

    /// Whether the two are not told apart: their intervals meet, or one of them has none.
    pub fn ties_with(&self, other: &Self) -> bool {
        if !self.has_interval() || !other.has_interval() {
            return true;
        }
        self.low <= other.high && other.low <= self.high
    }
}

/// How one set of repeats stands to another: the ratio of their medians, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The median of the second, divided by that of the first.
    pub ratio: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// Whether both have more than one repeat.
    pub has_interval: bool,
}

impl Ratio {
    /// `second` divided by `first`, the base; none where the base is not above zero or a side is missing.
    pub fn of(first: &[f64], second: &[f64]) -> Option<Self> {
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
        let ratios = above.iter().zip(&below).map(|(above, below)| above / below);
        let (low, high) = middle(&sorted(ratios.collect()));
        Some(Self {
            ratio: other / base,
            low,
            high,
            has_interval: first.len() > 1 && second.len() > 1,
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
        let drawn: Vec<f64> = values
            .iter()
            .map(|_| values[rng.usize(..values.len())])
            .collect();
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
