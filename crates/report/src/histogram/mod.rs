//! Histogram as a histogram: each recorded value is kept to three significant digits, so that any
//! quantile can be asked for afterwards and the histograms of several threads or machines add up
//! without loss.

mod counts;
mod index;
mod packed;
mod recorder;

pub use counts::{Histogram, HistogramRecord, QUANTILES, TIME_MAX_NS};
pub use packed::{Packed, Unreadable};
pub use recorder::Recorder;
