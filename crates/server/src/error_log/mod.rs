//! The error log: one line for each event of the server that is not a request.
//!
//! Events of one kind are limited in their rate, so that a flood of bad requests does not fill the
//! disk; events that are left out are counted. Lines go to log sinks, so writing one never blocks.

mod budget;
mod limits;
mod line;
mod log;
mod settings;

pub use budget::{BURST_MAX, REFILL_MS};
pub use limits::LimitWatch;
pub use line::Level;
pub use log::{ErrorLog, ProblemLog, RECENT_EVENTS_MAX};
pub use settings::{ErrorLogSettings, PartLevels};
