//! From the first request of a server to the end of its process: what all commands that serve have in common.

mod crash;
mod signals;
mod supervise;

pub(crate) use crash::report_panics;
pub(crate) use signals::{Event, events};
pub(crate) use supervise::{Course, supervise};
