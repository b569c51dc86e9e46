//! The field names that this crate and its users read or write, as small numbers.
//!
//! A name is looked up by its length and eight of its bytes in a hash table made at compile time:
//! one multiplication, one load and one comparison, no allocation. The seed of the hash is searched
//! at compile time; a collision stops the build.

macro_rules! known_names {
    ($($variant:ident = $name:literal,)*) => {
        /// A field name from a fixed list, as spelled in the registry. Other names are looked up by
        /// text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Known {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl Known {
            /// All known names, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The number of known names.
            pub const COUNT: usize = Self::ALL.len();

            /// Returns the name as spelled in the registry.
            pub const fn as_str(self) -> &'static str {
                const NAMES: [&str; Known::COUNT] = [$($name,)*];
                NAMES[self.index()]
            }
        }
    };
}

known_names! {
    Accept = "Accept",
    AcceptEncoding = "Accept-Encoding",
    AcceptLanguage = "Accept-Language",
    AcceptRanges = "Accept-Ranges",
    Age = "Age",
    Allow = "Allow",
    Authorization = "Authorization",
    CacheControl = "Cache-Control",
    Connection = "Connection",
    ContentDisposition = "Content-Disposition",
    ContentEncoding = "Content-Encoding",
    ContentLanguage = "Content-Language",
    ContentLength = "Content-Length",
    ContentLocation = "Content-Location",
    ContentRange = "Content-Range",
    ContentType = "Content-Type",
    Cookie = "Cookie",
    Date = "Date",
    ETag = "ETag",
    Expect = "Expect",
    Expires = "Expires",
    Forwarded = "Forwarded",
    Host = "Host",
    IfMatch = "If-Match",
    IfModifiedSince = "If-Modified-Since",
    IfNoneMatch = "If-None-Match",
    IfRange = "If-Range",
    IfUnmodifiedSince = "If-Unmodified-Since",
    KeepAlive = "Keep-Alive",
    LastModified = "Last-Modified",
    Location = "Location",
    MaxForwards = "Max-Forwards",
    Origin = "Origin",
    Proxy = "Proxy",
    ProxyAuthorization = "Proxy-Authorization",
    ProxyConnection = "Proxy-Connection",
    Range = "Range",
    Referer = "Referer",
    RetryAfter = "Retry-After",
    Server = "Server",
    SetCookie = "Set-Cookie",
    Te = "TE",
    Trailer = "Trailer",
    TransferEncoding = "Transfer-Encoding",
    Upgrade = "Upgrade",
    UserAgent = "User-Agent",
    Vary = "Vary",
    Via = "Via",
    WwwAuthenticate = "WWW-Authenticate",
    XForwardedFor = "X-Forwarded-For",
    XForwardedHost = "X-Forwarded-Host",
    XForwardedProto = "X-Forwarded-Proto",
}

/// A set of known names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownSet(u64);

const _: () = assert!(Known::COUNT <= u64::BITS as usize);

impl KnownSet {
    /// The empty set of names.
    pub const EMPTY: Self = Self(0);

    /// Returns the set with `name` added.
    #[must_use]
    pub const fn with(self, name: Known) -> Self {
        Self(self.0 | 1 << name.index())
    }

    /// Returns whether the set contains `name`.
    pub const fn contains(self, name: Known) -> bool {
        self.0 & (1 << name.index()) != 0
    }

    /// Returns whether the two sets have a name in common.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

const SLOTS: usize = 256;

/// Size of the longest known name, so that a slot of the table fills half a cache line.
const NAME_BYTES_MAX: usize = 30;

/// A slot of the table: a name with its spelling, so that a lookup touches one cache line.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Slot {
    spelling: [u8; NAME_BYTES_MAX],
    spelling_bytes: u8,
    known: Option<Known>,
}

const _: () = assert!(size_of::<Slot>() == 32);

impl Slot {
    const EMPTY: Self = Self { spelling: [0; NAME_BYTES_MAX], spelling_bytes: 0, known: None };

    #[allow(clippy::cast_possible_truncation)] // a longer name stops the build
    const fn new(known: Known) -> Self {
        let mut slot = Self { known: Some(known), ..Self::EMPTY };
        let name = known.as_str().as_bytes();
        let mut at = 0;
        while at < name.len() {
            // `differ` takes this bit for that of a letter.
            assert!(name[at].is_ascii_alphabetic() || name[at] & 0x40 == 0);
            at += 1;
        }
        let (spelling, _) = slot.spelling.split_at_mut(name.len());
        spelling.copy_from_slice(name);
        slot.spelling_bytes = name.len() as u8;
        slot
    }

    fn spelling(&self) -> &[u8] {
        &self.spelling[..usize::from(self.spelling_bytes)]
    }
}

const SEED: u64 = find_seed();
static TABLE: [Slot; SLOTS] = table();

impl Known {
    /// Returns the known name equal to `name`, compared case-insensitively (RFC 9110 §5.1).
    #[inline]
    pub fn lookup(name: &[u8]) -> Option<Self> {
        let slot = &TABLE[slot(name, SEED)];
        let is_same = is_equal_ignoring_case(name, slot.spelling());
        slot.known.filter(|_| is_same)
    }

