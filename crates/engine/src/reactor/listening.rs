//! Listeners of a reactor: accepting, pausing when there are too many connections, and closing
//! without losing a connection whose handshake is in progress.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::io::Errno;
use rustix::net::{SocketAddrAny, SocketFlags, acceptfrom_with};
use slab::Slab;

use super::driver::{GateStatus, Lifecycle, Reactor, Slot, live};
use super::io::{Closing, Io};
use super::options::Overload;
use super::poller::Token;
use super::protocol::{Accepted, Admission, Protocol, Reason};
use super::removal::Removal;
use super::socket::Socket;
use super::team::Handover;
use crate::listener::Listener;
use crate::wheel::Tick;

/// How long listeners pause when the limit is reached or descriptors have run out, unless a
/// connection ends.
pub(super) const PAUSE_MS: u64 = 100;
/// How long handshakes in progress may take to complete after new ones are rejected, before a
/// listener is closed. Several times a round trip within a continent.
pub(super) const SETTLE_MS: u64 = 250;

/// A listener in its slot, whose number identifies it to epoll.
pub(super) struct ListenerSlot {
    pub(super) listener: Arc<Listener>,
    /// Set while it is being removed.
    pub(super) removal: Option<Removal>,
}

/// The result of visiting a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueueState {
    /// There may be more connections.
    More,
    Empty,
    /// The connections must wait: the limit is reached, or descriptors have run out.
    Held,
}

#[derive(Default)]
pub(super) struct Listening {
    pub(super) slots: Slab<ListenerSlot>,
    /// Set while the listeners are not in the epoll set.
    paused_until: Option<Tick>,
    /// Connections that were rejected and still linger.
    pub(super) refused: usize,
    more: bool,
}

impl Listening {
    /// Returns whether a listener may have more connections than one turn accepts.
    pub(super) fn has_more(&mut self) -> bool {
        std::mem::take(&mut self.more)
    }
}

impl<P: Protocol> Reactor<P> {
    /// Adds a listener. Several reactors may share one, or have one each with `SO_REUSEPORT`.
    pub fn listen(&mut self, listener: Arc<Listener>) -> Result<(), Errno> {
        let slot = self.listening.slots.vacant_entry();
        // While the others pause, it pauses too.
        if self.listening.paused_until.is_none() {
            self.poller.add_listener(listener.as_fd(), slot.key())?;
        }
        slot.insert(ListenerSlot { listener, removal: None });
        Ok(())
    }

    /// Replaces the first listener by the second; `None` if the first does not exist or is being
    /// removed.
    pub(super) fn replace(
        &mut self,
        old: &Arc<Listener>,
        new: Arc<Listener>,
    ) -> Option<Result<(), Errno>> {
        let mut slots = self.listening.slots.iter_mut();
        let (position, slot) = slots.find(|(_, slot)| Arc::ptr_eq(&slot.listener, old))?;
        if slot.removal.is_some() {
            return None;
        }
        if self.listening.paused_until.is_none() {
            let added = self.poller.add_listener(new.as_fd(), position);
            if added.is_err() {
                return Some(added);
            }
            self.poller.remove(old.as_fd());
        }
        slot.listener = new;
        Some(Ok(()))
    }

    pub(super) fn listener_ready(&mut self, position: usize) {
        if self.accept_some(position) == QueueState::More {
            self.listening.more = true;
        }
    }

    /// Accepts as many connections as one turn allows.
    pub(super) fn accept_some(&mut self, position: usize) -> QueueState {
        let Some(slot) = self.listening.slots.get(position) else {
            return QueueState::Empty;
        };
        let listener = Arc::clone(&slot.listener);
        // A listener that is being removed must leave no connection in the queue, which would be
        // lost.
        let may_wait = self.options.overload == Overload::Wait && slot.removal.is_none();
        for _ in 0..self.options.tuning.accept_per_turn_max {
            if may_wait && self.options.gate.is_full() {
                self.pause_listeners();
                return QueueState::Held;
            }
            match accept_one(&listener) {
                AcceptOutcome::Connection(fd, peer) => {
                    self.share(Handover { fd, peer, listener: Arc::clone(listener.endpoint()) });
                }
                AcceptOutcome::Empty => return QueueState::Empty,
                AcceptOutcome::Broken => {}
                AcceptOutcome::Exhausted => {
                    self.pause_listeners();
                    return QueueState::Held;
                }
            }
        }
        QueueState::More
    }

