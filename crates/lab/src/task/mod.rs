//! Tasks: programs that measure their own time. Adapters, installed programs, running a task and
//! parsing its output.
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
