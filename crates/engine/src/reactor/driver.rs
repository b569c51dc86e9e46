//! The reactor itself: the order in which connections are visited, and how they begin and end.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use slab::Slab;

use super::io::{Closing, Io, Shared};
use super::listening::Listening;
use super::mailbox::{Handle, Mailbox, MailboxItem};
use super::options::ReactorOptions;
use super::poller::{Poller, Ready, Source, Token, Wait};
use super::protocol::{Protocol, Reason};
use super::reading::ReadBuffers;
use super::socket::{Socket, WriteError, Written};
use super::spare_sockets::SpareSockets;
use super::team::{Member, Membership, Team};
use super::timers::{Now, Rearm, Timers};
use crate::executor::{Executor, Spawner};
use crate::gate::Permit;
use crate::wheel::Tick;

/// A larger response buffer is freed after the turn; a turn rarely needs more.
const OUT_KEEP_BYTES: usize = 256 * 1024;
/// Rounds of messages and tasks in one turn; if some are left, the descriptor becomes readable
/// again.
const ROUNDS_PER_TURN_MAX: u32 = 16;

/// The result of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The number of events taken from the kernel.
    pub events: usize,
    /// More is ready: take another turn before waiting. A carrier that waits level-triggered need
    /// not check.
    pub more: bool,
    /// The reactor has ended, drained or stopped.
    pub done: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lifecycle {
    Running,
    /// Listeners are removed one by one; exchanges in progress are completed.
    Draining {
        cut: Tick,
    },
    Done,
}

/// Whether the gate counted a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GateStatus {
    Counted(Permit),
    Rejected,
    /// An outgoing connection, which the gate does not count.
    Outgoing,
}

pub(super) struct Slot<C> {
    pub(super) socket: Socket,
    pub(super) counted: GateStatus,
    /// `None`: rejected, lingers after its response.
    pub(super) connection: Option<C>,
}

/// A reactor: one pollable descriptor and one function; see the [module](super).
pub struct Reactor<P: Protocol> {
    pub(super) poller: Poller,
    pub(super) slots: Slab<Slot<P::Connection>>,
    pub(super) listening: Listening,
    pub(super) options: ReactorOptions,
    pub(super) spares: SpareSockets,
    pub(super) shared: Shared,
    pub(super) protocol: P,
    pub(super) life: Lifecycle,
    pub(super) generation: u32,
    pub(super) team: Team<P::Message>,
    /// Connections that are open here or being passed here, visible to the team.
    pub(super) open: Arc<AtomicUsize>,
    pub(super) memory: ReadBuffers,
    mailbox: Arc<Mailbox<P::Message>>,
    items: Vec<MailboxItem<P::Message>>,
    executor: Executor,
    due: Vec<u32>,
    again: Vec<Token>,
}

impl<P: Protocol> Reactor<P> {
    /// Creates a reactor without listeners. `protocol` gets the mailbox for messages from other
    /// threads and the spawner for futures.
    pub fn new(
        options: ReactorOptions,
        protocol: impl FnOnce(&Arc<Mailbox<P::Message>>, &Spawner) -> P,
    ) -> Result<Self, Errno> {
        let poller = Poller::new()?;
        let mailbox = Arc::new(Mailbox::new(poller.wake_fd()?));
        let tasks_to = Arc::clone(&mailbox);
        let executor = Executor::new(Arc::new(move |posted| tasks_to.post_task(posted)));
        let now = Now::read();
        let protocol = protocol(&mailbox, &executor.spawner());
        Ok(Self {
            poller,
            slots: Slab::new(),
            listening: Listening::default(),
            spares: SpareSockets::default(),
            shared: Shared {
                out: Vec::new(),
                now,
                timers: Timers::new(Tick::from_ms(now.monotonic_ms)),
                again: Vec::new(),
                draining: false,
                counters: Arc::clone(&options.counters),
            },
            options,
            protocol,
            life: Lifecycle::Running,
            generation: 0,
            team: Team::default(),
            open: Arc::default(),
            memory: ReadBuffers::new(),
            mailbox,
            items: Vec::new(),
            executor,
            due: Vec::new(),
            again: Vec::new(),
        })
    }

    /// Returns a handle for sending messages to this reactor from other threads.
    pub fn handle(&self) -> Handle<P::Message> {
        Handle::new(Arc::clone(&self.mailbox))
    }

    /// Makes several reactors share the connections of their listeners evenly.
    pub fn join(&mut self, team: &Team<P::Message>) {
        self.team = team.clone();
    }

    /// Returns what the [`Team`] needs to know of this reactor.
    pub fn membership(&self) -> Membership<P::Message> {
        let mailbox = Arc::clone(&self.mailbox);
        Membership(Member { mailbox, open: Arc::clone(&self.open) })
    }

    /// Returns the protocol of the reactor.
    pub fn protocol(&self) -> &P {
        &self.protocol
    }

