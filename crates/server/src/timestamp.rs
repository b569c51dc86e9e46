//! Moments as RFC 3339 writes them, in UTC. It reads no clock.

/// Year, month, day, hour, minute and second of a moment, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
}

impl Moment {
    /// The moment `seconds` after the beginning of 1970; before it, where negative.
    pub(crate) fn of_unix(seconds: i64) -> Self {
        let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, day) = date(days);
        Self {
            year,
            month,
            day,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
        }
    }

    /// Such as `2026-11-20T19:30:00Z`.
    pub(crate) fn rfc3339(self) -> String {
        let Self {
            year,
            month,
            day,
            hour,
            minute,
            second,
        } = self;
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }

    /// Such as `2026-11-20 19:30`.
    pub(crate) fn to_minutes(self) -> String {
        let Self {
            year,
            month,
            day,
            hour,
            minute,
            ..
        } = self;
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
    }
}

/// The date `days` after 1970-01-01. Years are counted from March, so that the leap day is the last of a year;
/// 400 of them have 146,097 days, whatever the century.
fn date(days: i64) -> (i64, i64, i64) {
    const DAYS_TO_1970: i64 = 719_468;
    let days = days + DAYS_TO_1970;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Months from March have 31, 30, 31, 30, 31 days, and so again: 153 in five.
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seconds: i64, expected: &str) {
        assert_eq!(Moment::of_unix(seconds).rfc3339(), expected);
    }

    // From `date -u -d @N +%FT%TZ`.
    #[test]
    fn moments_are_those_of_the_calendar() {
        check(-1, "1969-12-31T23:59:59Z");
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_399, "2000-02-28T23:59:59Z");
        check(951_782_400, "2000-02-29T00:00:00Z");
        check(951_868_800, "2000-03-01T00:00:00Z");
        check(1_709_164_800, "2024-02-29T00:00:00Z");
        check(1_795_202_999, "2026-11-20T19:29:59Z");
        check(4_107_542_400, "2100-03-01T00:00:00Z");
        check(-62_135_596_800, "0001-01-01T00:00:00Z");
    }
}
