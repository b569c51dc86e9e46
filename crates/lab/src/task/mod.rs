//! Tasks: programs that take their own time. Which there are, whether they are there, how one is run, and what it says.
//!
//! A task is a client that prints a line for each phase as it ends, and perhaps a server that is started for it, on a
//! socket and in a folder of its own, and ended behind it.

mod adapter;
mod found;
mod run;
mod said;
mod server;

pub use adapter::{Client, TASK_ADAPTERS, TaskAdapter, TaskLaunch, TaskSetup, task_adapter};
pub use found::{FoundTask, find_task};
pub use said::{PHASES_MAX, Said, said};

pub(crate) use run::{TaskRun, shown};