    /// Returns the protocol, for a carrier that works on it between two turns.
    pub fn protocol_mut(&mut self) -> &mut P {
        &mut self.protocol
    }

    /// Processes everything that is ready and returns. Never blocks.
    ///
    /// # Errors
    ///
    /// Only errors that make the reactor unusable, such as a closed epoll descriptor.
    pub fn turn(&mut self) -> Result<Turn, Errno> {
        self.turn_once(Wait::Never)
    }

    /// Waits until something is ready, then takes a turn: for a thread that does nothing else.
    /// Saves the carrier's own wait.
    pub fn wait_and_turn(&mut self) -> Result<Turn, Errno> {
        self.turn_once(Wait::UntilReady)
    }

    /// Like [`Self::wait_and_turn`], but waits at most this long: for a thread with timers of its
    /// own. The kernel rounds by its timer slack, not to milliseconds.
    pub fn turn_within(&mut self, wait: Duration) -> Result<Turn, Errno> {
        self.turn_once(Wait::For(wait))
    }

    fn turn_once(&mut self, wait: Wait) -> Result<Turn, Errno> {
        if self.life == Lifecycle::Done {
            return Ok(Turn { events: 0, more: false, done: true });
        }
        let events = self.poller.wait(wait)?;
        self.mailbox.begin_turn();
        self.shared.now = Now::read();
        for position in 0..events {
            if let Some(ready) = self.poller.event(position) {
                self.dispatch(ready);
            }
        }
        self.visit_again();
        let more =
            self.process_messages() | !self.shared.again.is_empty() | self.listening.has_more();
        if more {
            self.poller.wake_self();
        }
        match self.shared.timers.rearm() {
            Rearm::Leave => {}
            Rearm::At(ms) => self.poller.arm(Some(ms)),
            Rearm::Disarm => self.poller.arm(None),
        }
        let out = &mut self.shared.out;
        if out.capacity() > OUT_KEEP_BYTES {
            *out = Vec::new();
        }
        let full = events == super::poller::EVENTS_PER_TURN_MAX;
        Ok(Turn { events, more: more || full, done: self.life == Lifecycle::Done })
    }

    fn dispatch(&mut self, ready: Ready) {
        match ready.source {
            Source::Connection(token) => self.connection_ready(token, ready.flags),
            Source::Listener(position) => self.listener_ready(position),
            Source::Wake => self.poller.clear_wake(),
            Source::Timer => {
                self.poller.clear_timer();
                self.shared.timers.fired();
                self.deadlines();
            }
        }
    }

    fn deadlines(&mut self) {
        let now = Tick::from_ms(self.shared.now.monotonic_ms);
        let mut due = std::mem::take(&mut self.due);
        let own_due = self.shared.timers.expire(now, &mut due);
        for index in due.drain(..) {
            let Some(slot) = self.slots.get_mut(index as usize) else {
                continue;
            };
            let token = Token { index, generation: slot.socket.generation };
            match (&mut slot.connection, slot.socket.lingered_bytes) {
                (Some(connection), None) => {
                    let mut io = Io::new(&mut slot.socket, &mut self.shared, token);
                    self.protocol.on_deadline(&mut io, connection);
                }
                _ => slot.socket.closing = Some(Closing::Abort),
            }
            self.conclude(token);
        }
        self.due = due;
        if own_due {
            self.own_deadline(now);
        }
    }

    /// Processes messages and tasks until there are none or the turn's share is used up. Returns
    /// whether some are left.
    fn process_messages(&mut self) -> bool {
        for _ in 0..ROUNDS_PER_TURN_MAX {
            if self.mailbox.may_sleep() {
                return false;
            }
            self.executor.start_new();
            let mut items = std::mem::take(&mut self.items);
            self.mailbox.take(&mut items);
            for item in items.drain(..) {
                match item {
                    MailboxItem::To(token, message) => self.deliver(token, message),
                    MailboxItem::Adopt(passed) => self.admit(passed),
                    MailboxItem::Command(command, reply) => self.execute(command, reply),
                    MailboxItem::Poll(task) => self.executor.poll(task),
                }
            }
            self.items = items;
        }
        self.mailbox.wake();
        true
    }

    fn deliver(&mut self, token: Token, message: P::Message) {
        let Some(slot) = live(&mut self.slots, token) else {
            return;
        };
        let Some(connection) = &mut slot.connection else {
            return;
        };
        let mut io = Io::new(&mut slot.socket, &mut self.shared, token);
        self.protocol.on_message(&mut io, connection, message);
        self.conclude(token);
        self.read(token);
    }

