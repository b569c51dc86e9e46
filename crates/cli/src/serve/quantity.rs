//! Numbers with units as people write them: `64k`, `1MiB`, `30s`, `1h`.

use std::time::Duration;

use vervet_server::config::{Size, Time, did_you_mean};
use vervet_server::engine::limits::{LimitRow, Limits};

/// A limit and the value it is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LimitSetting {
    pub(crate) row: &'static LimitRow,
    pub(crate) value: u64,
}

/// Reads `NAME=VALUE`. A value without a unit is in the unit of the table.
pub(crate) fn limit(text: &str) -> Result<LimitSetting, String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| format!("\"{text}\" is not in the form NAME=VALUE"))?;
    let row = Limits::row(name).ok_or_else(|| unknown_limit(name))?;
    let value = if row.unit == "ms" {
        let time = time(value, Duration::from_millis(1))?;
        u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
    } else {
        let is_size = row.unit.starts_with("bytes");
        let invalid = |reason| format!("{reason} (expected a number, such as 100, 64k or 1MiB)");
        let size = Size::with_step(value, if is_size { 1024 } else { 1000 });
        size.map_err(invalid)?.bytes()
    };
    Limits::default()
        .set(name, value)
        .map_err(|error| error.to_string())?;
    Ok(LimitSetting { row, value })
}

fn unknown_limit(name: &str) -> String {
    let hint = did_you_mean(name, Limits::TABLE.iter().map(|row| row.name));
    format!("unknown limit \"{name}\"{hint} (`vervet limits` lists all limits)")
}

/// Reads a length of time; a number without a unit is in seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    time(text, Duration::from_secs(1))
}

fn time(text: &str, default_unit: Duration) -> Result<Duration, String> {
    let invalid = |reason| format!("{reason} (expected a time, such as 500ms, 30s, 5m or 1h)");
    let time = Time::with_default_unit(text, default_unit).map_err(invalid)?;
    Ok(time.duration())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<u64, &str>) {
        let result = limit(text).map(|setting| setting.value);
        assert_eq!(result, expected.map_err(str::to_owned), "{text}");
    }

    #[test]
    fn rejects_invalid_settings() {
        const NUMBER: &str = "(expected a number, such as 100, 64k or 1MiB)";
        check("x", Err("\"x\" is not in the form NAME=VALUE"));
        check(
            "head_byte_max=1",
            Err(
                "unknown limit \"head_byte_max\"; did you mean `head_bytes_max`? \
                 (`vervet limits` lists all limits)",
            ),
        );
        check(
            "zzz=1",
            Err("unknown limit \"zzz\" (`vervet limits` lists all limits)"),
        );
        check(
            "head_timeout_ms=5parsecs",
            Err("unknown unit of time `parsecs` (expected a time, such as 500ms, 30s, 5m or 1h)"),
        );
        check(
            "fields_max=1k",
            Err("fields_max cannot be 1000: it lies between 8 and 128 fields"),
        );
        for (text, reason) in [
            ("", "it does not begin with a number"),
            ("many", "it does not begin with a number"),
            ("-1", "it does not begin with a number"),
            (".", "it does not begin with a number"),
            (".5", "it does not begin with a number"),
            ("1.", "invalid number `1.`"),
            ("1.2.3", "invalid number `1.2.3`"),
            ("99999999999999999999", "it is too large"),
            ("9e9", "unknown unit of size `e9`"),
        ] {
            let expected = format!("{reason} {NUMBER}");
            check(&format!("content_bytes_max={text}"), Err(&expected));
        }
    }

    #[test]
    fn units_are_those_of_the_thing_counted() {
        check("head_bytes_max=64k", Ok(65_536));
        check("head_bytes_max=64kB", Ok(64_000));
        check("head_bytes_max=64KiB", Ok(65_536));
        check("content_bytes_max=1.5m", Ok(1_572_864));
        check("content_bytes_max=0", Ok(0));
        check("requests_per_connection_max=10k", Ok(10_000));
        check("head_timeout_ms=500", Ok(500));
        check("head_timeout_ms=1.5s", Ok(1500));
        check("head_timeout_ms=1h", Ok(3_600_000));
    }

    #[test]
    fn a_time_without_a_unit_is_in_seconds() {
        assert_eq!(duration("30"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("30ms"), Ok(Duration::from_millis(30)));
        assert_eq!(duration("1d"), Ok(Duration::from_hours(24)));
    }
}
