//! Field lines (RFC 9110 §5): borrowed lines of a received section, and a builder for lines to be
//! sent. Does not interpret values, except for list membership, which framing needs.

mod block;
mod known;

pub use block::{FieldBlock, FieldError};
pub use known::{Known, KnownSet};

use std::mem::MaybeUninit;

/// The maximum number of field lines in one section, whatever the configured limits are.
pub const FIELDS_MAX: usize = 128;

// Lines are numbered from 1 in a u8, 0 meaning none.
const _: () = assert!(FIELDS_MAX < 256);

/// The maximum number of field lines in one trailer section.
pub const TRAILERS_MAX: usize = 32;

/// Storage for the field lines of one section: 5 KiB on the caller's stack that parsing a head does
/// not initialise.
pub struct FieldSlots<'a> {
    head: [MaybeUninit<httparse::Header<'a>>; FIELDS_MAX],
    trailers: MaybeUninit<[httparse::Header<'a>; TRAILERS_MAX]>,
    index: MaybeUninit<Index>,
}

impl<'a> FieldSlots<'a> {
    /// Creates empty slots without initialising any memory.
    pub const fn new() -> Self {
        Self {
            head: [const { MaybeUninit::uninit() }; FIELDS_MAX],
            trailers: MaybeUninit::uninit(),
            index: MaybeUninit::uninit(),
        }
    }

    /// Returns the first `fields_max` slots for a head, or all of them, and the storage for their
    /// index.
    pub(crate) fn for_head(
        &mut self,
        fields_max: usize,
    ) -> (&mut [MaybeUninit<httparse::Header<'a>>], &mut MaybeUninit<Index>) {
        let slots = &mut self.head[..fields_max.min(FIELDS_MAX)];
        (slots, &mut self.index)
    }

    /// Returns the slots for trailers, cleared, and the storage for their index.
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

/// Which line each known name appears in.
#[derive(Debug)]
pub(crate) struct Index {
    /// The number of the first line for each known name, counted from 1; 0 if there is none.
    first: [u8; Known::COUNT],
    present: KnownSet,
    repeated: KnownSet,
}

impl Index {
    const EMPTY: Self =
        Self { first: [0; Known::COUNT], present: KnownSet::EMPTY, repeated: KnownSet::EMPTY };
}

static NO_INDEX: Index = Index::EMPTY;

/// The field lines of one received head or trailer section, in order, borrowed from the input and
/// from the slots.
///
/// Values have no surrounding whitespace. They may contain tabs and any byte from 0x20 upwards
/// except DEL.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    lines: &'a [httparse::Header<'a>],
    index: &'a Index,
}

impl<'a> Fields<'a> {
    /// An empty field section, without field lines.
    pub const EMPTY: Self = Self { lines: &[], index: &NO_INDEX };

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

    /// Returns the value of the first line with this name.
    pub fn get(&self, name: Known) -> Option<&'a [u8]> {
        let at = usize::from(self.index.first[name.index()]).checked_sub(1)?;
        Some(self.lines[at].value)
    }

    /// Returns whether a line with this name exists.
    pub fn has(&self, name: Known) -> bool {
        self.index.present.contains(name)
    }

    /// Returns whether a line with any of these names exists.
    pub fn has_any(&self, names: KnownSet) -> bool {
        self.index.present.intersects(names)
    }

    /// Returns whether this name occurs in two or more lines.
    pub fn is_repeated(&self, name: Known) -> bool {
        self.index.repeated.contains(name)
    }

    /// Returns the values of all lines with this name, in order.
    pub fn all(&self, name: Known) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let lines = self.lines;
        let from = match self.index.first[name.index()] {
            0 => lines.len(),
            at => usize::from(at) - 1,
        };
        let to = if self.is_repeated(name) { lines.len() } else { lines.len().min(from + 1) };
        lines[from..to]
            .iter()
            .filter(move |line| line.name.eq_ignore_ascii_case(name.as_str()))
            .map(|line| line.value)
    }

    /// Returns the values of all lines with this name, compared case-insensitively, in order.
    pub fn named<'n>(&self, name: &'n str) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
        let lines = self.lines;
        lines.iter().filter(move |line| line.name.eq_ignore_ascii_case(name)).map(|line| line.value)
    }

    /// Returns all lines as (name as the peer spelled it, value), in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'a str, &'a [u8])> + use<'a> {
        let lines = self.lines;
        lines.iter().map(|line| (line.name, line.value))
    }

    /// Returns the members of a comma-separated list field over all its lines, without empty
    /// members (RFC 9110 §5.6.1.2). Only for lists of tokens: commas inside quoted strings also
    /// separate.
    pub fn list(&self, name: Known) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.all(name)
            .flat_map(|value| value.split(|&byte| byte == b','))
            .map(trim)
            .filter(|member| !member.is_empty())
    }

    /// Returns whether the list field `name` contains `token`, compared case-insensitively.
    pub fn has_token(&self, name: Known, token: &str) -> bool {
        self.has(name)
            && self.list(name).any(|member| member.eq_ignore_ascii_case(token.as_bytes()))
    }

    /// Returns the number of field lines.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns whether there are no field lines.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

impl std::fmt::Debug for Fields<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines = self.iter().map(|(name, value)| (name, value.escape_ascii().to_string()));
        formatter.debug_map().entries(lines).finish()
    }
}

/// Returns `value` without optional whitespace around it (RFC 9110 §5.6.3: SP and HTAB only).
pub(crate) fn trim(value: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let from = value.iter().take_while(|byte| is_blank(byte)).count();
    let blank_tail = value[from..].iter().rev().take_while(|byte| is_blank(byte)).count();
    &value[from..value.len() - blank_tail]
}

/// Returns whether `byte` is allowed in a token (RFC 9110 §5.6.2).
pub(crate) const fn is_token_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*'
        | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~')
}

/// Returns whether `bytes` is a token (RFC 9110 §5.6.2): at least one byte, all of them allowed.
pub fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|&byte| is_token_byte(byte))
}

/// Returns whether `byte` is allowed in a field value (RFC 9110 §5.5): visible, SP, HTAB, or above
/// ASCII.
pub const fn is_value_byte(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'~' | 0x80..)
}
