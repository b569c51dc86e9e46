//! When an expensive reading is due again: at its pace, and never so often that it costs more than
//! its share.

use std::time::{Duration, Instant};

/// A reading that took a time is not repeated before this many times that has passed: 0.1 % of a
/// core for each of the two expensive groups.
pub(crate) const COST_SPACING: u32 = 1000;

/// The longest that a reading is put off by its cost.
pub(crate) const PUT_OFF_MAX: Duration = Duration::from_secs(30);

/// Of one group of readings.
#[derive(Debug)]
pub(crate) struct Pace {
    every: Duration,
    due: Option<Instant>,
}

impl Pace {
    /// Due at once, then every so often.
    pub(crate) fn every(every: Duration) -> Self {
        Self { every, due: None }
    }

    /// Whether it is due.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.due.is_none_or(|due| now >= due)
    }

    /// It was read now, and that took so much of a processor.
    pub(crate) fn took(&mut self, now: Instant, cost: Duration) {
        let put_off = cost.saturating_mul(COST_SPACING).min(PUT_OFF_MAX);
        self.due = now.checked_add(self.every.max(put_off));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how long a reading is due again that took so many microseconds.
    #[track_caller]
    fn check(cost_us: u64, expected: Duration) {
        let now = Instant::now();
        let mut pace = Pace::every(Duration::from_secs(1));
        assert!(pace.is_due(now));
        pace.took(now, Duration::from_micros(cost_us));
        let just_before = now + expected.checked_sub(Duration::from_nanos(1)).unwrap();
        assert!(!pace.is_due(just_before));
        assert!(pace.is_due(now + expected));
    }

    #[test]
    fn what_is_expensive_is_read_less_often() {
        check(0, Duration::from_secs(1));
        check(1_000, Duration::from_secs(1));
        check(1_001, Duration::from_millis(1_001));
        check(30_000, PUT_OFF_MAX);
        check(u64::MAX, PUT_OFF_MAX);
    }
}
