//! The time of a line, written once a second and copied from then on.

use std::io::Write as _;

use rustix::time::{ClockId, clock_gettime};
use vervet_engine::reactor::Now;

use super::number::{push_number, push_three};
use crate::timestamp::Moment;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// How a format writes a time. All are UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
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
    OfDay,
}

/// The last second asked for, in all styles.
#[derive(Debug)]
pub(super) struct Clock {
    second: Option<u64>,
    millisecond: u32,
    /// From the monotonic clock to the real one, in milliseconds.
    offset_ms: u64,
    common: Vec<u8>,
    /// Without the zone, which milliseconds come before.
    rfc3339: Vec<u8>,
}

/// Where the time of day begins in `2026-11-20T19:30:00`.
const OF_DAY: usize = "2026-11-20T".len();

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            second: None,
            millisecond: 0,
            offset_ms: 0,
            common: Vec::new(),
            rfc3339: Vec::new(),
        }
    }

    /// Goes to a time. The milliseconds, which a turn's time does not have, are those of the monotonic clock, moved by
    /// what both clocks said when the second began: so no line reads a clock.
    pub(super) fn advance(&mut self, now: Now) {
        if self.second != Some(now.unix_seconds) {
            self.begin_second(now.unix_seconds);
            self.offset_ms = offset_ms();
        }
        let real_ms = now.monotonic_ms.wrapping_add(self.offset_ms);
        let within = real_ms.saturating_sub(now.unix_seconds.saturating_mul(1000));
        self.millisecond = within.min(999) as u32;
    }

    fn begin_second(&mut self, second: u64) {
        self.second = Some(second);
        let moment = Moment::of_unix(i64::try_from(second).unwrap_or(i64::MAX / 2));
        self.common.clear();
        self.rfc3339.clear();
        write_common(&mut self.common, moment);
        let text = moment.rfc3339();
        self.rfc3339
            .extend_from_slice(text.trim_end_matches('Z').as_bytes());
    }

    /// Appends the time.
    pub(super) fn push(&self, out: &mut Vec<u8>, style: Style) {
        match style {
            Style::Common => out.extend_from_slice(&self.common),
            Style::Rfc3339 | Style::Rfc3339Milliseconds => out.extend_from_slice(&self.rfc3339),
            Style::OfDay => out.extend_from_slice(self.rfc3339.get(OF_DAY..).unwrap_or_default()),
            Style::Unix | Style::UnixMilliseconds => {
                push_number(out, self.second.unwrap_or_default());
            }
        }
        if matches!(style, Style::Rfc3339Milliseconds | Style::UnixMilliseconds) {
            out.push(b'.');
            push_three(out, self.millisecond);
        }
        if matches!(style, Style::Rfc3339 | Style::Rfc3339Milliseconds) {
            out.push(b'Z');
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

fn write_common(out: &mut Vec<u8>, moment: Moment) {
    let Moment {
        year,
        month,
        day,
        hour,
        minute,
        second,
    } = moment;
    let name = usize::try_from(month - 1)
        .ok()
        .and_then(|index| MONTHS.get(index))
        .unwrap_or(&"-");
    // Writing to a Vec does not fail.
    let _ = write!(
        out,
        "{day:02}/{name}/{year:04}:{hour:02}:{minute:02}:{second:02} +0000"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(style: Style, seconds: u64, expected: &str) {
        let mut clock = Clock::new();
        let at = |clock: &mut Clock, seconds| {
            clock.begin_second(seconds);
            clock.millisecond = 42;
            let mut out = Vec::new();
            clock.push(&mut out, style);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(at(&mut clock, seconds), expected);
        at(&mut clock, seconds + 1);
        assert_eq!(at(&mut clock, seconds), expected);
    }

    #[test]
    fn seconds_are_written_as_each_format_wants() {
        check(Style::Common, 0, "01/Jan/1970:00:00:00 +0000");
        check(Style::Common, 1_794_252_599, "09/Nov/2026:19:29:59 +0000");
        check(Style::Rfc3339, 1_709_164_800, "2024-02-29T00:00:00Z");
        check(Style::Rfc3339Milliseconds, 0, "1970-01-01T00:00:00.042Z");
        check(Style::Unix, 1_794_252_599, "1794252599");
        check(Style::UnixMilliseconds, 1_794_252_599, "1794252599.042");
        check(Style::OfDay, 1_794_252_599, "19:29:59");
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
