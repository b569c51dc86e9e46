//! An open sink: what reactors, its writer thread and readers of its counters share. All logs that
//! go to one target share one sink.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::line_queue::{LineQueue, LineSender};
use super::rotation::Rotation;
use super::target::Target;
use super::writer_thread::Waker;

/// Lines that a memory sink keeps.
pub const RECENT_LINES_MAX: usize = 250;
/// Bytes of each line that a memory sink keeps; longer lines are cut.
pub const RECENT_LINE_BYTES_MAX: usize = 4096;

/// An event of a sink while the server runs.
#[derive(Debug)]
pub enum Notice {
    /// Lines were dropped since [`LogSink::drops`] was last called.
    LinesDropped,
    /// An operation failed; lines are still written.
    Failed {
        /// The target of the sink.
        target: Target,
        /// The operation and why it failed.
        error: SinkError,
    },
}

/// An operation on a log file that failed. The sink still writes lines.
#[derive(Debug)]
pub enum SinkError {
    /// The file could not be reopened; lines go to the old file.
    Reopen(io::Error),
    /// The file could not be rotated; lines go to the same file.
    Rotate(io::Error),
    /// An old copy could not be removed or compressed.
    CleanUp(io::Error),
}

impl fmt::Display for SinkError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (operation, error) = match self {
            Self::Reopen(error) => ("reopen the log file, still writing to the old one", error),
            Self::Rotate(error) => ("rotate the log file, still writing to it", error),
            Self::CleanUp(error) => ("remove or compress rotated log files", error),
        };
        write!(formatter, "cannot {operation}: {error}")
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LinesDropped => formatter.write_str("log lines were dropped"),
            Self::Failed { target, error } => write!(formatter, "{target}: {error}"),
        }
    }
}

/// Receives notices. All threads share it, and it must not block.
#[derive(Clone)]
pub(super) struct NoticeHandler(Arc<dyn Fn(Notice) + Send + Sync>);

impl NoticeHandler {
    pub(super) fn new(handle: impl Fn(Notice) + Send + Sync + 'static) -> Self {
        Self(Arc::new(handle))
    }
}

impl fmt::Debug for NoticeHandler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("NoticeHandler").finish_non_exhaustive()
    }
}

/// Lines that were dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// The number of dropped lines since the start.
    pub lines: u64,
    /// The last error of the system, if it refused to write; otherwise the target was too slow.
    pub reason: Option<String>,
}

/// An open sink. Clones share it. When the last clone and the last reactor's sender are gone,
/// pending lines are written and the target is closed.
#[derive(Clone, Debug)]
pub struct LogSink(pub(super) Arc<SinkHandle>);

/// Reports to the writer thread that nobody uses the sink any more.
#[derive(Debug)]
pub(super) struct SinkHandle(Arc<SinkState>);

impl Drop for SinkHandle {
    fn drop(&mut self) {
        self.0.unused.store(true, Ordering::Release);
        self.0.wake();
    }
}

#[derive(Debug)]
pub(super) struct SinkState {
    pub(super) target: Target,
    waker: Arc<Waker>,
    notices: NoticeHandler,
    /// Dropped lines were reported and their count was not read since.
    drops_reported: AtomicBool,
    /// Lines may be pending.
    dirty: AtomicBool,
    reopen: AtomicBool,
    unused: AtomicBool,
    rotation: Mutex<Option<Rotation>>,
    queues: Mutex<Vec<Arc<LineQueue>>>,
    /// Lines that the writer thread has taken and not yet written.
    in_flight: AtomicU64,
    written: AtomicU64,
    refused: Mutex<Drops>,
    recent: Mutex<VecDeque<Box<[u8]>>>,
}

impl LogSink {
    pub(super) fn new(target: Target, waker: Arc<Waker>, notices: NoticeHandler) -> Self {
        Self(Arc::new(SinkHandle(Arc::new(SinkState {
            target,
            waker,
            notices,
            drops_reported: AtomicBool::new(false),
            dirty: AtomicBool::new(false),
            reopen: AtomicBool::new(false),
            unused: AtomicBool::new(false),
            rotation: Mutex::default(),
            queues: Mutex::default(),
            in_flight: AtomicU64::new(0),
            written: AtomicU64::new(0),
            refused: Mutex::default(),
            recent: Mutex::default(),
        }))))
    }

    #[cfg(test)]
    pub(super) fn without_writer(notices: NoticeHandler) -> Self {
        Self::new(Target::Memory, Arc::default(), notices)
    }

