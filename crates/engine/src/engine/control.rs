//! The hand that others have on a running engine: what may change while it serves, and what can be seen of it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::EngineError;
use super::group::{Entry, Group};
use crate::counters::{Counters, Totals};
use crate::exchange::Message;
use crate::gate::Gate;
use crate::limits::{LimitError, Limits};
use crate::listener::{Endpoint, ListenAddress, ListenOptions, Listener};
use crate::reactor::{Handle, Order, Receipt, Tuning};

/// One reactor, as it is held and seen from outside.
pub(super) struct Hand {
    pub(super) handle: Handle<Message>,
    pub(super) counters: Arc<Counters>,
    /// Connections open there, or on their way.
    pub(super) load: Arc<AtomicUsize>,
}

pub(super) struct Shared {
    /// In the order of the workers.
    pub(super) hands: Vec<Hand>,
    pub(super) entries: Mutex<Vec<Entry>>,
    /// Held for the length of a change of one listener, while others may look at all of them.
    pub(super) changing: Mutex<()>,
    pub(super) gate: Arc<Gate>,
}

/// Steers a running engine and looks at it, from any thread but the reactors' own.
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

    /// Accepts from one more listener that exists already.
    ///
    /// # Errors
    /// As [`Self::listen`].
    pub fn adopt(&self, listener: Listener) -> Result<Arc<Endpoint>, EngineError> {
        let group = Group::open(listener, self.0.hands.len())?;
        let done = self.ask(|reactor| Order::Listen(group.socket(reactor)));
        if let Err(not_done) = done.wait() {
            // Those that did are told to let go again.
            let undone = self.ask(|reactor| Order::Unlisten(group.socket(reactor)));
            let _ = undone.wait();
            return Err(not_done.into());
        }
        let endpoint = Arc::clone(group.endpoint());
        self.entries().push(group.entry());
        Ok(endpoint)
    }

    /// Gives a listener other options, without a moment in which it does not listen: connections that are accepted from now on have
    /// them, and belong to the endpoint that is returned.
    ///
    /// # Errors
    /// When an option is a socket's for good ([`BindError::Fixed`](crate::listener::BindError::Fixed)), the system refuses, or nobody
    /// listens there any more. The old options hold then.
    pub fn change(
        &self,
        endpoint: &Arc<Endpoint>,
        options: &ListenOptions,
    ) -> Result<Arc<Endpoint>, EngineError> {
        let _one_at_a_time = self.changing();
        let find = |entries: &mut Vec<Entry>| {
            let mut all = entries.iter();
            all.position(|entry| Arc::ptr_eq(&entry.endpoint, endpoint))
        };
        let old = {
            let mut entries = self.entries();
            find(&mut entries).and_then(|position| entries[position].group())
        };
        let old = old.ok_or(EngineError::Ended)?;
        let new = old.changed(options)?;
        let done = self.ask(|reactor| Order::Replace(old.socket(reactor), new.socket(reactor)));
        if let Err(not_done) = done.wait() {
            let back = self.ask(|reactor| Order::Replace(new.socket(reactor), old.socket(reactor)));
            let _ = back.wait();
            return Err(not_done.into());
        }
        let mut entries = self.entries();
        if let Some(position) = find(&mut entries) {
            entries[position] = new.entry();
        }
        Ok(Arc::clone(new.endpoint()))
    }

    /// Stops listening at an endpoint that [`Self::listeners`] has given; nothing happens where nobody listens any more.
    ///
    /// New handshakes are refused where the kernel lets us (not on a socket that was inherited). Whoever is in the queue is accepted and
    /// served, then the socket closes, after a quarter of a second at most: the receipt tells when. Connections go on.
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
                .and_then(|entry: &Entry| entry.socket(reactor))
        };
        let (reply, receipt) = Receipt::of(self.0.hands.len());
        for (reactor, hand) in self.0.hands.iter().enumerate() {
            match socket(reactor) {
                Some(socket) => hand.handle.order(Order::Unlisten(socket), reply.clone()),
                None => reply.clone().give(Ok(())),
            }
        }
        receipt
    }

    /// What is listened on now, with the ports that the kernel chose.
    pub fn listeners(&self) -> Vec<Arc<Endpoint>> {
        let entries = self.entries();
        let open = entries.iter().filter(|entry| entry.is_open());
        open.map(|entry| Arc::clone(&entry.endpoint)).collect()
    }

    /// Makes other limits hold. New connections and new requests get them; content on its way may be as much as its request was
    /// promised, and a time that runs already runs to its end.
    ///
    /// # Errors
    /// When a limit is out of bounds; then nothing changes.
    pub fn set_limits(&self, limits: Limits) -> Result<Receipt, LimitError> {
        limits.validate()?;
        let connections_max = limits.connections_max as usize;
        let gate = &self.0.gate;
        gate.set_caps(connections_max, limits.connections_per_address_max);
        let tuning = Tuning::from(&limits);
        // Not waited for: letters are read in order, and this one is before the next.
        self.ask(|_| Order::Tune(tuning));
        let limits = Arc::new(limits);
        Ok(self.ask(|_| Order::Tell(Message::Limits(Arc::clone(&limits)))))
    }

    /// Calls [`Service::refresh`](crate::Service::refresh) of each reactor, on its thread.
    pub fn refresh(&self) -> Receipt {
        self.ask(|_| Order::Tell(Message::Refresh))
    }

    /// Accepts no more, finishes what is in hand, ends at the latest after `timeout_ms`.
    pub fn drain(&self, timeout_ms: u64) {
        let hands = self.0.hands.iter();
        hands.for_each(|hand| hand.handle.drain(timeout_ms));
    }

    /// Ends at once.
    pub fn stop(&self) {
        self.0.hands.iter().for_each(|hand| hand.handle.stop());
    }

    /// The counters of each worker.
    pub fn counters(&self) -> impl Iterator<Item = &Counters> {
        self.0.hands.iter().map(|hand| &*hand.counters)
    }

    /// What all workers have counted together.
    pub fn totals(&self) -> Totals {
        Counters::totals(self.counters())
    }

    /// Connections open now, over all workers, without those that are only told that there are too many.
    pub fn connections(&self) -> usize {
        self.0.gate.connections()
    }

    /// Connections open now in each worker, whatever for.
    pub fn loads(&self) -> Vec<usize> {
        let hands = self.0.hands.iter();
        hands
            .map(|hand| hand.load.load(Ordering::Relaxed))
            .collect()
    }

    fn changing(&self) -> MutexGuard<'_, ()> {
        let changing = &self.0.changing;
        changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        let entries = &self.0.entries;
        entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives each reactor its order.
    fn ask(&self, order: impl Fn(usize) -> Order<Message>) -> Receipt {
        let (reply, receipt) = Receipt::of(self.0.hands.len());
        for (reactor, hand) in self.0.hands.iter().enumerate() {
            hand.handle.order(order(reactor), reply.clone());
        }
        receipt
    }
}
