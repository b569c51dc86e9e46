//! All steps in the order in which they are run: each repeat passes through the whole lab, so that what drifts on the
//! machine meets all subjects alike, and within a step the order of the subjects is drawn.

use super::order::drawn;
use super::types::{PlannedStep, PlannedWorkload};

/// The most steps of a lab.
pub const STEPS_MAX: usize = 100_000;

/// What the order is made from.
#[derive(Clone, Copy, Debug)]
pub struct Sets {
    /// What it is drawn from.
    pub seed: u64,
    /// How often each step is run.
    pub repeats: u32,
}

/// The steps, numbered in their order.
pub(super) fn resolve(workloads: &[PlannedWorkload], sets: Sets) -> Vec<PlannedStep> {
    let mut steps: Vec<PlannedStep> = Vec::new();
    for repeat in 1..=sets.repeats {
        for (workload, of) in workloads.iter().enumerate() {
            for load in 0..of.loads.len() {
                let place = [u64::from(repeat), workload as u64, load as u64];
                let mut order = drawn(sets.seed, place, of.subjects.len());
                for window in 0..of.loads[load].windows() {
                    steps.extend(order.iter().map(|subject| PlannedStep {
                        order: 0,
                        repeat,
                        window,
                        workload,
                        load,
                        subject: of.subjects[*subject],
                    }));
                    // The first of one window is the last of the next.
                    order.reverse();
                }
            }
            if steps.len() > STEPS_MAX {
                return steps;
            }
        }
    }
    for (order, step) in steps.iter_mut().enumerate() {
        step.order = u32::try_from(order).unwrap_or(u32::MAX);
    }
    steps
}
