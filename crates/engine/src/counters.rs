//! Counters of one reactor: written by its thread alone, read by anybody, summed over reactors when read.

use std::sync::atomic::{AtomicU64, Ordering};

/// A count with one writer: adding is a load and a store, without a locked instruction.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, amount: u64) {
        self.0.store(
            self.0.load(Ordering::Relaxed).wrapping_add(amount),
            Ordering::Relaxed,
        );
    }

    /// The count; another thread sees it a moment late.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What one reactor has done since it began.
#[derive(Debug, Default)]
pub struct Counters {
    /// Connections admitted.
    pub connections: Counter,
    /// Connections refused above a cap.
    pub refused: Counter,
    /// Connections closed because the service did not admit them.
    pub denied: Counter,
    /// Connections that have ended.
    pub closed: Counter,
    /// Complete request heads.
    pub requests: Counter,
    /// Final responses by class, 1xx (only 101) to 5xx.
    pub responses: [Counter; 5],
    /// Requests that broke the protocol.
    pub violations: Counter,
    /// Connections cut by a time limit: in the head, in content, while blocked.
    pub timeouts: Counter,
}
