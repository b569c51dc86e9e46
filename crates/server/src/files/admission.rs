//! Admits entries to a full cache only when they are requested a second time.
//!
//! A new entry in a full cache evicts another, which costs an allocation and cache misses of the
//! processor. For a set of files larger than the cache, or a scan, that is wasted, because the new
//! entry is evicted before it is requested again. So the first request only leaves a mark.

use std::hash::{BuildHasher, Hash};

/// Marks that are kept, in a table in which a new mark overwrites the one at its index: 16 KiB,
/// allocated when needed.
const MARKS_MAX: usize = 4096;

/// The marks of recent requests.
#[derive(Debug, Default)]
pub(crate) struct AdmissionFilter {
    hasher: foldhash::fast::RandomState,
    /// Empty until the cache is full for the first time.
    marks: Box<[u32]>,
}

impl AdmissionFilter {
    /// Whether this key was requested before, as far back as the marks reach. Leaves its mark.
    pub(crate) fn admits(&mut self, key: &impl Hash) -> bool {
        if self.marks.is_empty() {
            self.marks = vec![0; MARKS_MAX].into_boxed_slice();
        }
        let hash = self.hasher.hash_one(key);
        // The index comes from the lower half and the mark from the upper one; zero is not a mark.
        let index = usize::try_from(hash & (MARKS_MAX as u64 - 1)).unwrap_or(0);
        let mark = u32::try_from(hash >> 32).unwrap_or(0) | 1;
        std::mem::replace(&mut self.marks[index], mark) == mark
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admits_at_the_second_request() {
        let mut filter = AdmissionFilter::default();
        for key in 0..3 {
            assert!(!filter.admits(&key), "{key} for the first time");
            assert!(filter.admits(&key), "{key} for the second time");
        }
    }

    #[test]
    fn forgets_what_was_requested_long_ago() {
        let mut filter = AdmissionFilter::default();
        // A hundred times as many as there are marks, over and over: hardly any finds its own.
        let crowd = 100 * MARKS_MAX;
        let admitted = (0..2 * crowd).filter(|key| filter.admits(&(key % crowd))).count();
        assert!(admitted < crowd / 1000, "{admitted} of {crowd}");
        assert_eq!(filter.marks.len(), MARKS_MAX);
    }
}
