//! The lines of one reactor on their way to the writer: a buffer that the one fills and the other swaps for an empty one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::bell::Bell;

/// Bytes of lines that may wait in one reactor for the writer; lines that come then are dropped and counted.
pub const LINES_BYTES_MAX: usize = 1024 * 1024;

/// So many bytes, and the writer is woken before its time.
const WAKE_BYTES: usize = 64 * 1024;

/// One reactor's end of the access log. Writing to it takes a lock that is almost always free, and never waits for
/// the disk.
#[derive(Debug)]
pub struct Lines {
    waiting: Arc<Waiting>,
    bell: Arc<Bell>,
}

/// What waits for the writer.
#[derive(Debug, Default)]
pub(super) struct Waiting(Mutex<Filled>);

#[derive(Debug, Default)]
struct Filled {
    bytes: Vec<u8>,
    lines: u64,
    dropped: u64,
}

impl Lines {
    pub(super) fn new(waiting: Arc<Waiting>, bell: Arc<Bell>) -> Self {
        Self { waiting, bell }
    }

    /// Appends what `write` appends, one whole line, or counts it as dropped.
    pub(super) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut filled = self.waiting.lock();
        let before = filled.bytes.len();
        if before >= LINES_BYTES_MAX {
            filled.dropped += 1;
            drop(filled);
            return self.bell.tell_dropped();
        }
        write(&mut filled.bytes);
        filled.lines += 1;
        let after = filled.bytes.len();
        drop(filled);
        if before < WAKE_BYTES && after >= WAKE_BYTES {
            self.bell.ring_at_once();
        } else if before == 0 {
            self.bell.ring();
        }
    }
}

impl Waiting {
    /// Swaps the filled buffer for an empty one and gives the number of lines in it.
    pub(super) fn swap(&self, empty: &mut Vec<u8>) -> u64 {
        let mut filled = self.lock();
        std::mem::swap(&mut filled.bytes, empty);
        std::mem::take(&mut filled.lines)
    }

    /// Lines that wait.
    pub(super) fn lines(&self) -> u64 {
        self.lock().lines
    }

    /// Lines dropped since the start.
    pub(super) fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    /// The buffer holds whole lines whenever the lock is free; who panicked within it ended the process.
    fn lock(&self) -> MutexGuard<'_, Filled> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Lines of so many bytes each, and what is told of dropped ones.
    fn lines(told: &Arc<AtomicUsize>) -> (Lines, Arc<Waiting>) {
        let told = Arc::clone(told);
        let tell = move |_| {
            told.fetch_add(1, Ordering::Relaxed);
        };
        let waiting = Arc::new(Waiting::default());
        let bell = Arc::new(Bell::new(Box::new(tell)));
        (Lines::new(Arc::clone(&waiting), bell), waiting)
    }

    fn push(lines: &mut Lines, bytes: usize) {
        lines.push(|out| out.resize(out.len() + bytes, b'x'));
    }

    #[test]
    fn a_full_buffer_drops_lines_and_says_so_once() {
        let told = Arc::default();
        let (mut lines, waiting) = lines(&told);
        push(&mut lines, LINES_BYTES_MAX - 1);
        push(&mut lines, 100);
        assert_eq!((waiting.lines(), waiting.dropped()), (2, 0));
        push(&mut lines, 1);
        push(&mut lines, 1);
        assert_eq!((waiting.lines(), waiting.dropped()), (2, 2));
        assert_eq!(told.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn an_emptied_buffer_takes_lines_again() {
        let told = Arc::default();
        let (mut lines, waiting) = lines(&told);
        push(&mut lines, LINES_BYTES_MAX);
        push(&mut lines, 1);
        let mut batch = Vec::new();
        assert_eq!(waiting.swap(&mut batch), 1);
        assert_eq!(batch.len(), LINES_BYTES_MAX);
        push(&mut lines, 1);
        assert_eq!((waiting.lines(), waiting.dropped()), (1, 1));
    }
}
