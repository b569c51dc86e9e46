//! Listeners in a reactor: accepting, resting when there are too many connections, and closing without losing
//! a connection whose handshake is under way.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::io::Errno;

use super::accept::{AcceptOutcome, Accepted, Admission, Overload, accept_one};
use super::driver::{Counted, Life, Reactor, Slot};
use super::io::{Closing, Io};
use super::poller::Token;
use super::protocol::{Protocol, Reason};
use super::socket::Socket;
use super::team::Passed;
use crate::listener::Listener;
use crate::wheel::Tick;

/// Connections above the cap that may linger over their 503 at one time; further ones are closed at once.
const REFUSED_LINGERING_MAX: usize = 64;
/// How long listeners rest when the cap is reached or descriptors have run out, unless a connection ends here.
const REST_MS: u64 = 100;
/// How long handshakes that are under way may take to complete after new ones are refused, before a listener
/// is closed for good. Several times a round trip within a continent.
const SETTLE_MS: u64 = 250;

#[derive(Default)]
pub(super) struct Listening {
    listeners: Vec<Arc<Listener>>,
    /// Set while the listeners are out of the epoll set.
    rest_until: Option<Tick>,
    /// Connections that were refused and still linger.
    pub(super) refused: usize,
    more: bool,
}

impl Listening {
    /// Whether a listener may have more connections than one turn takes.
    pub(super) fn has_more(&mut self) -> bool {
        std::mem::take(&mut self.more)
    }
}

impl<P: Protocol> Reactor<P> {
    /// Adds a listener. Several reactors may share one, or have one each with `SO_REUSEPORT`.
    pub fn listen(&mut self, listener: Arc<Listener>) -> Result<(), Errno> {
        self.poller
            .add_listener(listener.as_fd(), self.listening.listeners.len())?;
        self.listening.listeners.push(listener);
        Ok(())
    }

    pub(super) fn listener_ready(&mut self, position: usize) {
        if self.accept_some(position, self.options.accept_per_turn_max) {
            self.listening.more = true;
        }
    }

    /// Accepts up to `limit` connections. Says whether there may be more.
    fn accept_some(&mut self, position: usize, limit: u32) -> bool {
        let Some(listener) = self.listening.listeners.get(position).map(Arc::clone) else {
            return false;
        };
        for _ in 0..limit {
            // A drain leaves nobody in the queue: it would be closed over them without a word.
            let may_wait = self.options.overload == Overload::Wait && self.life == Life::Running;
            if may_wait && self.options.gate.is_full() {
                self.rest();
                return false;
            }
            match accept_one(&listener) {
                AcceptOutcome::Connection(fd, peer) => {
                    self.share(Passed {
                        fd,
                        peer,
                        listener: Arc::clone(listener.endpoint()),
                    });
                }
                AcceptOutcome::Empty => return false,
                AcceptOutcome::Broken => {}
                AcceptOutcome::Exhausted => {
                    self.rest();
                    return false;
                }
            }
        }
        true
    }

    /// Takes a connection, or passes it on to a reactor that has clearly fewer.
    fn share(&mut self, passed: Passed) {
        let idler = match self.life {
            Life::Running => self.team.idler(self.open.load(Ordering::Relaxed)),
            _ => None,
        };
        // Counted where it goes, and at once: it may take a while there until the letter is opened, and the next
        // of a burst must not all go the same way.
        if let Some(member) = idler {
            member.open.fetch_add(1, Ordering::Relaxed);
            member.mailbox.pass(passed);
        } else {
            self.open.fetch_add(1, Ordering::Relaxed);
            self.admit(passed);
        }
    }

