//! Letting go of one listener while the others stay: nobody who is in its queue, or on the way there, is lost.
//!
//! First the listener is made deaf to new handshakes, where the kernel lets us. Then those under way have time to complete, and are
//! accepted and served as ever. At last the queue is emptied and the socket is closed; connections go on.

use std::os::fd::AsFd;
use std::sync::Arc;

use super::driver::Reactor;
use super::listening::{Listening, Queue, REST_MS, SETTLE_MS};
use super::order::Reply;
use super::protocol::Protocol;
use crate::listener::Listener;
use crate::wheel::Tick;

/// Visits to a queue that is to be emptied. Several times what a queue can hold: a socket that other processes listen on as well
/// may be filled without end, and is theirs to empty.
const VISITS_MAX: u32 = 1024;

/// When a listener is let go of, and who wants to know.
pub(super) struct Leaving {
    at: Tick,
    reply: Option<Reply>,
}

impl Listening {
    /// When the next listener is let go of.
    pub(super) fn next_to_leave(&self) -> Option<Tick> {
        let leaving = self.places.iter();
        leaving
            .filter_map(|(_, place)| place.leaving.as_ref())
            .map(|leaving| leaving.at)
            .min()
    }
}

impl<P: Protocol> Reactor<P> {
    /// Begins to let go of a listener.
    pub(super) fn unlisten(&mut self, listener: Arc<Listener>, reply: Option<Reply>) {
        let mut places = self.listening.places.iter();
        let found = places.find(|(_, place)| Arc::ptr_eq(&place.listener, &listener));
        let position = found.map(|(position, _)| position);
        // Else it would not be closed when the reply says so.
        drop(listener);
        if let Some(position) = position {
            self.begin_to_let_go(position, SETTLE_MS, reply);
            self.set_own_deadline();
        } else if let Some(reply) = reply {
            // A drain has let go of it already.
            reply.give(Ok(()));
        }
    }

    /// Handshakes that are under way have `settle_ms` to complete.
    pub(super) fn begin_to_let_go(
        &mut self,
        position: usize,
        settle_ms: u64,
        reply: Option<Reply>,
    ) {
        let place = self.listening.places.get_mut(position);
        let Some(place) = place.filter(|place| place.leaving.is_none()) else {
            return;
        };
        let settle_ms = if place.listener.refuse_handshakes() {
            settle_ms
        } else {
            0
        };
        let at_ms = self.shared.now.monotonic_ms + settle_ms;
        place.leaving = Some(Leaving {
            at: Tick::deadline_from_ms(at_ms),
            reply,
        });
        if settle_ms == 0 {
            self.let_go(position);
        }
    }

    /// Lets go of the listeners whose time has come.
    pub(super) fn let_go_of_due(&mut self, now: Tick) {
        for position in 0..self.listening.places.capacity() {
            let place = self.listening.places.get(position);
            let leaving = place.and_then(|place| place.leaving.as_ref());
            if leaving.is_some_and(|leaving| leaving.at <= now) {
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
        if let (Queue::Held, Some(leaving)) = (emptied, &mut place.leaving) {
            leaving.at = Tick::deadline_from_ms(now_ms + REST_MS);
            return;
        }
        let place = self.listening.places.remove(position);
        self.poller.remove(place.listener.as_fd());
        // Closed before anybody is told so.
        drop(place.listener);
        if let Some(reply) = place.leaving.and_then(|leaving| leaving.reply) {
            reply.give(Ok(()));
        }
        self.end_if_drained();
    }

    /// Accepts whoever is in the queue of a listener.
    fn empty(&mut self, position: usize) -> Queue {
        let visits = (0..VISITS_MAX).map(|_| self.accept_some(position));
        let mut visits = visits.skip_while(|queue| *queue == Queue::More);
        visits.next().unwrap_or(Queue::More)
    }
}
