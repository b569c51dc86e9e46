//! A piece of a run: requests, responses and errors within it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::errors::Errors;
use crate::histogram::{Histogram, Packed};

/// Figures of a piece of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Start, in milliseconds since the start of the measurement.
    pub start_ms: u64,
    /// Length of the interval in milliseconds.
    pub length_ms: u64,
    /// Requests that were due; null in closed load.
    pub asked: Option<u64>,
    /// Successful responses that ended in the interval.
    pub done: u64,
    /// Failed requests by class.
    pub errors: Errors,
    /// Bytes received, including heads.
    pub bytes: u64,
    /// CPU use of the generator's busiest thread, in thousandths of a core.
    pub generator_cpu_permille: u32,
    /// Maximum lag of the generator, in nanoseconds.
    #[serde(default)]
    pub generator_lag_ns: u64,
    /// Open connections at the end of the interval.
    #[serde(default)]
    pub connections: u64,
    /// Median of the response times, in nanoseconds; null if there were none. Derived from
    /// `response`.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the response times, in nanoseconds, or null. Derived from `response`.
    pub p99_ns: Option<u64>,
    /// Longest response time, in nanoseconds, or null. Derived from `response`.
    pub max_ns: Option<u64>,
    /// Response times of successful responses; empty in documents that are kept small.
    pub response: Packed,
}

impl Interval {
    /// The interval with these response times and the figures derived from them.
    #[must_use]
    pub fn with_response(mut self, response: &Histogram) -> Self {
        self.p50_ns = response.known(response.quantile_ns(0.5));
        self.p99_ns = response.known(response.quantile_ns(0.99));
        self.max_ns = response.known(response.max_ns());
        self.response = response.pack();
        self
    }

    /// Adds the interval of another agent at the same time, without loss.
    #[must_use]
    pub fn beside(mut self, other: &Self) -> Self {
        self.length_ms = self.length_ms.max(other.length_ms);
        self.connections = self.connections.saturating_add(other.connections);
        self.add(other);
        let response = Histogram::unpack(&self.response);
        self.with_response(&response)
    }

    /// Merges adjacent intervals, equally many each, until there are at most `most`.
    pub fn coarser(intervals: &[Self], most: usize) -> Vec<Self> {
        let together = intervals.len().div_ceil(most.max(1)).max(1);
        intervals.chunks(together).map(Self::joined).collect()
    }

    /// Merges adjacent intervals into one.
    fn joined(neighbours: &[Self]) -> Self {
        let Some((first, rest)) = neighbours.split_first() else {
            return Self::default();
        };
        let mut whole = first.clone();
        for next in rest {
            let end_ms = next.start_ms.saturating_add(next.length_ms);
            whole.length_ms = end_ms.saturating_sub(whole.start_ms).max(whole.length_ms);
            whole.connections = next.connections;
            whole.add(next);
        }
        let response = Histogram::unpack(&whole.response);
        whole.with_response(&response)
    }

    /// Adds all figures except those derived from the response times.
    fn add(&mut self, other: &Self) {
        self.asked = match (self.asked, other.asked) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (known, None) | (None, known) => known,
        };
        self.done = self.done.saturating_add(other.done);
        self.errors.merge(&other.errors);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.generator_cpu_permille = self.generator_cpu_permille.max(other.generator_cpu_permille);
        self.generator_lag_ns = self.generator_lag_ns.max(other.generator_lag_ns);
        self.response.merge(&other.response);
    }

    /// Successful responses per second.
    pub fn rate(&self) -> f64 {
        per_second(self.done, self.length_ms)
    }

    /// Failed requests per second.
    pub fn failed_rate(&self) -> f64 {
        per_second(self.errors.total(), self.length_ms)
    }

    /// Requests due per second; none in closed load.
    pub fn rate_asked(&self) -> Option<f64> {
        self.asked.map(|asked| per_second(asked, self.length_ms))
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
fn per_second(count: u64, length_ms: u64) -> f64 {
    if length_ms == 0 {
        return 0.0;
    }
    count as f64 * 1000.0 / length_ms as f64
}

/// Figures of one step of a scenario, over all users.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepFigures {
    /// Name of the step in the scenario.
    pub name: String,
    /// The number of successful responses.
    pub done: u64,
    /// Failed requests by class. A failed assertion counts as `wrong_content`.
    pub errors: Errors,
    /// How often each assertion failed, by its text.
    pub assertions: BTreeMap<String, u64>,
    /// Bytes received, including heads.
    pub bytes: u64,
    /// Response times of successful responses.
    pub response: Histogram,
}
