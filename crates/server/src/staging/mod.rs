//! Makes a stage of a plan: opens folders, logs, user files and templates, and keeps what outlives
//! plans. All I/O of a plan is done here.

mod denied;
mod paths;
mod prepare;
mod tools;

pub use denied::{Account, Denials, unreadable, unwritable};
pub use paths::Paths;
pub use prepare::{prepare, rehearse};
pub use tools::Tools;
