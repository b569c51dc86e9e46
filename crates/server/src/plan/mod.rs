//! From a document to what serves: first a plan, which is pure, then a stage, for which folders, logs, user files and
//! templates are opened.
//!
//! The same document gives the same plan, or the same findings, all of them at once. A stage that cannot be made is
//! reported in the same way, at the directives that name what cannot be had.

mod ends;
mod filters;
mod hosts;
mod kept;
mod leaving;
mod logs;
mod media_types;
mod paths;
mod planned;
mod prepare;
mod routes;
mod tools;

pub use paths::Paths;
pub use planned::{Plan, PlannedListener};
pub use prepare::{prepare, rehearse};
pub use tools::Tools;