    /// Accepts a connection, or passes it to a reactor that has clearly fewer.
    fn share(&mut self, passed: Handover) {
        let member_with_fewer = match self.life {
            Lifecycle::Running if !passed.listener.spreads() => {
                self.team.least_loaded(self.open.load(Ordering::Relaxed))
            }
            _ => None,
        };
        // Counted at its destination, and at once: the message may be read late, and the next
        // connections of a burst must not all go there.
        if let Some(member) = member_with_fewer {
            member.open.fetch_add(1, Ordering::Relaxed);
            member.mailbox.pass(passed);
        } else {
            self.open.fetch_add(1, Ordering::Relaxed);
            self.admit(passed);
        }
    }

    /// Accepts a connection that has been counted as open here.
    pub(super) fn admit(&mut self, passed: Handover) {
        let Handover { fd, peer, listener } = passed;
        let entered = self.options.gate.enter(peer);
        let overload = entered.err();
        self.options.counters.accepted.add(1);
        let may_linger = self.listening.refused < self.options.gate.refused_max();
        self.generation = self.generation.wrapping_add(1);
        let entry = self.slots.vacant_entry();
        let Ok(index) = u32::try_from(entry.key()) else {
            return;
        };
        let token = Token { index, generation: self.generation };
        let slot = entry.insert(Slot {
            socket: Socket::new(fd, token.generation),
            counted: entered.map_or(GateStatus::Rejected, GateStatus::Counted),
            connection: None,
        });
        if overload.is_some() {
            self.listening.refused += 1;
        }
        let defers = listener.defers_accept();
        let accepted = Accepted { peer, listener, overload };
        let mut io = Io::new(&mut slot.socket, &mut self.shared, token);
        match self.protocol.on_accept(&mut io, &accepted) {
            Admission::Admit(connection) => slot.connection = Some(connection),
            Admission::Refuse => io.close(Closing::Lingering),
            Admission::Drop => io.close(Closing::AfterSent),
        }
        self.conclude(token);
        if overload.is_some() && !may_linger {
            // The response is sent, and what the client had sent was read, so that the close is not
            // a reset, which could overtake it.
            return self.remove(token, Reason::Finished);
        }
        // With TCP_DEFER_ACCEPT the request is already there, and a connection that ends with its
        // first answer never enters the epoll set (8.5 against 11 us for each).
        if defers && let Some(slot) = live(&mut self.slots, token) {
            slot.socket.readable = true;
            self.read(token);
        }
        if let Some(slot) = live(&mut self.slots, token)
            && let Err(errno) = self.poller.add_connection(slot.socket.as_fd(), token)
        {
            self.remove(token, Reason::Failed(errno));
        }
    }

    /// Takes the listeners out of the epoll set for a while: otherwise they would be ready all the
    /// time.
    fn pause_listeners(&mut self) {
        if self.listening.paused_until.is_some() {
            return;
        }
        for (_, slot) in &self.listening.slots {
            self.poller.remove(slot.listener.as_fd());
        }
        self.listening.paused_until =
            Some(Tick::deadline_from_ms(self.shared.now.monotonic_ms + PAUSE_MS));
        self.set_own_deadline();
    }

    fn resume_listeners(&mut self) {
        self.listening.paused_until = None;
        for (position, slot) in &self.listening.slots {
            // Fails only if the kernel is out of memory; the next pause tries again.
            let _ = self.poller.add_listener(slot.listener.as_fd(), position);
        }
        if !self.listening.slots.is_empty() {
            self.listening.more = true;
        }
    }

