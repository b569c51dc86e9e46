//! Adapters of tasks: how each is found and run. Each is a static of `stores` and its line here.
//!
//! An adapter starts nothing: it receives a [`TaskSetup`] and returns what to run ([`TaskLaunch`]).

mod setup;
mod stores;

pub use setup::{TaskLaunch, TaskSetup};

use crate::adapter::Row;

/// All adapters of tasks, in the order in which they are listed.
pub const TASK_ADAPTERS: &[&TaskAdapter] = &[
    &stores::MEMCACHED,
    &stores::REDIS,
    &stores::REDB,
    &stores::SQLITE,
    &stores::MARIADB,
    &stores::HOST,
];

/// How one kind of task is found and run.
#[derive(Debug)]
pub struct TaskAdapter {
    /// Its name in a lab file.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// Names of its server program, of which the first that is installed is used; empty without a
    /// server.
    pub server: &'static [&'static str],
    /// Further programs that it needs.
    pub beside: &'static [&'static str],
    /// The program that measures the time.
    pub client: Client,
    /// How to get it, as the end of the sentence "to get it, ...".
    pub get: &'static str,
    /// What a lab file may set.
    pub settings: &'static [Row],
    /// The arguments with which its server prints its version.
    pub version: &'static [&'static str],
    /// What is to be run.
    pub launch: fn(&TaskSetup<'_>) -> TaskLaunch,
}

/// The program that measures the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// `vervet-stores`, which has the clients of stores.
    Stores,
    /// The program `vervet` itself.
    Ours,
}

/// The adapter of a name.
pub fn task_adapter(name: &str) -> Option<&'static TaskAdapter> {
    TASK_ADAPTERS.iter().copied().find(|one| one.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_there_once_and_its_defaults_are_values() {
        let mut names: Vec<&str> = TASK_ADAPTERS.iter().map(|one| one.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TASK_ADAPTERS.len());
        for row in TASK_ADAPTERS.iter().flat_map(|one| one.settings) {
            assert_eq!(row.refusal(row.default), None, "{}", row.name);
        }
    }
}
