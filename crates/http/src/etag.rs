//! Entity tags (RFC 9110 §8.8.3): parsing, both comparisons, and the lists of If-Match and
//! If-None-Match. The file handler decides how a tag is made from a file.

/// Whether equal tags mean equal bytes or only equivalent content (RFC 9110 §8.8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// Equal tags mean equal bytes.
    Strong,
    /// Equal tags mean equivalent representations; written with the prefix `W/`.
    Weak,
}

/// The two comparisons of RFC 9110 §8.8.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Both tags are strong and their opaque parts are equal.
    Strong,
    /// The opaque parts are equal.
    Weak,
}

/// An entity tag; `opaque` is the text between the quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityTag<'a> {
    strength: Strength,
    opaque: &'a [u8],
}

impl<'a> EntityTag<'a> {
    /// Parses exactly one tag, such as `"xyzzy"` or `W/"xyzzy"`. Returns `None` for anything else,
    /// including surrounding whitespace.
    pub fn parse(value: &'a [u8]) -> Option<Self> {
        let (tag, rest) = Self::parse_prefix(value)?;
        rest.is_empty().then_some(tag)
    }

    /// Returns whether the tag is strong or weak.
    pub fn strength(self) -> Strength {
        self.strength
    }

    /// Returns the bytes between the quotes.
    pub fn opaque(self) -> &'a [u8] {
        self.opaque
    }

    /// Compares two tags (RFC 9110 §8.8.3.2).
    pub fn matches(self, other: EntityTag<'_>, comparison: Comparison) -> bool {
        let strong = self.strength == Strength::Strong && other.strength == Strength::Strong;
        (strong || comparison == Comparison::Weak) && self.opaque == other.opaque
    }

    /// Appends the tag in its wire format.
    pub fn write(self, out: &mut Vec<u8>) {
        if self.strength == Strength::Weak {
            out.extend_from_slice(b"W/");
        }
        out.push(b'"');
        out.extend_from_slice(self.opaque);
        out.push(b'"');
    }

    fn parse_prefix(value: &'a [u8]) -> Option<(Self, &'a [u8])> {
        // RFC 9110 §8.8.3: the `W` is case-sensitive.
        let (strength, quoted) = match value.strip_prefix(b"W/") {
            Some(quoted) => (Strength::Weak, quoted),
            None => (Strength::Strong, value),
        };
        let inner = quoted.strip_prefix(b"\"")?;
        let end = memchr::memchr(b'"', inner)?;
        let (opaque, rest) = (&inner[..end], &inner[end + 1..]);
        let legal = opaque.iter().all(|&byte| byte > b' ' && byte != 0x7f);
        legal.then_some((Self { strength, opaque }, rest))
    }
}

/// Returns whether the value of If-Match or If-None-Match matches the current representation.
///
/// `current` is the entity tag of the existing representation, if it has one. `*` matches any.
/// Several field lines are passed joined by commas. The list is read up to its first malformed
/// member, which does not match: If-None-Match then sends the content, and If-Match refuses the
/// change.
pub fn list_matches(value: &[u8], current: Option<EntityTag<'_>>, comparison: Comparison) -> bool {
    let mut rest = value.trim_ascii();
    if rest == b"*" {
        return true;
    }
    let Some(current) = current else {
        return false;
    };
    // A tag may contain commas, but no escapes, so quoted strings are not the right reader here.
    loop {
        while let [b',' | b' ' | b'\t', after @ ..] = rest {
            rest = after;
        }
        let Some((tag, after)) = EntityTag::parse_prefix(rest) else {
            return false;
        };
        rest = after.trim_ascii_start();
        if !matches!(rest, [] | [b',', ..]) {
            return false;
        }
        if current.matches(tag, comparison) {
            return true;
        }
    }
}
