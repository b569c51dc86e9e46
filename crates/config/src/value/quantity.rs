//! Numbers with a unit: lengths of time and numbers of bytes. The only reader of both, for
//! documents, flags and scenarios.

use std::fmt;
use std::ops::Deref;
use std::time::Duration;

use super::FromText;
use crate::reader::{FromConfig, Reader};
use crate::shape::{Shape, TextShape};
use crate::show::Shown;
use crate::tree::{Node, Value};

const SECOND: u128 = 1_000_000_000;

/// The units of time in nanoseconds, in the order in which [`Time`] is written.
const TIME_UNITS: &[(&str, u128)] = &[
    ("w", 604_800 * SECOND),
    ("d", 86_400 * SECOND),
    ("h", 3_600 * SECOND),
    ("m", 60 * SECOND),
    ("s", SECOND),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// The units of size in bytes, the largest first.
const SIZE_UNITS: &[(&str, u64)] = &[
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("KB", 1_000),
    ("B", 1),
];

const SIZE_SHAPE: TextShape = TextShape {
    noun: "size",
    example: "64KiB",
    pattern: Some("^[0-9]+(\\.[0-9]+)? *(([kKmMgGtT][iI]?)?[bB])?$"),
};

/// A length of time: `"10s"`, `"1h30m"`, `"1.5s"`. The units are `ns`, `us`, `ms`, `s`, `m`, `h`,
/// `d` (24 hours) and `w` (seven days). A number without a unit is refused, since some programs
/// take it for seconds and others for milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(Duration);

impl Time {
    /// Makes a length of time of a [`Duration`].
    pub const fn new(duration: Duration) -> Time {
        Time(duration)
    }

    /// Returns the length of time as a [`Duration`].
    pub const fn duration(self) -> Duration {
        self.0
    }

    /// Reads a length of time; a number without a unit counts in `default_unit`, as flags take it.
    ///
    /// The error is the reason, in lower case and without a full stop.
    pub fn with_default_unit(text: &str, default_unit: Duration) -> Result<Time, String> {
        read_time(text, Some(default_unit.as_nanos()))
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
        pattern: Some("^ *([0-9]+(\\.[0-9]+)? *(ns|us|ms|s|min|m|h|d|w) *)+$"),
    };

    fn from_text(text: &str) -> Result<Time, String> {
        read_time(text, None)
    }
}

/// Reads the sum of numbers with units. `default_scale` is what a number without a unit counts in,
/// in nanoseconds; without it, such a number is refused.
fn read_time(text: &str, default_scale: Option<u128>) -> Result<Time, String> {
    let mut rest = text.trim_matches(' ');
    if rest.is_empty() {
        return Err("it is empty".to_owned());
    }
    let mut sum: u128 = 0;
    while !rest.is_empty() {
        let (number, after) = split(rest, is_number_byte);
        if number.is_empty() {
            return Err(format!("expected a number before `{rest}`"));
        }
        let (unit, after) = split(after, |byte| !is_number_byte(byte));
        let scale = match (unit.trim_matches(' '), default_scale) {
            ("", Some(scale)) => scale,
            ("", None) => return Err(format!("missing unit after `{number}`")),
            (unit, _) => time_scale(unit)?,
        };
        let nanoseconds = scaled(number, scale)?.ok_or("it is too long")?;
        sum = sum.saturating_add(nanoseconds);
        rest = after;
    }
    let seconds = u64::try_from(sum / SECOND).map_err(|_| "it is too long".to_owned())?;
    let nanoseconds = u32::try_from(sum % SECOND).unwrap_or_default();
    Ok(Time(Duration::new(seconds, nanoseconds)))
}

fn time_scale(unit: &str) -> Result<u128, String> {
    let name = if unit == "min" { "m" } else { unit };
    let known = TIME_UNITS.iter().find(|(known, _)| *known == name);
    known.map(|(_, scale)| *scale).ok_or_else(|| format!("unknown unit of time `{unit}`"))
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_nanos();
        if rest == 0 {
            return f.write_str("0s");
        }
        for (unit, scale) in TIME_UNITS {
            if rest >= *scale {
                write!(f, "{}{unit}", rest / scale)?;
                rest %= scale;
            }
        }
        Ok(())
    }
}

/// A number of bytes: `"64KiB"`, `"1.5MB"`, or a number without a unit. `KiB`, `MiB`, `GiB`, `TiB`
/// count in 1024, `KB`, `MB`, `GB`, `TB` in 1000. A lone `k` or `m` is refused, since it stands for
/// either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(u64);

