//! How a writer is woken, and what it is asked for.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// Between the reactors, whoever runs the server, and one writer's thread.
#[derive(Debug, Default)]
pub(super) struct Bell {
    lines: AtomicBool,
    at_once: AtomicBool,
    close: AtomicBool,
    writer: OnceLock<Thread>,
}

impl Bell {
    /// There are lines where there were none.
    pub(super) fn ring(&self) {
        self.raise(&self.lines);
    }

    /// There are many lines, or something else that is not to wait.
    pub(super) fn ring_at_once(&self) {
        self.lines.store(true, Ordering::Release);
        self.raise(&self.at_once);
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
        self.forget();
    }

    /// Takes what has been rung so far as heard.
    pub(super) fn forget(&self) {
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

    pub(super) fn is_to_close(&self) -> bool {
        self.close.load(Ordering::Acquire)
    }

    fn is_urgent(&self) -> bool {
        [&self.at_once, &self.close]
            .iter()
            .any(|flag| flag.load(Ordering::Acquire))
    }
}
