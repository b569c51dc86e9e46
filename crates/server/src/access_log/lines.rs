//! The lines of one reactor on their way to a writer: a buffer that the one fills and the other swaps for an empty one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::outlet::Outlet;

/// Bytes of lines that may wait in one reactor for the writer of one target; lines that come then are dropped and
/// counted.
pub const LINES_BYTES_MAX: usize = 1024 * 1024;

/// So many bytes, and the writer is woken before its time.
const WAKE_BYTES: usize = 64 * 1024;

/// One reactor's end of a target. Writing to it takes a lock that is almost always free, and never waits for the disk.
#[derive(Debug)]
pub(crate) struct Lines {
    waiting: Arc<Waiting>,
    outlet: Outlet,
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
    pub(super) fn new(waiting: Arc<Waiting>, outlet: Outlet) -> Self {
        Self { waiting, outlet }
    }

    /// Appends what `write` appends, one whole line, or counts it as dropped.
    pub(crate) fn push(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut filled = self.waiting.lock();
        let before = filled.bytes.len();
        if before >= LINES_BYTES_MAX {
            filled.dropped += 1;
            drop(filled);
            return self.outlet.shared().tell_dropped();
        }
        write(&mut filled.bytes);
        filled.lines += 1;
        let after = filled.bytes.len();
        drop(filled);
        if before < WAKE_BYTES && after >= WAKE_BYTES {
            self.outlet.shared().ring_at_once();
        } else if before == 0 {
            self.outlet.shared().ring();
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

    use super::super::outlet::Tell;
    use super::*;

    /// A reactor's end, and what is told of dropped lines.
    fn lines(told: &Arc<AtomicUsize>) -> (Lines, Arc<Waiting>) {
        let told = Arc::clone(told);
        let tell = move |_| {
            told.fetch_add(1, Ordering::Relaxed);
        };
        let outlet = Outlet::without_writer(Tell::new(tell));
        let lines = outlet.lines();
        let waiting = Arc::clone(&lines.waiting);
        (lines, waiting)
    }

    fn push(lines: &Lines, bytes: usize) {
        lines.push(|out| out.resize(out.len() + bytes, b'x'));
    }

    #[test]
    fn a_full_buffer_drops_lines_and_says_so_once() {
        let told = Arc::default();
        let (lines, waiting) = lines(&told);
        push(&lines, LINES_BYTES_MAX - 1);
        push(&lines, 100);
        assert_eq!((waiting.lines(), waiting.dropped()), (2, 0));
        push(&lines, 1);
        push(&lines, 1);
        assert_eq!((waiting.lines(), waiting.dropped()), (2, 2));
        assert_eq!(told.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_line_that_is_longer_than_a_buffer_is_kept_whole() {
        let (lines, waiting) = lines(&Arc::default());
        push(&lines, 1);
        push(&lines, 2 * LINES_BYTES_MAX);
        push(&lines, 1);
        let mut batch = Vec::new();
        assert_eq!(waiting.swap(&mut batch), 2);
        assert_eq!(batch.len(), 2 * LINES_BYTES_MAX + 1);
        assert_eq!((waiting.lines(), waiting.dropped()), (0, 1));
    }

    #[test]
    fn an_emptied_buffer_takes_lines_again() {
        let told = Arc::default();
        let (lines, waiting) = lines(&told);
        push(&lines, LINES_BYTES_MAX);
        push(&lines, 1);
        let mut batch = Vec::new();
        assert_eq!(waiting.swap(&mut batch), 1);
        assert_eq!(batch.len(), LINES_BYTES_MAX);
        push(&lines, 1);
        assert_eq!((waiting.lines(), waiting.dropped()), (1, 1));
    }
}
