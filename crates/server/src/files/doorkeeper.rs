//! Who comes into a full cache: what is asked for twice, and not what passes by once.
//!
//! An entry that comes into a full cache puts another out, and both cost: the allocation, the table, the memory that
//! neither the next request nor the one after it finds in the processor's cache. For a crowd of files that is larger
//! than the cache, or for a scan, that price buys nothing, since the newcomer leaves before it is asked for again. So
//! the first question only leaves a mark. What the cache is full of is not decided here.

use std::hash::{BuildHasher, Hash};

/// Questions whose marks are kept, in a table that a new mark of the same place overwrites: 16 KiB once there is need.
const MARKS_MAX: usize = 4096;

/// The marks of what was asked for lately.
#[derive(Debug, Default)]
pub(crate) struct Doorkeeper {
    hasher: foldhash::fast::RandomState,
    /// Empty until the cache is full for the first time.
    marks: Box<[u32]>,
}

impl Doorkeeper {
    /// Whether this question has been asked before, as far back as the marks reach. Leaves its mark.
    pub(crate) fn admits(&mut self, question: &impl Hash) -> bool {
        if self.marks.is_empty() {
            self.marks = vec![0; MARKS_MAX].into_boxed_slice();
        }
        let hash = self.hasher.hash_one(question);
        // The place comes from the lower half and the mark from the upper one; zero is no mark.
        let place = usize::try_from(hash & (MARKS_MAX as u64 - 1)).unwrap_or(0);
        let mark = u32::try_from(hash >> 32).unwrap_or(0) | 1;
        std::mem::replace(&mut self.marks[place], mark) == mark
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admits_at_the_second_question() {
        let mut doorkeeper = Doorkeeper::default();
        for question in 0..3 {
            assert!(
                !doorkeeper.admits(&question),
                "{question} for the first time"
            );
            assert!(
                doorkeeper.admits(&question),
                "{question} for the second time"
            );
        }
    }

    #[test]
    fn forgets_what_was_asked_for_long_ago() {
        let mut doorkeeper = Doorkeeper::default();
        // A hundred times as many as there are marks, over and over: hardly any finds its own.
        let crowd = 100 * MARKS_MAX;
        let admitted = (0..2 * crowd)
            .filter(|question| doorkeeper.admits(&(question % crowd)))
            .count();
        assert!(admitted < crowd / 1000, "{admitted} of {crowd}");
        assert_eq!(doorkeeper.marks.len(), MARKS_MAX);
    }
}
