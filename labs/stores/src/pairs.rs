//! Keys and values: the same ones from the same seed, so that nothing has to be kept to know what must come back.

use std::fmt::Write as _;

/// What is put and read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pairs {
    seed: u64,
    count: u32,
    value_bytes: u32,
}

/// Letters of a value: those that need no quotes anywhere.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl Pairs {
    /// So many, with values of so many bytes.
    pub(crate) fn new(seed: u64, count: u32, value_bytes: u32) -> Self {
        Self { seed, count, value_bytes }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// The numbers of the pairs in the order in which they are put.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = u32> {
        0..self.count
    }

    /// The same numbers in another order, in which they are read: as they were put would be kinder to some.
    pub(crate) fn drawn(&self) -> Vec<u32> {
        let mut order: Vec<u32> = self.in_order().collect();
        fastrand::Rng::with_seed(self.seed).shuffle(&mut order);
        order
    }

    /// Writes the key of a number.
    pub(crate) fn key(number: u32, key: &mut String) {
        key.clear();
        // Writing to a string does not fail.
        let _ = write!(key, "key-{number:08}");
    }

    /// Writes the value of a number. It depends on the number: a value under another key is noticed.
    pub(crate) fn value(&self, number: u32, value: &mut Vec<u8>) {
        value.clear();
        let mut random = fastrand::Rng::with_seed(self.seed ^ (u64::from(number) << 32));
        value.extend((0..self.value_bytes).map(|_| LETTERS[random.usize(..LETTERS.len())]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_values_and_each_key_its_own() {
        let value = |seed, number| {
            let mut value = Vec::new();
            Pairs::new(seed, 100, 16).value(number, &mut value);
            value
        };
        assert_eq!(value(7, 3), value(7, 3));
        assert_ne!(value(7, 3), value(7, 4));
        assert_ne!(value(7, 3), value(8, 3));
        assert_eq!(value(7, 3).len(), 16);
    }

    #[test]
    fn each_is_read_once_and_not_as_they_were_put() {
        let pairs = Pairs::new(7, 1000, 16);
        let mut drawn = pairs.drawn();
        assert_ne!(drawn, pairs.in_order().collect::<Vec<u32>>());
        drawn.sort_unstable();
        assert_eq!(drawn, pairs.in_order().collect::<Vec<u32>>());
    }
}