    /// A connection ended, so others can be accepted.
    pub(super) fn connection_ended(&mut self) {
        if self.listening.paused_until.is_some() {
            self.resume_listeners();
        }
        self.end_if_drained();
    }

    pub(super) fn end_if_drained(&mut self) {
        let drains = matches!(self.life, Lifecycle::Draining { .. });
        if drains && self.slots.is_empty() && self.listening.slots.is_empty() {
            self.life = Lifecycle::Done;
        }
    }

    pub(super) fn set_own_deadline(&mut self) {
        let life = match self.life {
            Lifecycle::Draining { cut } => Some(cut),
            Lifecycle::Running | Lifecycle::Done => None,
        };
        let removal = self.listening.next_removal();
        let next = [life, self.listening.paused_until, removal].into_iter().flatten().min();
        self.shared.timers.set_own(next);
    }

    /// The reactor's own deadline expired: a pause, the settling of a listener or the drain is
    /// over.
    pub(super) fn own_deadline(&mut self, now: Tick) {
        if self.listening.paused_until.is_some_and(|until| until <= now) {
            self.resume_listeners();
        }
        self.remove_due(now);
        if matches!(self.life, Lifecycle::Draining { cut } if cut <= now) {
            self.end();
        }
        self.set_own_deadline();
    }

    /// Rejects new handshakes; those in progress still complete and are accepted until they have
    /// settled.
    pub(super) fn begin_drain(&mut self, timeout_ms: u64) {
        if self.life != Lifecycle::Running {
            return;
        }
        let cut_ms = self.shared.now.monotonic_ms + timeout_ms;
        self.shared.draining = true;
        self.life = Lifecycle::Draining { cut: Tick::deadline_from_ms(cut_ms) };
        for position in 0..self.listening.slots.capacity() {
            self.begin_removal(position, SETTLE_MS.min(timeout_ms), None);
        }
        for index in 0..self.slots.capacity() {
            if let Some(token) = self.token_at(index) {
                self.visit(token, P::on_drain);
            }
        }
        self.end_if_drained();
        self.set_own_deadline();
    }

    /// Closes the remaining connections.
    pub(super) fn end(&mut self) {
        for index in 0..self.slots.capacity() {
            if let Some(token) = self.token_at(index) {
                self.remove(token, Reason::Stopped);
            }
        }
        for slot in self.listening.slots.drain() {
            self.poller.remove(slot.listener.as_fd());
        }
        self.listening.paused_until = None;
        self.life = Lifecycle::Done;
    }

    /// Returns the token of the connection in a slot.
    fn token_at(&self, index: usize) -> Option<Token> {
        Some(Token {
            index: u32::try_from(index).ok()?,
            generation: self.slots.get(index)?.socket.generation,
        })
    }
}

enum AcceptOutcome {
    Connection(OwnedFd, Option<SocketAddr>),
    /// The queue is empty.
    Empty,
    /// This connection failed before it was accepted; the next may succeed.
    Broken,
    /// No descriptor or memory is left.
    Exhausted,
}

fn accept_one(listener: &Listener) -> AcceptOutcome {
    match acceptfrom_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
        Ok((fd, address)) => AcceptOutcome::Connection(fd, peer_of(address)),
        // A unix socket that was shut down for new connections reports INVAL when its queue is
        // empty.
        Err(Errno::AGAIN | Errno::INVAL) => AcceptOutcome::Empty,
        Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => AcceptOutcome::Exhausted,
        // accept(2): pending errors of the new socket are reported here.
        Err(_) => AcceptOutcome::Broken,
    }
}

/// Returns the address of a peer; an IPv4 peer of a dual-stack listener as IPv4.
fn peer_of(address: Option<SocketAddrAny>) -> Option<SocketAddr> {
    let address = SocketAddr::try_from(address?).ok()?;
    match address.ip().to_canonical() {
        IpAddr::V6(_) => Some(address),
        ip @ IpAddr::V4(_) => Some(SocketAddr::new(ip, address.port())),
    }
}
