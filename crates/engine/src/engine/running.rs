//! An engine at work, and the hand that others have on it.

use std::net::SocketAddr;
use std::sync::Arc;

use super::error::EngineError;
use super::worker::Worker;
use crate::counters::Counters;
use crate::exchange::Message;
use crate::gate::Gate;
use crate::listener::Listener;
use crate::reactor::Handle;

/// An engine at work.
pub struct Running {
    pub(super) workers: Vec<Worker>,
    pub(super) listeners: Vec<Arc<Listener>>,
    pub(super) gate: Arc<Gate>,
}

impl Running {
    /// The listeners, which know the ports that the kernel chose.
    pub fn listeners(&self) -> &[Arc<Listener>] {
        &self.listeners
    }

    /// The first address of the internet that is listened on.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listeners
            .iter()
            .find_map(|listener| listener.local_address())
    }

    /// The counters of each worker.
    pub fn counters(&self) -> impl Iterator<Item = &Counters> {
        self.workers.iter().map(|worker| &*worker.counters)
    }

    /// Connections open now, over all workers.
    pub fn connections(&self) -> usize {
        self.gate.connections()
    }

    /// A hand on the engine that other threads may have.
    pub fn control(&self) -> EngineControl {
        EngineControl(
            self.workers
                .iter()
                .map(|worker| worker.handle.clone())
                .collect(),
        )
    }

    /// Waits until all workers have ended.
    pub fn wait(self) -> Result<(), EngineError> {
        let mut result = Ok(());
        drop(self.listeners);
        for worker in self.workers {
            let ended = worker.thread.join().unwrap_or(Err(EngineError::Panicked));
            result = result.and(ended);
        }
        result
    }
}

/// Stops an engine, from any thread.
#[derive(Clone)]
pub struct EngineControl(Vec<Handle<Message>>);

impl EngineControl {
    /// Accepts no more, finishes what is in hand, ends at the latest after `timeout_ms`.
    pub fn drain(&self, timeout_ms: u64) {
        self.0.iter().for_each(|handle| handle.drain(timeout_ms));
    }

    /// Ends at once.
    pub fn stop(&self) {
        self.0.iter().for_each(Handle::stop);
    }
}
