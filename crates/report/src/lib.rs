//! Results of load runs, without I/O: latency histograms, errors by class, time series, findings of
//! the audit, conditions, and the report formats.
//!
//! The load generator fills a [`Run`], merges it with those of other agents, and writes it in a
//! report format. Times are kept in [`Histogram`]s, which merge without loss.

mod audit;
pub mod chart;
pub mod condition;
mod errors;
pub mod escape;
pub mod forms;
mod histogram;
mod interval;
mod machine;
mod merge;
mod plan;
mod run;
mod search;
mod slowest;
pub mod units;

pub use audit::{Finding, Verdict};
pub use condition::{Answer, Condition, ConditionError, ConditionOutcome};
pub use errors::{ErrorClass, Errors};
pub use histogram::{
    Histogram, HistogramRecord, Packed, QUANTILES, Recorder, TIME_MAX_NS, Unreadable,
};
pub use interval::Interval;
pub use interval::StepFigures;
pub use machine::{Generator, KernelCounters};
pub use machine::{Watched, WatchedSample};
pub use merge::MergeError;
pub use plan::{Mode, Reuse, RunSettings, Stop};
pub use run::{Achieved, AchievedRecord, Censored, Ended, Run, Timings, VERSION};
pub use search::{Search, Try, TryOutcome};
pub use slowest::{SLOWEST_MAX, SlowRequest, Slowest};
