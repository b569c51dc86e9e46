//! Numbers with units as people write them: `64k`, `1MiB`, `30s`, `1h`.

use std::time::Duration;

use vervet_server::engine::limits::{LimitRow, Limits};

/// How alike two names have to be, from 0 to 1, for the one to be suggested for the other.
const ALIKE_MIN: f64 = 0.7;

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
        .ok_or_else(|| format!("\"{text}\" is not of the form NAME=VALUE"))?;
    let row = Limits::row(name).ok_or_else(|| unknown_limit(name))?;
    let value = if row.unit == "ms" {
        milliseconds(value, 1)?
    } else {
        count(
            value,
            if row.unit.starts_with("bytes") {
                1024
            } else {
                1000
            },
        )?
    };
    Limits::default()
        .set(name, value)
        .map_err(|error| error.to_string())?;
    Ok(LimitSetting { row, value })
}

fn unknown_limit(name: &str) -> String {
    let alike = |row: &&LimitRow| strsim::jaro_winkler(row.name, name);
    let nearest = Limits::TABLE
        .iter()
        .max_by(|left, right| alike(left).total_cmp(&alike(right)))
        .filter(|row| alike(row) >= ALIKE_MIN);
    match nearest {
        Some(row) => format!("there is no limit \"{name}\": did you mean {}?", row.name),
        None => format!("there is no limit \"{name}\" (vervet limits lists them)"),
    }
}

/// Reads a time; a number without a unit is in seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    milliseconds(text, 1000).map(Duration::from_millis)
}

/// Whole milliseconds; `bare` is what a number without a unit counts.
fn milliseconds(text: &str, bare: u64) -> Result<u64, String> {
    scaled(text, |unit| {
        Some(match unit {
            "" => bare,
            "ms" => 1,
            "s" => 1000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return None,
        })
    })
    .ok_or_else(|| format!("\"{text}\" is no time (for example 500ms, 30s, 5m, 1h)"))
}

/// A number with `k`, `m`, `g`, `t`, of which `base` is the step; with `KiB` and so on in steps of 1024, with `kB` and
/// so on in steps of 1000.
fn count(text: &str, base: u64) -> Result<u64, String> {
    scaled(text, |unit| {
        let unit = unit.to_ascii_lowercase();
        let (prefix, step) = match unit.as_bytes() {
            [] | [b'b'] => return Some(1),
            [prefix] => (*prefix, base),
            [prefix, b'b'] => (*prefix, 1000),
            [prefix, b'i', b'b'] => (*prefix, 1024),
            _ => return None,
        };
        let power = b"kmgt".iter().position(|known| *known == prefix)?;
        Some(step.pow(u32::try_from(power).ok()? + 1))
    })
    .ok_or_else(|| format!("\"{text}\" is no number (for example 100, 64k, 1MiB)"))
}

/// A whole or decimal number times what its unit counts.
fn scaled(text: &str, unit: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let factor = unit(text[end..].trim_start())?;
    let (whole, fraction) = text[..end].split_once('.').unwrap_or((&text[..end], ""));
    let mut value = whole.parse::<u64>().ok()?.checked_mul(factor)?;
    if text[..end].contains('.') {
        let digits = u32::try_from(fraction.len()).ok()?;
        let part = fraction.parse::<u64>().ok()?.checked_mul(factor)?;
        value = value.checked_add(part / 10_u64.checked_pow(digits)?)?;
    }
    Some(value)
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
    fn what_is_no_setting_is_named() {
        check("x", Err("\"x\" is not of the form NAME=VALUE"));
        check(
            "head_byte_max=1",
            Err("there is no limit \"head_byte_max\": did you mean head_bytes_max?"),
        );
        check(
            "zzz=1",
            Err("there is no limit \"zzz\" (vervet limits lists them)"),
        );
        check(
            "head_bytes_max=many",
            Err("\"many\" is no number (for example 100, 64k, 1MiB)"),
        );
        check(
            "head_timeout_ms=5parsecs",
            Err("\"5parsecs\" is no time (for example 500ms, 30s, 5m, 1h)"),
        );
        check(
            "fields_max=1k",
            Err("fields_max cannot be 1000: it lies between 8 and 128 fields"),
        );
        for text in [
            "",
            "-1",
            ".",
            "1.",
            ".5",
            "1.2.3",
            "99999999999999999999",
            "9e9",
        ] {
            let said = format!("\"{text}\" is no number (for example 100, 64k, 1MiB)");
            check(&format!("content_bytes_max={text}"), Err(&said));
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
