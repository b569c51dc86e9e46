//! What became of a condition, as reports hold it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run says to a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConditionOutcome {
    /// The condition, as it was written.
    pub condition: String,
    /// Whether it holds.
    pub answer: Answer,
    /// What was measured, with its unit; empty where nothing was.
    pub measured: String,
    /// What was measured: nanoseconds, per second, bytes per second, percent, or a number; null where nothing was.
    pub measured_value: Option<f64>,
    /// The bound, with its unit.
    pub bound: String,
    /// The bound, in the unit of `measured_value`.
    pub bound_value: f64,
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It holds.
    Holds,
    /// It does not hold.
    DoesNotHold,
    /// Nothing was measured: there was no successful response.
    NotMeasured,
}
