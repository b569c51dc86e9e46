//! How the writer is woken, and what it is asked for.

use std::fmt;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// What the log has to say to whoever runs the server.
#[derive(Debug)]
pub enum Notice {
    /// Lines were dropped since [`AccessLog::drops`](super::AccessLog::drops) was last asked.
    Dropping,
    /// The file could not be opened anew; the old one is written on.
    NotReopened(io::Error),
}

/// Between the reactors, whoever runs the server, and the writer's thread.
pub(super) struct Bell {
    lines: AtomicBool,
    at_once: AtomicBool,
    reopen: AtomicBool,
    close: AtomicBool,
    told: AtomicBool,
    writer: OnceLock<Thread>,
    tell: Box<dyn Fn(Notice) + Send + Sync>,
}

impl Bell {
    pub(super) fn new(tell: Box<dyn Fn(Notice) + Send + Sync>) -> Self {
        Self {
            lines: AtomicBool::new(false),
            at_once: AtomicBool::new(false),
            reopen: AtomicBool::new(false),
            close: AtomicBool::new(false),
            told: AtomicBool::new(false),
            writer: OnceLock::new(),
            tell,
        }
    }

    /// There are lines where there were none.
    pub(super) fn ring(&self) {
        self.raise(&self.lines);
    }

    /// There are many lines.
    pub(super) fn ring_at_once(&self) {
        self.lines.store(true, Ordering::Release);
        self.raise(&self.at_once);
    }

    pub(super) fn ask_reopen(&self) {
        self.raise(&self.reopen);
    }

    pub(super) fn ask_close(&self) {
        self.raise(&self.close);
    }

    fn raise(&self, flag: &AtomicBool) {
        flag.store(true, Ordering::Release);
        if let Some(writer) = self.writer.get() {
            writer.unpark();
        }
    }

    /// Tells once that lines are dropped, until [`Bell::forget_told`].
    pub(super) fn tell_dropped(&self) {
        if !self.told.swap(true, Ordering::Relaxed) {
            self.tell(Notice::Dropping);
        }
    }

    pub(super) fn forget_told(&self) {
        self.told.store(false, Ordering::Relaxed);
    }

    pub(super) fn tell(&self, notice: Notice) {
        (self.tell)(notice);
    }

    /// The writer's thread says that it is the one to wake.
    pub(super) fn answered_by_this_thread(&self) {
        // Set once: a bell has one writer.
        let _ = self.writer.set(std::thread::current());
    }

    /// Waits until there is something to do.
    pub(super) fn wait(&self) {
        let urgent = || self.is_urgent() || self.lines.load(Ordering::Acquire);
        while !urgent() {
            std::thread::park();
        }
        self.lines.store(false, Ordering::Release);
        self.at_once.store(false, Ordering::Release);
    }

    /// Lets lines gather, so long as nothing is urgent.
    pub(super) fn gather(&self, time: Duration) {
        let end = Instant::now() + time;
        while !self.is_urgent() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::park_timeout(left);
        }
    }

    pub(super) fn takes_reopen(&self) -> bool {
        self.reopen.swap(false, Ordering::AcqRel)
    }

    pub(super) fn is_to_close(&self) -> bool {
        self.close.load(Ordering::Acquire)
    }

    fn is_urgent(&self) -> bool {
        [&self.at_once, &self.reopen, &self.close]
            .iter()
            .any(|flag| flag.load(Ordering::Acquire))
    }
}

impl fmt::Debug for Bell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Bell").finish_non_exhaustive()
    }
}
