//! Packed histograms: HdrHistogram's V2 encoding, uncompressed, which its plotters and other ports
//! read. A few thousand distinct times take a few kilobytes. Agents send it, so invalid input is
//! rejected here.

use std::borrow::Cow;
use std::fmt;

use base64ct::{Base64, Encoding as _};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::counts::{Histogram, TIME_MAX_NS};
use super::index::{lowest, slot};

/// The cookie of the encoding: V2, counts of up to 64 bits.
const COOKIE: u32 = 0x1c84_9313;
/// Cookie, length, offset, digits, lowest, highest, ratio.
const HEAD_BYTES: usize = 40;
/// More than any histogram of ours takes: 33,800 slots of at most nine bytes.
const BYTES_MAX: usize = 320_000;

/// The nonzero counts of a histogram as `(slot, count)`, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    counts: Vec<(u32, u64)>,
}

/// Why a packed histogram cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The text is not valid base64.
    Base64,
    /// The text is longer than any histogram of this kind.
    TooLong,
    /// The histogram is truncated.
    Truncated,
    /// The histogram is not in the V2 encoding.
    Encoding,
    /// The times are not in nanoseconds with three significant digits.
    Precision,
    /// The histogram counts times beyond one hour.
    Range,
}

impl Packed {
    pub(super) fn from_recorded(recorded: impl Iterator<Item = (u64, u64)>) -> Self {
        let counts = recorded.filter_map(|(time_ns, count)| {
            let slot = u32::try_from(slot(time_ns)).ok()?;
            (count > 0).then_some((slot, count))
        });
        Self { counts: counts.collect() }
    }

    /// Each nonempty bucket: its lowest time and its count.
    pub fn recorded(&self) -> impl Iterator<Item = (u64, u64)> {
        self.counts.iter().filter_map(|(slot, count)| Some((lowest(u64::from(*slot))?, *count)))
    }

    /// Number of recorded times.
    pub fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        let mut merged = Vec::with_capacity(self.counts.len().max(other.counts.len()));
        let (mut ours, mut theirs) = (self.counts.as_slice(), other.counts.as_slice());
        while let (Some(&(a, n)), Some(&(b, m))) = (ours.first(), theirs.first()) {
            merged.push((a.min(b), {
                let n = if a <= b { n } else { 0 };
                n.saturating_add(if b <= a { m } else { 0 })
            }));
            ours = &ours[usize::from(a <= b)..];
            theirs = &theirs[usize::from(b <= a)..];
        }
        merged.extend_from_slice(ours);
        merged.extend_from_slice(theirs);
        self.counts = merged;
    }

    /// The histogram in the V2 encoding.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut counts = Vec::with_capacity(self.counts.len() * 3);
        let mut next = 0;
        for (slot, count) in &self.counts {
            if *slot > next {
                put(&mut counts, -i64::from(slot - next));
            }
            put(&mut counts, i64::try_from(*count).unwrap_or(i64::MAX));
            next = slot + 1;
        }
        let length = u32::try_from(counts.len()).unwrap_or(u32::MAX);
        let mut bytes = Vec::with_capacity(HEAD_BYTES + counts.len());
        for word in [COOKIE, length, 0, 3] {
            bytes.extend_from_slice(&word.to_be_bytes());
        }
        bytes.extend_from_slice(&1u64.to_be_bytes());
        bytes.extend_from_slice(&TIME_MAX_NS.to_be_bytes());
        bytes.extend_from_slice(&1f64.to_be_bytes());
        bytes.extend_from_slice(&counts);
        bytes
    }

    /// Decodes the V2 encoding.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Unreadable> {
        if bytes.len() > BYTES_MAX {
            return Err(Unreadable::TooLong);
        }
        let (head, counts) = bytes.split_at_checked(HEAD_BYTES).ok_or(Unreadable::Truncated)?;
        let word =
            |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if word(0) != COOKIE || word(8) != 0 {
            return Err(Unreadable::Encoding);
        }
        let lowest_is_one = word(16) == 0 && word(20) == 1;
        if word(12) != 3 || !lowest_is_one {
            return Err(Unreadable::Precision);
        }
        if counts.len() != word(4) as usize {
            return Err(Unreadable::Truncated);
        }
        read_counts(counts).map(|counts| Self { counts })
    }

    /// Encodes the histogram in V2 and base64.
    pub fn to_base64(&self) -> String {
        Base64::encode_string(&self.to_bytes())
    }

    /// Decodes the V2 encoding in base64.
    pub fn from_base64(text: &str) -> Result<Self, Unreadable> {
        if text.len() > BYTES_MAX.div_ceil(3) * 4 {
            return Err(Unreadable::TooLong);
        }
        let bytes = Base64::decode_vec(text).map_err(|_| Unreadable::Base64)?;
        Self::from_bytes(&bytes)
    }
}

/// Writes a number as zigzag and LEB128, the ninth byte whole.
fn put(bytes: &mut Vec<u8>, number: i64) {
    let mut rest = (number.cast_unsigned() << 1) ^ (number >> 63).cast_unsigned();
    for _ in 0..8 {
        if rest < 0x80 {
            break;
        }
        bytes.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push((rest & 0xff) as u8);
}

/// Decodes a zigzag LEB128 number and returns it with the remaining bytes.
fn take(bytes: &[u8]) -> Result<(i64, &[u8]), Unreadable> {
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate().take(9) {
        let last = at == 8 || byte & 0x80 == 0;
        let bits = if at == 8 { *byte } else { byte & 0x7f };
        number |= u64::from(bits) << (7 * at);
        if last {
            let value = (number >> 1).cast_signed() ^ -(number & 1).cast_signed();
            return Ok((value, &bytes[at + 1..]));
        }
    }
    Err(Unreadable::Truncated)
}

fn read_counts(mut bytes: &[u8]) -> Result<Vec<(u32, u64)>, Unreadable> {
    let highest = slot(TIME_MAX_NS);
    let mut counts = Vec::new();
    let mut next = 0u64;
    while !bytes.is_empty() {
        let (number, rest) = take(bytes)?;
        bytes = rest;
        // A negative number is a run of slots that nothing fell in.
        if number < 0 {
            next = next.saturating_add(number.unsigned_abs());
            continue;
        }
        if number > 0 {
            if next > highest {
                return Err(Unreadable::Range);
            }
            let slot = u32::try_from(next).map_err(|_| Unreadable::Range)?;
            counts.push((slot, number.unsigned_abs()));
        }
        next = next.saturating_add(1);
    }
    Ok(counts)
}

impl From<&Histogram> for Packed {
    fn from(times: &Histogram) -> Self {
        times.pack()
    }
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_base64())
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Self::from_base64(&text).map_err(de::Error::custom)
    }
}

impl JsonSchema for Packed {
    fn schema_name() -> Cow<'static, str> {
        "Packed".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "contentEncoding": "base64",
            "description": "A histogram in HdrHistogram's V2 encoding, uncompressed: nanoseconds, three significant digits.",
        })
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Base64 => "the histogram is not valid base64",
            Self::TooLong => "the histogram is longer than any with three digits up to one hour",
            Self::Truncated => "the histogram ends in the middle",
            Self::Encoding => "the histogram is not in the V2 encoding",
            Self::Precision => "the histogram is not in nanoseconds with three significant digits",
            Self::Range => "the histogram counts times beyond one hour",
        })
    }
}

impl std::error::Error for Unreadable {}
