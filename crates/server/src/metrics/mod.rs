//! Counters of what the server does: written by each reactor for itself, summed when somebody asks.
//!
//! A [`Meter`] belongs to one reactor and is fed where the access log's line is written, so that both say the same.
//! [`Metrics`] sums over reactors; [`Exposition`] writes numbers as OpenMetrics text.

mod exposition;
mod histogram;
mod meter;

pub use exposition::{CONTENT_TYPE, Exposition, Kind};
pub use histogram::{BOUNDS_MS, Durations, Histogram};
pub(crate) use meter::SiteCounters;
pub use meter::{CLASSES, Meter, Metrics, SiteTotals};
