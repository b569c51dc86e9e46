//! The time of a line, formatted once a second and copied from then on.

use std::io::Write as _;

use rustix::time::{ClockId, clock_gettime};
use vervet_engine::reactor::Now;

use super::bytes::{push_number, three_digits};
use crate::timestamp::utc;

/// How a format writes a time. All are UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeStyle {
    /// `20/Nov/2026:19:30:00 +0000`.
    Common,
    /// `2026-11-20T19:30:00Z`.
    Rfc3339,
    /// `2026-11-20T19:30:00.123Z`.
    Rfc3339Milliseconds,
    /// `1795203000`.
    Unix,
    /// `1795203000.123`.
    UnixMilliseconds,
    /// `19:30:00`.
    TimeOfDay,
}

impl TimeStyle {
    /// The names of the styles in format strings; the first is the default.
    pub(super) const WORDS: &[&str] = &["common", "iso", "iso_ms", "unix", "unix_ms", "clock"];
}

impl From<&str> for TimeStyle {
    fn from(word: &str) -> Self {
        match word {
            "iso" => Self::Rfc3339,
            "iso_ms" => Self::Rfc3339Milliseconds,
            "unix" => Self::Unix,
            "unix_ms" => Self::UnixMilliseconds,
            "clock" => Self::TimeOfDay,
            _ => Self::Common,
        }
    }
}

/// The present time, formatted in all styles.
#[derive(Debug)]
pub(super) struct Clock {
    second: Option<u64>,
    millisecond: u16,
    /// From the monotonic clock to the real one, in milliseconds.
    offset_ms: u64,
    common: [u8; COMMON_BYTES],
    /// With milliseconds.
    rfc3339: [u8; RFC3339_BYTES],
}

const COMMON_BYTES: usize = "20/Nov/2026:19:30:00 +0000".len();
const RFC3339_BYTES: usize = "2026-11-20T19:30:00.123Z".len();
/// Where the decimal point is in it.
const POINT: usize = "2026-11-20T19:30:00".len();
/// Where the time of day begins in it.
const TIME_OF_DAY: usize = "2026-11-20T".len();

/// The last second of the year 9999: later times would be longer. A wrong clock may report one.
const SECOND_MAX: u64 = 253_402_300_799;

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            second: None,
            millisecond: 0,
            offset_ms: 0,
            common: [b'-'; COMMON_BYTES],
            rfc3339: *b"0000-00-00T00:00:00.000Z",
        }
    }

    /// Advances to a time. Its milliseconds are those of the monotonic clock, shifted by the
    /// difference of both clocks when the second began, so that no line reads a clock.
    pub(super) fn advance(&mut self, now: Now) {
        if self.second != Some(now.unix_seconds) {
            self.begin_second(now.unix_seconds);
            self.offset_ms = offset_ms();
        }
        let real_ms = now.monotonic_ms.wrapping_add(self.offset_ms);
        let within = real_ms.saturating_sub(now.unix_seconds.saturating_mul(1000));
        let millisecond = within.min(999) as u16;
        if self.millisecond != millisecond {
            self.begin_millisecond(millisecond);
        }
    }

    fn begin_second(&mut self, second: u64) {
        self.second = Some(second);
        let time = utc(second.min(SECOND_MAX));
        // Writing to an array fails where it is full; up to the last second the text fits.
        let _ = write!(&mut self.common[..], "{}", time.format("%d/%b/%Y:%T +0000"));
        let _ = write!(&mut self.rfc3339[..POINT], "{}", time.format("%FT%T"));
    }

    fn begin_millisecond(&mut self, millisecond: u16) {
        self.millisecond = millisecond;
        self.rfc3339[POINT + 1..POINT + 4].copy_from_slice(&three_digits(millisecond));
    }

    /// Appends the time.
    pub(super) fn push(&self, out: &mut Vec<u8>, style: TimeStyle) {
        match style {
            TimeStyle::Common => out.extend_from_slice(&self.common),
            TimeStyle::Rfc3339Milliseconds => out.extend_from_slice(&self.rfc3339),
            TimeStyle::Rfc3339 => {
                out.extend_from_slice(&self.rfc3339[..POINT]);
                out.push(b'Z');
            }
            TimeStyle::TimeOfDay => out.extend_from_slice(&self.rfc3339[TIME_OF_DAY..POINT]),
            TimeStyle::Unix | TimeStyle::UnixMilliseconds => {
                push_number(out, self.second.unwrap_or_default());
                if style == TimeStyle::UnixMilliseconds {
                    out.extend_from_slice(&self.rfc3339[POINT..POINT + 4]);
                }
            }
        }
    }
}

fn offset_ms() -> u64 {
    let milliseconds = |clock| {
        let time = clock_gettime(clock);
        u64::try_from(time.tv_sec * 1000 + time.tv_nsec / 1_000_000).unwrap_or(0)
    };
    milliseconds(ClockId::RealtimeCoarse).wrapping_sub(milliseconds(ClockId::MonotonicCoarse))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(style: TimeStyle, seconds: u64, expected: &str) {
        let mut clock = Clock::new();
        let at = |clock: &mut Clock, seconds| {
            clock.begin_second(seconds);
            clock.begin_millisecond(42);
            let mut out = Vec::new();
            clock.push(&mut out, style);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(at(&mut clock, seconds), expected);
        at(&mut clock, seconds + 1);
        assert_eq!(at(&mut clock, seconds), expected);
    }

    #[test]
    fn seconds_are_written_in_each_style() {
        check(TimeStyle::Common, 0, "01/Jan/1970:00:00:00 +0000");
        check(TimeStyle::Common, 1_794_252_599, "09/Nov/2026:19:29:59 +0000");
        check(TimeStyle::Rfc3339, 1_709_164_800, "2024-02-29T00:00:00Z");
        check(TimeStyle::Rfc3339Milliseconds, 0, "1970-01-01T00:00:00.042Z");
        check(TimeStyle::Unix, 1_794_252_599, "1794252599");
        check(TimeStyle::UnixMilliseconds, 1_794_252_599, "1794252599.042");
        check(TimeStyle::TimeOfDay, 1_794_252_599, "19:29:59");
        // A clock that is wrong.
        check(TimeStyle::Common, SECOND_MAX + 1, "31/Dec/9999:23:59:59 +0000");
        check(TimeStyle::Rfc3339Milliseconds, u64::MAX - 1, "9999-12-31T23:59:59.042Z");
    }

    #[test]
    fn milliseconds_stay_within_their_second() {
        let mut clock = Clock::new();
        let mut now = Now::read();
        clock.advance(now);
        assert!(clock.millisecond < 1000);
        now.monotonic_ms += 5000;
        clock.advance(now);
        assert_eq!(clock.millisecond, 999);
        now.monotonic_ms -= 10_000;
        clock.advance(now);
        assert_eq!(clock.millisecond, 0);
    }
}
