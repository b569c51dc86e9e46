//! Lengths of time with their unit.

use std::fmt;
use std::ops::Deref;
use std::time::Duration;

use super::FromText;
use crate::shape::TextShape;

/// A length of time: `"10s"`, `"1h30m"`, `"1.5s"`. The units are `ns`, `us`, `ms`, `s`, `m`, `h`, `d` (24 hours) and `w`
/// (seven days). A number without a unit is refused, since others take it for seconds or for milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(Duration);

/// The units, the longest first, in nanoseconds.
const UNITS: &[(&str, u128)] = &[
    ("w", 604_800 * SECOND),
    ("d", 86_400 * SECOND),
    ("h", 3_600 * SECOND),
    ("m", 60 * SECOND),
    ("s", SECOND),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];
const SECOND: u128 = 1_000_000_000;

impl Time {
    /// A length of time.
    pub const fn new(duration: Duration) -> Time {
        Time(duration)
    }

    /// It, as Rust has it.
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl Deref for Time {
    type Target = Duration;

    fn deref(&self) -> &Duration {
        &self.0
    }
}

impl From<Time> for Duration {
    fn from(time: Time) -> Duration {
        time.0
    }
}

impl FromText for Time {
    const SHAPE: TextShape = TextShape {
        noun: "time",
        example: "10s",
        pattern: Some("^ *([0-9]+(\\.[0-9]+)? *(ns|us|ms|s|m|h|d|w) *)+$"),
    };

    fn from_text(text: &str) -> Result<Time, String> {
        if text.trim_matches(' ').is_empty() {
            return Err("it is empty".to_owned());
        }
        let mut rest = text;
        let mut sum: u128 = 0;
        while !rest.is_empty() {
            rest = rest.trim_start_matches(' ');
            let (number, behind) = split(rest, |byte| byte.is_ascii_digit() || byte == b'.');
            if number.is_empty() {
                return Err(format!("`{rest}` does not begin with a number"));
            }
            let (unit, behind) = split(behind, |byte| !byte.is_ascii_digit() && byte != b'.');
            let nanoseconds = part(number, unit)?;
            sum = sum.saturating_add(nanoseconds);
            rest = behind;
        }
        let seconds = u64::try_from(sum / SECOND).map_err(|_| "it is too long".to_owned())?;
        let nanoseconds = u32::try_from(sum % SECOND).unwrap_or_default();
        Ok(Time(Duration::new(seconds, nanoseconds)))
    }
}

/// Splits where bytes of one sort end. All of `text` that both sorts leave out is ASCII digits and dots, so that a cut is
/// never within a character.
fn split(text: &str, is_part: impl Fn(u8) -> bool) -> (&str, &str) {
    let end = text.bytes().position(|byte| !is_part(byte));
    text.split_at(end.unwrap_or(text.len()))
}

/// The nanoseconds of one number and its unit.
fn part(number: &str, unit: &str) -> Result<u128, String> {
    if unit.trim_matches(' ').is_empty() {
        return Err(format!("`{number}` has no unit"));
    }
    let unit = unit.trim_matches(' ');
    let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(format!("`{unit}` is no unit of time"));
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let parse = |digits: &str| {
        digits
            .parse::<u128>()
            .map_err(|_| format!("`{number}` is no number"))
    };
    let whole = parse(whole)?.checked_mul(*scale).ok_or("it is too long")?;
    if !number.contains('.') {
        return Ok(whole);
    }
    let tenths = u32::try_from(fraction.len()).unwrap_or(u32::MAX);
    let divisor = 10_u128.checked_pow(tenths).filter(|_| tenths <= 9);
    let divisor = divisor.ok_or_else(|| format!("`{number}` has more than nine decimals"))?;
    Ok(whole + parse(fraction)? * scale / divisor)
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_nanos();
        if rest == 0 {
            return f.write_str("0s");
        }
        for (unit, scale) in UNITS {
            if rest >= *scale {
                write!(f, "{}{unit}", rest / scale)?;
                rest %= scale;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        let read = Time::from_text(text).map(|time| time.to_string());
        let read = read.as_ref().map(String::as_str).map_err(String::as_str);
        assert_eq!(read, expected, "{text}");
    }

    #[test]
    fn refuses_what_is_no_time() {
        check("", Err("it is empty"));
        check("  ", Err("it is empty"));
        check("10", Err("`10` has no unit"));
        check("10x", Err("`x` is no unit of time"));
        check("10 minutes", Err("`minutes` is no unit of time"));
        check("s", Err("`s` does not begin with a number"));
        check("1m30", Err("`30` has no unit"));
        check("-1s", Err("`-1s` does not begin with a number"));
        check("1..5s", Err("`1..5` is no number"));
        check(".5s", Err("`.5` is no number"));
        check("1.s", Err("`1.` is no number"));
        check("10µs", Err("`µs` is no unit of time"));
        check(
            "1.0000000001s",
            Err("`1.0000000001` has more than nine decimals"),
        );
        check(
            "40000000000000000000000000000000000000000s",
            Err("`40000000000000000000000000000000000000000` is no number"),
        );
        check(
            "340282366920938463463374607431768211455w",
            Err("it is too long"),
        );
        check("99999999999999999999s", Err("it is too long"));
    }

    #[test]
    fn takes_all_units() {
        check("0s", Ok("0s"));
        check("10s", Ok("10s"));
        check("90s", Ok("1m30s"));
        check("1h30m", Ok("1h30m"));
        check("1h 30 m", Ok("1h30m"));
        check("24h", Ok("1d"));
        check("7d", Ok("1w"));
        check("1.5s", Ok("1s500ms"));
        check("250ms", Ok("250ms"));
        check("2us1ns", Ok("2us1ns"));
    }
}