    pub(super) fn connection_ready(&mut self, token: Token, flags: EventFlags) {
        let Some(slot) = live(&mut self.slots, token) else {
            return;
        };
        if slot.socket.connecting {
            return self.connected(token, flags);
        }
        if flags.intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR)
        {
            slot.socket.readable = true;
            slot.socket.peer_shut |=
                !(flags & (EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR)).is_empty();
        }
        let gone = flags.intersects(EventFlags::ERR | EventFlags::HUP);
        if gone && !slot.socket.wants_data() && slot.socket.lingered_bytes.is_none() {
            // Both directions are closed: blocked output is lost, and the handler should know.
            return self.remove(token, Reason::Failed(Errno::CONNRESET));
        }
        if flags.contains(EventFlags::OUT) && slot.socket.is_blocked() {
            self.write(token);
        }
        self.read(token);
    }

    /// Continues with blocked output.
    fn write(&mut self, token: Token) {
        let Some(slot) = live(&mut self.slots, token) else {
            return;
        };
        let written = slot.socket.flush_queue(&self.shared.counters.sent_bytes);
        let mut io = Io::new(&mut slot.socket, &mut self.shared, token);
        io.note(written);
        if let (None, Some(connection)) = (io.socket.failed, &mut slot.connection) {
            match written {
                Ok(Written::All) => self.protocol.on_sent(&mut io, connection),
                _ => self.protocol.on_progress(&mut io, connection),
            }
        }
        self.conclude(token);
    }

    /// Visits the connections that had more to do than one visit allows.
    fn visit_again(&mut self) {
        std::mem::swap(&mut self.again, &mut self.shared.again);
        let mut again = std::mem::take(&mut self.again);
        for token in again.drain(..) {
            if live(&mut self.slots, token).is_some_and(|slot| slot.socket.connecting) {
                self.connected(token, EventFlags::empty());
            }
            if live(&mut self.slots, token).is_some_and(|slot| slot.socket.is_blocked()) {
                self.write(token);
            }
            self.read(token);
        }
        self.again = again;
    }

    /// After each call of the protocol: sends what it wrote, and ends the connection if requested.
    pub(super) fn conclude(&mut self, token: Token) {
        let Some(slot) = live(&mut self.slots, token) else {
            self.shared.out.clear();
            return;
        };
        if !self.shared.out.is_empty() {
            let mut io = Io::new(&mut slot.socket, &mut self.shared, token);
            io.flush();
            let waits = io.is_blocked() && io.socket.failed.is_none();
            if let (true, Some(connection)) = (waits, &mut slot.connection) {
                self.protocol.on_progress(&mut io, connection);
            }
        }
        match slot.socket.failed {
            Some(WriteError::Errno(errno)) => return self.remove(token, Reason::Failed(errno)),
            Some(WriteError::FileTruncated) => {
                // Sent before the reset, which would discard the data that the cork holds back.
                slot.socket.uncork();
                slot.socket.reset_on_close();
                return self.remove(token, Reason::FileTruncated);
            }
            None => {}
        }
        match slot.socket.closing {
            Some(Closing::Abort) => self.remove(token, Reason::Aborted),
            Some(_) if slot.socket.is_blocked() => slot.socket.uncork(),
            Some(Closing::AfterSent) => self.remove(token, Reason::Finished),
            Some(Closing::Lingering) if slot.socket.lingered_bytes.is_none() => {
                slot.socket.shut_output();
                slot.socket.lingered_bytes = Some(0);
                slot.socket.readable = true;
                let deadline =
                    self.shared.now.monotonic_ms + self.options.tuning.lingering_close_ms;
                self.shared.timers.set(token.index, Some(Tick::deadline_from_ms(deadline)));
                self.linger(token);
            }
            None | Some(Closing::Lingering) => slot.socket.uncork(),
        }
    }

    /// Closes a connection and informs the protocol.
    pub(super) fn remove(&mut self, token: Token, reason: Reason) {
        self.shared.out.clear();
        if live(&mut self.slots, token).is_none() {
            return;
        }
        let slot = self.slots.remove(token.index as usize);
        self.open.fetch_sub(1, Ordering::Relaxed);
        self.shared.timers.set(token.index, None);
        match slot.counted {
            GateStatus::Counted(entered) => self.options.gate.leave(entered),
            GateStatus::Rejected => self.listening.refused -= 1,
            GateStatus::Outgoing => {}
        }
        let lost_bytes = slot.socket.unsent_bytes();
        match reason {
            Reason::Aborted => self.spares.reset(slot.socket),
            _ => drop(slot.socket),
        }
        if let Some(mut connection) = slot.connection {
            if lost_bytes > 0 {
                self.protocol.on_lost(&mut connection, lost_bytes);
            }
            self.protocol.on_close(connection, reason);
        }
        self.connection_ended();
    }
}

/// Returns the slot that a token names, unless it belongs to another connection now.
pub(super) fn live<C>(slots: &mut Slab<Slot<C>>, token: Token) -> Option<&mut Slot<C>> {
    slots.get_mut(token.index as usize).filter(|slot| slot.socket.generation == token.generation)
}

impl<P: Protocol> Drop for Reactor<P> {
    fn drop(&mut self) {
        self.mailbox.close();
    }
}

impl<P: Protocol> AsFd for Reactor<P> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.poller.as_fd()
    }
}
