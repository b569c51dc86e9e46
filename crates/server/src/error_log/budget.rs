//! The rate limit for events of one kind: a burst, then one per second. It reads no clock.

/// Events of one kind that are written at once.
pub const BURST_MAX: u32 = 30;
/// Milliseconds per event after a burst.
pub const REFILL_MS: u64 = 1000;

/// A token bucket for one kind of events.
#[derive(Debug)]
pub(super) struct Budget {
    tokens: u32,
    /// When the last token was added, or the bucket was full.
    since_ms: u64,
    /// Events left out since the last one that was written.
    left_out: u64,
    /// Events left out since the start.
    left_out_ever: u64,
}

/// Whether an event is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Yes, after this many were left out.
    Written { left_out: u64 },
    /// No, it is only counted.
    LeftOut,
}

impl Budget {
    pub(super) fn new(now_ms: u64) -> Self {
        Self { tokens: BURST_MAX, since_ms: now_ms, left_out: 0, left_out_ever: 0 }
    }

    /// Takes a token for one event.
    pub(super) fn take(&mut self, now_ms: u64) -> Verdict {
        self.refill(now_ms);
        if self.tokens == 0 {
            self.left_out += 1;
            self.left_out_ever += 1;
            return Verdict::LeftOut;
        }
        self.tokens -= 1;
        let left_out = std::mem::take(&mut self.left_out);
        Verdict::Written { left_out }
    }

    /// How many events were left out, if there is a token to report that.
    pub(super) fn summary(&mut self, now_ms: u64) -> Option<u64> {
        self.refill(now_ms);
        if self.left_out == 0 || self.tokens == 0 {
            return None;
        }
        self.tokens -= 1;
        Some(std::mem::take(&mut self.left_out))
    }

    /// Events left out since the start.
    pub(super) fn left_out_ever(&self) -> u64 {
        self.left_out_ever
    }

    fn refill(&mut self, now_ms: u64) {
        let due = now_ms.saturating_sub(self.since_ms) / REFILL_MS;
        match u32::try_from(due) {
            Ok(due) if due < BURST_MAX - self.tokens => {
                self.tokens += due;
                self.since_ms += u64::from(due) * REFILL_MS;
            }
            _ => {
                self.tokens = BURST_MAX;
                self.since_ms = self.since_ms.max(now_ms);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: Verdict = Verdict::Written { left_out: 0 };

    #[test]
    fn a_flood_is_a_burst_and_then_one_a_second() {
        let mut budget = Budget::new(0);
        for number in 0..BURST_MAX {
            assert_eq!(budget.take(0), WRITTEN, "{number}");
        }
        for now_ms in 0..REFILL_MS {
            assert_eq!(budget.take(now_ms), Verdict::LeftOut, "{now_ms}");
        }
        assert_eq!(budget.take(REFILL_MS), Verdict::Written { left_out: REFILL_MS });
        assert_eq!(budget.take(REFILL_MS), Verdict::LeftOut);
        assert_eq!(budget.left_out_ever(), REFILL_MS + 1);
    }

    #[test]
    fn after_a_while_the_burst_is_whole_again_and_no_larger() {
        let mut budget = Budget::new(0);
        for _ in 0..BURST_MAX {
            budget.take(0);
        }
        let later = 1000 * REFILL_MS;
        for _ in 0..BURST_MAX {
            assert_eq!(budget.take(later), WRITTEN);
        }
        assert_eq!(budget.take(later), Verdict::LeftOut);
    }

    #[test]
    fn events_left_out_are_reported_when_the_flood_is_over() {
        let mut budget = Budget::new(0);
        for _ in 0..BURST_MAX + 5 {
            budget.take(0);
        }
        assert_eq!(budget.summary(REFILL_MS - 1), None);
        assert_eq!(budget.summary(REFILL_MS), Some(5));
        assert_eq!(budget.summary(10 * REFILL_MS), None);
    }

    #[test]
    fn a_clock_that_goes_back_adds_no_tokens() {
        let mut budget = Budget::new(5000);
        for _ in 0..BURST_MAX {
            budget.take(5000);
        }
        assert_eq!(budget.take(0), Verdict::LeftOut);
        assert_eq!(budget.take(5000), Verdict::LeftOut);
    }
}
