//! The generator: threads with a reactor each, and on each reactor the users that ask.

mod answer;
mod book;
mod class;
mod due;
mod report;
mod thread;
mod user;
mod users;
mod window;
mod wire;

#[cfg(test)]
mod tests;

pub(crate) use book::{StepBook, Tally};
pub(crate) use report::{Finished, Piece, Report};
pub(crate) use thread::{Part, Start, Thread};
pub(crate) use users::Stop;
pub use users::{LEAVE_WITHIN_MS, RETRY_AFTER, RETRY_AFTER_MAX};
pub use wire::ANSWER_CONTENT_BYTES_MAX;
