//! The step after the plan, from a plan to a stage: folders, logs, user files and templates are
//! opened, and what outlives plans is handed on. All that a plan does of input and output is done
//! here.

mod paths;
mod prepare;
mod tools;

pub use paths::Paths;
pub use prepare::{prepare, rehearse};
pub use tools::Tools;
