//! Points in time as text, in UTC. This module reads no clock.

use chrono::{DateTime, SecondsFormat, Utc};

/// The point in time `seconds` after the beginning of 1970. Times beyond the calendar of `chrono`,
/// 262,000 years from now, become its last.
pub(crate) fn utc(seconds: impl TryInto<i64>) -> DateTime<Utc> {
    let seconds = seconds.try_into().unwrap_or(i64::MAX);
    DateTime::from_timestamp(seconds, 0).unwrap_or(if seconds < 0 {
        DateTime::<Utc>::MIN_UTC
    } else {
        DateTime::<Utc>::MAX_UTC
    })
}

/// Such as `2026-11-20T19:30:00Z` (RFC 3339).
pub(crate) fn rfc3339(seconds: i64) -> String {
    utc(seconds).to_rfc3339_opts(SecondsFormat::Secs, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seconds: i64, expected: &str) {
        assert_eq!(rfc3339(seconds), expected);
    }

    // From `date -u -d @N +%FT%TZ`.
    #[test]
    fn times_follow_the_calendar() {
        check(-1, "1969-12-31T23:59:59Z");
        check(0, "1970-01-01T00:00:00Z");
        check(1_709_164_800, "2024-02-29T00:00:00Z");
        check(1_795_202_999, "2026-11-20T19:29:59Z");
    }

    #[test]
    fn times_beyond_the_calendar_are_its_ends() {
        assert_eq!(utc(u64::MAX), DateTime::<Utc>::MAX_UTC);
        assert_eq!(utc(i64::MIN), DateTime::<Utc>::MIN_UTC);
    }
}
