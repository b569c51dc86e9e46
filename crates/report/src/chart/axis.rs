//! What an axis shows: its label, the unit of its values, how they are spread, and how far it
//! reaches.

use super::ticks::{linear, logarithmic};
use crate::units;

/// One axis of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it shows, for people: "response time".
    pub label: String,
    /// What its values are in.
    pub unit: Unit,
    /// How they are spread.
    pub scale: Scale,
    /// How far it reaches.
    pub range: Range,
    /// Ticks with their labels, instead of automatic ones.
    pub ticks: Option<Vec<(f64, String)>>,
}

/// What the values of an axis are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Numbers without a unit.
    Number,
    /// Whole numbers: no tick stands between two of them.
    Count,
    /// A rate per second.
    PerSecond,
    /// A time in nanoseconds.
    Time,
    /// A size in bytes.
    Bytes,
    /// A rate in bytes per second.
    BytesPerSecond,
    /// A share in percent.
    Percent,
    /// Percentiles by their nines: 1 is 90 %, 2 is 99 %, 3 is 99.9 %. See [`nines`].
    Nines,
}

/// Where a share from 0 to below 1 lies on an axis of nines.
pub fn nines(share: f64) -> f64 {
    -(1.0 - share).log10()
}

/// How values are spread over an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally wide.
    Linear,
    /// Equal ratios are equally wide. What is not above zero is not drawn.
    Logarithmic,
}

/// How far an axis reaches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// To the ticks around the values.
    Values,
    /// From zero to the tick above the values; on a logarithmic axis as [`Range::Values`].
    FromZero,
    /// From the smallest to the largest value, wherever the ticks are.
    Exact,
    /// From and to these values.
    Fixed(f64, f64),
}

/// An axis with its range and ticks settled.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settled {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) ticks: Vec<(f64, String)>,
    scale: Scale,
}

impl Axis {
    /// A linear axis that begins at zero.
    pub fn new(label: impl Into<String>, unit: Unit) -> Self {
        Self {
            label: label.into(),
            unit,
            scale: Scale::Linear,
            range: Range::FromZero,
            ticks: None,
        }
    }

    /// The same with another range.
    #[must_use]
    pub fn reaching(mut self, range: Range) -> Self {
        self.range = range;
        self
    }

    /// The same, with equal ratios equally wide.
    #[must_use]
    pub fn logarithmic(mut self) -> Self {
        self.scale = Scale::Logarithmic;
        self
    }

    /// The same with these ticks.
    #[must_use]
    pub fn with_ticks(mut self, ticks: Vec<(f64, String)>) -> Self {
        self.ticks = Some(ticks);
        self
    }

    /// Settles range and ticks for values, with about so many ticks; none where no value can be
    /// drawn.
    pub(super) fn settle(
        &self,
        values: impl Iterator<Item = f64>,
        about: usize,
    ) -> Option<Settled> {
        let drawn = values.filter(|value| self.draws(*value));
        let (mut low, mut high) = drawn
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        if low > high {
            return None;
        }
        match self.range {
            Range::Fixed(from, to) => (low, high) = (from, to),
            Range::FromZero if self.scale == Scale::Linear => {
                low = low.min(0.0);
                high = high.max(0.0);
            }
            _ => {}
        }
        if high <= low {
            // One value: some room around it.
            let room =
                if low == 0.0 || self.scale == Scale::Logarithmic { 1.0 } else { low.abs() * 0.1 };
            high = if self.scale == Scale::Logarithmic { low * 2.0 } else { high + room };
        }
        let values = match self.scale {
            Scale::Linear => linear(low, high, self.unit, about),
            Scale::Logarithmic => logarithmic(low, high, about),
        };
        if matches!(self.range, Range::Values | Range::FromZero) {
            low = values.first().map_or(low, |first| first.min(low));
            high = values.last().map_or(high, |last| last.max(high));
        }
        let labelled = || match self.unit {
            Unit::Nines => percentile_ticks(),
            unit => unit.labels(&values, self.scale),
        };
        let mut ticks = self.ticks.clone().unwrap_or_else(labelled);
        let slack = (high - low) * 1e-9;
        ticks.retain(|(value, _)| (low - slack..=high + slack).contains(value));
        Some(Settled { low, high, ticks, scale: self.scale })
    }

