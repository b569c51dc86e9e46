//! The due times of the requests of a shape, and the share of one thread in them.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;

use super::Pacer;
use crate::clock::ns;
use crate::share::Share;

/// The distribution of requests around the times of the load shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// At equal intervals: one request per period.
    Even,
    /// Random intervals, as of independent users: a Poisson process. The same seed gives the same
    /// times.
    Poisson {
        /// The seed of the random numbers.
        seed: u64,
    },
}

impl std::fmt::Display for Arrival {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Even => "even",
            Self::Poisson { .. } => "Poisson arrivals",
        })
    }
}

/// The due times of one thread, one after another: every n-th of all, or a process of its own with
/// an n-th of the rate, which together are one of the whole.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pacer: Arc<Pacer>,
    chance: Option<Rng>,
    threads: f64,
    number: f64,
    /// The start of the run, on the clock.
    origin_ns: u64,
    next_ns: Option<u64>,
    /// Requests that it has moved on from.
    passed: u64,
}

impl Schedule {
    pub(crate) fn new(pacer: Arc<Pacer>, arrival: Arrival, thread: Share, origin_ns: u64) -> Self {
        let threads = f64::from(thread.of);
        let mut schedule = Self {
            pacer,
            chance: match arrival {
                Arrival::Even => None,
                Arrival::Poisson { seed } => {
                    Some(Rng::with_seed(seed.wrapping_add(thread.index.into())))
                }
            },
            threads,
            number: f64::from(thread.index),
            origin_ns,
            next_ns: None,
            passed: 0,
        };
        if schedule.chance.is_some() {
            schedule.number = schedule.distance();
        }
        schedule.look();
        schedule
    }

    /// When the next request is due, on the clock; none if never again.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.next_ns
    }

    /// Requests before the next.
    pub(crate) fn passed(&self) -> u64 {
        self.passed
    }

    /// Moves on to the next request.
    pub(crate) fn advance(&mut self) {
        self.passed += 1;
        self.number += self.distance();
        self.look();
    }

    /// Moves on to the first request that is not due before a moment, and returns how many were.
    /// Even ones are computed, which takes no time, random ones drawn.
    pub(crate) fn pass(&mut self, before_ns: u64) -> u64 {
        let passed = self.passed;
        if self.chance.is_none() && self.next_ns.is_some_and(|due_ns| due_ns < before_ns) {
            let elapsed = Duration::from_nanos(before_ns.saturating_sub(self.origin_ns));
            let number = self.pacer.sent_by(elapsed);
            // One less: rounding must not pass one that is not due yet.
            let turns = ((number - self.number) / self.threads).floor() - 1.0;
            if turns >= 1.0 {
                self.number += turns * self.threads;
                self.passed += whole(turns);
                self.look();
            }
        }
        while self.next_ns.is_some_and(|due_ns| due_ns < before_ns) {
            self.advance();
        }
        self.passed - passed
    }

    fn look(&mut self) {
        let due = self.pacer.due_at(self.number);
        self.next_ns = due.map(|due: Duration| self.origin_ns.saturating_add(ns(due)));
    }

    fn distance(&mut self) -> f64 {
        match &mut self.chance {
            None => self.threads,
            // 1 - x: never 0, whose logarithm is none.
            Some(chance) => -(1.0 - chance.f64()).ln() * self.threads,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number of requests, at least 1"
)]
fn whole(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacer::RATE_MAX;

    /// What is passed at once is what is passed one by one, and the next is the same.
    #[test]
    fn passing_many_counts_each() {
        let shapes = [
            Pacer::constant(1000.0),
            Pacer::constant(RATE_MAX.into()),
            Pacer::ramp(0.0, 5000.0, Duration::from_millis(50)),
            "20ms 300\n10ms 0\n20ms 500..7".parse().unwrap(),
        ];
        for (pacer, arrival) in shapes.into_iter().map(Arc::new).flat_map(|pacer| {
            [Arrival::Even, Arrival::Poisson { seed: 3 }].map(|arrival| (pacer.clone(), arrival))
        }) {
            let share = Share { index: 1, of: 3 };
            let mut schedule = Schedule::new(pacer.clone(), arrival, share, 7);
            let mut other = schedule.clone();
            for moment_ns in [7, 8, 107, 1_000_007, 1_000_008, 30_000_000, 51_000_000] {
                let before = other.passed();
                while other.next_ns().is_some_and(|due_ns| due_ns < moment_ns) {
                    other.advance();
                }
                let passed = schedule.pass(moment_ns);
                assert_eq!(passed, other.passed() - before, "{pacer}, {arrival}, {moment_ns}");
                assert_eq!(schedule.next_ns(), other.next_ns(), "{pacer}, {arrival}");
            }
        }
    }

    fn due(arrival: Arrival, of: u32, count: usize) -> Vec<u64> {
        let pacer = Arc::new(Pacer::constant(1000.0));
        let mut all: Vec<u64> = (0..of)
            .flat_map(|index| {
                let mut schedule = Schedule::new(pacer.clone(), arrival, Share { index, of }, 7);
                (0..count).map(move |_| {
                    let due = schedule.next_ns().unwrap();
                    schedule.advance();
                    due - 7
                })
            })
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn threads_share_the_even_times() {
        let expected: Vec<u64> = (0..12).map(|number| number * 1_000_000).collect();
        assert_eq!(due(Arrival::Even, 1, 12), expected);
        assert_eq!(due(Arrival::Even, 3, 4), expected);
    }

    /// Gaps of a Poisson process are exponential: their standard deviation is their mean.
    #[allow(clippy::cast_precision_loss, reason = "small numbers")]
    #[test]
    fn random_arrivals_have_the_rate_and_spread_of_poisson() {
        let times = due(Arrival::Poisson { seed: 1 }, 2, 20_000);
        let gaps: Vec<f64> =
            times.windows(2).take(30_000).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let squares = gaps.iter().map(|gap| (gap - mean) * (gap - mean));
        let deviation = (squares.sum::<f64>() / gaps.len() as f64).sqrt();
        assert!((0.97..1.03).contains(&(mean / 1e6)), "{mean}");
        assert!((0.95..1.05).contains(&(deviation / mean)), "{deviation}");
        assert_eq!(times, due(Arrival::Poisson { seed: 1 }, 2, 20_000));
        assert_ne!(times, due(Arrival::Poisson { seed: 2 }, 2, 20_000));
    }
}
