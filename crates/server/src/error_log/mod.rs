//! The error log: what has gone wrong, and what is worth knowing of the server, one line for each event.
//!
//! Not for each request: that is the access log's. Events of one kind are bounded in their rate, so that a flood of bad
//! requests does not fill the disk; what is left out is counted. Lines go through the outlets of access logs, so writing
//! one never waits.

mod budget;
mod level;
mod limits;
mod line;
mod log;
mod settings;

pub use budget::{BURST_MAX, REFILL_MS};
pub use level::Level;
pub use limits::LimitWatch;
pub use log::{ErrorLog, RECENT_EVENTS_MAX};
pub use settings::{ErrorLogSettings, PartLevels};
