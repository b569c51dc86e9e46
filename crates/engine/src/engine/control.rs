//! Control of a running engine from other threads: what can be changed and observed while it
//! serves.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::EngineError;
use super::group::{Group, WeakGroup};
use crate::counters::{Counters, Totals};
use crate::exchange::Message;
use crate::gate::Gate;
use crate::limits::{LimitError, Limits};
use crate::listener::{Endpoint, ListenAddress, ListenOptions, Listener};
use crate::reactor::{Command, Handle, Receipt, Tuning};

/// One reactor, as seen from other threads.
pub(super) struct WorkerHandle {
    pub(super) handle: Handle<Message>,
    pub(super) counters: Arc<Counters>,
    /// Connections open there, or being passed to it.
    pub(super) load: Arc<AtomicUsize>,
}

pub(super) struct Shared {
    /// One for each worker, in order.
    pub(super) handles: Vec<WorkerHandle>,
    pub(super) entries: Mutex<Vec<WeakGroup>>,
    /// Held while one listener is changed; others may still list all listeners.
    pub(super) changing: Mutex<()>,
    pub(super) gate: Arc<Gate>,
}

/// Controls and observes a running engine, from any thread except those of the reactors.
#[derive(Clone)]
pub struct EngineControl(pub(super) Arc<Shared>);

impl EngineControl {
    /// Listens on one more address, on all reactors; with `reuse_port`, on a socket for each.
    ///
    /// # Errors
    /// When the address cannot be bound, or the engine is ending. Nothing listens there then.
    pub fn listen(
        &self,
        address: &ListenAddress,
        options: &ListenOptions,
    ) -> Result<Arc<Endpoint>, EngineError> {
        self.adopt(Listener::bind(address, options)?)
    }

    /// Adds a listener that exists already.
    ///
    /// # Errors
    ///
    /// As [`Self::listen`].
    pub fn adopt(&self, listener: Listener) -> Result<Arc<Endpoint>, EngineError> {
        let group = Group::open(listener, self.0.handles.len())?;
        let done = self.send(|reactor| Command::Listen(group.socket(reactor)));
        if let Err(not_done) = done.wait() {
            // Those that did must stop listening again.
            let undone = self.send(|reactor| Command::Unlisten(group.socket(reactor)));
            let _ = undone.wait();
            return Err(not_done.into());
        }
        let endpoint = Arc::clone(group.endpoint());
        self.entries().push(group.downgrade());
        Ok(endpoint)
    }

    /// Gives a listener other options, without a moment in which it does not listen: connections
    /// that are accepted from now on have them, and belong to the endpoint that is returned.
    ///
    /// # Errors
    /// When an option is a socket's for good
    /// ([`BindError::Fixed`](crate::listener::BindError::Fixed)), the system refuses, or nobody
    /// listens there any more. The old options hold then.
    pub fn change(
        &self,
        endpoint: &Arc<Endpoint>,
        options: &ListenOptions,
    ) -> Result<Arc<Endpoint>, EngineError> {
        let _one_at_a_time = self.changing();
        let find = |entries: &mut Vec<WeakGroup>| {
            let mut all = entries.iter();
            all.position(|entry| Arc::ptr_eq(&entry.endpoint, endpoint))
        };
        let old = {
            let mut entries = self.entries();
            find(&mut entries).and_then(|position| entries[position].group())
        };
        let old = old.ok_or(EngineError::Ended)?;
        let new = old.changed(options)?;
        let done = self.send(|reactor| Command::Replace(old.socket(reactor), new.socket(reactor)));
        if let Err(not_done) = done.wait() {
            let back =
                self.send(|reactor| Command::Replace(new.socket(reactor), old.socket(reactor)));
            let _ = back.wait();
            return Err(not_done.into());
        }
        let mut entries = self.entries();
        if let Some(position) = find(&mut entries) {
            entries[position] = new.downgrade();
        }
        Ok(Arc::clone(new.endpoint()))
    }

