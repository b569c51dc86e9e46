//! Access logs as requests at the times that they had: each line that can be asked again, at its
//! distance from the first.
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
