//! Adapters of tasks: who knows how to run which. Each is one file and one line of the list.
//!
//! An adapter starts nothing: it is given a [`TaskSetup`] and says what is to be run ([`TaskLaunch`]).

mod host;
mod mariadb;
mod memcached;
mod redb;
mod redis;
mod registry;
mod setup;
mod sqlite;

pub use registry::{Client, TASK_ADAPTERS, TaskAdapter, task_adapter};
pub use setup::{TaskLaunch, TaskSetup};
