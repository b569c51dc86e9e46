//! Request ids: what names a request in logs, in the response, on pages, and behind us.

use std::hash::{BuildHasher as _, RandomState};

/// Bytes of an id that is taken from a request; longer ones are replaced by one of our own.
pub const REQUEST_ID_BYTES_MAX: usize = 128;

/// What names one request. It is a value: a request that gets an id asks for no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId<'a>(Text<'a>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text<'a> {
    /// Of our own: 128 bits as hexadecimal digits.
    Own([u8; 32]),
    /// What a forwarder wrote.
    Given(&'a [u8]),
}

impl<'a> RequestId<'a> {
    /// The id that a trusted forwarder gave a request, if it is one: 1 to [`REQUEST_ID_BYTES_MAX`] letters, digits and
    /// `-_.:+/=@~`, none of which ends a line, a quoted text or a field.
    pub fn given(value: &'a [u8]) -> Option<Self> {
        let is_allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:+/=@~".contains(byte);
        let is_id =
            (1..=REQUEST_ID_BYTES_MAX).contains(&value.len()) && value.iter().all(is_allowed);
        is_id.then_some(Self(Text::Given(value)))
    }

    /// Whether it is of our own making: nothing but letters and digits.
    pub(super) fn is_own(&self) -> bool {
        matches!(self.0, Text::Own(_))
    }

    /// The id as it stands in lines and fields.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Text::Own(digits) => digits,
            Text::Given(text) => text,
        }
    }
}

/// Makes the ids of one reactor: a counter, enciphered by two keys of the system's randomness. So no two are equal, none
/// can be guessed from others, and a restart begins elsewhere. An id costs some 20 ns and no system call.
#[derive(Clone, Debug, Default)]
pub struct RequestIds {
    keys: [RandomState; 2],
    made: u64,
}

impl RequestIds {
    /// With keys of its own.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next id.
    pub fn next_id(&mut self) -> RequestId<'static> {
        self.made += 1;
        let [high, low] = self.keys.each_ref().map(|key| key.hash_one(self.made));
        RequestId(Text::Own(digits(u128::from(high) << 64 | u128::from(low))))
    }
}

/// All digits at once, without a table: the compiler makes a few vector instructions of it.
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
    fn only_what_can_do_no_harm_is_taken_for_an_id() {
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
    fn ids_are_never_the_same_not_even_those_of_another_reactor() {
        let (mut one, mut other) = (RequestIds::new(), RequestIds::new());
        let ids: HashSet<_> = (0..1000)
            .flat_map(|_| [one.next_id(), other.next_id()])
            .map(|id| id.as_bytes().to_vec())
            .collect();
        assert_eq!(ids.len(), 2000);
        assert!(ids.iter().flatten().all(u8::is_ascii_hexdigit));
        // Each half of an id is different, too: the keys are.
        let halves: HashSet<_> = ids.iter().flat_map(|id| id.chunks(16)).collect();
        assert_eq!(halves.len(), 4000);
    }

    #[test]
    fn numbers_become_digits() {
        let check = |number, expected: &[u8; 32]| assert_eq!(&digits(number), expected);
        check(0, &[b'0'; 32]);
        check(u128::MAX, &[b'f'; 32]);
        let number = 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210;
        check(number, b"0123456789abcdeffedcba9876543210");
    }
}
