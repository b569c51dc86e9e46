//! The threads that write lines to their sinks, so that a full disk or a pipe without a reader does
//! not delay a response.
//!
//! A thread sleeps until a reactor has a line, writes it at once, and then lets lines collect for
//! [`WRITE_EVERY`]: a single request is logged immediately, and a loaded server makes few system
//! calls. Files of one file system share a thread; a sink whose reader may stop has its own.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread::Thread;
use std::time::{Duration, Instant};

use super::sink::{SinkError, SinkState, lock};
use super::target::{OnError, Output};

/// How long lines collect before they are written.
pub const WRITE_EVERY: Duration = Duration::from_millis(100);

/// Time between attempts to write to a sink that refuses lines, once the end was requested.
const RETRY_EVERY: Duration = Duration::from_millis(10);

/// A buffer that has grown past this, in bytes, is freed after use.
const KEPT_BYTES_MAX: usize = 256 * 1024;

/// Wakes one writer thread.
#[derive(Debug, Default)]
pub(super) struct Waker {
    lines: AtomicBool,
    now: AtomicBool,
    close: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Waker {
    /// Wakes the thread for the first line in an empty queue.
    pub(super) fn wake(&self) {
        self.raise(&self.lines);
    }

    /// Wakes the thread at once, without waiting for more lines.
    pub(super) fn wake_now(&self) {
        self.lines.store(true, Ordering::Release);
        self.raise(&self.now);
    }

    pub(super) fn request_close(&self) {
        self.raise(&self.close);
    }

    fn raise(&self, flag: &AtomicBool) {
        flag.store(true, Ordering::Release);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    fn attach_current_thread(&self) {
        // Set once: a waker has one thread.
        let _ = self.thread.set(std::thread::current());
    }

    /// Waits until there is something to do.
    fn wait(&self) {
        while !self.is_urgent() && !self.lines.load(Ordering::Acquire) {
            std::thread::park();
        }
        self.clear();
    }

    fn clear(&self) {
        self.lines.store(false, Ordering::Release);
        self.now.store(false, Ordering::Release);
    }

    /// Lets lines collect for some time, unless something is urgent.
    fn collect_lines(&self, time: Duration) {
        let end = Instant::now() + time;
        while !self.is_urgent() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::park_timeout(left);
        }
    }

    fn is_close_requested(&self) -> bool {
        self.close.load(Ordering::Acquire)
    }

    fn is_urgent(&self) -> bool {
        self.now.load(Ordering::Acquire) || self.is_close_requested()
    }
}

/// A writer thread, as its owner sees it.
#[derive(Debug)]
pub(super) struct WriterThread {
    pub(super) waker: Arc<Waker>,
    added: Arc<Mutex<Added>>,
    ended: mpsc::Receiver<()>,
}

/// Sinks that the thread has not taken over yet; `None` once it has ended.
type Added = Option<Vec<OpenSink>>;

impl WriterThread {
    pub(super) fn start() -> io::Result<Self> {
        let (done, ended) = mpsc::channel::<()>();
        let waker = Arc::new(Waker::default());
        let added = Arc::new(Mutex::new(Some(Vec::new())));
        let state = WriterLoop {
            waker: Arc::clone(&waker),
            added: Arc::clone(&added),
            sinks: Vec::new(),
            had_sinks: false,
        };
        std::thread::Builder::new().name("log-writer".to_owned()).spawn(move || {
            state.run();
            drop(done);
        })?;
        Ok(Self { waker, added, ended })
    }

    /// Adds a sink, or returns it if the thread has ended because it had none.
    pub(super) fn add(&self, sink: OpenSink) -> Result<(), OpenSink> {
        match &mut *lock(&self.added) {
            Some(added) => {
                added.push(sink);
                self.waker.wake();
                Ok(())
            }
            None => Err(sink),
        }
    }

    pub(super) fn is_running(&self) -> bool {
        lock(&self.added).is_some()
    }

    /// Waits at most `patience` for the thread to end.
    pub(super) fn has_ended_within(&self, patience: Duration) -> bool {
        // Nothing is ever sent.
        self.ended.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Disconnected)
    }
}

/// The state of the writer thread.
struct WriterLoop {
    waker: Arc<Waker>,
    added: Arc<Mutex<Added>>,
    sinks: Vec<OpenSink>,
    had_sinks: bool,
}