impl Size {
    /// Makes a size of a number of bytes.
    pub const fn new(bytes: u64) -> Size {
        Size(bytes)
    }

    /// Returns the number of bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// Reads a size or a count; a lone `k`, `m`, `g` or `t` counts in powers of `step` (1000 or
    /// 1024), as flags take it.
    ///
    /// The error is the reason, in lower case and without a full stop.
    pub fn with_step(text: &str, step: u64) -> Result<Size, String> {
        read_size(text.trim(), Some(step))
    }
}

impl FromConfig for Size {
    fn shape() -> Shape {
        let bytes = Shape::Integer { min: 0, max: i128::from(u64::MAX) };
        Shape::Either(vec![Shape::Text(SIZE_SHAPE), bytes])
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        if let Value::Integer(number) = node.value {
            let bytes = u64::try_from(number).ok();
            if bytes.is_none() {
                reader.refuse(node, &Self::shape(), &format!("cannot be {number}"));
            }
            return bytes.map(Size);
        }
        reader.parsed(node, &Self::shape(), |text| read_size(text, None))
    }

    fn show(&self) -> Shown {
        Shown::Text(self.to_string())
    }
}

/// Reads a number with a unit. `step` is what a lone prefix counts in; without it, one is refused.
fn read_size(text: &str, step: Option<u64>) -> Result<Size, String> {
    let (number, unit) = split(text, is_number_byte);
    if !number.starts_with(|first: char| first.is_ascii_digit()) {
        return Err("it does not begin with a number".to_owned());
    }
    let scale = size_scale(unit.trim_start_matches(' '), step)?;
    let bytes = scaled(number, u128::from(scale))?;
    let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok());
    bytes.map(Size).ok_or_else(|| "it is too large".to_owned())
}

fn size_scale(unit: &str, step: Option<u64>) -> Result<u64, String> {
    if unit.is_empty() {
        return Ok(1);
    }
    let known = |name: &str| name.eq_ignore_ascii_case(unit);
    if let Some((_, scale)) = SIZE_UNITS.iter().find(|(name, _)| known(name)) {
        return Ok(*scale);
    }
    let prefixes = ["K", "M", "G", "T"];
    let powers = prefixes.iter().zip(1..);
    match (powers.clone().find(|(prefix, _)| known(prefix)), step) {
        (Some((_, power)), Some(step)) => Ok(step.pow(power)),
        (Some((prefix, _)), None) => Err(format!(
            "ambiguous unit `{unit}`: write `{prefix}iB` to count in 1024, `{prefix}B` in 1000"
        )),
        (None, _) => Err(format!("unknown unit of size `{unit}`")),
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |(_, scale): &&(&str, u64)| self.0 != 0 && self.0.is_multiple_of(*scale);
        let (unit, scale) = SIZE_UNITS.iter().find(whole).copied().unwrap_or(("B", 1));
        write!(f, "{}{unit}", self.0 / scale)
    }
}

fn is_number_byte(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'.'
}

/// Splits before the first byte that is none of those wanted. One side consists of ASCII digits and
/// dots only, so the cut is never within a character.
fn split(text: &str, is_wanted: impl Fn(u8) -> bool) -> (&str, &str) {
    let end = text.bytes().position(|byte| !is_wanted(byte));
    text.split_at(end.unwrap_or(text.len()))
}

