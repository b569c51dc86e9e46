//! Workloads made real: the files of their trees, and the requests for them.

mod files;
mod targets;

pub use files::{FileError, create};
pub use targets::targets;

pub(crate) use targets::request;
