//! How a figure of one record stands to the same of those before it.

use crate::statistics::{Better, Estimate, median};

/// A record is a regression when the whole interval of a figure lies further on the worse side of the median of the records
/// before it than this share of it.
pub const TREND_TOLERANCE: f64 = 0.05;
/// So many records before it are looked at.
const BEFORE_MAX: usize = 5;
/// So many there must be.
const BEFORE_MIN: usize = 2;

/// How an entry stands to those before it.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// There is not enough to tell: records before it, or valid repeats of its own. One repeat has no interval.
    TooFew,
    /// No significant difference from them, or better.
    Usual,
    /// Worse than them beyond its interval.
    Regression {
        /// Their median.
        before: f64,
        /// By how much of it: a negative share of a rate, a positive one of a time.
        change: f64,
    },
}

/// The medians of a figure in the records before.
#[derive(Debug, Default)]
pub(super) struct Before(Vec<f64>);

impl Before {
    /// Says how a figure stands to those before it, of which it is one from now on.
    pub(super) fn mark(&mut self, figure: &Estimate, better: Better) -> Mark {
        let mark = self.told(figure, better);
        self.0.push(figure.median);
        mark
    }

    fn told(&self, figure: &Estimate, better: Better) -> Mark {
        let recent = &self.0[self.0.len().saturating_sub(BEFORE_MAX)..];
        let are_enough = recent.len() >= BEFORE_MIN && figure.has_interval();
        let Some(before) = median(recent).filter(|_| are_enough) else {
            return Mark::TooFew;
        };
        let is_worse = match better {
            Better::Higher => figure.high < before * (1.0 - TREND_TOLERANCE),
            Better::Lower => figure.low > before * (1.0 + TREND_TOLERANCE),
        };
        if is_worse {
            return Mark::Regression {
                before,
                change: figure.median / before - 1.0,
            };
        }
        Mark::Usual
    }
}