    /// Stops listening at an endpoint that [`Self::listeners`] has given; nothing happens where
    /// nobody listens any more.
    ///
    /// New handshakes are refused where the kernel lets us (not on a socket that was inherited).
    /// Whoever is in the queue is accepted and served, then the socket closes, after a quarter of a
    /// second at most: the receipt tells when. Connections go on.
    pub fn unlisten(&self, endpoint: &Arc<Endpoint>) -> Receipt {
        let _one_at_a_time = self.changing();
        let mut entries = self.entries();
        let found = entries
            .iter()
            .position(|entry| Arc::ptr_eq(&entry.endpoint, endpoint));
        let entry = found.map(|position| entries.remove(position));
        drop(entries);
        let socket = |reactor| {
            entry
                .as_ref()
                .and_then(|entry: &WeakGroup| entry.socket(reactor))
        };
        let (reply, receipt) = Receipt::new(self.0.handles.len());
        for (reactor, hand) in self.0.handles.iter().enumerate() {
            match socket(reactor) {
                Some(socket) => hand
                    .handle
                    .command(Command::Unlisten(socket), reply.clone()),
                None => reply.clone().send(Ok(())),
            }
        }
        receipt
    }

    /// Returns the current listeners, with the ports that the kernel chose.
    pub fn listeners(&self) -> Vec<Arc<Endpoint>> {
        let entries = self.entries();
        let open = entries.iter().filter(|entry| entry.is_open());
        open.map(|entry| Arc::clone(&entry.endpoint)).collect()
    }

    /// Makes other limits hold. New connections and new requests get them; content on its way may
    /// be as much as its request was promised, and a time that runs already runs to its end.
    ///
    /// # Errors
    /// When a limit is out of bounds; then nothing changes.
    pub fn set_limits(&self, limits: Limits) -> Result<Receipt, LimitError> {
        limits.validate()?;
        let connections_max = limits.connections_max as usize;
        let gate = &self.0.gate;
        gate.set_caps(connections_max, limits.connections_per_address_max);
        let tuning = Tuning::from(&limits);
        // Not waited for: commands are executed in order, and this one comes before the next.
        self.send(|_| Command::Tune(tuning));
        let limits = Arc::new(limits);
        Ok(self.send(|_| Command::Tell(Message::Limits(Arc::clone(&limits)))))
    }

    /// Calls [`Service::refresh`](crate::Service::refresh) for each reactor, on its thread.
    pub fn refresh(&self) -> Receipt {
        self.send(|_| Command::Tell(Message::Refresh))
    }

    /// Stops accepting, completes exchanges in progress, and ends after `timeout_ms` at the latest.
    pub fn drain(&self, timeout_ms: u64) {
        let handles = self.0.handles.iter();
        handles.for_each(|hand| hand.handle.drain(timeout_ms));
    }

    /// Ends the engine at once, closing all connections.
    pub fn stop(&self) {
        self.0.handles.iter().for_each(|hand| hand.handle.stop());
    }

    /// Returns the counters of each worker.
    pub fn counters(&self) -> impl Iterator<Item = &Counters> {
        self.0.handles.iter().map(|hand| &*hand.counters)
    }

    /// Returns the sum of the counters of all workers.
    pub fn totals(&self) -> Totals {
        Counters::totals(self.counters())
    }

    /// Returns the number of open connections of all workers, without those that are rejected
    /// because of the limit.
    pub fn connections(&self) -> usize {
        self.0.gate.connections()
    }

    /// Returns the number of open connections of each worker, including rejected ones.
    pub fn loads(&self) -> Vec<usize> {
        let handles = self.0.handles.iter();
        handles
            .map(|hand| hand.load.load(Ordering::Relaxed))
            .collect()
    }

    fn changing(&self) -> MutexGuard<'_, ()> {
        let changing = &self.0.changing;
        changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn entries(&self) -> MutexGuard<'_, Vec<WeakGroup>> {
        let entries = &self.0.entries;
        entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a command to each reactor.
    fn send(&self, command: impl Fn(usize) -> Command<Message>) -> Receipt {
        let (reply, receipt) = Receipt::new(self.0.handles.len());
        for (reactor, hand) in self.0.handles.iter().enumerate() {
            hand.handle.command(command(reactor), reply.clone());
        }
        receipt
    }
}
