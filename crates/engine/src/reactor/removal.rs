//! Removing one listener while the others stay, without losing a connection in its queue or a
//! handshake in progress.
//!
//! First new handshakes are rejected, if the kernel can do that. Then those in progress have time
//! to complete, and their connections are accepted as before. Finally the queue is emptied and the
//! socket is closed; open connections stay open.

use std::os::fd::AsFd;
use std::sync::Arc;

use super::command::Reply;
use super::driver::Reactor;
use super::listening::{Listening, PAUSE_MS, QueueState, SETTLE_MS};
use super::protocol::Protocol;
use crate::listener::Listener;
use crate::wheel::Tick;

/// The maximum number of visits that empty a queue: several times what a queue can hold. A socket
/// shared with other processes may be filled endlessly; they empty it.
const VISITS_MAX: u32 = 1024;

/// When a listener is removed, and who waits for that.
pub(super) struct Removal {
    at: Tick,
    reply: Option<Reply>,
}

impl Listening {
    /// When the next listener is removed.
    pub(super) fn next_removal(&self) -> Option<Tick> {
        let removal = self.slots.iter();
        removal.filter_map(|(_, slot)| slot.removal.as_ref()).map(|removal| removal.at).min()
    }
}

impl<P: Protocol> Reactor<P> {
    /// Begins to remove a listener.
    pub(super) fn unlisten(&mut self, listener: Arc<Listener>, reply: Option<Reply>) {
        let mut slots = self.listening.slots.iter();
        let slot = slots.find(|(_, slot)| Arc::ptr_eq(&slot.listener, &listener));
        let position = slot.map(|(position, _)| position);
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
        let slot = self.listening.slots.get_mut(position);
        let Some(slot) = slot.filter(|slot| slot.removal.is_none()) else {
            return;
        };
        let settle_ms = if slot.listener.refuse_handshakes() { settle_ms } else { 0 };
        let at_ms = self.shared.now.monotonic_ms + settle_ms;
        slot.removal = Some(Removal { at: Tick::deadline_from_ms(at_ms), reply });
        if settle_ms == 0 {
            self.close_listener(position);
        }
    }

    /// Removes the listeners whose time has come.
    pub(super) fn remove_due(&mut self, now: Tick) {
        for position in 0..self.listening.slots.capacity() {
            let slot = self.listening.slots.get(position);
            let removal = slot.and_then(|slot| slot.removal.as_ref());
            if removal.is_some_and(|removal| removal.at <= now) {
                self.close_listener(position);
            }
        }
    }

    fn close_listener(&mut self, position: usize) {
        let emptied = self.empty(position);
        let now_ms = self.shared.now.monotonic_ms;
        let Some(slot) = self.listening.slots.get_mut(position) else {
            return;
        };
        if let (QueueState::Held, Some(removal)) = (emptied, &mut slot.removal) {
            removal.at = Tick::deadline_from_ms(now_ms + PAUSE_MS);
            return;
        }
        let slot = self.listening.slots.remove(position);
        self.poller.remove(slot.listener.as_fd());
        // Closed before anyone is informed.
        drop(slot.listener);
        if let Some(reply) = slot.removal.and_then(|removal| removal.reply) {
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
