//! The access log: one line for each exchange, written by a thread of its own.
//!
//! [`Logged`] wraps a service and writes what it did into the [`Lines`] of its reactor; [`AccessLog`] is the thread
//! that carries them to a file, a pipe or a terminal. A reactor never waits for it: what does not fit is counted.

mod bell;
mod escape;
mod format;
mod json;
mod lines;
mod logged;
mod pretty;
mod record;
mod target;
mod text;
mod when;
mod writer;

pub use bell::Notice;
pub use format::{Color, Format};
pub use lines::{LINES_BYTES_MAX, Lines};
pub use logged::Logged;
pub use target::{LOG_FILE_MODE, Target};
pub use writer::{AccessLog, Drops, LinesSource, WRITE_EVERY};
