//! Formats figures with three digits and a unit. Sizes are binary, everything else decimal.

pub use vervet_http::text::size as bytes;
use vervet_http::text::{grouped, three_digits};

/// A time in nanoseconds: `950 ns`, `12.3 us`, `1.20 ms`, `2.05 s`, `3 min 20 s`.
pub fn time(time_ns: f64) -> String {
    let steps = [(1e9, "s"), (1e6, "ms"), (1e3, "us")];
    if time_ns >= 119.95e9 {
        let seconds = (time_ns / 1e9).round();
        let (minutes, rest) = ((seconds / 60.0).floor(), seconds % 60.0);
        return if minutes >= 60.0 {
            format!("{:.0} h {:.0} min", (minutes / 60.0).floor(), minutes % 60.0)
        } else if rest == 0.0 {
            format!("{minutes:.0} min")
        } else {
            format!("{minutes:.0} min {rest:.0} s")
        };
    }
    match steps.into_iter().find(|(worth, _)| time_ns >= *worth * 0.9995) {
        Some((worth, unit)) => format!("{} {unit}", three_digits(time_ns / worth)),
        None => format!("{time_ns:.0} ns"),
    }
}

/// A number per second: `12,346/s`, `0.5/s`.
pub fn rate(per_second: f64) -> String {
    format!("{}/s", number(per_second))
}

/// A number, with digits in groups of three: `1,234,567`, `12.5`.
pub fn number(value: f64) -> String {
    if value.abs() < 99.95 && value.fract() != 0.0 {
        return three_digits(value);
    }
    grouped(format_args!("{value:.0}"))
}

/// A count with grouped digits: `1,234,567`.
pub fn count(value: u64) -> String {
    grouped(value)
}

/// A share from 0 to 1: `0.05 %`, `99.9 %`, `100 %`. A value above 0 is never shown as 0.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.001 {
        return "< 0.001 %".to_owned();
    }
    let digits = match percent {
        0.0 => 0,
        _ if percent < 0.0995 => 3,
        _ if percent < 9.95 => 2,
        _ if percent < 99.95 => 1,
        // Nearly all is not all.
        _ if percent < 100.0 => return "99.9 %".to_owned(),
        _ => 0,
    };
    format!("{percent:.digits$} %")
}

/// A moment in milliseconds since 1970 as `2026-11-22 06:10:07 UTC`.
pub fn moment(unix_ms: u64) -> String {
    let seconds = unix_ms / 1000;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // The civil calendar in eras of 400 years that begin on 1 March.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_a_unit() {
        for (time_ns, text) in [
            (0.0, "0 ns"),
            (999.0, "999 ns"),
            (999.6, "1.00 us"),
            (12_345.0, "12.3 us"),
            (999_700.0, "1.00 ms"),
            (1_204_000.0, "1.20 ms"),
            (2_050_000_000.0, "2.05 s"),
            (119_900_000_000.0, "120 s"),
            (120_000_000_000.0, "2 min"),
            (200_000_000_000.0, "3 min 20 s"),
            (3_600_000_000_000.0, "1 h 0 min"),
        ] {
            assert_eq!(time(time_ns), text);
        }
    }

    #[test]
    fn numbers_are_grouped() {
        for (value, text) in [
            (0.0, "0"),
            (0.5, "0.50"),
            (12.0, "12"),
            (99.94, "99.9"),
            (99.96, "100"),
            (1000.4, "1,000"),
            (1_234_567.0, "1,234,567"),
            (-1234.0, "-1,234"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn little_is_not_nothing_and_nearly_all_not_all() {
        for (share, text) in [
            (0.0, "0 %"),
            (0.000_001, "< 0.001 %"),
            (0.000_05, "0.005 %"),
            (0.001, "0.10 %"),
            (0.0123, "1.23 %"),
            (0.5, "50.0 %"),
            (0.99996, "99.9 %"),
            (1.0, "100 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn moments_are_in_the_civil_calendar() {
        for (unix_ms, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_400_000, "2000-02-29 00:00:00 UTC"),
            (1_709_251_199_999, "2024-02-29 23:59:59 UTC"),
            (1_795_327_807_000, "2026-11-22 06:10:07 UTC"),
            (4_107_542_400_000, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(moment(unix_ms), text);
        }
    }
}