/// A decimal number times `scale`, rounded down; `None` where it is too large.
fn scaled(number: &str, scale: u128) -> Result<Option<u128>, String> {
    let digits = |digits: &str| {
        let parsed = digits.parse::<u128>();
        parsed.map_err(|_| format!("invalid number `{number}`"))
    };
    let Some((whole, fraction)) = number.split_once('.') else {
        return Ok(digits(number)?.checked_mul(scale));
    };
    let whole = digits(whole)?.checked_mul(scale);
    let decimals = u32::try_from(fraction.len()).unwrap_or(u32::MAX);
    let divisor = 10_u128.checked_pow(decimals).filter(|_| decimals <= 9);
    let divisor = divisor.ok_or_else(|| format!("`{number}` has more than nine decimals"))?;
    let fraction = digits(fraction)? * scale / divisor;
    Ok(whole.and_then(|whole| whole.checked_add(fraction)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: fmt::Display>(text: &str, read: Result<T, String>, expected: Result<&str, &str>) {
        let read = read.map(|value| value.to_string());
        let read = read.as_ref().map(String::as_str).map_err(String::as_str);
        assert_eq!(read, expected, "{text}");
    }

    #[track_caller]
    fn check_time(text: &str, expected: Result<&str, &str>) {
        check(text, Time::from_text(text), expected);
    }

    #[track_caller]
    fn check_size(text: &str, expected: Result<u64, &str>) {
        let read = read_size(text, None).map(Size::bytes);
        let shown = expected.map(|bytes| bytes.to_string());
        check(text, read, shown.as_deref().map_err(|reason| *reason));
    }

    #[test]
    fn rejects_invalid_times() {
        check_time("", Err("it is empty"));
        check_time("  ", Err("it is empty"));
        check_time("10", Err("missing unit after `10`"));
        check_time("10x", Err("unknown unit of time `x`"));
        check_time("10 minutes", Err("unknown unit of time `minutes`"));
        check_time("s", Err("expected a number before `s`"));
        check_time("1m30", Err("missing unit after `30`"));
        check_time("-1s", Err("expected a number before `-1s`"));
        check_time("1..5s", Err("invalid number `1..5`"));
        check_time(".5s", Err("invalid number `.5`"));
        check_time("1.s", Err("invalid number `1.`"));
        check_time("10µs", Err("unknown unit of time `µs`"));
        check_time("1.0000000001s", Err("`1.0000000001` has more than nine decimals"));
        check_time(
            "40000000000000000000000000000000000000000s",
            Err("invalid number `40000000000000000000000000000000000000000`"),
        );
        check_time("340282366920938463463374607431768211455w", Err("it is too long"));
        check_time("99999999999999999999s", Err("it is too long"));
    }

    #[test]
    fn reads_all_units_of_time() {
        check_time("0s", Ok("0s"));
        check_time("10s", Ok("10s"));
        check_time("90s", Ok("1m30s"));
        check_time("1h30m", Ok("1h30m"));
        check_time("1h 30 m", Ok("1h30m"));
        check_time("5min", Ok("5m"));
        check_time("24h", Ok("1d"));
        check_time("7d", Ok("1w"));
        check_time("1.5s", Ok("1s500ms"));
        check_time("250ms", Ok("250ms"));
        check_time("2us1ns", Ok("2us1ns"));
    }

    #[test]
    fn reads_times_with_a_default_unit() {
        let check = |text, expected| {
            let read = Time::with_default_unit(text, Duration::from_secs(1));
            check(text, read, expected);
        };
        check("x", Err("expected a number before `x`"));
        check("30", Ok("30s"));
        check(" 1.5 ", Ok("1s500ms"));
        check("30ms", Ok("30ms"));
        check("1d", Ok("1d"));
    }

    #[test]
    fn rejects_invalid_sizes() {
        check_size("", Err("it does not begin with a number"));
        check_size("-1", Err("it does not begin with a number"));
        check_size(".5KiB", Err("it does not begin with a number"));
        check_size("KiB", Err("it does not begin with a number"));
        check_size("1.5.5KiB", Err("invalid number `1.5.5`"));
        check_size("10x", Err("unknown unit of size `x`"));
        check_size("10k", Err("ambiguous unit `k`: write `KiB` to count in 1024, `KB` in 1000"));
        check_size("1M", Err("ambiguous unit `M`: write `MiB` to count in 1024, `MB` in 1000"));
        check_size("18446744073709551616", Err("it is too large"));
        check_size("99999999TiB", Err("it is too large"));
    }

    #[test]
    fn reads_all_units_of_size() {
        check_size("0", Ok(0));
        check_size("512B", Ok(512));
        check_size("64KiB", Ok(65_536));
        check_size("64 kib", Ok(65_536));
        check_size("1.5KiB", Ok(1536));
        check_size("10MB", Ok(10_000_000));
        check_size("1TiB", Ok(1 << 40));
    }

    #[test]
    fn reads_sizes_with_a_lone_prefix() {
        let read = |text, step| Size::with_step(text, step).map(Size::bytes);
        assert_eq!(read("64k", 1024), Ok(65_536));
        assert_eq!(read("64k", 1000), Ok(64_000));
        assert_eq!(read("64kB", 1024), Ok(64_000));
        assert_eq!(read("1.5m", 1024), Ok(1_572_864));
        assert_eq!(read("1x", 1000), Err("unknown unit of size `x`".to_owned()));
    }

    #[test]
    fn shows_the_largest_unit_that_divides_a_size() {
        let shown = |bytes| Size::new(bytes).to_string();
        assert_eq!(shown(0), "0B");
        assert_eq!(shown(65_536), "64KiB");
        assert_eq!(shown(1_000_000), "1MB");
        assert_eq!(shown(1_000_001), "1000001B");
    }
}
