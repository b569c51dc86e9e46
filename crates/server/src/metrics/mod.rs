//! Counters of what the server does: each reactor writes its own, a reader sums them.
//!
//! A [`Meter`] belongs to one reactor and counts where the line of the access log is written, so
//! that both agree.
//! [`Metrics`] sums over reactors.

mod histogram;
mod meter;

pub use histogram::{BOUNDS_MS, Durations, Histogram};
pub(crate) use meter::SiteCounters;
pub use meter::{CLASSES, Meter, Metrics, SiteTotals};
