//! A running engine and how it ends.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use super::control::{EngineControl, Shared, WorkerHandle};
use super::error::EngineError;
use super::group::Group;
use super::worker::Worker;
use crate::counters::Counters;
use crate::exchange::Message;
use crate::gate::Gate;
use crate::listener::Endpoint;
use crate::reactor::{Membership, Team};

/// The workers started so far. Ends them when dropped, so that an engine starts completely or not
/// at all.
#[derive(Default)]
pub(super) struct StartingEngine {
    handles: Vec<WorkerHandle>,
    members: Vec<Membership<Message>>,
    threads: Vec<JoinHandle<Result<(), EngineError>>>,
}

impl StartingEngine {
    pub(super) fn add(&mut self, (worker, membership): (Worker, Membership<Message>)) {
        self.handles.push(WorkerHandle {
            handle: worker.handle,
            counters: worker.counters,
            load: membership.load(),
        });
        self.members.push(membership);
        self.threads.push(worker.thread);
    }

    /// Makes a running engine of the started workers.
    pub(super) fn running(
        mut self,
        team: &Team<Message>,
        groups: &[Group],
        gate: Arc<Gate>,
    ) -> Running {
        if self.members.len() > 1 {
            team.assemble(std::mem::take(&mut self.members));
        }
        let shared = Shared {
            handles: std::mem::take(&mut self.handles),
            entries: Mutex::new(groups.iter().map(Group::downgrade).collect()),
            changing: Mutex::default(),
            gate,
        };
        Running {
            threads: std::mem::take(&mut self.threads),
            control: EngineControl(Arc::new(shared)),
        }
    }
}

impl Drop for StartingEngine {
    fn drop(&mut self) {
        self.handles.iter().for_each(|hand| hand.handle.stop());
    }
}

/// A running engine; ends it when dropped.
pub struct Running {
    threads: Vec<JoinHandle<Result<(), EngineError>>>,
    control: EngineControl,
}

impl Running {
    /// Returns the current listeners, with the ports that the kernel chose.
    pub fn listeners(&self) -> Vec<Arc<Endpoint>> {
        self.control.listeners()
    }

    /// Returns the first TCP address that the engine listens on.
    pub fn address(&self) -> Option<SocketAddr> {
        let listeners = self.listeners();
        listeners
            .iter()
            .find_map(|listener| listener.local_address())
    }

    /// Returns the counters of each worker.
    pub fn counters(&self) -> impl Iterator<Item = &Counters> {
        self.control.counters()
    }

    /// Returns the number of open connections of all workers.
    pub fn connections(&self) -> usize {
        self.control.connections()
    }

    /// Returns a handle for controlling the engine from other threads.
    pub fn control(&self) -> EngineControl {
        self.control.clone()
    }

    /// Waits until all workers have ended.
    pub fn wait(self) -> Result<(), EngineError> {
        let mut result = Ok(());
        for thread in self.threads {
            let ended = thread.join().unwrap_or(Err(EngineError::Panicked));
            result = result.and(ended);
        }
        result
    }
}
