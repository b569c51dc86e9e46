//! The values of a sweep: one number, or a range with a way to walk it.

use std::fmt;

use vervet_config::{FromConfig, Node, Reader, Shape, Shown, TextShape, Value};

/// The most values of one sweep.
pub const POINTS_MAX: usize = 1000;

/// Values of a sweep: `10`, `"100..1000+100"` (in steps of 100), `"1..400*2"` (each twice the one
/// before), `"1..400"` (the same). Numbers take `k` and `m`. The last value is always there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sweep {
    from: u64,
    to: u64,
    walk: Walk,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Walk {
    Add(u64),
    Multiply(u64),
}

const SHAPE: TextShape = TextShape {
    noun: "sweep",
    example: "100..1000+100",
    pattern: Some("^[0-9]+[km]?(\\.\\.[0-9]+[km]?([+*][0-9]+[km]?)?)?$"),
};

impl Sweep {
    /// A sweep of a single value.
    pub const fn one(value: u64) -> Sweep {
        Sweep { from: value, to: value, walk: Walk::Multiply(2) }
    }

    /// The values in ascending order, always including the last.
    pub fn values(self) -> Vec<u64> {
        let step = |value: &u64| match self.walk {
            Walk::Add(step) => value.checked_add(step),
            Walk::Multiply(factor) => value.checked_mul(factor),
        };
        let values = std::iter::successors(Some(self.from), step);
        let mut values: Vec<u64> = values.take_while(|value| *value < self.to).collect();
        values.push(self.to);
        values
    }

    /// How many values there are, without making them.
    fn count(self) -> u128 {
        match self.walk {
            Walk::Add(step) => u128::from((self.to - self.from) / step) + 2,
            // Each is at least twice the one before.
            Walk::Multiply(_) => 65,
        }
    }
}

/// Parses a sweep.
fn parse(text: &str) -> Result<Sweep, String> {
    let Some((from, rest)) = text.split_once("..") else {
        return Ok(Sweep::one(number(text)?));
    };
    let from = number(from)?;
    let (to, walk) = if let Some((to, step)) = rest.split_once('+') {
        (number(to)?, Walk::Add(number(step)?))
    } else if let Some((to, factor)) = rest.split_once('*') {
        (number(to)?, Walk::Multiply(number(factor)?))
    } else {
        (number(rest)?, Walk::Multiply(2))
    };
    if to < from {
        return Err(format!("{to} is less than {from}"));
    }
    if matches!(walk, Walk::Multiply(1)) {
        return Err("a factor of 1 never ends".to_owned());
    }
    let sweep = Sweep { from, to, walk };
    if sweep.count() > POINTS_MAX as u128 {
        return Err(format!("it has more than {POINTS_MAX} values"));
    }
    Ok(sweep)
}

/// A number of at least 1 with its suffix.
fn number(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let (digits, scale) = match text.as_bytes() {
        [.., b'k'] => (&text[..text.len() - 1], 1000),
        [.., b'm'] => (&text[..text.len() - 1], 1_000_000),
        _ => (text, 1),
    };
    let number: u64 = digits.parse().map_err(|_| format!("invalid number `{text}`"))?;
    match number.checked_mul(scale) {
        Some(0) => Err("0 is too small, expected at least 1".to_owned()),
        Some(number) => Ok(number),
        None => Err(format!("`{text}` is too large")),
    }
}

impl FromConfig for Sweep {
    fn shape() -> Shape {
        let number = Shape::Integer { min: 1, max: i128::from(u64::MAX) };
        Shape::Either(vec![Shape::Text(SHAPE), number])
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        if let Value::Integer(number) = node.value {
            let number = u64::try_from(number).ok().filter(|number| *number > 0);
            if number.is_none() {
                let reason = "is below 1";
                reader.refuse(node, &Self::shape(), reason);
            }
            return number.map(Sweep::one);
        }
        reader.parsed(node, &Self::shape(), parse)
    }

    fn show(&self) -> Shown {
        Shown::Text(self.to_string())
    }
}

impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.walk {
            _ if self.from == self.to => write!(f, "{}", self.from),
            Walk::Add(step) => write!(f, "{}..{}+{step}", self.from, self.to),
            Walk::Multiply(factor) => write!(f, "{}..{}*{factor}", self.from, self.to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&[u64], &str>) {
        let values = parse(text).map(Sweep::values);
        let values = values.as_deref().map_err(String::as_str);
        assert_eq!(values, expected, "{text}");
    }

    #[test]
    fn refuses_what_never_ends_or_goes_down() {
        check("", Err("invalid number ``"));
        check("0", Err("0 is too small, expected at least 1"));
        check("a..5", Err("invalid number `a`"));
        check("5..1", Err("1 is less than 5"));
        check("1..5+0", Err("0 is too small, expected at least 1"));
        check("1..5*1", Err("a factor of 1 never ends"));
        check("1..2000+1", Err("it has more than 1000 values"));
        check("18446744073709551615k", Err("`18446744073709551615k` is too large"));
        check("-1", Err("invalid number `-1`"));
    }

    #[test]
    fn the_last_value_is_always_there() {
        check("7", Ok(&[7]));
        check("1k", Ok(&[1000]));
        check("100..400+100", Ok(&[100, 200, 300, 400]));
        check("100..350+100", Ok(&[100, 200, 300, 350]));
        check("1..10", Ok(&[1, 2, 4, 8, 10]));
        check("1..100*10", Ok(&[1, 10, 100]));
        check("5..5+1", Ok(&[5]));
        check("1..999+1", Ok(&(1..=999).collect::<Vec<_>>()));
        check("18446744073709551614..18446744073709551615*2", Ok(&[u64::MAX - 1, u64::MAX]));
    }
}
