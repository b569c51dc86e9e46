//! Conditions on a run: `p99>20ms`, `errors>0.1%`, `rate<5k`. The caller decides what they mean: a
//! failure with `--fail-if`, a goal with `--find-max`.

mod metric;
mod parse;
mod statement;

pub use metric::{Amount, Metric, Stat, Timing};
pub use parse::ConditionError;
pub use statement::{Answer, Comparison, Condition, ConditionOutcome, Quantity};
