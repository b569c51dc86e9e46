//! `vervet serve`: a folder or a file at an address, until a signal.

mod announce;
mod arguments;
mod crash;
mod handler;
mod listen;
mod log;
mod quantity;
mod run;
mod signals;
mod supervise;

pub(crate) use arguments::ServeArguments;
pub(crate) use run::serve;
