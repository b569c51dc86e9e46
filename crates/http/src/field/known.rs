//! The field names this server reads or writes itself, as small numbers.
//!
//! A name is found by four of its bytes and its length in a table that the compiler fills: one multiplication, one load and
//! one comparison, no allocation. The seed is searched at compile time; two names on one slot stop the build.

macro_rules! known_names {
    ($($variant:ident = $name:literal,)*) => {
        /// A field name of the list, in the spelling of the registry. Anything else is looked up by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Known {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl Known {
            /// Every known name, in order of its number.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// How many names are known.
            pub const COUNT: usize = Self::ALL.len();

            /// The name as the registry spells it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
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
    /// No names.
    pub const EMPTY: Self = Self(0);

    /// The set with one name more.
    #[must_use]
    pub const fn with(self, name: Known) -> Self {
        Self(self.0 | 1 << name.index())
    }

    /// Whether the name is in the set.
    pub const fn contains(self, name: Known) -> bool {
        self.0 & (1 << name.index()) != 0
    }

    /// Whether some name is in both sets.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

const SLOTS: usize = 256;
const EMPTY: u8 = u8::MAX;

const SEED: u32 = find_seed();
const TABLE: [u8; SLOTS] = match fill(SEED) {
    Some(table) => table,
    None => panic!("two known field names share a slot under every seed"),
};

impl Known {
    /// The known name equal to `name` without regard to case (RFC 9110 §5.1).
    pub fn lookup(name: &[u8]) -> Option<Self> {
        if name.is_empty() {
            return None;
        }
        let number = TABLE[slot(name, SEED)];
        let candidate = *Self::ALL.get(usize::from(number))?;
        let spelling = candidate.as_str().as_bytes();
        // Nearly all peers write the spelling of the registry, and equality is several times cheaper without folding.
        let is_same = name == spelling || name.eq_ignore_ascii_case(spelling);
        is_same.then_some(candidate)
    }

    /// The index of this name in arrays of [`Known::COUNT`] entries.
    pub const fn index(self) -> usize {
        self as usize
    }
}

#[allow(clippy::cast_possible_truncation)] // only the low bits of the length count
const fn slot(name: &[u8], seed: u32) -> usize {
    let length = name.len();
    let key = (name[0] | 0x20) as u32
        | ((name[length / 2] | 0x20) as u32) << 8
        | ((name[length - 1] | 0x20) as u32) << 16
        | ((name[length.saturating_sub(2)] | 0x20) as u32) << 24;
    ((key ^ (length as u32)).wrapping_mul(seed) >> 24) as usize
}

#[allow(clippy::cast_possible_truncation)] // COUNT is asserted below
const fn fill(seed: u32) -> Option<[u8; SLOTS]> {
    let mut table = [EMPTY; SLOTS];
    let mut number = 0;
    while number < Known::COUNT {
        let at = slot(Known::ALL[number].as_str().as_bytes(), seed);
        if table[at] != EMPTY {
            return None;
        }
        table[at] = number as u8;
        number += 1;
    }
    Some(table)
}

#[allow(long_running_const_eval)] // a few thousand seeds at most, each given up at its first collision
const fn find_seed() -> u32 {
    let mut seed = 0x9E37_79B1_u32;
    while fill(seed).is_none() {
        seed = seed.wrapping_mul(0x0019_660D).wrapping_add(0x3C6E_F35E);
    }
    seed
}

// `Fields` keeps one bit per name in a u64 and numbers lines in a u8.
const _: () = assert!(Known::COUNT <= 64);

#[cfg(test)]
mod tests {
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
            assert_eq!(
                Known::lookup(name.to_ascii_lowercase().as_bytes()),
                Some(known)
            );
            assert_eq!(
                Known::lookup(name.to_ascii_uppercase().as_bytes()),
                Some(known)
            );
        }
    }
}
