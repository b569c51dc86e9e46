//! Field lines (RFC 9110 §5): those of a received section, borrowed, and a builder for those we send.
//!
//! What a value means is left to whoever reads it; only list membership is here, because framing needs it.

mod block;
mod known;

pub use block::{FieldBlock, FieldError};
pub use known::{Known, KnownSet};

use std::mem::MaybeUninit;

/// The most field lines of one section, whatever the limits of the caller say.
pub const FIELDS_MAX: usize = 128;

// Lines are numbered from 1 in a u8, 0 meaning none.
const _: () = assert!(FIELDS_MAX < 256);

/// The most field lines of one trailer section.
pub const TRAILERS_MAX: usize = 32;

/// Room for the field lines of one section: 5 KiB on the caller's stack that a head does not initialise.
pub struct FieldSlots<'a> {
    head: [MaybeUninit<httparse::Header<'a>>; FIELDS_MAX],
    trailers: MaybeUninit<[httparse::Header<'a>; TRAILERS_MAX]>,
    index: MaybeUninit<Index>,
}

impl<'a> FieldSlots<'a> {
    /// Empty slots. Free: no byte is written.
    pub const fn new() -> Self {
        Self {
            head: [const { MaybeUninit::uninit() }; FIELDS_MAX],
            trailers: MaybeUninit::uninit(),
            index: MaybeUninit::uninit(),
        }
    }

    /// The first `fields_max` slots for a head, or all of them, and room for the index of what comes into them.
    pub(crate) fn for_head(
        &mut self,
        fields_max: usize,
    ) -> (
        &mut [MaybeUninit<httparse::Header<'a>>],
        &mut MaybeUninit<Index>,
    ) {
        let slots = &mut self.head[..fields_max.min(FIELDS_MAX)];
        (slots, &mut self.index)
    }

    /// The slots for trailers, emptied, and room for their index.
    pub(crate) fn for_trailers(
        &mut self,
    ) -> (&mut [httparse::Header<'a>], &mut MaybeUninit<Index>) {
        let empty = [httparse::EMPTY_HEADER; TRAILERS_MAX];
        (self.trailers.write(empty), &mut self.index)
    }
}

impl Default for FieldSlots<'_> {
    fn default() -> Self {
        Self::new()
    }
}

/// Where the known names are among some lines.
#[derive(Debug)]
pub(crate) struct Index {
    /// By name, the number of its first line, from 1 on; 0: there is none.
    first: [u8; Known::COUNT],
    present: KnownSet,
    repeated: KnownSet,
}

impl Index {
    const EMPTY: Self = Self {
        first: [0; Known::COUNT],
        present: KnownSet::EMPTY,
        repeated: KnownSet::EMPTY,
    };
}

static NO_INDEX: Index = Index::EMPTY;

/// The field lines of one received head or trailer section, in order, borrowed from the input and from the slots.
///
/// Values are without the whitespace around them and may hold any byte from 0x20 upwards but DEL, and tabs.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    lines: &'a [httparse::Header<'a>],
    index: &'a Index,
}

impl<'a> Fields<'a> {
    /// No field lines.
    pub const EMPTY: Self = Self {
        lines: &[],
        index: &NO_INDEX,
    };

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // FIELDS_MAX < 256
    pub(crate) fn classify(
        lines: &'a [httparse::Header<'a>],
        index: &'a mut MaybeUninit<Index>,
    ) -> Self {
        let index = index.write(Index::EMPTY);
        for (at, line) in lines.iter().enumerate() {
            let Some(known) = Known::lookup(line.name.as_bytes()) else {
                continue;
            };
            let first = &mut index.first[known.index()];
            if *first == 0 {
                *first = at as u8 + 1;
                index.present = index.present.with(known);
            } else {
                index.repeated = index.repeated.with(known);
            }
        }
        Self { lines, index }
    }

    /// The value of the first line of this name.
    pub fn get(&self, name: Known) -> Option<&'a [u8]> {
        let at = usize::from(self.index.first[name.index()]).checked_sub(1)?;
        Some(self.lines[at].value)
    }

    /// Whether a line of this name is there.
    pub fn has(&self, name: Known) -> bool {
        self.index.present.contains(name)
    }

    /// Whether a line of any of these names is there.
    pub fn has_any(&self, names: KnownSet) -> bool {
        self.index.present.intersects(names)
    }

    /// Whether two or more lines of this name are there.
    pub fn is_repeated(&self, name: Known) -> bool {
        self.index.repeated.contains(name)
    }

    /// The values of all lines of this name, in order.
    pub fn all(&self, name: Known) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let lines = self.lines;
        let from = match self.index.first[name.index()] {
            0 => lines.len(),
            at => usize::from(at) - 1,
        };
        let to = if self.is_repeated(name) {
            lines.len()
        } else {
            lines.len().min(from + 1)
        };
        lines[from..to]
            .iter()
            .filter(move |line| line.name.eq_ignore_ascii_case(name.as_str()))
            .map(|line| line.value)
    }

    /// The values of all lines of any name, compared without regard to case, in order.
    pub fn named<'n>(&self, name: &'n str) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
        let lines = self.lines;
        lines
            .iter()
            .filter(move |line| line.name.eq_ignore_ascii_case(name))
            .map(|line| line.value)
    }

    /// All lines as (name as spelled by the peer, value), in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'a str, &'a [u8])> + use<'a> {
        let lines = self.lines;
        lines.iter().map(|line| (line.name, line.value))
    }

    /// The members of a comma-separated list field over all its lines, without empty ones (RFC 9110 §5.6.1.2).
    /// For lists of tokens only: commas inside quoted strings separate too.
    pub fn list(&self, name: Known) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.all(name)
            .flat_map(|value| value.split(|&byte| byte == b','))
            .map(trim)
            .filter(|member| !member.is_empty())
    }

    /// Whether the list field `name` has the member `token`, without regard to case.
    pub fn has_token(&self, name: Known, token: &str) -> bool {
        self.has(name)
            && self
                .list(name)
                .any(|member| member.eq_ignore_ascii_case(token.as_bytes()))
    }

    /// The number of field lines.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there are no field lines.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

impl std::fmt::Debug for Fields<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines = self
            .iter()
            .map(|(name, value)| (name, value.escape_ascii().to_string()));
        formatter.debug_map().entries(lines).finish()
    }
}

/// `value` without optional whitespace around it (RFC 9110 §5.6.3: SP and HTAB only).
pub(crate) fn trim(value: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let from = value.iter().take_while(|byte| is_blank(byte)).count();
    let blank_tail = value[from..]
        .iter()
        .rev()
        .take_while(|byte| is_blank(byte))
        .count();
    &value[from..value.len() - blank_tail]
}

/// Whether `byte` may stand in a token (RFC 9110 §5.6.2).
pub(crate) const fn is_token_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*'
        | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~')
}

/// Whether `bytes` is a token: at least one byte, each of them allowed.
pub fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|&byte| is_token_byte(byte))
}

/// Whether `byte` may stand in a field value (RFC 9110 §5.5): visible, SP, HTAB, or above ASCII.
pub const fn is_value_byte(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'~' | 0x80..)
}
