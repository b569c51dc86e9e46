//! Resolves a lab file to a plan of steps. Pure: the same file gives the same steps, or all
//! findings at once.

mod loads;
mod resolve;
mod rules;
mod steps;
mod subjects;
mod tasks;
mod types;
mod workloads;

pub use resolve::Pace;
pub use steps::{STEPS_MAX, Sets};
pub use tasks::{PlannedTask, PlannedTaskRun, PlannedTasks, TaskStart};
pub use types::{
    CEILING, Expected, Plan, PlannedLoad, PlannedStep, PlannedSubject, PlannedTree,
    PlannedWorkload, Request, SubjectStart,
};
