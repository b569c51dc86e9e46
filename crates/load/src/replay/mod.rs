//! Replays access logs: each request of a log, at its original distance from the first.
//!
//! `line` reads a line of the common, combined or JSON form, [`Log`] takes lines one by one, and
//! [`Replay`] is what users do with them.

mod line;
mod log;
mod script;

pub use line::LINE_BYTES_MAX;
pub use log::{Log, Methods, REQUESTS_MAX, TARGETS_MAX, Tally};
pub use script::Replay;

#[cfg(test)]
mod tests;
