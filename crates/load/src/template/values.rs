//! The current values of variables: those of all users, and those of one.

use std::sync::Arc;

use super::compile::Variable;
use super::escape::hex;
use crate::feed::{Cursor, Feed};
use crate::share::{Share, Turns};

/// Characters of a UUID.
const UUID_BYTES: usize = 36;

/// What all users draw from.
#[derive(Debug, Default)]
pub struct Shared {
    sequence: Turns,
    feed: Option<Cursor>,
    seed: u64,
    share: Share,
}

impl Shared {
    /// Counts from 0, draws from `feed`, and makes the same random values again for the same
    /// `seed`. One of several counts and draws in its turns.
    pub fn new(feed: Option<Cursor>, seed: u64, share: Share) -> Self {
        Self {
            sequence: Turns::new(share),
            feed: feed.map(|feed| feed.with_share(share)),
            seed,
            share,
        }
    }

    /// Whose turns they are.
    pub(crate) fn share(&self) -> Share {
        self.share
    }

    /// The feed, if any.
    pub fn feed(&self) -> Option<&Feed> {
        self.feed.as_ref().map(Cursor::feed)
    }
}

/// What one user fills in.
#[derive(Debug)]
pub struct Values {
    shared: Arc<Shared>,
    random: fastrand::Rng,
    user: u32,
    sequence: Option<u64>,
    uuid: Option<[u8; UUID_BYTES]>,
    row: Option<usize>,
    captures: Vec<Vec<u8>>,
    scratch: Vec<u8>,
}

impl Values {
    /// Those of user number `user`, with room for this many captures.
    pub fn new(shared: Arc<Shared>, user: u32, captures: usize) -> Self {
        // Neighbouring seeds must not give neighbouring values; fastrand mixes, and the odd factor
        // keeps users apart.
        let seed = shared.seed ^ u64::from(user).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self {
            shared,
            random: fastrand::Rng::with_seed(seed),
            user,
            sequence: None,
            uuid: None,
            row: None,
            captures: vec![Vec::new(); captures],
            scratch: Vec::new(),
        }
    }

    /// Begins a request: it has a number and a UUID of its own.
    pub fn begin_request(&mut self) {
        self.sequence = None;
        self.uuid = None;
    }

    /// Takes the next row of the feed; `false` when it has no more.
    pub fn take_row(&mut self) -> bool {
        let Some(feed) = &self.shared.feed else {
            return true;
        };
        self.row = feed.next(&mut self.random);
        self.row.is_some()
    }

    /// What was captured under this number, to be read and written.
    pub fn capture(&mut self, number: usize) -> &mut Vec<u8> {
        &mut self.captures[number]
    }

    /// Forgets what was captured.
    pub fn clear_captures(&mut self) {
        self.captures.iter_mut().for_each(Vec::clear);
    }

    /// Takes an empty, already grown buffer; return it with `give_scratch`.
    pub(crate) fn take_scratch(&mut self) -> Vec<u8> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch
    }

    /// Returns the buffer.
    pub(crate) fn give_scratch(&mut self, scratch: Vec<u8>) {
        self.scratch = scratch;
    }

    /// A random number between the two, both included.
    pub fn random(&mut self, low: u64, high: u64) -> u64 {
        self.random.u64(low..=high)
    }

    /// Hands the value of a variable to `write`.
    pub(super) fn with(&mut self, variable: Variable, write: impl FnOnce(&[u8])) {
        let number = match variable {
            Variable::Sequence => {
                let sequence = &self.shared.sequence;
                *self.sequence.get_or_insert_with(|| sequence.take())
            }
            Variable::User => u64::from(self.user),
            Variable::Random(low, high) => self.random(low, high),
            Variable::Uuid => {
                let random = &mut self.random;
                return write(self.uuid.get_or_insert_with(|| uuid(random)));
            }
            Variable::Capture(number) => return write(&self.captures[number]),
            Variable::Column(column) => {
                let feed = self.shared.feed();
                let cell = feed.zip(self.row).map(|(feed, row)| feed.cell(row, column));
                return write(cell.unwrap_or_default());
            }
        };
        write(itoa::Buffer::new().format(number).as_bytes());
    }
}

/// A UUID of version 4 (RFC 9562 §5.4).
fn uuid(random: &mut fastrand::Rng) -> [u8; UUID_BYTES] {
    let mut bytes = random.u128(..).to_be_bytes();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = [b'-'; UUID_BYTES];
    let mut at = 0;
    for (index, byte) in bytes.into_iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            at += 1;
        }
        text[at] = hex(byte >> 4).to_ascii_lowercase();
        text[at + 1] = hex(byte & 15).to_ascii_lowercase();
        at += 2;
    }
    text
}
