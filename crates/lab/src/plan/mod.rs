//! From a lab file to what is done, in order: pure, so that the same file gives the same steps, or all findings at once.

mod estimate;
mod loads;
mod names;
mod order;
mod resolve;
mod rules;
mod steps;
mod subjects;
mod tasks;
mod trees;
mod types;
mod workloads;

pub use resolve::Pace;
pub use steps::{STEPS_MAX, Sets};
pub use tasks::{PlannedTask, PlannedTasks, TaskPlace, TaskWay};
pub use types::{
    CEILING, Expected, Plan, PlannedLoad, PlannedStep, PlannedSubject, PlannedTree,
    PlannedWorkload, Request, Reuse, Way,
};
