//! Two sides compared: round by round, and what all rounds say together.
//!
//! Runs of the same round met the same machine. Medians of either side alone would compare a good minute of the one with
//! a bad minute of the other: rounds of one and the same program differ by a third on a shared machine, which is more
//! than most rules ask for. What a rule asks for may still lie inside the interval of the median: then the rounds do not
//! say whether it is met, and the verdict is that, not the toss of a coin.

use std::fmt;

use serde::Serialize;
use vervet_lab::statistics::Estimate;

/// A figure of one run, and the round of that run.
pub(crate) type OfRound = (u32, f64);

/// The median of the ratios of all rounds, with its interval.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Ratio {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// How many rounds had both.
    pub(crate) rounds: usize,
}

impl Ratio {
    /// Ours divided by theirs; none where no round has both.
    pub(crate) fn of(ours: &[OfRound], theirs: &[OfRound]) -> Option<Self> {
        let ratio = |(round, ours): &OfRound| {
            let (_, theirs) = theirs.iter().find(|(other, _)| other == round)?;
            Some(ours / theirs).filter(|ratio| ratio.is_finite())
        };
        let ratios: Vec<f64> = ours.iter().filter_map(ratio).collect();
        let estimate = Estimate::of(&ratios)?;
        Some(Self {
            median: estimate.median,
            low: estimate.low,
            high: estimate.high,
            rounds: estimate.repeats,
        })
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            median, low, high, ..
        } = self;
        write!(f, "{median:.3} × ({low:.2} to {high:.2})")
    }
}

/// What a ratio has to be.
#[derive(Clone, Copy)]
pub(crate) enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Bound {
    /// What the rounds say of it.
    pub(crate) fn verdict(self, ratio: Option<Ratio>) -> Verdict {
        let Some(ratio) = ratio else {
            return Verdict::NotMeasured;
        };
        let best = match self {
            Self::AtLeast(_) => ratio.high,
            Self::AtMost(_) => ratio.low,
        };
        if self.holds(ratio.median) {
            Verdict::Met
        } else if self.holds(best) {
            Verdict::NotToldApart
        } else {
            Verdict::NotMet
        }
    }

    fn holds(self, ratio: f64) -> bool {
        match self {
            Self::AtLeast(factor) => ratio >= factor,
            Self::AtMost(factor) => ratio <= factor,
        }
    }
}

/// Whether a rule is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Met,
    /// The median does not meet it, but what is asked for lies inside the median's interval.
    NotToldApart,
    NotMet,
    /// One of both has no good runs.
    NotMeasured,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Met => "met",
            Self::NotToldApart => "not told apart",
            Self::NotMet => "**not met**",
            Self::NotMeasured => "not measured",
        })
    }
}
