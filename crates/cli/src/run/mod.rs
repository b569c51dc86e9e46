//! `vervet run`: the sites of a configuration file, until a signal.

mod arguments;
mod course;
mod facts;
mod landlock;
mod notify;
mod pid_file;
mod privilege;
mod start;

pub(crate) use arguments::RunArguments;
pub(crate) use start::run;
