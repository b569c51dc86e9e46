//! Proactive negotiation (RFC 9110 §12): quality values, the choice of a content coding by
//! Accept-Encoding, and of a media type by Accept. Handlers decide which variants exist.

use crate::list;
use crate::media_type::MediaType;

/// A content coding (RFC 9110 §8.4.1) that the server can send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Content that is not encoded.
    Identity,
    /// The coding `gzip` (RFC 1952).
    Gzip,
    /// The coding `br` (RFC 7932).
    Brotli,
    /// The coding `zstd` (RFC 8878).
    Zstd,
}

impl Encoding {
    /// Returns the name in Content-Encoding, which never contains `identity`.
    pub fn token(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }

    fn is_named(self, coding: &[u8]) -> bool {
        coding.eq_ignore_ascii_case(self.token().as_bytes())
            // RFC 9110 §8.4.1.3: x-gzip is equivalent to gzip.
            || (self == Self::Gzip && coding.eq_ignore_ascii_case(b"x-gzip"))
    }
}

/// A quality value in thousandths, 0 (not acceptable) to 1000 (RFC 9110 §12.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quality(u16);

impl Quality {
    /// The quality 0: not acceptable.
    pub const ZERO: Self = Self(0);
    /// The quality 1, which is the default.
    pub const ONE: Self = Self(1000);

    /// Parses `0` to `1` with up to three decimals; `None` for anything else.
    pub fn parse(value: &[u8]) -> Option<Self> {
        let (whole, decimals) = match value {
            [whole] => (*whole, &[][..]),
            [whole, b'.', decimals @ ..] if decimals.len() <= 3 => (*whole, decimals),
            _ => return None,
        };
        let mut thousandths = match whole {
            b'0' => 0,
            b'1' => 1000,
            _ => return None,
        };
        for (digit, weight) in decimals.iter().zip([100, 10, 1]) {
            if !digit.is_ascii_digit() {
                return None;
            }
            thousandths += u16::from(digit - b'0') * weight;
        }
        (thousandths <= 1000).then_some(Self(thousandths))
    }

    /// Returns the quality in thousandths.
    pub fn thousandths(self) -> u16 {
        self.0
    }
}

/// Chooses a coding by Accept-Encoding from `offered`, which is in the server's order of preference
/// and need not name [`Encoding::Identity`].
///
/// The highest quality wins, and the order of `offered` among equals; identity comes last among
/// equals, and last of all where only its default speaks for it (RFC 9110 §12.5.3). Members that
/// cannot be read are passed over. Without the field nothing is encoded, for a peer that names no
/// coding often has none. Where even identity is refused and nothing offered is acceptable,
/// identity is sent all the same: RFC 9110 §12.4.1 allows to disregard the field, and content that
/// a peer may be able to use is better than a 406 that it certainly is not.
pub fn choose_encoding(accept_encoding: Option<&[u8]>, offered: &[Encoding]) -> Encoding {
    let Some(value) = accept_encoding else {
        return Encoding::Identity;
    };
    let identity = encoding_quality(value, Encoding::Identity).unwrap_or(Quality::ZERO);
    let mut best = (Encoding::Identity, identity);
    for &encoding in offered.iter().rev() {
        if encoding == Encoding::Identity {
            continue;
        }
        let quality = encoding_quality(value, encoding).unwrap_or(Quality::ZERO);
        if quality > Quality::ZERO && quality >= best.1 {
            best = (encoding, quality);
        }
    }
    best.0
}

/// Returns the quality of a coding in Accept-Encoding, by its name or by `*`; `None` if neither is
/// listed.
fn encoding_quality(value: &[u8], encoding: Encoding) -> Option<Quality> {
    let mut by_star = None;
    for member in list::members(value) {
        let (coding, parameters) = list::parameters(member);
        let Some(quality) = weight(parameters) else {
            continue;
        };
        if encoding.is_named(coding) {
            return Some(quality);
        }
        if coding == b"*" {
            by_star = Some(quality);
        }
    }
    by_star
}

/// Chooses a media type by Accept from `offered`, which is in the server's order of preference: the
/// highest quality wins, then the order. Returns the index; `None` if nothing offered is
/// acceptable, and the first without the field.
pub fn choose_media_type(accept: Option<&[u8]>, offered: &[&str]) -> Option<usize> {
    let Some(value) = accept else {
        return (!offered.is_empty()).then_some(0);
    };
    let mut best = (None, Quality::ZERO);
    for (index, media_type) in offered.iter().enumerate() {
        let quality = media_type_quality(value, media_type);
        if quality > best.1 {
            best = (Some(index), quality);
        }
    }
    best.0
}

/// Returns the quality of a media type in Accept: that of the most specific range that contains it
/// (RFC 9110 §12.5.1), zero if none does. An empty Accept accepts all.
pub fn media_type_quality(accept: &[u8], media_type: &str) -> Quality {
    let Some(media_type) = MediaType::parse(media_type.as_bytes()) else {
        return Quality::ZERO;
    };
    let mut best = None;
    for member in list::members(accept) {
        let Some(range) = MediaType::parse(member) else {
            continue;
        };
        let Some(quality) = weight(range.parameters()) else {
            continue;
        };
        let Some(specificity) = specificity(range, media_type) else {
            continue;
        };
        if best.is_none_or(|(highest, _)| specificity > highest) {
            best = Some((specificity, quality));
        }
    }
    match best {
        Some((_, quality)) => quality,
        None if list::members(accept).next().is_none() => Quality::ONE,
        None => Quality::ZERO,
    }
}

/// Returns how specifically a media range of Accept matches the type; `None` if it does not.
fn specificity(range: MediaType<'_>, media_type: MediaType<'_>) -> Option<usize> {
    let is_all = range.main() == b"*" && range.subtype() == b"*";
    let same_main = range.main().eq_ignore_ascii_case(media_type.main());
    let same_sub = range.subtype().eq_ignore_ascii_case(media_type.subtype());
    if !(is_all || same_main && (same_sub || range.subtype() == b"*")) {
        return None;
    }
    let mut asked = 0;
    for (name, value) in range.parameters().take_while(|(name, _)| !is_weight(name)) {
        let had = media_type.parameter(name)?;
        if !had.eq_ignore_ascii_case(list::unquoted(value)) {
            return None;
        }
        asked += 1;
    }
    let level = usize::from(!is_all) + usize::from(!is_all && same_sub);
    // A head cannot hold a thousand parameters of one range that all match.
    Some(level * 1000 + asked)
}

/// Returns the weight among parameters: one if it is missing, `None` if it is invalid.
fn weight<'a>(mut parameters: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Option<Quality> {
    match parameters.find(|(name, _)| is_weight(name)) {
        Some((_, value)) => Quality::parse(value),
        None => Some(Quality::ONE),
    }
}

fn is_weight(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"q")
}
