//! Short text in a line. A copy whose length the compiler knows is a move or two, where any other is a call: a line has
//! some thirty pieces of a few bytes each, and the calls were half of what it cost.

/// Appends the first `length` bytes of `text`: all of it is copied, and the rest cut off again.
pub(super) fn push_front<const N: usize>(out: &mut Vec<u8>, text: &[u8; N], length: usize) {
    let end = out.len() + length;
    out.extend_from_slice(text);
    out.truncate(end);
}

/// Text that stands in every line.
#[derive(Debug)]
pub(super) struct Constant {
    front: [u8; FRONT_BYTES],
    front_length: usize,
    /// What the front has no room for.
    rest: Box<[u8]>,
}

/// Two vectors; few texts between two variables are longer.
const FRONT_BYTES: usize = 32;

impl Constant {
    pub(super) fn new(text: &[u8]) -> Self {
        let (short, rest) = text.split_at(text.len().min(FRONT_BYTES));
        let mut front = [0; FRONT_BYTES];
        front[..short.len()].copy_from_slice(short);
        Self {
            front,
            front_length: short.len(),
            rest: rest.into(),
        }
    }

    pub(super) fn push(&self, out: &mut Vec<u8>) {
        push_front(out, &self.front, self.front_length);
        if !self.rest.is_empty() {
            out.extend_from_slice(&self.rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_is_itself_whatever_its_length() {
        let text: Vec<u8> = (b' '..).take(FRONT_BYTES * 3).collect();
        for length in 0..text.len() {
            let mut out = b"before".to_vec();
            Constant::new(&text[..length]).push(&mut out);
            assert_eq!(out, [b"before", &text[..length]].concat());
        }
    }
}
