//! Conditions on a run, as people write them: `p99>20ms`, `errors>0.1%`, `rate<5k`. What they mean
//! for the run (a failure with `--fail-if`, a goal with `--find-max`) is the caller's business.

mod metric;
mod parse;
mod statement;

pub use metric::{Amount, Metric, Stat, Timing};
pub use parse::ConditionError;
pub use statement::{Answer, Comparison, Condition, ConditionOutcome, Quantity};
