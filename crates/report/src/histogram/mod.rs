//! Histograms with three significant digits: any quantile can be computed afterwards, and those of
//! several threads or machines merge without loss.

mod counts;
mod index;
mod packed;
mod recorder;

pub use counts::{Histogram, HistogramRecord, QUANTILES, TIME_MAX_NS};
pub use packed::{Packed, Unreadable};
pub use recorder::Recorder;
