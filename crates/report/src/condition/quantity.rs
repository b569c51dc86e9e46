//! What values of conditions are measured in: their units, and what each is worth in the unit that is compared.

use crate::units;

/// A kind of value. Each is compared in one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Nanoseconds.
    Time,
    /// Per second.
    Rate,
    /// Bytes per second.
    BytesPerSecond,
    /// Of a hundred.
    Percent,
    /// A number of things.
    Count,
}

const KIBI: f64 = 1024.0;

impl Quantity {
    /// The factor of a unit; `None` if this kind of figure does not have it.
    pub(super) fn unit(self, unit: &str) -> Option<f64> {
        let small = unit.to_ascii_lowercase();
        match self {
            Self::Time => match unit {
                "ns" => Some(1.0),
                "us" | "µs" | "μs" => Some(1e3),
                "ms" => Some(1e6),
                "s" => Some(1e9),
                "m" | "min" => Some(60e9),
                _ => None,
            },
            Self::Percent => (unit == "%").then_some(1.0),
            Self::Count => thousands(&small),
            Self::Rate => thousands(small.strip_suffix("/s").unwrap_or(&small)),
            Self::BytesPerSecond => match small.strip_suffix("/s").unwrap_or(&small) {
                "" | "b" => Some(1.0),
                "k" | "kb" | "kib" => Some(KIBI),
                "m" | "mb" | "mib" => Some(KIBI * KIBI),
                "g" | "gb" | "gib" => Some(KIBI * KIBI * KIBI),
                _ => None,
            },
        }
    }

    /// The allowed suffixes of a number, for messages.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Self::Time => "a unit of time: us, ms or s, as in 20ms",
            Self::Rate => "nothing, k, m or /s after the number, as in 5k or 5000/s",
            Self::BytesPerSecond => "k, m or g after the number (of 1,024), as in 10m or 10MiB/s",
            Self::Percent | Self::Count => "nothing, k or m after the number, as in 10 or 2k",
        }
    }

    /// A value for people.
    pub fn text(self, value: f64) -> String {
        match self {
            Self::Time => units::time(value),
            Self::Rate => units::rate(value),
            Self::BytesPerSecond => format!("{}/s", units::bytes(value)),
            Self::Percent => units::percent(value / 100.0),
            Self::Count => units::number(value),
        }
    }
}

fn thousands(unit: &str) -> Option<f64> {
    match unit {
        "" => Some(1.0),
        "k" => Some(1e3),
        "m" => Some(1e6),
        _ => None,
    }
}
