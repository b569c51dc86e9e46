//! The coarse clock, read once per turn (4 ns; the precise clock costs ten times as much).

use rustix::time::{ClockId, clock_gettime};

/// The time of a turn. Everything in one turn happens at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Milliseconds of the monotonic clock, in the resolution of the kernel's tick (1 to 10 ms).
    pub monotonic_ms: u64,
    /// Seconds since 1970-01-01 00:00 UTC.
    pub unix_seconds: u64,
}

impl Now {
    /// Reads the monotonic and the real-time clock.
    pub fn read() -> Self {
        let monotonic = clock_gettime(ClockId::MonotonicCoarse);
        let real = clock_gettime(ClockId::RealtimeCoarse);
        let ms = monotonic.tv_sec * 1000 + monotonic.tv_nsec / 1_000_000;
        Self {
            monotonic_ms: u64::try_from(ms).unwrap_or(0),
            unix_seconds: u64::try_from(real.tv_sec).unwrap_or(0),
        }
    }
}