    /// The target of the lines.
    pub fn target(&self) -> &Target {
        &self.0.0.target
    }

    /// Sets when the file is rotated and how many copies are kept; `None` for never. Sinks other
    /// than files ignore it.
    pub fn set_rotation(&self, rotation: Option<Rotation>) {
        *lock(&self.0.0.rotation) = rotation;
    }

    /// Lines dropped so far.
    pub fn drops(&self) -> Drops {
        self.0.0.drops_reported.store(false, Ordering::Relaxed);
        self.0.0.drops()
    }

    /// Lines written so far.
    pub fn written(&self) -> u64 {
        self.0.0.written.load(Ordering::Relaxed)
    }

    /// The last lines of a memory sink, oldest first; empty for other sinks.
    pub fn recent(&self) -> Vec<String> {
        let recent = lock(&self.0.0.recent);
        recent.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    }

    /// A sender for one more reactor or other writer of lines.
    pub(crate) fn sender(&self) -> LineSender {
        let queue = Arc::new(LineQueue::default());
        lock(&self.0.0.queues).push(Arc::clone(&queue));
        LineSender::new(queue, self.clone())
    }

    pub(super) fn state(&self) -> &Arc<SinkState> {
        &self.0.0
    }
}

impl SinkState {
    pub(super) fn wake(&self) {
        self.dirty.store(true, Ordering::Release);
        self.waker.wake();
    }

    pub(super) fn wake_now(&self) {
        self.dirty.store(true, Ordering::Release);
        self.waker.wake_now();
    }

    pub(super) fn request_reopen(&self) {
        self.reopen.store(true, Ordering::Release);
        self.waker.wake_now();
    }

    /// Reports once that lines are dropped, until the drops are read.
    pub(super) fn report_drops(&self) {
        if !self.drops_reported.swap(true, Ordering::Relaxed) {
            (self.notices.0)(Notice::LinesDropped);
        }
    }

    pub(super) fn report_error(&self, error: SinkError) {
        let target = self.target.clone();
        (self.notices.0)(Notice::Failed { target, error });
    }

    pub(super) fn drops(&self) -> Drops {
        let mut drops = lock(&self.refused).clone();
        let queues = lock(&self.queues);
        drops.lines += queues.iter().map(|queue| queue.dropped()).sum::<u64>();
        drops
    }

    /// Lines that are neither written nor dropped.
    pub(super) fn unwritten(&self) -> u64 {
        let queues = lock(&self.queues);
        let lines: u64 = queues.iter().map(|queue| queue.lines()).sum();
        lines + self.in_flight.load(Ordering::Acquire)
    }

    // The rest is for the writer thread.

    pub(super) fn take_reopen(&self) -> bool {
        self.reopen.swap(false, Ordering::AcqRel)
    }

    pub(super) fn take_dirty(&self) -> bool {
        self.dirty.swap(false, Ordering::AcqRel)
    }

    pub(super) fn is_unused(&self) -> bool {
        self.unused.load(Ordering::Acquire)
    }

    pub(super) fn rotation(&self) -> Option<Rotation> {
        lock(&self.rotation).clone()
    }

    /// The queues of all senders. Empty queues without a sender are removed.
    pub(super) fn queues(&self) -> Vec<Arc<LineQueue>> {
        let mut queues = lock(&self.queues);
        let mut dropped = 0;
        queues.retain(|queue| {
            let is_used = Arc::strong_count(queue) > 1 || queue.lines() > 0;
            dropped += if is_used { 0 } else { queue.dropped() };
            is_used
        });
        if dropped > 0 {
            lock(&self.refused).lines += dropped;
        }
        queues.clone()
    }

    pub(super) fn set_in_flight(&self, lines: u64) {
        self.in_flight.store(lines, Ordering::Release);
    }

    pub(super) fn add_written(&self, lines: u64) {
        self.written.fetch_add(lines, Ordering::Relaxed);
    }

    pub(super) fn add_refused(&self, lines: u64, error: &io::Error) {
        let mut refused = lock(&self.refused);
        refused.lines += lines;
        refused.reason = Some(error.to_string());
        drop(refused);
        if lines > 0 {
            self.report_drops();
        }
    }

    /// Keeps a line in memory, in place of the oldest one.
    pub(super) fn remember(&self, line: &[u8]) {
        let mut recent = lock(&self.recent);
        if recent.len() >= RECENT_LINES_MAX {
            recent.pop_front();
        }
        recent.push_back(line[..line.len().min(RECENT_LINE_BYTES_MAX)].into());
    }
}

/// Locks a mutex whose holders never leave it half changed.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
