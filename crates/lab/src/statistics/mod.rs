//! What a record means: the figures of its steps, what repeats say of them, which servers differ significantly and which do
//! not, where a sweep saturates, and which steps are not what they seem. Pure: the same record gives the same words.

mod analysis;
mod apdex;
mod course;
mod estimate;
mod figure;
mod figures;
mod number;
mod point;
mod ranking;
mod rules;
mod sweep;
mod tasks;
mod verdicts;
mod windows;

pub use analysis::{Analysis, Curve, LoadKind, Panel, Unreadable};
pub use apdex::{Apdex, BEST_SCORE_MIN, RATINGS, Rating, TOLERATED_T};
pub use course::Moment;
pub use estimate::{Estimate, Ratio, SPREAD_MAX, median};
pub use figure::{Better, Figure, Unit};
pub use figures::{Figures, Part, Spent, Times, Waits};
pub(crate) use number::{milliseconds, share};
pub use point::{Point, RANKED_REPEATS_MIN, Standing, Taken};
pub use ranking::{Place, Ranking, Unranked};
pub(crate) use rules::is_of_generator;
pub use rules::{
    CEILING_SHARE_MAX, CENSORED_SHARE_MAX, CLIENT_BUSY_MAX, ERROR_SHARE_MAX, GENERATOR_RULES,
    step_findings,
};
pub use sweep::{KNEE_SHARE, Saturation, Sweep};
pub(crate) use tasks::{ALL_PHASES, group_title};
pub use tasks::{PhaseFigures, TaskFigures, TaskGroup};
pub use verdicts::{RuleResult, Verdict};
