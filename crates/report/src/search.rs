//! A search for the highest rate at which a condition is true, with the figures of each try.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::errors::Errors;

/// A search for the highest rate at which a condition is true. The run that contains it is the best
/// try, or the last if all failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Search {
    /// The condition as written.
    pub condition: String,
    /// The highest rate that held, requested, in thousandths of a request per second; null if none
    /// did.
    #[serde(default)]
    pub holds_milli: Option<u64>,
    /// The lowest rate above it that failed, or null.
    #[serde(default)]
    pub fails_milli: Option<u64>,
    /// The tries, in order of time.
    pub tries: Vec<Try>,
}

/// One try: a short run at one rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Try {
    /// Requested rate, in thousandths of a request per second.
    pub rate_asked_milli: u64,
    /// Successful responses per second, in thousandths.
    pub rate_milli: u64,
    /// Outcome of the try.
    pub outcome: TryOutcome,
    /// The measured value with its unit; empty if nothing was measured.
    pub measured: String,
    /// Length of the try in microseconds.
    pub window_us: u64,
    /// Requests that were due.
    pub asked: u64,
    /// The number of successful responses.
    pub done: u64,
    /// Failed requests by class.
    pub errors: Errors,
    /// Median of the response times, in nanoseconds; null if there were none.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the response times, in nanoseconds; null if there were none.
    pub p99_ns: Option<u64>,
    /// CPU use of the generator's busiest thread, in thousandths of a core.
    pub generator_cpu_permille: u32,
}

/// Outcome of a try. A rate holds if it was reached and the condition is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TryOutcome {
    /// The rate was reached, and the condition is true.
    Holds,
    /// The rate was reached, and the condition is false.
    DoesNotHold,
    /// The figure of the condition was not measured.
    NotMeasured,
    /// Too many requests failed.
    RequestsFailed,
    /// Too many of the requests that were due were not sent.
    RateNotReached,
}
