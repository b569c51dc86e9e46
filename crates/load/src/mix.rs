//! Weighted selection: evenly mixed instead of random, so that even short runs match the weights.

use crate::share::{Share, Turns};

/// The maximum weight of a request or a scenario.
pub const WEIGHT_MAX: u32 = 10_000;

/// 2^64 divided by the golden ratio: the multiples of this fraction of a circle fall most evenly on
/// it.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Weighted items by index, and the current turn.
#[derive(Debug)]
pub struct Mix {
    /// The sum of the weights up to each.
    sums: Vec<u64>,
    order: Order,
    turns: Turns,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// All weights are equal: one after the other.
    Round,
    /// By weight.
    Weighted,
}

impl Mix {
    /// A mix of items with these weights (at least one, none 0), for one of several agents.
    pub fn new(weights: &[u32], share: Share) -> Self {
        let mut sum = 0;
        let sums = weights.iter().map(|&weight| {
            sum += u64::from(weight.clamp(1, WEIGHT_MAX));
            sum
        });
        let sums: Vec<u64> = sums.collect();
        let is_even = weights.iter().all(|weight| Some(weight) == weights.first());
        Self {
            sums,
            order: if is_even { Order::Round } else { Order::Weighted },
            turns: Turns::new(share),
        }
    }

    /// The number of the next.
    pub fn next(&self) -> usize {
        let turn = self.turns.take();
        let place = match self.order {
            Order::Round => return below(turn, self.sums.len()),
            Order::Weighted => {
                let total = self.sums.last().copied().unwrap_or(1);
                // The golden fraction of the circle, in units of weight.
                (u128::from(turn.wrapping_mul(GOLDEN)) * u128::from(total)) >> 64
            }
        };
        self.sums.partition_point(|&sum| u128::from(sum) <= place)
    }
}

/// `turn` modulo `length`.
fn below(turn: u64, length: usize) -> usize {
    usize::try_from(turn % length.max(1) as u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_weights_take_turns() {
        let mix = Mix::new(&[5, 5, 5], Share::WHOLE);
        let turns: Vec<_> = (0..7).map(|_| mix.next()).collect();
        assert_eq!(turns, [0, 1, 2, 0, 1, 2, 0]);
    }

    #[test]
    fn each_has_its_share_at_any_time() {
        let weights = [1, 7, 2, WEIGHT_MAX];
        let total: u32 = weights.iter().sum();
        let mix = Mix::new(&weights, Share::WHOLE);
        let mut counts = [0_u32; 4];
        for turn in 1..=50_000_u32 {
            counts[mix.next()] += 1;
            for (count, weight) in counts.iter().zip(weights) {
                let share = f64::from(turn) * f64::from(weight) / f64::from(total);
                assert!((f64::from(*count) - share).abs() < 4.0, "{counts:?} at {turn}");
            }
        }
    }
}
