//! A request as the log sees it, and the IDs of requests.

use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;

use vervet_engine::http::h1::RequestHead;

use super::plan::{LogSet, Origin};

/// What a line may say of a request. Nothing of it is kept beyond the call.
#[derive(Clone, Copy, Debug)]
pub struct RequestInfo<'a> {
    /// The head of the request.
    pub head: &'a RequestHead<'a>,
    /// The path, decoded, as routes match it: for lines and for rules by path.
    pub path: &'a [u8],
    /// The query string without its question mark.
    pub query: Option<&'a [u8]>,
    /// The host as sent, without port; empty if none was sent.
    pub host: &'a [u8],
    /// The scheme: `http` or `https`.
    pub scheme: &'static str,
    /// Name of the listener.
    pub listener: &'a str,
    /// The client as trusted proxies report it; `None` for the peer of the socket.
    pub client: Option<IpAddr>,
    /// The name of the authenticated user.
    pub user: Option<&'a [u8]>,
    /// The ID of the request.
    pub request_id: Option<RequestId<'a>>,
    /// Number of the request on its connection, from 1; `None` if unknown.
    pub connection_requests: Option<u64>,
    /// The site and the route that respond.
    pub origin: Origin,
    /// The logs that get a line.
    pub logs: LogSet,
}

impl<'a> RequestInfo<'a> {
    /// What the head alone says: the target is split at its question mark and not decoded.
    pub fn from_head(head: &'a RequestHead<'a>) -> Self {
        let at = memchr::memchr(b'?', head.target);
        let (path, query) = match at {
            Some(at) => (&head.target[..at], Some(&head.target[at + 1..])),
            None => (head.target, None),
        };
        Self {
            head,
            path,
            query,
            host: head.host().unwrap_or_default(),
            scheme: "http",
            listener: "",
            client: None,
            user: None,
            request_id: None,
            connection_requests: None,
            origin: Origin::default(),
            logs: LogSet::default(),
        }
    }
}

/// Bytes of an ID that is accepted from a request; longer ones are replaced.
pub const REQUEST_ID_BYTES_MAX: usize = 128;

/// The ID of one request, in logs, response fields and pages. It is a value: making one allocates
/// no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId<'a>(Text<'a>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text<'a> {
    /// Made here: 128 bits as hexadecimal digits.
    Own([u8; 32]),
    /// Sent by a trusted proxy.
    Received(&'a [u8]),
}

impl<'a> RequestId<'a> {
    /// The ID that a trusted proxy sent, if it is valid: 1 to [`REQUEST_ID_BYTES_MAX`] letters,
    /// digits and `-_.:+/=@~`, none of which ends a line, a quoted text or a field.
    pub fn given(value: &'a [u8]) -> Option<Self> {
        let is_allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:+/=@~".contains(byte);
        let is_id =
            (1..=REQUEST_ID_BYTES_MAX).contains(&value.len()) && value.iter().all(is_allowed);
        is_id.then_some(Self(Text::Received(value)))
    }

    /// Whether it was made here and so has digits only.
    pub(super) fn is_own(&self) -> bool {
        matches!(self.0, Text::Own(_))
    }

    /// The ID as lines and fields have it.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Text::Own(digits) => digits,
            Text::Received(text) => text,
        }
    }
}

/// Makes the request IDs of one reactor: a counter, hashed with two random keys. So IDs are unique,
/// cannot be guessed from others, and do not repeat after a restart. An ID costs some 20 ns and no
/// system call.
#[derive(Clone, Debug, Default)]
pub struct RequestIds {
    keys: [RandomState; 2],
    made: u64,
}

impl RequestIds {
    /// A generator with random keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the next request ID.
    pub fn next_id(&mut self) -> RequestId<'static> {
        self.made += 1;
        let [high, low] = self.keys.each_ref().map(|key| key.hash_one(self.made));
        RequestId(Text::Own(digits(u128::from(high) << 64 | u128::from(low))))
    }
}

/// All digits at once and without a table: the compiler vectorizes it.
fn digits(number: u128) -> [u8; 32] {
    let digit = |four: u8| four + if four < 10 { b'0' } else { b'a' - 10 };
    let mut text = [0; 32];
    let (pairs, _) = text.as_chunks_mut::<2>();
    for (pair, byte) in pairs.iter_mut().zip(number.to_be_bytes()) {
        *pair = [digit(byte >> 4), digit(byte & 15)];
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn only_harmless_bytes_are_accepted_as_an_id() {
        let check = |value: &[u8], expected: bool| {
            assert_eq!(RequestId::given(value).is_some(), expected, "{value:?}");
        };
        check(b"", false);
        check(b"a b", false);
        check(b"a\"b", false);
        check(b"a\r\nb", false);
        check("é".as_bytes(), false);
        check(&[b'a'; REQUEST_ID_BYTES_MAX + 1], false);
        check(&[b'a'; REQUEST_ID_BYTES_MAX], true);
        check(b"7b1fdf0e-6ad7-4a4b-9b23-5bd4e5f1c0aa", true);
        check(b"Root=1-67891233-abcdef012345678912345678", true);
    }

    #[test]
    fn ids_are_unique_across_reactors() {
        let (mut one, mut other) = (RequestIds::new(), RequestIds::new());
        let ids: HashSet<_> = (0..1000)
            .flat_map(|_| [one.next_id(), other.next_id()])
            .map(|id| id.as_bytes().to_vec())
            .collect();
        assert_eq!(ids.len(), 2000);
        assert!(ids.iter().flatten().all(u8::is_ascii_hexdigit));
        // Each half of an ID is unique too, because the keys differ.
        let halves: HashSet<_> = ids.iter().flat_map(|id| id.chunks(16)).collect();
        assert_eq!(halves.len(), 4000);
    }

    #[test]
    fn numbers_become_hexadecimal_digits() {
        let check = |number, expected: &[u8; 32]| assert_eq!(&digits(number), expected);
        check(0, &[b'0'; 32]);
        check(u128::MAX, &[b'f'; 32]);
        let number = 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210;
        check(number, b"0123456789abcdeffedcba9876543210");
    }
}
