//! One condition: a figure, a comparison, a bound.

use std::fmt;

use super::metric::Metric;
use super::outcome::{Answer, ConditionOutcome};
use crate::run::Run;

/// A condition on a run. It is read from text with [`str::parse`].
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    pub(super) metric: Metric,
    pub(super) comparison: Comparison,
    /// In the unit of the metric's quantity.
    pub(super) bound: f64,
    /// As it was written.
    pub(super) text: String,
}

/// How a figure is compared with its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

impl Condition {
    /// Which figure it is about.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// How it compares.
    pub fn comparison(&self) -> Comparison {
        self.comparison
    }

    /// The bound, in the unit of the figure's quantity: nanoseconds, per second, bytes per second, percent, a number.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// Whether it holds for a run, with what was measured.
    pub fn evaluate(&self, run: &Run) -> ConditionOutcome {
        let quantity = self.metric.quantity();
        let measured = self.metric.value(run);
        let answer = match measured {
            None => Answer::NotMeasured,
            Some(value) if self.comparison.holds(value, self.bound) => Answer::Holds,
            Some(_) => Answer::DoesNotHold,
        };
        ConditionOutcome {
            condition: self.text.clone(),
            answer,
            measured: measured.map_or_else(String::new, |value| quantity.text(value)),
            measured_value: measured,
            bound: quantity.text(self.bound),
            bound_value: self.bound,
        }
    }
}

impl Comparison {
    fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Above => value > bound,
            Self::AtLeast => value >= bound,
            Self::Below => value < bound,
            Self::AtMost => value <= bound,
        }
    }

    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::AtMost => "<=",
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