impl WriterLoop {
    fn run(mut self) {
        let waker = Arc::clone(&self.waker);
        waker.attach_current_thread();
        let mut is_blocked = false;
        loop {
            if is_blocked {
                waker.clear();
            } else {
                waker.wait();
            }
            // Read before the lines are taken: lines sent before the request are among them.
            let is_last = waker.is_close_requested();
            self.take_added();
            is_blocked = false;
            for sink in &mut self.sinks {
                is_blocked |= sink.write_pending() == Progress::Blocked;
            }
            self.sinks.retain(|sink| !sink.is_closed);
            if (is_last && !is_blocked) || self.ends() {
                return;
            }
            if is_last {
                std::thread::park_timeout(RETRY_EVERY);
            } else {
                waker.collect_lines(WRITE_EVERY);
            }
        }
    }

    fn take_added(&mut self) {
        if let Some(added) = &mut *lock(&self.added) {
            self.had_sinks |= !added.is_empty();
            self.sinks.append(added);
        }
    }

    /// Whether the thread ends because all its sinks are closed.
    fn ends(&self) -> bool {
        let mut added = lock(&self.added);
        let none_added = added.as_ref().is_some_and(Vec::is_empty);
        let ends = self.had_sinks && self.sinks.is_empty() && none_added;
        if ends {
            *added = None;
        }
        ends
    }
}

/// Whether all lines were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// All lines were written or dropped.
    Done,
    /// The target does not take lines now.
    Blocked,
}

/// A sink and its open target, owned by the writer thread.
#[derive(Debug)]
pub(super) struct OpenSink {
    state: Arc<SinkState>,
    output: Box<dyn Output>,
    batch: Vec<u8>,
    /// Bytes of the batch that are written.
    written: usize,
    /// Lines in the rest of the batch.
    lines: u64,
    is_closed: bool,
}

impl OpenSink {
    pub(super) fn new(state: Arc<SinkState>, output: Box<dyn Output>) -> Self {
        Self { state, output, batch: Vec::new(), written: 0, lines: 0, is_closed: false }
    }

    /// Writes pending lines, then reopens the target if that was requested.
    fn write_pending(&mut self) -> Progress {
        let is_unused = self.state.is_unused();
        let reopen = self.state.take_reopen();
        let progress = self.write_queues();
        if reopen && let Err(error) = self.output.reopen() {
            self.state.report_error(SinkError::Reopen(error));
        }
        self.is_closed = is_unused && progress == Progress::Done;
        progress
    }

    fn write_queues(&mut self) -> Progress {
        if !self.batch.is_empty() && self.write_batch() == Progress::Blocked {
            return Progress::Blocked;
        }
        if !self.state.take_dirty() {
            return Progress::Done;
        }
        for queue in self.state.queues() {
            self.lines = queue.swap(&mut self.batch);
            self.state.set_in_flight(self.lines);
            if self.lines > 0 && self.write_batch() == Progress::Blocked {
                // The queues of other reactors are still to be read.
                self.state.wake();
                return Progress::Blocked;
            }
        }
        Progress::Done
    }

    fn write_batch(&mut self) -> Progress {
        let lines = &self.batch[self.written..];
        let Err(failure) = self.output.write(lines, &self.state) else {
            // Not counted again: finding the ends of all lines costs a tenth of writing them.
            self.state.add_written(self.lines);
            self.clear();
            return Progress::Done;
        };
        let written = memchr::memchr_iter(b'\n', &lines[..failure.written]).count() as u64;
        self.state.add_written(written);
        self.lines = self.lines.saturating_sub(written);
        match failure.then {
            OnError::Drop => {
                self.state.add_refused(self.lines, &failure.error);
                self.clear();
                Progress::Done
            }
            OnError::Retry => {
                self.state.add_refused(0, &failure.error);
                self.state.set_in_flight(self.lines);
                self.written += failure.written;
                Progress::Blocked
            }
        }
    }

    fn clear(&mut self) {
        self.state.set_in_flight(0);
        self.lines = 0;
        self.batch.clear();
        self.written = 0;
        if self.batch.capacity() > KEPT_BYTES_MAX {
            self.batch = Vec::new();
        }
    }
}
