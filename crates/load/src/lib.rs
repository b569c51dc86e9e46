//! The load generator: when requests are sent (pacers), by which users (scripts), how responses are
//! checked (checks), what is measured (statistics), and whether the figures are reliable (audit).

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
