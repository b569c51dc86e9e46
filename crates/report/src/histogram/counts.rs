//! The histogram that times are recorded in.

use std::time::Duration;

use hdrhistogram::Histogram as Counts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::packed::{Packed, Unreadable};

/// The maximum recorded time in nanoseconds: one hour. Longer times are recorded as this.
pub const TIME_MAX_NS: u64 = 3_600_000_000_000;

/// The quantiles of all report formats, with their names.
pub const QUANTILES: [(&str, f64); 7] = [
    ("p50", 0.5),
    ("p75", 0.75),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("p99.99", 0.9999),
];

/// Significant digits of each value.
const SIGNIFICANT_DIGITS: u8 = 3;
/// Histogram of times in nanoseconds, with three significant digits, up to one hour.
///
/// Recording does not allocate. A histogram takes 270 KB even if empty; many of them (one per
/// second of a run) are kept as [`Packed`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "HistogramRecord", try_from = "HistogramRecord")]
pub struct Histogram {
    counts: Counts<u64>,
}

impl Histogram {
    /// An empty histogram.
    ///
    /// # Panics
    ///
    /// Never: the bounds are valid constants.
    pub fn new() -> Self {
        let counts = Counts::new_with_bounds(1, TIME_MAX_NS, SIGNIFICANT_DIGITS);
        Self { counts: counts.unwrap_or_else(|_| unreachable!("constant bounds")) }
    }

    /// Records one time, at most [`TIME_MAX_NS`].
    pub fn record(&mut self, time: Duration) {
        self.record_ns(u64::try_from(time.as_nanos()).unwrap_or(TIME_MAX_NS));
    }

    /// Records a time in nanoseconds.
    pub fn record_ns(&mut self, time_ns: u64) {
        self.record_many_ns(time_ns, 1);
    }

    /// Records the same time several times.
    pub fn record_many_ns(&mut self, time_ns: u64, count: u64) {
        self.counts.saturating_record_n(time_ns.min(TIME_MAX_NS), count);
    }

    /// Adds the times of another histogram, without loss and in any order.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.add(&other.counts).is_err() {
            unreachable!("all have the same bounds");
        }
    }

    /// Clears the histogram and keeps its memory.
    pub fn clear(&mut self) {
        self.counts.reset();
    }

    /// Number of recorded times.
    pub fn count(&self) -> u64 {
        self.counts.len()
    }

    /// Whether the histogram is empty.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The time at a quantile from 0 to 1; 0 if the histogram is empty.
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        self.counts.value_at_quantile(quantile.clamp(0.0, 1.0)).min(self.max_ns())
    }

    /// The minimum; 0 if the histogram is empty.
    pub fn min_ns(&self) -> u64 {
        self.counts.min()
    }

    /// The maximum; 0 if the histogram is empty.
    pub fn max_ns(&self) -> u64 {
        self.counts.max()
    }

    /// The arithmetic mean; 0 if the histogram is empty.
    pub fn mean_ns(&self) -> f64 {
        self.counts.mean()
    }

    /// The standard deviation; 0 if the histogram is empty.
    pub fn sd_ns(&self) -> f64 {
        self.counts.stdev()
    }

    /// A figure of these times; `None` if there are none, so that nothing is not written as 0.
    pub fn known<T>(&self, figure: T) -> Option<T> {
        (!self.is_empty()).then_some(figure)
    }

    /// Packs the histogram into little space.
    pub fn pack(&self) -> Packed {
        Packed::from_recorded(self.recorded())
    }

    /// Unpacks a packed histogram.
    pub fn unpack(packed: &Packed) -> Self {
        let mut times = Self::new();
        for (time_ns, count) in packed.recorded() {
            times.record_many_ns(time_ns, count);
        }
        times
    }

    /// Parses HdrHistogram's V2 encoding in base64, as [`Histogram::pack`] and other programs write
    /// it.
    pub fn from_base64(text: &str) -> Result<Self, Unreadable> {
        Packed::from_base64(text).map(|packed| Self::unpack(&packed))
    }

    /// The distinct recorded times in ascending order, each with its count.
    pub fn recorded(&self) -> impl Iterator<Item = (u64, u64)> {
        self.counts.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value()))
    }
}

impl Histogram {
    /// Percentiles from the minimum to the maximum, ever closer together: each time with the share
    /// (0 to 1) of times up to it and their count. `steps` of them for each halving of the
    /// remaining share.
    pub fn percentiles(&self, steps: u32) -> impl Iterator<Item = (u64, f64, u64)> {
        let mut seen = 0u64;
        self.counts.iter_quantiles(steps).map(move |step| {
            seen = seen.saturating_add(step.count_since_last_iteration());
            (step.value_iterated_to(), step.quantile_iterated_to(), seen)
        })
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// Histogram in a document. All other fields are derived from `histogram` and ignored when it is
/// read; the times are null if nothing was recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistogramRecord {
    /// Number of recorded times.
    pub count: u64,
    /// The minimum, in nanoseconds.
    pub min_ns: Option<u64>,
    /// The arithmetic mean, in nanoseconds.
    pub mean_ns: Option<f64>,
    /// The standard deviation, in nanoseconds.
    pub sd_ns: Option<f64>,
    /// The median, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// The 75th percentile, in nanoseconds.
    pub p75_ns: Option<u64>,
    /// The 90th percentile, in nanoseconds.
    pub p90_ns: Option<u64>,
    /// The 95th percentile, in nanoseconds.
    pub p95_ns: Option<u64>,
    /// The 99th percentile, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// The 99.9th percentile, in nanoseconds.
    pub p99_9_ns: Option<u64>,
    /// The 99.99th percentile, in nanoseconds.
    pub p99_99_ns: Option<u64>,
    /// The maximum, in nanoseconds.
    pub max_ns: Option<u64>,
    /// All times, as a packed histogram.
    pub histogram: Packed,
}

impl From<Histogram> for HistogramRecord {
    fn from(times: Histogram) -> Self {
        let quantile = |quantile| times.known(times.quantile_ns(quantile));
        Self {
            count: times.count(),
            min_ns: times.known(times.min_ns()),
            mean_ns: times.known(times.mean_ns()),
            sd_ns: times.known(times.sd_ns()),
            p50_ns: quantile(0.5),
            p75_ns: quantile(0.75),
            p90_ns: quantile(0.9),
            p95_ns: quantile(0.95),
            p99_ns: quantile(0.99),
            p99_9_ns: quantile(0.999),
            p99_99_ns: quantile(0.9999),
            max_ns: times.known(times.max_ns()),
            histogram: times.pack(),
        }
    }
}

impl TryFrom<HistogramRecord> for Histogram {
    type Error = Unreadable;

    fn try_from(record: HistogramRecord) -> Result<Self, Unreadable> {
        Ok(Self::unpack(&record.histogram))
    }
}
