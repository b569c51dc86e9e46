//! One step of a lab of tasks: a program that took its own time, and what it said.

use serde::{Deserialize, Serialize};

use super::Outcome;

/// One run of one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskStep {
    /// Its place in the order in which the lab ran, from 0; unique.
    pub order: u32,
    /// The task's name.
    pub task: String,
    /// The group that it is compared within; may be empty.
    pub group: String,
    /// Which repeat, from 1.
    pub repeat: u32,
    /// When it began, in milliseconds of Unix time.
    pub began_unix_ms: u64,
    /// What came of it.
    pub outcome: Outcome,
    /// The phases that it told, in their order; of a task that failed, those before.
    pub phases: Vec<Phase>,
    /// What it told beside that, with its name.
    pub facts: Vec<(String, String)>,
}

/// A phase with its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Its name; unique in its step.
    pub name: String,
    /// Whether it is a part of a whole, which all such phases make up together.
    pub is_part: bool,
    /// How many operations it had.
    pub operations: u64,
    /// How long it took, in nanoseconds.
    pub time_ns: u64,
}
