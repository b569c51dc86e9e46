//! One condition: a figure, a comparison, a bound.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::metric::Metric;
use crate::run::Run;
use crate::units;

/// A condition on a run, parsed from text with [`str::parse`].
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    pub(super) metric: Metric,
    pub(super) comparison: Comparison,
    /// The bound, in the unit of the metric's quantity.
    pub(super) bound: f64,
    /// The condition as written.
    pub(super) text: String,
}

/// How a figure is compared with its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Greater than the bound: `>`.
    Above,
    /// Not less than the bound: `>=`.
    AtLeast,
    /// Less than the bound: `<`.
    Below,
    /// Not greater than the bound: `<=`.
    AtMost,
}

impl Condition {
    /// The figure of the condition.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// How the figure is compared with the bound.
    pub fn comparison(&self) -> Comparison {
        self.comparison
    }

    /// The bound, in the unit of the figure's quantity: nanoseconds, per second, bytes per second,
    /// percent, a number.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// Evaluates the condition for a run.
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
            measured: match measured {
                Some(value) if self.metric == Metric::Audit && value > 0.0 => {
                    run.failed_rules().collect::<Vec<_>>().join(", ")
                }
                Some(value) => quantity.text(value),
                None => String::new(),
            },
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

    /// The operator as written in conditions.
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

/// The outcome of a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConditionOutcome {
    /// The condition as written.
    pub condition: String,
    /// Whether the condition is true for the run.
    pub answer: Answer,
    /// The measured value with its unit; empty if not measured.
    pub measured: String,
    /// The measured value in nanoseconds, per second, bytes per second, percent, or as a number;
    /// null if not measured.
    pub measured_value: Option<f64>,
    /// The bound, with its unit.
    pub bound: String,
    /// The bound, in the unit of `measured_value`.
    pub bound_value: f64,
}

/// Whether a condition is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The condition is true.
    Holds,
    /// The condition is false.
    DoesNotHold,
    /// Nothing was measured: there was no successful response.
    NotMeasured,
}

/// A kind of value, with the unit that it is compared in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A time in nanoseconds.
    Time,
    /// A rate per second.
    Rate,
    /// A rate in bytes per second.
    BytesPerSecond,
    /// A share in percent.
    Percent,
    /// A number without a unit.
    Count,
}

const KIBI: f64 = 1024.0;

impl Quantity {
    /// The factor of a unit; `None` if this kind of figure does not have it.
    pub(super) fn unit(self, unit: &str) -> Option<f64> {
        let small = unit.to_ascii_lowercase();
        match self {
            Self::Time => match unit {
                "ns" => Some(1.0),
                "us" | "µs" | "μs" => Some(1e3),
                "ms" => Some(1e6),
                "s" => Some(1e9),
                "m" | "min" => Some(60e9),
                _ => None,
            },
            Self::Percent => (unit == "%").then_some(1.0),
            Self::Count => thousands(&small),
            Self::Rate => thousands(small.strip_suffix("/s").unwrap_or(&small)),
            Self::BytesPerSecond => match small.strip_suffix("/s").unwrap_or(&small) {
                "" | "b" => Some(1.0),
                "k" | "kb" | "kib" => Some(KIBI),
                "m" | "mb" | "mib" => Some(KIBI * KIBI),
                "g" | "gb" | "gib" => Some(KIBI * KIBI * KIBI),
                _ => None,
            },
        }
    }

    /// The allowed suffixes of a number, for messages.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Self::Time => "a unit of time: us, ms or s, as in 20ms",
            Self::Rate => "nothing, k, m or /s after the number, as in 5k or 5000/s",
            Self::BytesPerSecond => "k, m or g after the number (of 1,024), as in 10m or 10MiB/s",
            Self::Percent | Self::Count => "nothing, k or m after the number, as in 10 or 2k",
        }
    }

    /// Formats a value with its unit.
    pub fn text(self, value: f64) -> String {
        match self {
            Self::Time => units::time(value),
            Self::Rate => units::rate(value),
            Self::BytesPerSecond => format!("{}/s", units::bytes(value)),
            Self::Percent => units::percent(value / 100.0),
            Self::Count => units::number(value),
        }
    }
}

fn thousands(unit: &str) -> Option<f64> {
    match unit {
        "" => Some(1.0),
        "k" => Some(1e3),
        "m" => Some(1e6),
        _ => None,
    }
}
