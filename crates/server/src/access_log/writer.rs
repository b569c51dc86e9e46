//! The thread that carries lines to their target, so that a full disk or a pipe that nobody reads holds up no answer.
//!
//! It sleeps until a reactor has a line, writes at once, and then lets lines gather for [`WRITE_EVERY`]: a person sees
//! the line of a click immediately, a loaded server makes few system calls.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use super::bell::{Bell, Notice};
use super::lines::{Lines, Waiting};
use super::target::{Output, Target};

/// How long lines gather before they are written.
pub const WRITE_EVERY: Duration = Duration::from_millis(100);

/// A buffer that has grown past this, in bytes, goes back to the system.
const KEPT_BYTES_MAX: usize = 256 * 1024;

/// The access log of a server, at work.
#[derive(Debug)]
pub struct AccessLog {
    shared: Arc<Shared>,
    ended: mpsc::Receiver<()>,
}

/// Lines that were not written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// How many, since the start.
    pub lines: u64,
    /// What the system said last, if it refused to write; otherwise the target was too slow.
    pub reason: Option<String>,
}

/// Gives each reactor its end of an access log.
#[derive(Clone, Debug)]
pub struct LinesSource(Arc<Shared>);

impl LinesSource {
    /// The end for one more reactor.
    pub fn lines(&self) -> Lines {
        let waiting = Arc::new(Waiting::default());
        lock(&self.0.reactors).push(Arc::clone(&waiting));
        Lines::new(waiting, Arc::clone(&self.0.bell))
    }
}

#[derive(Debug)]
struct Shared {
    bell: Arc<Bell>,
    reactors: Mutex<Vec<Arc<Waiting>>>,
    /// Lines that the writer has in hand.
    in_hand: AtomicU64,
    refused: Mutex<Drops>,
}

impl AccessLog {
    /// Opens the target and starts the writer. `tell` is called from other threads and must not wait.
    pub fn open(
        target: &Target,
        tell: impl Fn(Notice) + Send + Sync + 'static,
    ) -> io::Result<AccessLog> {
        let output = target.open()?;
        let shared = Arc::new(Shared {
            bell: Arc::new(Bell::new(Box::new(tell))),
            reactors: Mutex::default(),
            in_hand: AtomicU64::new(0),
            refused: Mutex::default(),
        });
        let (done, ended) = mpsc::channel();
        let writer = Writer {
            shared: Arc::clone(&shared),
            output,
            batch: Vec::new(),
        };
        std::thread::Builder::new()
            .name("access-log".to_owned())
            .spawn(move || {
                writer.run();
                // Fails only when nobody waits for the end.
                let _ = done.send(());
            })?;
        Ok(AccessLog { shared, ended })
    }

    /// Where reactors get their ends from, on whichever thread they start.
    pub fn source(&self) -> LinesSource {
        LinesSource(Arc::clone(&self.shared))
    }

    /// Writes what there is, then opens the file anew by its name: what a log rotation asks for. Does not wait for it.
    pub fn reopen(&self) {
        self.shared.bell.ask_reopen();
    }

    /// Lines not written so far.
    pub fn drops(&self) -> Drops {
        self.shared.bell.forget_told();
        self.shared.drops()
    }

    /// Writes what there is and ends. What the target does not take within `patience` is counted as dropped.
    pub fn finish(self, patience: Duration) -> Drops {
        self.shared.bell.ask_close();
        let mut drops = Drops::default();
        if self.ended.recv_timeout(patience).is_err() {
            let waiting: u64 = lock(&self.shared.reactors)
                .iter()
                .map(|waiting| waiting.lines())
                .sum();
            drops.lines = waiting + self.shared.in_hand.load(Ordering::Acquire);
        }
        let before = self.shared.drops();
        drops.lines += before.lines;
        drops.reason = before.reason;
        drops
    }
}

impl Shared {
    fn drops(&self) -> Drops {
        let mut drops = lock(&self.refused).clone();
        drops.lines += lock(&self.reactors)
            .iter()
            .map(|waiting| waiting.dropped())
            .sum::<u64>();
        drops
    }
}

struct Writer {
    shared: Arc<Shared>,
    output: Output,
    batch: Vec<u8>,
}

impl Writer {
    fn run(mut self) {
        let bell = Arc::clone(&self.shared.bell);
        bell.answered_by_this_thread();
        loop {
            bell.wait();
            // Looked at before the lines are taken: what was written before the end was asked for is then among them.
            let last = bell.is_to_close();
            let reopen = bell.takes_reopen();
            self.write_all_lines();
            if reopen && let Err(error) = self.output.reopen() {
                bell.tell(Notice::NotReopened(error));
            }
            if last {
                return;
            }
            bell.gather(WRITE_EVERY);
        }
    }

    fn write_all_lines(&mut self) {
        let reactors = lock(&self.shared.reactors).clone();
        for waiting in reactors {
            let lines = waiting.swap(&mut self.batch);
            if lines > 0 {
                self.shared.in_hand.store(lines, Ordering::Release);
                self.write_batch();
                self.shared.in_hand.store(0, Ordering::Release);
            }
            self.batch.clear();
            if self.batch.capacity() > KEPT_BYTES_MAX {
                self.batch = Vec::new();
            }
        }
    }

    fn write_batch(&mut self) {
        let Err(refusal) = self.output.write(&self.batch) else {
            return;
        };
        let lost = &self.batch[refusal.written..];
        let lines = memchr::memchr_iter(b'\n', lost).count() as u64;
        let mut refused = lock(&self.shared.refused);
        refused.lines += lines;
        refused.reason = Some(refusal.error.to_string());
        drop(refused);
        self.shared.bell.tell_dropped();
    }
}

/// No holder of these locks leaves them half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
