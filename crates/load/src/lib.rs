//! The load generator: what is asked when (pacers), by whom (clients), what must come back
//! (checks), what was seen (samples), and whether it may be believed (the audit).

mod audit;
pub mod canned;
mod check;
mod clock;
mod collect;
pub mod destination;
pub mod feed;
pub mod finding;
mod generator;
pub mod har;
mod kernel;
pub mod mix;
pub mod pacer;
mod plan;
pub mod replay;
pub mod request;
mod run;
pub mod scenario;
pub mod script;
mod series;
mod share;
pub mod targets;
pub mod template;
pub mod units;

pub use check::{Check, StatusSet};
pub use generator::{ANSWER_CONTENT_BYTES_MAX, LEAVE_WITHIN_MS, RETRY_AFTER, RETRY_AFTER_MAX};
pub use plan::{
    CONNECTIONS_MAX, DURATION_MAX, INTERVAL_MIN, Load, PIPELINING_MAX, Plan, PlanError, THREADS_MAX,
};
pub use request::Fixed;
pub use run::{Control, Prepared, Progress, Running, StartError, TOOL, prepare, run, start};
pub use series::Series;
pub use share::Share;