    /// Takes in a connection that has been counted as open here.
    pub(super) fn admit(&mut self, passed: Passed) {
        let Passed { fd, peer, listener } = passed;
        let entered = self.options.gate.enter(peer);
        let overload = entered.err();
        if overload.is_some() && self.listening.refused >= REFUSED_LINGERING_MAX {
            self.open.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        self.generation = self.generation.wrapping_add(1);
        let entry = self.slots.vacant_entry();
        let Ok(index) = u32::try_from(entry.key()) else {
            return;
        };
        let token = Token {
            index,
            generation: self.generation,
        };
        let slot = entry.insert(Slot {
            socket: Socket::new(fd, token.generation),
            counted: entered.map_or(Counted::Not, Counted::As),
            connection: None,
        });
        if overload.is_some() {
            self.listening.refused += 1;
        }
        let defers = listener.defers_accept();
        let accepted = Accepted {
            peer,
            listener,
            overload,
        };
        let mut io = Io::new(&mut slot.socket, &mut self.shared, token);
        match self.protocol.on_accept(&mut io, &accepted) {
            Admission::Admit(connection) => slot.connection = Some(connection),
            Admission::Refuse => io.close(Closing::Lingering),
            Admission::Drop => io.close(Closing::AfterSent),
        }
        self.conclude(token);
        // With TCP_DEFER_ACCEPT the request is already there, and a connection that ends with its first
        // answer never enters the epoll set (8.5 against 11 us for each).
        if defers {
            self.mark_readable(token);
            self.read(token);
        }
        self.register(token);
    }

    fn mark_readable(&mut self, token: Token) {
        if let Some(slot) = super::driver::live(&mut self.slots, token) {
            slot.socket.readable = true;
        }
    }

    fn register(&mut self, token: Token) {
        let Some(slot) = super::driver::live(&mut self.slots, token) else {
            return;
        };
        if let Err(errno) = self.poller.add_connection(slot.socket.as_fd(), token) {
            self.remove(token, Reason::Failed(errno));
        }
    }

    /// Takes the listeners out of the epoll set for a while: else they would report ready without end.
    fn rest(&mut self) {
        if self.listening.rest_until.is_some() {
            return;
        }
        for listener in &self.listening.listeners {
            self.poller.remove(listener.as_fd());
        }
        self.listening.rest_until = Some(Tick::deadline_from_ms(
            self.shared.now.monotonic_ms + REST_MS,
        ));
        self.set_own_deadline();
    }

    fn wake_listeners(&mut self) {
        self.listening.rest_until = None;
        for (position, listener) in self.listening.listeners.iter().enumerate() {
            // Fails only when the kernel has no memory left; the next rest tries again.
            let _ = self.poller.add_listener(listener.as_fd(), position);
        }
        if !self.listening.listeners.is_empty() {
            self.listening.more = true;
        }
    }

    /// A place became free.
    pub(super) fn connection_ended(&mut self) {
        if self.listening.rest_until.is_some() {
            self.wake_listeners();
        }
        if self.slots.is_empty() && matches!(self.life, Life::Draining { .. }) {
            self.life = Life::Done;
        }
    }

    fn set_own_deadline(&mut self) {
        let life = match self.life {
            Life::Settling { settled, .. } => Some(settled),
            Life::Draining { cut } => Some(cut),
            Life::Running | Life::Done => None,
        };
        let next = [life, self.listening.rest_until]
            .into_iter()
            .flatten()
            .min();
        self.shared.timers.set_own(next);
    }

    /// The reactor's own deadline passed: a rest, the settling or the drain is over.
    pub(super) fn own_deadline(&mut self, now: Tick) {
        if self.listening.rest_until.is_some_and(|until| until <= now) {
            self.wake_listeners();
        }
        match self.life {
            Life::Settling { settled, cut } if settled <= now => self.settled(cut),
            Life::Draining { cut } if cut <= now => self.end(),
            _ => {}
        }
        self.set_own_deadline();
    }

    /// Refuses new handshakes; those under way still complete and are accepted until they have settled.
    pub(super) fn begin_drain(&mut self, timeout_ms: u64) {
        if self.life != Life::Running {
            return;
        }
        let now_ms = self.shared.now.monotonic_ms;
        let cut = Tick::deadline_from_ms(now_ms + timeout_ms);
        let mut settle_ms = 0;
        for listener in &self.listening.listeners {
            if listener.refuse_handshakes() {
                settle_ms = SETTLE_MS.min(timeout_ms);
            }
        }
        self.shared.draining = true;
        self.life = Life::Settling {
            settled: Tick::deadline_from_ms(now_ms + settle_ms),
            cut,
        };
        for index in 0..self.slots.capacity() {
            let Some(slot) = self.slots.get_mut(index) else {
                continue;
            };
            let Some(connection) = &mut slot.connection else {
                continue;
            };
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let token = Token {
                index,
                generation: slot.socket.generation,
            };
            let mut io = Io::new(&mut slot.socket, &mut self.shared, token);
            self.protocol.on_drain(&mut io, connection);
            self.conclude(token);
        }
        self.set_own_deadline();
    }

    fn settled(&mut self, cut: Tick) {
        for position in 0..self.listening.listeners.len() {
            while self.accept_some(position, self.options.accept_per_turn_max) {}
        }
        for listener in std::mem::take(&mut self.listening.listeners) {
            self.poller.remove(listener.as_fd());
        }
        self.listening.rest_until = None;
        self.life = if self.slots.is_empty() {
            Life::Done
        } else {
            Life::Draining { cut }
        };
    }

    /// Cuts what is left.
    pub(super) fn end(&mut self) {
        for index in 0..self.slots.capacity() {
            let Some(slot) = self.slots.get(index) else {
                continue;
            };
            let generation = slot.socket.generation;
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            self.remove(Token { index, generation }, Reason::Stopped);
        }
        for listener in std::mem::take(&mut self.listening.listeners) {
            self.poller.remove(listener.as_fd());
        }
        self.life = Life::Done;
    }
}
