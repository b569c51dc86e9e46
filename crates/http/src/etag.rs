//! Entity tags (RFC 9110 §8.8.3): owns their parsing, both comparisons and the lists of If-Match and If-None-Match.
//! How a tag is made from a file is the file handler's business.

/// Whether a tag promises the same bytes or only the same meaning (RFC 9110 §8.8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// Equal tags mean equal bytes.
    Strong,
    /// Equal tags mean an equivalent representation; written with the prefix `W/`.
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

/// An entity tag; `opaque` is what stands between the quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityTag<'a> {
    strength: Strength,
    opaque: &'a [u8],
}

impl<'a> EntityTag<'a> {
    /// Parses exactly one tag, such as `"xyzzy"` or `W/"xyzzy"`; `None` for anything else, surrounding space included.
    pub fn parse(value: &'a [u8]) -> Option<Self> {
        let (tag, rest) = Self::parse_prefix(value)?;
        rest.is_empty().then_some(tag)
    }

    /// The promise that this tag makes.
    pub fn strength(self) -> Strength {
        self.strength
    }

    /// The bytes between the quotes.
    pub fn opaque(self) -> &'a [u8] {
        self.opaque
    }

    /// Compares two tags (RFC 9110 §8.8.3.2).
    pub fn matches(self, other: EntityTag<'_>, comparison: Comparison) -> bool {
        let strong = self.strength == Strength::Strong && other.strength == Strength::Strong;
        (strong || comparison == Comparison::Weak) && self.opaque == other.opaque
    }

    /// Appends the tag as it stands on the wire.
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

/// Whether the value of If-Match or If-None-Match names the current representation.
///
/// `current` is the tag of the representation that exists, if it has one. `*` matches any. Several field lines are given
/// joined by commas. The list is read up to its first malformed member: what cannot be read does not match, so
/// If-None-Match sends the content and If-Match refuses the change.
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
