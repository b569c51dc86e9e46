//! What goes on beside a run: a thread that does one thing again and again.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Goes on until it is dropped.
pub(crate) struct Beside {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Beside {
    /// Does it for the first time after `every`.
    pub(crate) fn start(every: Duration, mut act: impl FnMut() + Send + 'static) -> Self {
        let (end, ended) = channel();
        let thread = std::thread::spawn(move || {
            while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                act();
            }
        });
        Self {
            end: Some(end),
            thread: Some(thread),
        }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // It does not panic.
            let _ = thread.join();
        }
    }
}
