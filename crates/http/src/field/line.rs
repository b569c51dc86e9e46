//! The tokenizer of field lines (RFC 9112 §5): from the bytes of a section to names and values.
//!
//! It accepts only what is complete and valid, each line with its CRLF, and gives no reason for
//! refusing anything else: `h1::section` finds the violation. Bytes are examined eight at a time,
//! as one word of the machine.

use arrayvec::ArrayVec;

use super::{FIELDS_MAX, Fields, Known, KnownSet, is_token, trim_end, trim_start};

/// Where a field line is in its section: a token, and a value without whitespace around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) name: Span,
    pub(super) value: Span,
}

/// A range of bytes in a section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    begin: u32,
    end: u32,
}

impl Span {
    /// `begin` and `end` are below [`SECTION_BYTES_MAX`].
    #[allow(clippy::cast_possible_truncation)]
    const fn new(begin: usize, end: usize) -> Self {
        Self { begin: begin as u32, end: end as u32 }
    }

    /// The bytes of `section` in this range.
    pub(super) fn slice(self, section: &[u8]) -> &[u8] {
        &section[self.begin as usize..self.end as usize]
    }
}

/// Longer sections are not read to their end.
const SECTION_BYTES_MAX: usize = u32::MAX as usize;

/// Which line each known name appears in.
#[derive(Debug)]
pub(super) struct Index {
    /// The number of the first line for each known name, counted from 1; 0 if there is none.
    pub(super) first: [u8; Known::COUNT],
    pub(super) present: KnownSet,
    pub(super) repeated: KnownSet,
}

impl Index {
    const EMPTY: Self =
        Self { first: [0; Known::COUNT], present: KnownSet::EMPTY, repeated: KnownSet::EMPTY };

    /// Notes that the line at this index has this name.
    #[allow(clippy::cast_possible_truncation)] // FIELDS_MAX < 256
    fn add(&mut self, known: Known, at: usize) {
        let first = &mut self.first[known.index()];
        if *first == 0 {
            *first = at as u8 + 1;
            self.present = self.present.with(known);
        } else {
            self.repeated = self.repeated.with(known);
        }
    }
}

/// Why a section was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It is incomplete, or a line is invalid.
    Syntax,
    /// It has more lines than allowed.
    TooManyLines,
}

/// Storage for the field lines of one section: 2 KiB on the caller's stack that parsing a head does
/// not initialise.
#[derive(Debug)]
pub struct FieldSlots {
    pub(super) lines: ArrayVec<Line, FIELDS_MAX>,
    pub(super) index: Index,
}

/// A section without lines.
pub(super) static NO_LINES: FieldSlots = FieldSlots::new();

impl FieldSlots {
    /// Creates slots without field lines.
    #[inline]
    pub const fn new() -> Self {
        Self { lines: ArrayVec::new_const(), index: Index::EMPTY }
    }

    /// Parses the field lines at the start of `section`, at most `lines_max` of them, and the empty
    /// line after them. Returns the lines and their length in bytes.
    #[inline]
    pub(crate) fn parse<'a>(
        &'a mut self,
        section: &'a [u8],
        lines_max: usize,
    ) -> Result<(Fields<'a>, usize), Refused> {
        let Self { lines, index } = self;
        lines.clear();
        *index = Index::EMPTY;
        let section = &section[..section.len().min(SECTION_BYTES_MAX)];
        let mut at = 0;
        while !section[at..].starts_with(b"\r\n") {
            if lines.len() >= lines_max {
                return Err(Refused::TooManyLines);
            }
            let (line, end) = parse_line(section, at).ok_or(Refused::Syntax)?;
            let name = line.name.slice(section);
            match Known::lookup(name) {
                Some(known) => index.add(known, lines.len()),
                None if is_token(name) => {}
                None => return Err(Refused::Syntax),
            }
            lines.try_push(line).map_err(|_| Refused::TooManyLines)?;
            at = end;
        }
        Ok((Fields { section, slots: self }, at + 2))
    }
}

impl Default for FieldSlots {
    fn default() -> Self {
        Self::new()
    }
}