    /// Returns the index of this name in arrays of [`Known::COUNT`] elements.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Returns the slot of a name: by its length, its first and its last four bytes,
/// case-insensitively.
#[allow(clippy::cast_possible_truncation)] // below SLOTS
const fn slot(name: &[u8], seed: u64) -> usize {
    const CASE: u64 = u64::from_ne_bytes([0x20; 8]);
    let (first, last) = match (name.first_chunk(), name.last_chunk()) {
        (Some(first), Some(last)) => (u32::from_le_bytes(*first), u32::from_le_bytes(*last)),
        _ => (short(name), 0),
    };
    let key = ((first as u64) << 32 | last as u64 | CASE).wrapping_add(name.len() as u64);
    (key.wrapping_mul(seed) >> (u64::BITS - SLOTS.ilog2())) as usize
}

/// The bytes of a name that has fewer than four.
const fn short(name: &[u8]) -> u32 {
    match *name {
        [a, b, c] => u32::from_le_bytes([a, b, c, 0]),
        [a, b] => u32::from_le_bytes([a, b, 0, 0]),
        _ => 0,
    }
}

/// Compares a name with a known one. Short names are compared in two pieces that meet or overlap,
/// so that they cover the whole name.
fn is_equal_ignoring_case(name: &[u8], known: &[u8]) -> bool {
    match name.len() {
        length if length != known.len() => false,
        4..=8 => differ(first_4(name), first_4(known)) | differ(last_4(name), last_4(known)) == 0,
        9..=16 => differ(first_8(name), first_8(known)) | differ(last_8(name), last_8(known)) == 0,
        _ => name.eq_ignore_ascii_case(known),
    }
}

/// Returns the bits in which bytes differ, other than the case of letters. Of the bytes of known
/// names only letters have the bit 0x40, and 0x20 is the case of those.
fn differ(name: u64, known: u64) -> u64 {
    const LETTER: u64 = u64::from_ne_bytes([0x40; 8]);
    (name ^ known) & !((known & LETTER) >> 1)
}

fn first_4(name: &[u8]) -> u64 {
    name.first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes).into())
}

fn last_4(name: &[u8]) -> u64 {
    name.last_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes).into())
}

fn first_8(name: &[u8]) -> u64 {
    name.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

fn last_8(name: &[u8]) -> u64 {
    name.last_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

/// Returns whether all names have different slots with this seed.
const fn separates(seed: u64) -> bool {
    let mut taken = [false; SLOTS];
    let mut number = 0;
    while number < Known::COUNT {
        let at = slot(Known::ALL[number].as_str().as_bytes(), seed);
        if taken[at] {
            return false;
        }
        taken[at] = true;
        number += 1;
    }
    true
}

const fn table() -> [Slot; SLOTS] {
    let mut table = [Slot::EMPTY; SLOTS];
    let mut number = 0;
    while number < Known::COUNT {
        let known = Known::ALL[number];
        table[slot(known.as_str().as_bytes(), SEED)] = Slot::new(known);
        number += 1;
    }
    table
}

#[allow(long_running_const_eval)] // a few thousand seeds at most, each given up at its first collision
const fn find_seed() -> u64 {
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    while !separates(seed) {
        seed = seed.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
    }
    seed
}

// `Fields` keeps one bit per name in a u64 and numbers lines in a u8.
const _: () = assert!(Known::COUNT <= 64);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Known;

    #[test]
    fn near_misses_are_not_known() {
        for name in [
            "",
            "H",
            "Hos",
            "Hosts",
            "Content_Length",
            "X-Content-Length",
            "content-lengt\u{e9}",
            "\u{1f}ost",
        ] {
            assert_eq!(Known::lookup(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn every_name_is_found_in_any_case() {
        for &known in Known::ALL {
            let name = known.as_str();
            assert_eq!(Known::lookup(name.as_bytes()), Some(known));
            assert_eq!(Known::lookup(name.to_ascii_lowercase().as_bytes()), Some(known));
            assert_eq!(Known::lookup(name.to_ascii_uppercase().as_bytes()), Some(known));
        }
    }

    proptest! {
        #[test]
        fn finds_what_a_search_through_all_names_finds(
            known in 0..Known::COUNT,
            upper in any::<u32>(),
            changed in proptest::option::of((any::<proptest::sample::Index>(), any::<u8>())),
            cut in 0_usize..3,
        ) {
            let mut name = Known::ALL[known].as_str().as_bytes().to_vec();
            for (at, byte) in name.iter_mut().enumerate() {
                if upper >> (at % 32) & 1 == 1 {
                    byte.make_ascii_uppercase();
                }
            }
            if let Some((at, byte)) = changed {
                let at = at.index(name.len());
                name[at] = byte;
            }
            name.truncate(name.len() - cut.min(name.len()));
            let mut all = Known::ALL.iter();
            let found = all.find(|known| known.as_str().as_bytes().eq_ignore_ascii_case(&name));
            prop_assert_eq!(Known::lookup(&name), found.copied());
        }
    }
}
