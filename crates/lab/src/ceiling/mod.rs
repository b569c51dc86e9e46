//! The ceiling: a server that does what no server can do without (accept, wait, receive, send) and nothing else. It counts
//! empty lines and answers each with the same bytes: no parsing, no routes, no timers, no log.

mod connection;
mod serve;

pub(crate) use serve::DESCRIPTION;
pub use serve::{Canned, Then, serve};
