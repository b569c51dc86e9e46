//! An engine at work: what it listens on and how it ends.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use super::control::{EngineControl, Hand, Shared};
use super::error::EngineError;
use super::group::Group;
use super::worker::Worker;
use crate::counters::Counters;
use crate::exchange::Message;
use crate::gate::Gate;
use crate::listener::Endpoint;
use crate::reactor::{Membership, Team};

/// The workers that were started so far. Dropped, it ends them: there is to be all of an engine or nothing.
#[derive(Default)]
pub(super) struct Start {
    hands: Vec<Hand>,
    members: Vec<Membership<Message>>,
    threads: Vec<JoinHandle<Result<(), EngineError>>>,
}

impl Start {
    pub(super) fn add(&mut self, (worker, membership): (Worker, Membership<Message>)) {
        self.hands.push(Hand {
            handle: worker.handle,
            counters: worker.counters,
            load: membership.load(),
        });
        self.members.push(membership);
        self.threads.push(worker.thread);
    }

    /// All are there.
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
            hands: std::mem::take(&mut self.hands),
            entries: Mutex::new(groups.iter().map(Group::entry).collect()),
            changing: Mutex::default(),
            gate,
        };
        Running {
            threads: std::mem::take(&mut self.threads),
            control: EngineControl(Arc::new(shared)),
        }
    }
}

impl Drop for Start {
    fn drop(&mut self) {
        self.hands.iter().for_each(|hand| hand.handle.stop());
    }
}

/// An engine at work.
pub struct Running {
    threads: Vec<JoinHandle<Result<(), EngineError>>>,
    control: EngineControl,
}

impl Running {
    /// What is listened on now, with the ports that the kernel chose.
    pub fn listeners(&self) -> Vec<Arc<Endpoint>> {
        self.control.listeners()
    }

    /// The first address of the internet that is listened on.
    pub fn address(&self) -> Option<SocketAddr> {
        let listeners = self.listeners();
        listeners
            .iter()
            .find_map(|listener| listener.local_address())
    }

    /// The counters of each worker.
    pub fn counters(&self) -> impl Iterator<Item = &Counters> {
        self.control.counters()
    }

    /// Connections open now, over all workers.
    pub fn connections(&self) -> usize {
        self.control.connections()
    }

    /// A hand on the engine that other threads may have.
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
