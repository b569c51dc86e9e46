//! Control of a running engine from other threads: its listeners, limits, counters and end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::builder::EngineError;
use crate::capacity::Capacity;
use crate::counters::{Counters, Totals};
use crate::exchange::Message;
use crate::gate::Gate;
use crate::limits::{LimitError, Limits};
use crate::listener::{BindError, Endpoint, ListenAddress, ListenOptions, Listener};
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
    ///
    /// If the address cannot be bound, or the engine is ending. No reactor listens there then.
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
            // Reactors that listen already must stop again.
            let undone = self.send(|reactor| Command::Unlisten(group.socket(reactor)));
            let _ = undone.wait();
            return Err(not_done.into());
        }
        let endpoint = Arc::clone(group.endpoint());
        self.entries().push(group.downgrade());
        Ok(endpoint)
    }

    /// Changes the options of a listener while it listens. Connections accepted from now on have
    /// them and belong to the returned endpoint.
    ///
    /// # Errors
    ///
    /// If an option cannot change on an open socket
    /// ([`BindError::Fixed`]), the system reports an error, or
    /// the listener is closed. The options stay as they were.
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

    /// Stops listening at an endpoint of [`Self::listeners`]; does nothing if it is closed already.
    ///
    /// New handshakes are rejected if the kernel can do that (not on an inherited socket).
    /// Connections in the queue are accepted and served, then the socket closes, after 250 ms at
    /// most; wait for the receipt to know when. Open connections stay open.
    pub fn unlisten(&self, endpoint: &Arc<Endpoint>) -> Receipt {
        let _one_at_a_time = self.changing();
        let mut entries = self.entries();
        let position = entries.iter().position(|entry| Arc::ptr_eq(&entry.endpoint, endpoint));
        let entry = position.map(|position| entries.remove(position));
        drop(entries);
        let socket = |reactor| entry.as_ref().and_then(|entry: &WeakGroup| entry.socket(reactor));
        let (reply, receipt) = Receipt::new(self.0.handles.len());
        for (reactor, hand) in self.0.handles.iter().enumerate() {
            match socket(reactor) {
                Some(socket) => hand.handle.command(Command::Unlisten(socket), reply.clone()),
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

    /// Changes the limits for new connections and new requests. Content of a request in progress
    /// keeps the limit that its request had, and a timeout that is running keeps its end.
    ///
    /// # Errors
    ///
    /// If a limit is out of bounds; then nothing changes.
    pub fn set_limits(&self, limits: Limits) -> Result<Receipt, LimitError> {
        limits.validate()?;
        self.0.gate.set_limits(&limits, &Capacity::of_process(self.0.handles.len()));
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
        handles.map(|hand| hand.load.load(Ordering::Relaxed)).collect()
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

/// The sockets of one listener, in the order of the reactors.
pub(super) struct Group {
    sockets: Vec<Arc<Listener>>,
}

impl Group {
    /// Binds further sockets for the other reactors, if each has a socket of its own.
    pub(super) fn open(listener: Listener, reactors: usize) -> Result<Group, BindError> {
        let others: Result<Vec<_>, _> = (1..reactors)
            .map_while(|_| listener.another())
            .map(|socket| socket.map(Arc::new))
            .collect();
        let mut sockets = others?;
        sockets.insert(0, Arc::new(listener));
        Ok(Group { sockets })
    }

    /// Returns the same sockets with other options.
    pub(super) fn changed(&self, options: &ListenOptions) -> Result<Group, BindError> {
        let sockets = self.sockets.iter();
        let sockets: Result<Vec<_>, _> =
            sockets.map(|socket| socket.changed(options).map(Arc::new)).collect();
        Ok(Group { sockets: sockets? })
    }

    /// Returns the socket of the reactor with this number.
    pub(super) fn socket(&self, reactor: usize) -> Arc<Listener> {
        let own = self.sockets.get(reactor);
        Arc::clone(own.unwrap_or(&self.sockets[0]))
    }

    pub(super) fn endpoint(&self) -> &Arc<Endpoint> {
        self.sockets[0].endpoint()
    }

    /// Returns weak references to the sockets.
    pub(super) fn downgrade(&self) -> WeakGroup {
        WeakGroup {
            endpoint: Arc::clone(self.endpoint()),
            sockets: self.sockets.iter().map(Arc::downgrade).collect(),
        }
    }
}

/// Weak references to the sockets of a listener: only the reactors keep them open.
pub(super) struct WeakGroup {
    pub(super) endpoint: Arc<Endpoint>,
    sockets: Vec<Weak<Listener>>,
}

impl WeakGroup {
    /// Returns whether a reactor still listens on it.
    pub(super) fn is_open(&self) -> bool {
        self.sockets.iter().any(|socket| socket.strong_count() > 0)
    }

    /// Returns the sockets, if all of them are still open.
    pub(super) fn group(&self) -> Option<Group> {
        let sockets = self.sockets.iter().map(Weak::upgrade);
        let sockets: Option<Vec<_>> = sockets.collect();
        sockets.map(|sockets| Group { sockets })
    }

    /// Returns the socket of the reactor with this number, if it is still open.
    pub(super) fn socket(&self, reactor: usize) -> Option<Arc<Listener>> {
        let own = self.sockets.get(reactor).or(self.sockets.first())?;
        own.upgrade()
    }
}
