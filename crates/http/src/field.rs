//! Field lines (RFC 9110 §5): borrowed lines of a received section, and a builder for lines to be
//! sent. Does not interpret values, except for list membership, which framing needs.

mod block;
mod known;
mod line;

pub use block::{FieldBlock, FieldError};
pub use known::{Known, KnownSet};
pub use line::FieldSlots;
use line::{Line, NO_LINES};
pub(crate) use line::{Refused, find, visible_length};

/// The maximum number of field lines in one section, whatever the configured limits are.
pub const FIELDS_MAX: usize = 128;

// Lines are numbered from 1 in a u8, 0 meaning none.
const _: () = assert!(FIELDS_MAX < 256);

/// The maximum number of field lines in one trailer section.
pub const TRAILERS_MAX: usize = 32;

/// The field lines of one received head or trailer section, in order, borrowed from the input and
/// from the slots.
///
/// Values have no surrounding whitespace. They may contain tabs and any byte from 0x20 upwards
/// except DEL.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    section: &'a [u8],
    slots: &'a FieldSlots,
}

impl<'a> Fields<'a> {
    /// An empty field section, without field lines.
    pub const EMPTY: Self = Self { section: &[], slots: &NO_LINES };

    /// Returns the value of the first line with this name.
    pub fn get(&self, name: Known) -> Option<&'a [u8]> {
        let at = usize::from(self.slots.index.first[name.index()]).checked_sub(1)?;
        Some(self.slots.lines[at].value.slice(self.section))
    }

    /// Returns whether a line with this name exists.
    pub fn has(&self, name: Known) -> bool {
        self.slots.index.present.contains(name)
    }

    /// Returns whether a line with any of these names exists.
    pub fn has_any(&self, names: KnownSet) -> bool {
        self.slots.index.present.intersects(names)
    }

    /// Returns whether this name occurs in two or more lines.
    pub fn is_repeated(&self, name: Known) -> bool {
        self.slots.index.repeated.contains(name)
    }

    /// Returns the values of all lines with this name, in order.
    pub fn all(&self, name: Known) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let lines = &self.slots.lines[..];
        let from = match self.slots.index.first[name.index()] {
            0 => lines.len(),
            at => usize::from(at) - 1,
        };
        let to = if self.is_repeated(name) { lines.len() } else { lines.len().min(from + 1) };
        values_named(self.section, &lines[from..to], name.as_str())
    }

    /// Returns the values of all lines with this name, compared case-insensitively, in order.
    pub fn named<'n>(&self, name: &'n str) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
        values_named(self.section, &self.slots.lines, name)
    }

    /// Returns all lines as (name as the peer spelled it, value), in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'a str, &'a [u8])> + use<'a> {
        let Self { section, slots } = *self;
        slots.lines.iter().map(|line| {
            // A token is ASCII.
            let name = str::from_utf8(line.name.slice(section)).unwrap_or_default();
            (name, line.value.slice(section))
        })
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
        self.slots.lines.len()
    }

    /// Returns whether there are no field lines.
    pub fn is_empty(&self) -> bool {
        self.slots.lines.is_empty()
    }
}

/// The values of the lines with this name, compared case-insensitively.
fn values_named<'a, 'n>(
    section: &'a [u8],
    lines: &'a [Line],
    name: &'n str,
) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
    let is_named =
        move |line: &&Line| line.name.slice(section).eq_ignore_ascii_case(name.as_bytes());
    lines.iter().filter(is_named).map(|line| line.value.slice(section))
}

impl std::fmt::Debug for Fields<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines = self.iter().map(|(name, value)| (name, value.escape_ascii().to_string()));
        formatter.debug_map().entries(lines).finish()
    }
}

/// Returns `value` without optional whitespace around it (RFC 9110 §5.6.3: SP and HTAB only).
pub(crate) fn trim(value: &[u8]) -> &[u8] {
    trim_end(trim_start(value))
}

const fn trim_start(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = value {
        value = rest;
    }
    value
}

const fn trim_end(mut value: &[u8]) -> &[u8] {
    while let [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
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
