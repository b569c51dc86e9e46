//! `vervet serve`: a folder or a file at an address, until a signal.

mod announce;
mod arguments;
mod course;
mod handler;
mod listen;
mod log;
pub(crate) mod quantity;
mod run;

pub(crate) use arguments::ServeArguments;
pub(crate) use run::serve;
