//! The load generator: what is asked when (pacers), by whom (clients), what must come back (checks), what was seen
//! (samples), and whether it may be believed (the audit).

pub mod script;
