//! The codings that a client accepts, best first, in one byte; and a cache of recent
//! Accept-Encoding values, because browsers of one kind all send the same.

use vervet_http::negotiation::{Encoding, choose_encoding};

/// Our order among codings of equal quality: zstd unpacks fastest, br is smaller than gzip.
const OFFERED: [Encoding; 3] = [Encoding::Zstd, Encoding::Brotli, Encoding::Gzip];

/// Codings in order of preference, two bits each, the best lowest; zero is identity alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Preference(u8);

impl Preference {
    pub(crate) const IDENTITY: Self = Self(0);

    pub(crate) fn parse(accept_encoding: &[u8]) -> Self {
        let mut left = OFFERED.to_vec();
        let mut packed = 0;
        let mut shift = 0;
        loop {
            let best = choose_encoding(Some(accept_encoding), &left);
            let Some(code) = OFFERED.iter().position(|offered| *offered == best) else {
                return Self(packed);
            };
            packed |= (u8::try_from(code).unwrap_or(0) + 1) << shift;
            shift += 2;
            left.retain(|encoding| *encoding != best);
        }
    }

    /// The packed codings, for hashing.
    pub(crate) const fn bits(self) -> u8 {
        self.0
    }

    /// The codings, best first.
    pub(crate) fn encodings(self) -> impl Iterator<Item = Encoding> {
        [0, 2, 4].into_iter().filter_map(move |shift| {
            let code = usize::from(self.0 >> shift & 3);
            OFFERED.get(code.wrapping_sub(1)).copied()
        })
    }
}

/// Values remembered; enough for the browsers of the day.
const REMEMBERED_MAX: usize = 8;

/// Longest value remembered, in bytes; browsers send some 30.
const VALUE_BYTES_MAX: usize = 128;

/// The preferences of the values seen last.
#[derive(Debug, Default)]
pub(crate) struct PreferenceMemory {
    known: Vec<(Box<[u8]>, Preference)>,
    oldest: usize,
}

impl PreferenceMemory {
    pub(crate) fn preference(&mut self, accept_encoding: &[u8]) -> Preference {
        let known = self.known.iter().find(|(value, _)| **value == *accept_encoding);
        if let Some((_, preference)) = known {
            return *preference;
        }
        let preference = Preference::parse(accept_encoding);
        if accept_encoding.len() <= VALUE_BYTES_MAX {
            let entry = (Box::from(accept_encoding), preference);
            if self.known.len() < REMEMBERED_MAX {
                self.known.push(entry);
            } else {
                self.known[self.oldest] = entry;
                self.oldest = (self.oldest + 1) % REMEMBERED_MAX;
            }
        }
        preference
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Encoding::{Brotli, Gzip, Zstd};

    fn check(accept_encoding: &str, expected: &[Encoding]) {
        let found: Vec<_> = Preference::parse(accept_encoding.as_bytes()).encodings().collect();
        assert_eq!(found, expected, "{accept_encoding:?}");
    }

    #[test]
    fn codings_are_ordered_by_quality() {
        check("", &[]);
        check("identity", &[]);
        check("deflate", &[]);
        check("gzip;q=0", &[]);
        check("gzip", &[Gzip]);
        check("gzip, deflate, br, zstd", &[Zstd, Brotli, Gzip]);
        check("gzip;q=1, br;q=0.5, zstd;q=0.1", &[Gzip, Brotli, Zstd]);
        check("*", &[Zstd, Brotli, Gzip]);
        check("br;q=0, *", &[Zstd, Gzip]);
        check("identity;q=1, gzip;q=0.5", &[]);
    }

    #[test]
    fn the_memory_gives_what_was_computed_and_stays_small() {
        let mut memory = PreferenceMemory::default();
        for round in 0..2 {
            for number in 0..20 {
                let value = format!("gzip;q=0.{number}{round}, br;q=0.1");
                let expected = Preference::parse(value.as_bytes());
                assert_eq!(memory.preference(value.as_bytes()), expected);
                assert_eq!(memory.preference(value.as_bytes()), expected);
            }
        }
        assert_eq!(memory.known.len(), REMEMBERED_MAX);
        memory.preference(&[b'x'; VALUE_BYTES_MAX + 1]);
        assert!(memory.known.iter().all(|(value, _)| value.len() <= VALUE_BYTES_MAX));
    }
}
