//! The queue of lines from a reactor to the writer thread: the reactor fills a buffer, the thread
//! swaps it for an empty one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::sink::LogSink;

/// Bytes of lines of one reactor that may be pending for one sink; lines beyond are dropped and
/// counted.
pub const LINES_BYTES_MAX: usize = 1024 * 1024;

/// Pending bytes that wake the writer thread before its time.
const WAKE_BYTES: usize = 64 * 1024;

/// Sends the lines of one reactor to a sink. Sending takes a lock that is almost always free, and
/// never waits for the disk.
#[derive(Debug)]
pub(crate) struct LineSender {
    queue: Arc<LineQueue>,
    sink: LogSink,
}

/// The pending lines of one sender.
#[derive(Debug, Default)]
pub(super) struct LineQueue(Mutex<Queued>);

#[derive(Debug, Default)]
struct Queued {
    bytes: Vec<u8>,
    lines: u64,
    dropped: u64,
}

impl LineSender {
    pub(super) fn new(queue: Arc<LineQueue>, sink: LogSink) -> Self {
        Self { queue, sink }
    }

    /// Sends the one whole line that `write` appends, or counts it as dropped.
    pub(crate) fn send(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut queued = self.queue.lock();
        let before = queued.bytes.len();
        if before >= LINES_BYTES_MAX {
            queued.dropped += 1;
            drop(queued);
            return self.sink.state().report_drops();
        }
        write(&mut queued.bytes);
        queued.lines += 1;
        let after = queued.bytes.len();
        drop(queued);
        if before < WAKE_BYTES && after >= WAKE_BYTES {
            self.sink.state().wake_now();
        } else if before == 0 {
            self.sink.state().wake();
        }
    }
}

impl LineQueue {
    /// Swaps the filled buffer for an empty one and returns the number of lines in it.
    pub(super) fn swap(&self, empty: &mut Vec<u8>) -> u64 {
        let mut queued = self.lock();
        std::mem::swap(&mut queued.bytes, empty);
        std::mem::take(&mut queued.lines)
    }

    /// Pending lines.
    pub(super) fn lines(&self) -> u64 {
        self.lock().lines
    }

    /// Lines dropped since the start.
    pub(super) fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    /// The buffer holds whole lines whenever the lock is free: a panic while writing one ends the
    /// process.
    fn lock(&self) -> MutexGuard<'_, Queued> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::sink::NoticeHandler;
    use super::*;

    /// A sender and its queue; `notices` counts the notices of dropped lines.
    fn sender(notices: &Arc<AtomicUsize>) -> (LineSender, Arc<LineQueue>) {
        let notices = Arc::clone(notices);
        let handle = move |_| {
            notices.fetch_add(1, Ordering::Relaxed);
        };
        let sender = LogSink::without_writer(NoticeHandler::new(handle)).sender();
        let queue = Arc::clone(&sender.queue);
        (sender, queue)
    }

    fn send(sender: &LineSender, bytes: usize) {
        sender.send(|out| out.resize(out.len() + bytes, b'x'));
    }

    #[test]
    fn a_full_queue_drops_lines_and_reports_it_once() {
        let notices = Arc::default();
        let (sender, queue) = sender(&notices);
        send(&sender, LINES_BYTES_MAX - 1);
        send(&sender, 100);
        assert_eq!((queue.lines(), queue.dropped()), (2, 0));
        send(&sender, 1);
        send(&sender, 1);
        assert_eq!((queue.lines(), queue.dropped()), (2, 2));
        assert_eq!(notices.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_line_that_is_longer_than_a_queue_is_kept_whole() {
        let (sender, queue) = sender(&Arc::default());
        send(&sender, 1);
        send(&sender, 2 * LINES_BYTES_MAX);
        send(&sender, 1);
        let mut batch = Vec::new();
        assert_eq!(queue.swap(&mut batch), 2);
        assert_eq!(batch.len(), 2 * LINES_BYTES_MAX + 1);
        assert_eq!((queue.lines(), queue.dropped()), (0, 1));
    }

    #[test]
    fn an_emptied_queue_takes_lines_again() {
        let notices = Arc::default();
        let (sender, queue) = sender(&notices);
        send(&sender, LINES_BYTES_MAX);
        send(&sender, 1);
        let mut batch = Vec::new();
        assert_eq!(queue.swap(&mut batch), 1);
        assert_eq!(batch.len(), LINES_BYTES_MAX);
        send(&sender, 1);
        assert_eq!((queue.lines(), queue.dropped()), (1, 1));
    }
}
