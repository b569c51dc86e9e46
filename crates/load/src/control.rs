//! Stopping a run from another thread.

use std::sync::Arc;
use std::sync::Mutex;

use vervet_engine::reactor::{Command, Handle, Receipt};

use crate::generator::Stop;

/// Stops a run from any thread.
#[derive(Clone, Debug)]
pub struct Control {
    threads: Arc<Mutex<Vec<Handle<Stop>>>>,
}

impl Control {
    pub(crate) fn new(threads: Vec<Handle<Stop>>) -> Self {
        Self {
            threads: Arc::new(Mutex::new(threads)),
        }
    }

    /// Ends the run now; requests without an answer are counted as censored. Without effect on a
    /// run that is over.
    pub fn stop(&self) {
        let threads = self
            .threads
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        for thread in threads.iter() {
            let (reply, _) = Receipt::new(1);
            thread.command(Command::Tell(Stop), reply);
        }
    }
}
