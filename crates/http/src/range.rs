//! Byte ranges (RFC 9110 §14): selecting the ranges of a Range field, Content-Range, and the
//! framing of multipart/byteranges. Whether the Range applies at all (GET, If-Range) is decided in
//! `conditional`.

use crate::list;

/// The maximum number of ranges in one request; with more the Range is ignored. Download managers
/// request one, PDF readers a few; hundreds are the amplification attack of RFC 9110 §17.15.
pub const RANGES_MAX: usize = 16;

/// The maximum number of ranges that overlap an earlier one; with more the Range is ignored (RFC
/// 9110 §14.2 calls more than two a sign of a broken or hostile peer).
pub const OVERLAPS_MAX: usize = 2;

/// Bytes `first` to `last` of a representation, both included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteRange {
    first: u64,
    last: u64,
}

impl ByteRange {
    /// Returns the position of the first byte.
    pub fn first(self) -> u64 {
        self.first
    }

    /// Returns the position of the last byte, at least `first` and less than the length of the
    /// representation.
    pub fn last(self) -> u64 {
        self.last
    }

    /// Returns the number of bytes, at least one.
    #[allow(clippy::len_without_is_empty)] // a range is never empty
    pub fn len(self) -> u64 {
        self.last - self.first + 1
    }

    fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    fn touches(self, other: Self) -> bool {
        self.first <= other.last.saturating_add(1) && other.first <= self.last.saturating_add(1)
    }
}

/// One to [`RANGES_MAX`] ranges that neither overlap nor touch, in the requested order; stored
/// without allocation.
#[derive(Clone, Copy, Debug)]
pub struct RangeSet {
    ranges: [ByteRange; RANGES_MAX],
    count: usize,
}

impl RangeSet {
    /// Returns the ranges; one is sent as plain content, several as multipart/byteranges.
    pub fn as_slice(&self) -> &[ByteRange] {
        &self.ranges[..self.count]
    }

    /// Adds a range, merged with those that it overlaps or touches, at the position of the first of
    /// them.
    fn insert(&mut self, mut range: ByteRange) {
        let mut place = None;
        let mut kept = 0;
        for at in 0..self.count {
            let other = self.ranges[at];
            if range.touches(other) {
                range.first = range.first.min(other.first);
                range.last = range.last.max(other.last);
                if place.is_none() {
                    place = Some(kept);
                    kept += 1;
                }
            } else {
                self.ranges[kept] = other;
                kept += 1;
            }
        }
        if place.is_none() {
            kept += 1;
        }
        self.count = kept;
        self.ranges[place.unwrap_or(kept - 1)] = range;
    }
}

/// The result of a Range field.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)] // lives on the stack for one call; a box would cost an allocation
pub enum Selection {
    /// The Range is ignored (RFC 9110 §14.2): respond with 200 and the whole representation.
    Whole,
    /// Respond with 206 and these ranges.
    Partial(RangeSet),
    /// Respond with 416 and [`write_unsatisfied_range`].
    NotSatisfiable,
}

/// Resolves the value of Range against a representation of `length` bytes.
///
/// Another unit than `bytes`, a malformed value, more than [`RANGES_MAX`] ranges or
/// [`OVERLAPS_MAX`] overlaps give [`Selection::Whole`]. So does any range of an empty
/// representation: Content-Range cannot describe a part of nothing, and players that always ask for
/// `bytes=0-` are better served by an empty 200 than by 416.
pub fn select(value: &[u8], length: u64) -> Selection {
    let Some(ranges) = ranges_of(value).filter(|_| length > 0) else {
        return Selection::Whole;
    };
    let mut set = RangeSet { ranges: [ByteRange::default(); RANGES_MAX], count: 0 };
    let mut requested = [ByteRange::default(); RANGES_MAX];
    let (mut satisfiable, mut overlaps, mut members) = (0, 0, 0);
    for member in list::members(ranges) {
        members += 1;
        let Some(spec) = Spec::parse(member).filter(|_| members <= RANGES_MAX) else {
            return Selection::Whole;
        };
        let Some(range) = spec.resolve(length) else {
            continue;
        };
        let mut earlier = requested[..satisfiable].iter();
        overlaps += usize::from(earlier.any(|earlier| range.overlaps(*earlier)));
        requested[satisfiable] = range;
        satisfiable += 1;
        set.insert(range);
    }
    match satisfiable {
        _ if members == 0 || overlaps > OVERLAPS_MAX => Selection::Whole,
        0 => Selection::NotSatisfiable,
        _ => Selection::Partial(set),
    }
}

