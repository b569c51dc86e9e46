//! Request ids: what names a request in logs, in the response, on pages, and behind us.

use std::hash::{BuildHasher as _, RandomState};

/// Bytes of an id that is taken from a request; longer ones are replaced by one of our own.
pub const REQUEST_ID_BYTES_MAX: usize = 128;

/// The id that a trusted forwarder gave a request, if it is one: 1 to [`REQUEST_ID_BYTES_MAX`] letters, digits and
/// `-_.:+/=@~`, none of which ends a line, a quoted text or a field.
pub fn trusted_request_id(value: &[u8]) -> Option<&[u8]> {
    let is_allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:+/=@~".contains(byte);
    let is_id = (1..=REQUEST_ID_BYTES_MAX).contains(&value.len()) && value.iter().all(is_allowed);
    is_id.then_some(value)
}

/// An id of our own: 128 bits as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId([u8; 32]);

impl RequestId {
    /// The digits.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
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
    pub fn next_id(&mut self) -> RequestId {
        self.made += 1;
        let mut text = [0; 32];
        for (half, key) in text.chunks_exact_mut(16).zip(&self.keys) {
            write_hex(half, key.hash_one(self.made));
        }
        RequestId(text)
    }
}

fn write_hex(digits: &mut [u8], number: u64) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for (pair, byte) in digits.chunks_exact_mut(2).zip(number.to_be_bytes()) {
        pair[0] = HEX[usize::from(byte >> 4)];
        pair[1] = HEX[usize::from(byte & 15)];
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn only_what_can_do_no_harm_is_taken_for_an_id() {
        let check = |value: &[u8], expected: bool| {
            assert_eq!(trusted_request_id(value).is_some(), expected, "{value:?}");
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
            .flat_map(|_| [one.next_id().0, other.next_id().0])
            .collect();
        assert_eq!(ids.len(), 2000);
        assert!(ids.iter().flatten().all(u8::is_ascii_hexdigit));
        // Each half of an id is different, too: the keys are.
        let halves: HashSet<_> = ids.iter().flat_map(|id| id.chunks(16)).collect();
        assert_eq!(halves.len(), 4000);
    }

    #[test]
    fn numbers_become_digits() {
        let mut digits = [0; 16];
        write_hex(&mut digits, 0x0123_4567_89ab_cdef);
        assert_eq!(&digits, b"0123456789abcdef");
    }
}
