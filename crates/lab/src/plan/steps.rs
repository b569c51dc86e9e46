//! All steps in the order in which they are run: each repeat passes through the whole lab, so that
//! what drifts on the machine meets all subjects alike, and within a step the order of the subjects
//! is drawn.

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

/// An order of `0..count` drawn from a seed and a place.
pub(super) fn drawn(seed: u64, place: [u64; 3], count: usize) -> Vec<usize> {
    let mixed = place.iter().fold(seed, |state, part| {
        // The multiplier of Knuth's generator spreads neighbouring places over all bits.
        (state ^ part).wrapping_mul(0x5851_f42d_4c95_7f2d).rotate_left(29)
    });
    let mut random = fastrand::Rng::with_seed(mixed);
    let mut order: Vec<usize> = (0..count).collect();
    random.shuffle(&mut order);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_order() {
        assert_eq!(drawn(7, [1, 2, 3], 6), drawn(7, [1, 2, 3], 6));
        assert!((0..20).any(|seed| drawn(seed, [1, 2, 3], 6) != drawn(7, [1, 2, 3], 6)));
        assert!((0..20).any(|place| drawn(7, [1, 2, place], 6) != drawn(7, [1, 2, 3], 6)));
    }

    #[test]
    fn each_place_is_drawn_about_equally_often() {
        let mut firsts = [0; 4];
        for repeat in 0..4000 {
            firsts[drawn(1, [repeat, 0, 0], 4)[0]] += 1;
        }
        // One in four, within six standard deviations.
        assert!(firsts.iter().all(|count| (835..=1165).contains(count)), "{firsts:?}");
    }
}