/// Returns the list of ranges of a `bytes=` value; `None` for another unit.
fn ranges_of(value: &[u8]) -> Option<&[u8]> {
    let value = value.trim_ascii();
    let (unit, ranges) = value.split_at(memchr::memchr(b'=', value)?);
    unit.eq_ignore_ascii_case(b"bytes").then(|| &ranges[1..])
}

/// One range as requested, before the length is known (RFC 9110 §14.1.2).
enum Spec {
    From { first: u64, last: u64 },
    Suffix { length: u64 },
}

impl Spec {
    fn parse(member: &[u8]) -> Option<Self> {
        let dash = memchr::memchr(b'-', member)?;
        let (first, last) = (&member[..dash], &member[dash + 1..]);
        match (first, last) {
            ([], _) => Some(Self::Suffix { length: decimal(last)? }),
            (_, []) => Some(Self::From { first: decimal(first)?, last: u64::MAX }),
            _ => {
                let (first, last) = (decimal(first)?, decimal(last)?);
                (first <= last).then_some(Self::From { first, last })
            }
        }
    }

    fn resolve(self, length: u64) -> Option<ByteRange> {
        let end = length.checked_sub(1)?;
        match self {
            Self::From { first, last } => {
                (first <= end).then(|| ByteRange { first, last: last.min(end) })
            }
            Self::Suffix { length: 0 } => None,
            Self::Suffix { length: suffix } => {
                Some(ByteRange { first: length.saturating_sub(suffix), last: end })
            }
        }
    }
}

/// Parses digits only; a number beyond 64 bits becomes the largest, since no representation is
/// longer.
fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0u64, |value, digit| {
        value.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
    }))
}

/// Appends the value of Content-Range for a 206, such as `bytes 0-499/1234`; `length` is that of
/// the whole representation.
pub fn write_content_range(range: ByteRange, length: u64, out: &mut Vec<u8>) {
    let mut number = itoa::Buffer::new();
    out.extend_from_slice(b"bytes ");
    out.extend_from_slice(number.format(range.first).as_bytes());
    out.push(b'-');
    out.extend_from_slice(number.format(range.last).as_bytes());
    out.push(b'/');
    out.extend_from_slice(number.format(length).as_bytes());
}

/// Appends the value of Content-Range for a 416, such as `bytes */1234`.
pub fn write_unsatisfied_range(length: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"bytes */");
    out.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
}

/// A multipart boundary of 32 hexadecimal digits: always a token, and never found in the content if
/// made of random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boundary([u8; 32]);

impl Boundary {
    /// Makes the boundary from 16 random bytes of the caller.
    pub fn from_random(random: [u8; 16]) -> Self {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut digits = [0; 32];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(random) {
            pair[0] = HEX[usize::from(byte >> 4)];
            pair[1] = HEX[usize::from(byte & 15)];
        }
        Self(digits)
    }
}

/// The framing of a multipart/byteranges response (RFC 9110 §14.6). The content is, for each range
/// in order, [`Multipart::write_part_head`] and its bytes, and finally [`Multipart::write_end`].
#[derive(Clone, Copy, Debug)]
pub struct Multipart<'a> {
    /// The ranges of the response.
    pub ranges: &'a RangeSet,
    /// Length in bytes of the whole representation.
    pub length: u64,
    /// Content-Type of the representation, repeated in each part; `None` leaves it out.
    pub media_type: Option<&'a str>,
    /// The boundary that separates the parts.
    pub boundary: Boundary,
}

impl Multipart<'_> {
    /// Appends the value of the response's Content-Type.
    pub fn write_content_type(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"multipart/byteranges; boundary=");
        out.extend_from_slice(&self.boundary.0);
    }

    /// Appends what precedes the bytes of `range`, including the end of the previous part.
    pub fn write_part_head(&self, range: ByteRange, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\r\n--");
        out.extend_from_slice(&self.boundary.0);
        if let Some(media_type) = self.media_type {
            out.extend_from_slice(b"\r\nContent-Type: ");
            out.extend_from_slice(media_type.as_bytes());
        }
        out.extend_from_slice(b"\r\nContent-Range: ");
        write_content_range(range, self.length, out);
        out.extend_from_slice(b"\r\n\r\n");
    }

    /// Appends what follows the bytes of the last range.
    pub fn write_end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\r\n--");
        out.extend_from_slice(&self.boundary.0);
        out.extend_from_slice(b"--\r\n");
    }
}
