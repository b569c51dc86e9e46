//! Histogram as a histogram: each recorded value is kept to three significant digits, so that any quantile can be asked for
//! afterwards and the histograms of several threads or machines add up without loss.

mod counts;
mod index;
mod packed;
mod record;
mod recorder;

pub use counts::{Histogram, QUANTILES, TIME_MAX_NS};
pub use packed::{Packed, Unreadable};
pub use record::HistogramRecord;
pub use recorder::Recorder;