    /// Whether a value has a place on it.
    pub(super) fn draws(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }
}

impl Settled {
    /// Where a value lies, from 0 at the low end to 1 at the high end.
    pub(super) fn place(&self, value: f64) -> f64 {
        let (low, high, value) = match self.scale {
            Scale::Linear => (self.low, self.high, value),
            Scale::Logarithmic => (self.low.ln(), self.high.ln(), value.max(self.low).ln()),
        };
        ((value - low) / (high - low)).clamp(0.0, 1.0)
    }
}

impl Unit {
    /// The units that labels of values up to this may be written in: what one is worth, and its
    /// name.
    pub(super) fn written(self, largest: f64, scale: Scale) -> (f64, &'static str) {
        let steps: &[(f64, &str)] = match self {
            Self::Number | Self::Count => &[(1.0, "")],
            Self::PerSecond => &[(1e6, "M/s"), (1e3, "k/s"), (1.0, "/s")],
            Self::Time => &[(60e9, " min"), (1e9, " s"), (1e6, " ms"), (1e3, " us"), (1.0, " ns")],
            Self::Bytes => {
                &[(1_073_741_824.0, " GiB"), (1_048_576.0, " MiB"), (1024.0, " KiB"), (1.0, " B")]
            }
            Self::BytesPerSecond => &[
                (1_073_741_824.0, " GiB/s"),
                (1_048_576.0, " MiB/s"),
                (1024.0, " KiB/s"),
                (1.0, " B/s"),
            ],
            Self::Percent | Self::Nines => &[(1.0, " %")],
        };
        let least = if self == Self::PerSecond { 10.0 } else { 1.0 };
        let found = steps.iter().find(|(worth, _)| largest.abs() >= *worth * least);
        // Minutes only where there are several, and not where each doubling has its own unit.
        match found {
            Some((worth, " min")) if scale == Scale::Logarithmic || largest < 5.0 * worth => {
                (1e9, " s")
            }
            Some(found) => *found,
            None => steps.last().copied().unwrap_or((1.0, "")),
        }
    }

    /// A value for people, with three digits.
    pub fn text(self, value: f64) -> String {
        match self {
            Self::Number | Self::Count => units::number(value),
            Self::PerSecond => units::rate(value),
            Self::Time => units::time(value),
            Self::Bytes => units::bytes(value),
            Self::BytesPerSecond => format!("{}/s", units::bytes(value)),
            Self::Percent => units::percent(value / 100.0),
            Self::Nines => percentile(value),
        }
    }

    /// Ticks with their labels: all in one unit on a linear axis, each in its own on a logarithmic
    /// one.
    fn labels(self, ticks: &[f64], scale: Scale) -> Vec<(f64, String)> {
        let largest = ticks.iter().fold(0.0, |largest: f64, tick| largest.max(tick.abs()));
        let step = match ticks {
            [one, other, ..] => (other - one).abs(),
            _ => largest,
        };
        let label = |tick: &f64| {
            let (worth, name) =
                self.written(if scale == Scale::Linear { largest } else { *tick }, scale);
            let decimals = decimals(if scale == Scale::Linear { step } else { *tick } / worth);
            let number = tick / worth;
            let text = if number.abs() >= 1000.0 {
                units::number(number)
            } else {
                format!("{number:.decimals$}")
            };
            (*tick, if *tick == 0.0 { "0".to_owned() } else { format!("{text}{name}") })
        };
        ticks.iter().map(label).collect()
    }
}

/// The percentiles that people know.
fn percentile_ticks() -> Vec<(f64, String)> {
    let shares = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999];
    shares.map(|share| (nines(share), percentile(nines(share)))).to_vec()
}

/// The percentile at a place of an axis of nines, with as many digits as tell it apart.
fn percentile(nines: f64) -> String {
    let decimals = [1.0, 2.0, 3.0, 4.0, 5.0].iter().filter(|step| nines > **step + 1e-9).count();
    let text = format!("{:.decimals$}", 100.0 - 100.0 * 10f64.powf(-nines));
    let short =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{short} %")
}

/// The decimals that tell steps of this size apart.
fn decimals(step: f64) -> usize {
    [1.0, 0.1, 0.01, 0.001].iter().position(|size| step >= size * 0.999).unwrap_or(4)
}
