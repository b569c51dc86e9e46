//! The load generator: what is asked when (pacers), by whom (clients), what must come back (checks), what was seen
//! (samples), and whether it may be believed (the audit).

pub mod feed;
pub mod finding;
pub mod har;
pub mod mix;
pub mod replay;
pub mod request;
pub mod scenario;
pub mod script;
pub mod targets;
pub mod template;
