//! A search for the highest rate at which a condition holds, with the evidence of each try.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::errors::Errors;

/// A search for the highest rate at which a condition holds. The run that it stands in is the best
/// try, or the last where none held.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Search {
    /// The condition, as it was asked.
    pub condition: String,
    /// The tries, in the order in which they were made.
    pub tries: Vec<Try>,
}

/// One try: a short run at one rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Try {
    /// Requests per second that were asked for, in thousandths.
    pub rate_asked_milli: u64,
    /// Good answers per second, in thousandths.
    pub rate_milli: u64,
    /// What it came to.
    pub outcome: TryOutcome,
    /// What was measured of the condition, as people write it; empty where nothing was.
    pub measured: String,
    /// How long it was, in microseconds.
    pub window_us: u64,
    /// Requests that were due.
    pub asked: u64,
    /// Requests that were answered as asked.
    pub done: u64,
    /// Requests that failed, by class.
    pub errors: Errors,
    /// The response time that half of its requests did not exceed, in nanoseconds.
    pub p50_ns: u64,
    /// The response time that 99 % did not exceed, in nanoseconds.
    pub p99_ns: u64,
    /// How busy the generator's busiest thread was, in thousandths of a core.
    pub generator_cpu_permille: u32,
}

/// What a try came to. A rate holds when the condition does and the run is one at that rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TryOutcome {
    /// The rate was reached, and the condition holds at it.
    Holds,
    /// The rate was reached, and the condition does not hold at it.
    DoesNotHold,
    /// Nothing was measured that the condition applies to.
    NotMeasured,
    /// Too many requests failed.
    RequestsFailed,
    /// Too many of the requests that were due were not made.
    RateNotReached,
}
