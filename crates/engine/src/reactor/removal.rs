//! Letting go of one listener while the others stay: nobody who is in its queue, or on the way
//! there, is lost.
//!
//! First the listener is made deaf to new handshakes, where the kernel lets us. Then those under
//! way have time to complete, and are accepted and served as ever. At last the queue is emptied and
//! the socket is closed; connections go on.

use std::os::fd::AsFd;
use std::sync::Arc;

use super::command::Reply;
use super::driver::Reactor;
use super::listening::{Listening, QueueState, REST_MS, SETTLE_MS};
use super::protocol::Protocol;
use crate::listener::Listener;
use crate::wheel::Tick;

/// Visits to a queue that is to be emptied. Several times what a queue can hold: a socket that
/// other processes listen on as well may be filled without end, and is theirs to empty.
const VISITS_MAX: u32 = 1024;

/// When a listener is removed, and who waits for that.
pub(super) struct Removal {
    at: Tick,
    reply: Option<Reply>,
}

impl Listening {
    /// When the next listener is removed.
    pub(super) fn next_removal(&self) -> Option<Tick> {
        let removal = self.places.iter();
        removal
            .filter_map(|(_, place)| place.removal.as_ref())
            .map(|removal| removal.at)
            .min()
    }
}

impl<P: Protocol> Reactor<P> {
    /// Begins to remove a listener.
    pub(super) fn unlisten(&mut self, listener: Arc<Listener>, reply: Option<Reply>) {
        let mut places = self.listening.places.iter();
        let found = places.find(|(_, place)| Arc::ptr_eq(&place.listener, &listener));
        let position = found.map(|(position, _)| position);
        // Otherwise it would not be closed when the reply is sent.
        drop(listener);
        if let Some(position) = position {
            self.begin_removal(position, SETTLE_MS, reply);
            self.set_own_deadline();
        } else if let Some(reply) = reply {
            // A drain has removed it already.
            reply.send(Ok(()));
        }
    }

    /// Handshakes in progress have `settle_ms` to complete.
    pub(super) fn begin_removal(&mut self, position: usize, settle_ms: u64, reply: Option<Reply>) {
        let place = self.listening.places.get_mut(position);
        let Some(place) = place.filter(|place| place.removal.is_none()) else {
            return;
        };
        let settle_ms = if place.listener.refuse_handshakes() {
            settle_ms
        } else {
            0
        };
        let at_ms = self.shared.now.monotonic_ms + settle_ms;
        place.removal = Some(Removal {
            at: Tick::deadline_from_ms(at_ms),
            reply,
        });
        if settle_ms == 0 {
            self.let_go(position);
        }
    }

    /// Removes the listeners whose time has come.
    pub(super) fn remove_due(&mut self, now: Tick) {
        for position in 0..self.listening.places.capacity() {
            let place = self.listening.places.get(position);
            let removal = place.and_then(|place| place.removal.as_ref());
            if removal.is_some_and(|removal| removal.at <= now) {
                self.let_go(position);
            }
        }
    }

    fn let_go(&mut self, position: usize) {
        let emptied = self.empty(position);
        let now_ms = self.shared.now.monotonic_ms;
        let Some(place) = self.listening.places.get_mut(position) else {
            return;
        };
        if let (QueueState::Held, Some(removal)) = (emptied, &mut place.removal) {
            removal.at = Tick::deadline_from_ms(now_ms + REST_MS);
            return;
        }
        let place = self.listening.places.remove(position);
        self.poller.remove(place.listener.as_fd());
        // Closed before anyone is informed.
        drop(place.listener);
        if let Some(reply) = place.removal.and_then(|removal| removal.reply) {
            reply.send(Ok(()));
        }
        self.end_if_drained();
    }

    /// Accepts all connections in the queue of a listener.
    fn empty(&mut self, position: usize) -> QueueState {
        let visits = (0..VISITS_MAX).map(|_| self.accept_some(position));
        let mut visits = visits.skip_while(|queue| *queue == QueueState::More);
        visits.next().unwrap_or(QueueState::More)
    }
}
