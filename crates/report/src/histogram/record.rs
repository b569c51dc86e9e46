//! A histogram as documents hold it: the figures that people look for, and the histogram itself, which alone is read back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counts::Histogram;
use super::packed::{Packed, Unreadable};

/// Histogram in a document. Everything but `histogram` follows from it and is not read back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistogramRecord {
    /// How many times were recorded.
    pub count: u64,
    /// The shortest, in nanoseconds.
    pub min_ns: u64,
    /// The arithmetic mean, in nanoseconds.
    pub mean_ns: f64,
    /// The standard deviation, in nanoseconds.
    pub sd_ns: f64,
    /// The time that half of all did not exceed, in nanoseconds.
    pub p50_ns: u64,
    /// The time that three quarters of all did not exceed, in nanoseconds.
    pub p75_ns: u64,
    /// The time that 90 % did not exceed, in nanoseconds.
    pub p90_ns: u64,
    /// The time that 95 % did not exceed, in nanoseconds.
    pub p95_ns: u64,
    /// The time that 99 % did not exceed, in nanoseconds.
    pub p99_ns: u64,
    /// The time that 99.9 % did not exceed, in nanoseconds.
    pub p99_9_ns: u64,
    /// The time that 99.99 % did not exceed, in nanoseconds.
    pub p99_99_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
    /// All of them.
    pub histogram: Packed,
}

impl From<Histogram> for HistogramRecord {
    fn from(times: Histogram) -> Self {
        Self {
            count: times.count(),
            min_ns: times.min_ns(),
            mean_ns: times.mean_ns(),
            sd_ns: times.sd_ns(),
            p50_ns: times.quantile_ns(0.5),
            p75_ns: times.quantile_ns(0.75),
            p90_ns: times.quantile_ns(0.9),
            p95_ns: times.quantile_ns(0.95),
            p99_ns: times.quantile_ns(0.99),
            p99_9_ns: times.quantile_ns(0.999),
            p99_99_ns: times.quantile_ns(0.9999),
            max_ns: times.max_ns(),
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
