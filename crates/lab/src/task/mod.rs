//! Tasks: programs that take their own time. Which there are, whether they are there, how one is
//! run, and what it says.
//!
//! A task is a client that prints a line for each phase as it ends, and perhaps a server that is
//! started for it, on a socket and in a folder of its own, and ended after it.

mod adapter;
mod output;
mod programs;
mod run;
mod server;

pub use adapter::{Client, TASK_ADAPTERS, TaskAdapter, TaskLaunch, TaskSetup, task_adapter};
pub use output::{PHASES_MAX, TaskOutput, parse_output};
pub use programs::{TaskPrograms, find_task};

pub(crate) use run::{TaskRun, shown};
