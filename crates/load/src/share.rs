//! Division of a run among threads and machines. Each knows its share in advance, without
//! communication during the run.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// The share of one of several machines or threads in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its number, below `of`.
    pub index: u32,
    /// How many share the run, at least 1.
    pub of: u32,
}

impl Share {
    /// The share of a run on a single machine.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// Its part of a count: how many of the numbers below `whole` are its turns.
    pub(crate) fn part(self, whole: u64) -> u64 {
        let (index, of) = (u64::from(self.index), u64::from(self.of));
        whole / of + u64::from(index < whole % of)
    }

    /// One of several threads of this one. The turns of all threads together are those of this one.
    pub(crate) fn thread(self, thread: u32, threads: u32) -> Self {
        Self { index: thread * self.of + self.index, of: self.of * threads }
    }
}

impl Default for Share {
    fn default() -> Self {
        Self::WHOLE
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

/// The turns of one of several, handed out over all its users, each once: every n-th number, from
/// its own. All together hand out what one alone would.
#[derive(Debug)]
pub(crate) struct Turns {
    next: AtomicU64,
    step: u64,
}

impl Turns {
    pub(crate) fn new(share: Share) -> Self {
        Self { next: AtomicU64::new(share.index.into()), step: share.of.into() }
    }

    pub(crate) fn take(&self) -> u64 {
        // Only the number counts, nothing is published by it.
        self.next.fetch_add(self.step, Ordering::Relaxed)
    }
}

impl Default for Turns {
    fn default() -> Self {
        Self::new(Share::WHOLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up() {
        for whole in [0, 1, 7, 100] {
            let parts = (0..3).map(|index| Share { index, of: 3 }.part(whole));
            assert_eq!(parts.sum::<u64>(), whole);
        }
    }

    /// The threads of a machine have that machine's part of any count, also of one that the number
    /// of all threads does not divide.
    #[test]
    fn threads_have_the_part_of_their_machine() {
        for whole in 0..20 {
            for index in 0..3 {
                let share = Share { index, of: 3 };
                let threads = (0..2).map(|thread| share.thread(thread, 2).part(whole));
                assert_eq!(threads.sum::<u64>(), share.part(whole), "{share} of {whole}");
            }
        }
    }

    #[test]
    fn turns_of_all_are_those_of_one_alone() {
        let take = |share| {
            let turns = Turns::new(share);
            (0..4).map(|_| turns.take()).collect::<Vec<_>>()
        };
        let mut all: Vec<u64> = (0..3).flat_map(|index| take(Share { index, of: 3 })).collect();
        all.sort_unstable();
        assert_eq!(all, (0..12).collect::<Vec<_>>());
        assert_eq!(take(Share::WHOLE), [0, 1, 2, 3]);
    }
}
