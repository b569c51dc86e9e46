//! A server from its start to the end of its process, and `vervet run`, which serves the sites of a
//! configuration file.

mod command;
mod crash;
mod facts;
mod landlock;
mod lifecycle;
mod notify;
mod pid_file;
mod privilege;
mod rehearsal;
mod signals;
mod start;
mod supervise;

pub(crate) use command::{RunArguments, run};
pub(crate) use lifecycle::ConfigurationSource;
pub(crate) use rehearsal::rehearse_start;
pub(crate) use start::{Launch, launch};
