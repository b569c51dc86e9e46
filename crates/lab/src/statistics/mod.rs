//! Analysis of a record: figures of steps, estimates over repeats, ranking, saturation of sweeps,
//! and findings. Pure: the same record gives the same result.

mod analysis;
mod apdex;

mod estimate;
mod figure;
mod figures;
mod number;
mod point;
mod ranking;
mod rules;
mod series;
mod sweep;
mod tasks;
mod verdicts;
mod windows;

pub use analysis::{Analysis, Curve, LoadKind, Panel, Unreadable};
pub use apdex::{Apdex, BEST_SCORE_MIN, RATINGS, Rating, TOLERATED_T};
pub use estimate::{Estimate, Ratio, SPREAD_MAX, median};
pub use figure::{Better, Figure, Unit};
pub use figures::{Figures, ScenarioStep, Spent, Times, Waits};
pub(crate) use number::{milliseconds, share};
pub use point::{Point, RANKED_REPEATS_MIN, Repeat, Standing};
pub use ranking::{RankedSubject, Ranking, Unranked};
pub(crate) use rules::is_of_generator;
pub use rules::{
    CEILING_EXCEEDED, CEILING_SHARE_MAX, CENSORED_SHARE_MAX, CLIENT_BUSY_MAX, ERROR_SHARE_MAX,
    GENERATOR_RULES, step_findings,
};
pub use series::Moment;
pub use sweep::{KNEE_SHARE, Saturation, Sweep};
pub(crate) use tasks::{ALL_PHASES, group_title};
pub use tasks::{PhaseFigures, TaskFigures, TaskGroup};
pub use verdicts::{RuleResult, Verdict};
