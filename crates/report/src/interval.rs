//! A piece of a run: what was asked and done within it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::errors::Errors;
use crate::histogram::{Histogram, Packed};

/// What happened between two moments of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// When it begins, in milliseconds since the window began.
    pub start_ms: u64,
    /// How long it is, in milliseconds.
    pub length_ms: u64,
    /// Requests that were due; none in closed load, where nobody asks for a rate.
    pub asked: Option<u64>,
    /// Requests whose good answer ended within it.
    pub done: u64,
    /// Requests that failed within it, by class.
    pub errors: Errors,
    /// Bytes received, heads and all.
    pub bytes: u64,
    /// How busy the generator's busiest thread was, in thousandths of a core.
    pub generator_cpu_permille: u32,
    /// How late the generator looked at what was due or had come, at most, in nanoseconds.
    #[serde(default)]
    pub generator_lag_ns: u64,
    /// Connections that were open at its end.
    #[serde(default)]
    pub connections: u64,
    /// The response time that half of its requests did not exceed, in nanoseconds. Follows from
    /// `response`.
    pub p50_ns: u64,
    /// The response time that 99 % did not exceed, in nanoseconds. Follows from `response`.
    pub p99_ns: u64,
    /// The longest response time, in nanoseconds. Follows from `response`.
    pub max_ns: u64,
    /// The response times of its requests; empty in a document that is to stay small.
    pub response: Packed,
}

impl Interval {
    /// The same with these response times, and the figures that follow from them.
    #[must_use]
    pub fn with_response(mut self, response: &Histogram) -> Self {
        self.p50_ns = response.quantile_ns(0.5);
        self.p99_ns = response.quantile_ns(0.99);
        self.max_ns = response.max_ns();
        self.response = response.pack();
        self
    }

    /// Adds what happened at the same time elsewhere. Nothing is lost.
    #[must_use]
    pub fn beside(mut self, other: &Self) -> Self {
        self.length_ms = self.length_ms.max(other.length_ms);
        self.connections = self.connections.saturating_add(other.connections);
        self.add(other);
        let response = Histogram::unpack(&self.response);
        self.with_response(&response)
    }

    /// The same time in at most `most` pieces: of more, neighbours are put together, as many each
    /// time. Nothing is lost.
    pub fn coarser(intervals: &[Self], most: usize) -> Vec<Self> {
        let together = intervals.len().div_ceil(most.max(1)).max(1);
        intervals.chunks(together).map(Self::joined).collect()
    }

    /// Neighbours as one.
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

    /// Adds all but the figures that follow from the response times.
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

    /// Good answers per second.
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

/// What one step of a scenario did, over all users.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepFigures {
    /// Its name in the scenario.
    pub name: String,
    /// Requests that were answered as asked.
    pub done: u64,
    /// Requests that failed, by class. A broken assertion counts as wrong content.
    pub errors: Errors,
    /// How often each assertion was broken, by its text.
    pub assertions: BTreeMap<String, u64>,
    /// Bytes received, heads and all.
    pub bytes: u64,
    /// Response times of the requests that were answered as asked.
    pub response: Histogram,
}
