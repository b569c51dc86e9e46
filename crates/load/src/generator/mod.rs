//! The generator: threads, each with a reactor and its users.

mod answer;
mod connection;
mod dispatch;
mod report;
mod stats;
mod thread;
mod user;
mod users;

#[cfg(test)]
mod tests;

pub use connection::ANSWER_CONTENT_BYTES_MAX;
pub(crate) use report::{Finished, Report};
pub(crate) use stats::StepStats;
pub(crate) use thread::{Start, Thread};
pub(crate) use users::Stop;
pub use users::{LEAVE_WITHIN_MS, RETRY_AFTER, RETRY_AFTER_MAX};