/// The line of `section` that begins at `at`. Its name is not checked.
#[inline]
fn parse_line(section: &[u8], at: usize) -> Option<(Line, usize)> {
    let colon = at + find(&section[at..], b':')?;
    let begin = section.len() - trim_start(&section[colon + 1..]).len();
    let end = begin + value_length(&section[begin..]);
    if !section[end..].starts_with(b"\r\n") {
        return None;
    }
    let value = trim_end(&section[begin..end]);
    let value = Span::new(begin, begin + value.len());
    Some((Line { name: Span::new(at, colon), value }, end + 2))
}

/// How many bytes at the start are allowed in a field value: what [`super::is_value_byte`] says.
#[inline]
fn value_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += length_until(&bytes[at..], |word| below(word, b' ') | equal(word, 0x7f));
        match bytes.get(at) {
            Some(b'\t') => at += 1,
            _ => return at,
        }
    }
}

/// How many bytes at the start are visible ASCII, as in a request target.
#[inline]
pub(crate) fn visible_length(bytes: &[u8]) -> usize {
    length_until(bytes, |word| below(word, b'!') | equal(word, 0x7f) | (word & HIGH_BITS))
}

/// Where the first byte with this value is.
#[inline]
pub(crate) fn find(bytes: &[u8], byte: u8) -> Option<usize> {
    let at = length_until(bytes, |word| equal(word, byte));
    (at < bytes.len()).then_some(at)
}

const HIGH_BITS: u64 = each(0x80);

const fn each(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The high bit of the first byte below `limit`, of ASCII bytes; of later bytes, any.
const fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(each(limit)) & !word & HIGH_BITS
}

/// The high bit of the first byte with this value; of later bytes, any.
const fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ each(byte), 1)
}

/// How many bytes precede the first one that `marks` marks by its high bit.
#[inline]
fn length_until(bytes: &[u8], marks: impl Fn(u64) -> u64) -> usize {
    let mut rest = bytes;
    while let Some((word, after)) = rest.split_first_chunk() {
        let marked = marks(u64::from_le_bytes(*word));
        if marked != 0 {
            return bytes.len() - rest.len() + marked.trailing_zeros() as usize / 8;
        }
        rest = after;
    }
    let is_marked = |byte: &u8| marks(each(*byte)) != 0;
    bytes.len() - rest.len() + rest.iter().position(is_marked).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::field::is_value_byte;

    #[test]
    fn every_byte_ends_a_run_or_not_at_every_position() {
        for byte in 0..=255 {
            for at in 0..20 {
                let mut bytes = [b'a'; 20];
                bytes[at] = byte;
                let value = if is_value_byte(byte) { 20 } else { at };
                assert_eq!(value_length(&bytes), value, "{byte} at {at}");
                let visible = if byte.is_ascii_graphic() { 20 } else { at };
                assert_eq!(visible_length(&bytes), visible, "{byte} at {at}");
                let colon = (byte == b':').then_some(at);
                assert_eq!(find(&bytes, b':'), colon, "{byte} at {at}");
            }
        }
    }

    /// A line read a byte at a time.
    fn read_slowly(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
        let line = &bytes[..bytes.windows(2).position(|pair| pair == b"\r\n")?];
        let colon = line.iter().position(|byte| *byte == b':')?;
        let is_valid = line[colon + 1..].iter().all(|byte| is_value_byte(*byte));
        is_valid.then(|| (&line[..colon], crate::field::trim(&line[colon + 1..])))
    }

    proptest! {
        #[test]
        fn lines_are_read_as_a_byte_at_a_time(
            bytes in "[a-zA-Z:\t \r\n\u{1}\u{7f}\u{e9}-]{0,40}(: ?[ -~\t]{0,30}\r\n)?",
        ) {
            let bytes = bytes.as_bytes();
            let line = parse_line(bytes, 0);
            let line = line.map(|(line, _)| (line.name.slice(bytes), line.value.slice(bytes)));
            // A name with a line end in it is refused by the caller.
            let is_one_line = |(name, _): &(&[u8], &[u8])| !name.contains(&b'\n');
            prop_assert_eq!(line.filter(is_one_line), read_slowly(bytes).filter(is_one_line));
        }
    }
}
