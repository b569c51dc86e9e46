//! The threads that carry lines to their targets, so that a full disk or a pipe that nobody reads holds up no answer.
//!
//! One thread writes all targets of a lane: files of one file system share one, what has a reader that may stop has its
//! own. It sleeps until a reactor has a line, writes at once, and then lets lines
//! gather for [`WRITE_EVERY`]: a person sees the line of a click immediately, a loaded server makes few system calls.

use std::io;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use super::bell::Bell;
use super::outlet::{Shared, Trouble, lock};
use super::target::{Output, Then};

/// How long lines gather before they are written.
pub const WRITE_EVERY: Duration = Duration::from_millis(100);

/// How long a writer waits before it tries again what a target did not take, when the end has been asked for.
const RETRY_EVERY: Duration = Duration::from_millis(10);

/// A buffer that has grown past this, in bytes, goes back to the system.
const KEPT_BYTES_MAX: usize = 256 * 1024;

/// One writer's thread, as others see it.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) bell: Arc<Bell>,
    arriving: Arc<Mutex<Arriving>>,
    ended: mpsc::Receiver<()>,
}

/// Targets that the thread has not yet taken over; none once it has ended.
type Arriving = Option<Vec<Work>>;

impl Writer {
    /// Starts the thread of a lane.
    pub(super) fn start() -> io::Result<Self> {
        let (done, ended) = mpsc::channel::<()>();
        let bell = Arc::new(Bell::default());
        let arriving = Arc::new(Mutex::new(Some(Vec::new())));
        let thread = Thread {
            bell: Arc::clone(&bell),
            arriving: Arc::clone(&arriving),
            work: Vec::new(),
            began: false,
        };
        std::thread::Builder::new()
            .name("log-writer".to_owned())
            .spawn(move || {
                thread.run();
                drop(done);
            })?;
        Ok(Self {
            bell,
            arriving,
            ended,
        })
    }

    /// Gives the thread one more target; gives it back where the thread has ended for want of any.
    pub(super) fn add(&self, work: Work) -> Result<(), Work> {
        match &mut *lock(&self.arriving) {
            Some(arriving) => {
                arriving.push(work);
                self.bell.ring();
                Ok(())
            }
            None => Err(work),
        }
    }

    /// Whether the thread takes more targets.
    pub(super) fn is_at_work(&self) -> bool {
        lock(&self.arriving).is_some()
    }

    /// Whether the thread has ended within this time.
    pub(super) fn has_ended_within(&self, patience: Duration) -> bool {
        // Nothing is ever sent.
        self.ended.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Disconnected)
    }
}

struct Thread {
    bell: Arc<Bell>,
    arriving: Arc<Mutex<Arriving>>,
    work: Vec<Work>,
    /// It has had work.
    began: bool,
}

impl Thread {
    fn run(mut self) {
        let bell = Arc::clone(&self.bell);
        bell.answered_by_this_thread();
        let mut waits_for_target = false;
        loop {
            if waits_for_target {
                bell.forget();
            } else {
                bell.wait();
            }
            // Looked at before the lines are taken: what was written before the end was asked for is then among them.
            let last = bell.is_to_close();
            self.arrive();
            waits_for_target = false;
            for work in &mut self.work {
                waits_for_target |= work.turn() == Rest::Some;
            }
            self.work.retain(|work| !work.is_over());
            if (last && !waits_for_target) || self.leaves() {
                return;
            }
            if last {
                std::thread::park_timeout(RETRY_EVERY);
            } else {
                bell.gather(WRITE_EVERY);
            }
        }
    }

    fn arrive(&mut self) {
        if let Some(arriving) = &mut *lock(&self.arriving) {
            self.began |= !arriving.is_empty();
            self.work.append(arriving);
        }
    }

    /// Ends the thread if it has had work and there is none left.
    fn leaves(&self) -> bool {
        let mut arriving = lock(&self.arriving);
        let is_idle = arriving.as_ref().is_some_and(Vec::is_empty);
        let leaves = self.began && self.work.is_empty() && is_idle;
        if leaves {
            *arriving = None;
        }
        leaves
    }
}

/// Whether lines are left that the target did not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    None,
    Some,
}

/// A target in the hands of its writer.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) shared: Arc<Shared>,
    output: Box<dyn Output>,
    batch: Vec<u8>,
    /// How much of the batch is written.
    done: usize,
    /// Lines in the rest of it.
    lines: u64,
    is_over: bool,
}

impl Work {
    pub(super) fn new(shared: Arc<Shared>, output: Box<dyn Output>) -> Self {
        Self {
            shared,
            output,
            batch: Vec::new(),
            done: 0,
            lines: 0,
            is_over: false,
        }
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    /// Writes what waits, then opens the target anew if that was asked for.
    fn turn(&mut self) -> Rest {
        let is_unused = self.shared.is_unused();
        let reopen = self.shared.takes_reopen();
        let rest = self.write_waiting();
        if reopen && let Err(error) = self.output.reopen() {
            self.shared.tell_trouble(Trouble::NotReopened(error));
        }
        self.is_over = is_unused && rest == Rest::None;
        rest
    }

    fn write_waiting(&mut self) -> Rest {
        if !self.batch.is_empty() && self.write_batch() == Rest::Some {
            return Rest::Some;
        }
        if !self.shared.takes_dirty() {
            return Rest::None;
        }
        for waiting in self.shared.reactors() {
            self.lines = waiting.swap(&mut self.batch);
            self.shared.set_in_hand(self.lines);
            if self.lines > 0 && self.write_batch() == Rest::Some {
                // The other reactors' lines are still to be looked at.
                self.shared.ring();
                return Rest::Some;
            }
        }
        Rest::None
    }

    fn write_batch(&mut self) -> Rest {
        let lines = &self.batch[self.done..];
        let Err(refusal) = self.output.write(lines, &self.shared) else {
            // Not counted again: looking for the ends of all lines costs a tenth of writing them.
            self.shared.add_written(self.lines);
            self.clear();
            return Rest::None;
        };
        let taken = count_lines(&lines[..refusal.written]);
        self.shared.add_written(taken);
        self.lines = self.lines.saturating_sub(taken);
        match refusal.then {
            Then::Drop => {
                self.shared.add_refused(self.lines, &refusal.error);
                self.clear();
                Rest::None
            }
            Then::Retry => {
                self.shared.add_refused(0, &refusal.error);
                self.shared.set_in_hand(self.lines);
                self.done += refusal.written;
                Rest::Some
            }
        }
    }

    fn clear(&mut self) {
        self.shared.set_in_hand(0);
        self.lines = 0;
        self.batch.clear();
        self.done = 0;
        if self.batch.capacity() > KEPT_BYTES_MAX {
            self.batch = Vec::new();
        }
    }
}

fn count_lines(lines: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', lines).count() as u64
}
