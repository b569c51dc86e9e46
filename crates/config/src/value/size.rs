//! Numbers of bytes with their unit.

use std::fmt;

use crate::reader::{FromConfig, Reader};
use crate::shape::{Shape, TextShape};
use crate::show::Shown;
use crate::tree::{Node, Value};

/// A number of bytes: `"64KiB"`, `"10MB"`, or a bare number. `KiB`, `MiB`, `GiB`, `TiB` count in 1024, `KB`, `MB`, `GB`,
/// `TB` in 1000. A lone `k` or `m` is refused, since it stands for either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(u64);

/// The units, the greatest first.
const UNITS: &[(&str, u64)] = &[
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

const SHAPE: TextShape = TextShape {
    noun: "size",
    example: "64KiB",
    pattern: Some("^[0-9]+ *(([kKmMgGtT][iI]?)?[bB])?$"),
};

impl Size {
    /// So many bytes.
    pub const fn new(bytes: u64) -> Size {
        Size(bytes)
    }

    /// The number of bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl FromConfig for Size {
    fn shape() -> Shape {
        let bytes = Shape::Integer {
            min: 0,
            max: i128::from(u64::MAX),
        };
        Shape::Either(vec![Shape::Text(SHAPE), bytes])
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        if let Value::Integer(number) = node.value {
            let bytes = u64::try_from(number).ok();
            if bytes.is_none() {
                reader.refuse(node, &Self::shape(), &format!("cannot be {number}"));
            }
            return bytes.map(Size);
        }
        reader.parsed(node, &Self::shape(), parse)
    }

    fn show(&self) -> Shown {
        Shown::Text(self.to_string())
    }
}

fn parse(text: &str) -> Result<Size, String> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    if number.is_empty() {
        return Err("it does not begin with a number".to_owned());
    }
    let unit = unit.trim_start_matches(' ');
    let scale = match unit {
        "" => 1,
        _ => scale(unit)?,
    };
    let bytes = number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(scale));
    bytes.map(Size).ok_or_else(|| "it is too large".to_owned())
}

fn scale(unit: &str) -> Result<u64, String> {
    let known = UNITS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit));
    if let Some((_, scale)) = known {
        return Ok(*scale);
    }
    let begins = |name: &str| name.len() == 3 && name[..1].eq_ignore_ascii_case(unit);
    match UNITS.iter().find(|(name, _)| begins(name)) {
        Some((name, _)) => Err(format!(
            "`{unit}` is no unit (`{name}` counts in 1024, `{}B` in 1000)",
            &name[..1]
        )),
        None => Err(format!("`{unit}` is no unit of size")),
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |(_, scale): &&(&str, u64)| self.0 != 0 && self.0.is_multiple_of(*scale);
        let (unit, scale) = UNITS.iter().find(whole).copied().unwrap_or(("B", 1));
        write!(f, "{}{unit}", self.0 / scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<u64, &str>) {
        let read = parse(text).map(Size::bytes);
        assert_eq!(
            read.as_ref().map_err(String::as_str),
            expected.as_ref().map_err(|e| *e),
            "{text}"
        );
    }

    #[test]
    fn refuses_what_is_no_size() {
        check("", Err("it does not begin with a number"));
        check("-1", Err("it does not begin with a number"));
        check("KiB", Err("it does not begin with a number"));
        check("1.5KiB", Err("`.5KiB` is no unit of size"));
        check("10x", Err("`x` is no unit of size"));
        check(
            "10k",
            Err("`k` is no unit (`KiB` counts in 1024, `KB` in 1000)"),
        );
        check(
            "1M",
            Err("`M` is no unit (`MiB` counts in 1024, `MB` in 1000)"),
        );
        check("18446744073709551616", Err("it is too large"));
        check("99999999TiB", Err("it is too large"));
    }

    #[test]
    fn takes_all_units() {
        check("0", Ok(0));
        check("512B", Ok(512));
        check("64KiB", Ok(65_536));
        check("64 kib", Ok(65_536));
        check("10MB", Ok(10_000_000));
        check("1TiB", Ok(1 << 40));
    }

    #[test]
    fn shows_the_greatest_unit_that_is_whole() {
        let shown = |bytes| Size::new(bytes).to_string();
        assert_eq!(shown(0), "0B");
        assert_eq!(shown(65_536), "64KiB");
        assert_eq!(shown(1_000_000), "1MB");
        assert_eq!(shown(1_000_001), "1000001B");
    }
}
