//! The users of one thread, as a protocol of the reactor: runs their scripts, sends requests, reads
//! responses, and updates the statistics.
//!
//! What needs the reactor itself (connections that are to begin, requests that have become due) is
//! left in queues for the thread's loop, [`super::thread`].

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use vervet_engine::reactor::{Accepted, Admission, Closing, Io, Protocol, Reason};
use vervet_report::ErrorClass;

use super::connection::{Connection, NOBODY, Pending, Phase};
use super::stats::ThreadStats;
use super::user::{User, UserState};
use crate::check::CompiledCheck;
use crate::clock::{now_ns, ns};
use crate::plan::{Load, Plan};
use crate::script::{Step, Turn};

/// After a failed attempt to connect a user waits this long, twice as long after the next, and so
/// on.
pub const RETRY_AFTER: Duration = Duration::from_millis(10);
/// The longest such wait.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(1);
/// Time in which the target must close a connection after its last response. Then it is reset.
pub const LEAVE_WITHIN_MS: u64 = 1000;

/// Asks a thread to end its run now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop;

/// Outcome of running the script of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Sent,
    Waits,
    Ended,
}

/// The users of one thread.
pub(crate) struct Users {
    pub(crate) checks: Vec<CompiledCheck>,
    pub(crate) all: Vec<User>,
    pub(crate) stats: ThreadStats,
    /// When the run began, on the clock.
    pub(crate) epoch_ns: u64,
    /// Requests that may still be begun.
    pub(crate) left: Option<u64>,
    /// Users that want a connection.
    pub(crate) to_connect: VecDeque<u32>,
    /// Free users for due requests, in open load. Entries may be stale.
    pub(crate) free: VecDeque<u32>,
    /// Users that do something at a time.
    pub(crate) alarms: BinaryHeap<Reverse<(u64, u32)>>,
    /// Whether the run is to end now.
    pub(crate) is_stopped: bool,
    /// When the present turn's first event was looked at.
    pub(crate) turn_ns: Option<u64>,
    /// End of the run, on the clock. Later bytes are not read.
    pub(crate) end_ns: u64,
    /// Set when the run is over.
    pub(crate) over_ns: Option<u64>,
    /// Scripts that have come to their end.
    pub(crate) exhausted: usize,
    pub(super) known: super::answer::KnownHead,
    is_open: bool,
    connect_timeout_ms: u64,
    response_timeout_ms: u64,
    requests_per_connection: Option<u64>,
    depth: usize,
}

impl Users {
    pub(crate) fn new(plan: &Arc<Plan>) -> Self {
        let milliseconds = |time: Duration| crate::clock::ms(time).max(1);
        let checks = plan.checks.iter().cloned().map(CompiledCheck::new);
        Self {
            checks: checks.collect(),
            all: Vec::new(),
            stats: ThreadStats::new(Arc::clone(&plan.scripts)),
            epoch_ns: 0,
            left: None,
            to_connect: VecDeque::new(),
            free: VecDeque::new(),
            alarms: BinaryHeap::new(),
            is_stopped: false,
            turn_ns: None,
            end_ns: u64::MAX,
            over_ns: None,
            exhausted: 0,
            known: super::answer::KnownHead::default(),
            is_open: matches!(plan.load, Load::Open { .. }),
            connect_timeout_ms: milliseconds(plan.connect_timeout),
            response_timeout_ms: milliseconds(plan.response_timeout),
            requests_per_connection: plan.requests_per_connection(),
            depth: plan.pipelining as usize,
        }
    }

    pub(crate) fn user(&mut self, index: u32) -> Option<&mut User> {
        self.all.get_mut(index as usize)
    }

    /// Connections that users have now.
    pub(crate) fn open_connections(&self) -> u64 {
        let is_open =
            |user: &&User| user.connection.is_some() && user.state != UserState::Connecting;
        self.all.iter().filter(is_open).count() as u64
    }

    pub(crate) fn connect_timeout_ms(&self) -> u64 {
        self.connect_timeout_ms
    }

    /// Whether another request may be begun.
    pub(crate) fn may_begin(&self) -> bool {
        self.left != Some(0)
    }

    fn count_begun(&mut self) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(1);
        }
    }

    /// Sends the next request of the user of an open connection.
    #[inline]
    pub(crate) fn ask(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Connection,
        due_ns: u64,
        now_ns: u64,
    ) -> Outcome {
        let elapsed = Duration::from_nanos(now_ns.saturating_sub(self.epoch_ns));
        let Some(user) = self.all.get_mut(connection.user as usize) else {
            return Outcome::Ended;
        };
        let before = io.out().len();
        let (script, answer) = user.script_and_answer();
        let turn = Turn { elapsed, answer: answer.as_ref() };
        let step = script.next(&turn, io.out());
        user.forget();
        match step {
            Step::Send(request) => {
                user.state = UserState::Busy;
                user.due_ns = None;
                let due_ns = match request.due {
                    Some(due) => self.epoch_ns.saturating_add(ns(due)),
                    None => due_ns,
                };
                connection.push(Pending {
                    check: request.check,
                    step: request.step,
                    content: request.content,
                    due_ns,
                    sent_ns: now_ns,
                });
                let bytes = io.out().len() - before;
                self.stats.begin(now_ns, bytes);
                self.count_begun();
                io.set_deadline(self.response_timeout_ms);
                Outcome::Sent
            }
            Step::Wait(time) => {
                io.out().truncate(before);
                user.state = UserState::Thinking;
                let at_ns = now_ns.saturating_add(ns(time));
                self.alarms.push(Reverse((at_ns, connection.user)));
                Outcome::Waits
            }
            Step::End => {
                io.out().truncate(before);
                user.state = UserState::Ended;
                self.exhausted += 1;
                Outcome::Ended
            }
        }
    }

    /// Continues the user of an open connection: sends the next request in closed load, waits for a
    /// due time in open load.
    #[inline]
    pub(crate) fn proceed(&mut self, io: &mut Io<'_>, connection: &mut Connection, now_ns: u64) {
        let is_open = self.is_open;
        let may_begin = self.may_begin();
        let Some(user) = self.user(connection.user) else {
            return;
        };
        if !may_begin {
            if connection.waiting() == 0 {
                user.state = UserState::Ended;
                io.close(Closing::AfterSent);
            }
            return;
        }
        if is_open && user.due_ns.is_none() {
            user.state = UserState::Free;
            io.clear_deadline();
            return self.offer(connection.user, now_ns);
        }
        let due_ns = user.due_ns.take().unwrap_or(now_ns);
        while connection.waiting() < self.depth && self.may_begin() && !self.is_used_up(connection)
        {
            if self.ask(io, connection, due_ns, now_ns) != Outcome::Sent {
                break;
            }
        }
        if connection.waiting() == 0 {
            io.clear_deadline();
            let state = self.user(connection.user).map(|user| user.state);
            if state == Some(UserState::Ended) {
                io.close(Closing::AfterSent);
            }
        }
    }

    /// Whether a connection has carried as many requests as it may.
    pub(crate) fn is_used_up(&self, connection: &Connection) -> bool {
        let most = self.requests_per_connection;
        most.is_some_and(|most| connection.sent >= most)
    }

    /// Puts a user into the queue for due requests.
    pub(crate) fn offer(&mut self, index: u32, now_ns: u64) {
        if let Some(user) = self.all.get_mut(index as usize)
            && !user.queued
        {
            user.queued = true;
            user.free_since_ns = now_ns;
            self.free.push_back(index);
        }
    }

    /// Releases a connection that carries no further requests; its user continues without it.
    pub(crate) fn release(&mut self, io: &mut Io<'_>, connection: &mut Connection, now_ns: u64) {
        let index = std::mem::replace(&mut connection.user, NOBODY);
        connection.phase = Phase::Leaving;
        let asked_to_close = self.requests_per_connection == Some(1);
        if asked_to_close && !io.peer_has_shut() {
            // Reset before it has said its last word, a target would see a client that went away.
            io.set_deadline(LEAVE_WITHIN_MS);
        } else {
            // All has been said: a reset spares both kernels the rest, and its socket begins the
            // next connection.
            io.close(Closing::Abort);
        }
        self.move_on(index, now_ns);
    }

    /// A user has lost its connection, or never had one: what it does next.
    pub(crate) fn move_on(&mut self, index: u32, now_ns: u64) {
        let is_open = self.is_open;
        let may_begin = self.may_begin();
        let Some(user) = self.user(index) else { return };
        user.connection = None;
        match user.state {
            UserState::Ended => return,
            _ if !may_begin => {
                user.state = UserState::Ended;
                return;
            }
            // Its alarm brings it back.
            UserState::Thinking => return,
            _ => user.state = UserState::Disconnected,
        }
        if is_open {
            return self.offer(index, now_ns);
        }
        user.due_ns = Some(now_ns);
        if user.failures > 0 {
            let wait = RETRY_AFTER * 2u32.saturating_pow(user.failures - 1).min(1 << 10);
            let at_ns = now_ns.saturating_add(ns(wait.min(RETRY_AFTER_MAX)));
            user.state = UserState::Thinking;
            self.alarms.push(Reverse((at_ns, index)));
        } else {
            user.state = UserState::Connecting;
            self.to_connect.push_back(index);
        }
    }

    /// Counts a failed request for a failed connection attempt.
    pub(crate) fn connect_failed(&mut self, index: u32, class: ErrorClass, now_ns: u64) {
        let may_begin = self.may_begin();
        if let Some(user) = self.user(index) {
            user.failures = user.failures.saturating_add(1);
            user.forget();
            // In open load a connection may be made in advance, and no request fails by it.
            let was_due = user.due_ns.take().is_some();
            user.state = UserState::Disconnected;
            if was_due && may_begin {
                self.count_begun();
                self.stats.bad(0, class);
            }
        }
        self.move_on(index, now_ns);
    }

    /// Everything that waits on a connection fails.
    pub(crate) fn fail_all(&mut self, connection: &mut Connection, class: ErrorClass, now_ns: u64) {
        while let Some(pending) = connection.take_front() {
            self.stats.leave(now_ns, pending.sent_ns);
            self.stats.bad(pending.step, class);
        }
        if let Some(user) = self.user(connection.user) {
            user.forget();
        }
    }
}

impl Users {
    /// Whether what happens now happens too late to count, however long the turn has taken.
    fn is_over(&self, now_ns: u64) -> bool {
        self.over_ns.is_some() || now_ns >= self.end_ns
    }

    /// Counts the outstanding requests of a connection at the end of the run.
    fn censor(&mut self, connection: &mut Connection) {
        let end_ns = self.over_ns.unwrap_or_else(|| now_ns().min(self.end_ns));
        while let Some(pending) = connection.take_front() {
            self.stats.leave(end_ns, pending.sent_ns);
            self.stats.censor(pending.due_ns, end_ns);
        }
    }
}

impl Protocol for Users {
    type Connection = Connection;
    type Message = Stop;

    fn on_accept(&mut self, _: &mut Io<'_>, _: &Accepted) -> Admission<Connection> {
        Admission::Drop
    }

    fn on_connect(&mut self, io: &mut Io<'_>, connection: &mut Connection) {
        let now_ns = now_ns();
        if self.is_over(now_ns) {
            return;
        }
        self.turn_ns.get_or_insert(now_ns);
        self.stats.interval.connections += 1;
        let took_ns = now_ns.saturating_sub(connection.begun_ns);
        self.stats.timings.connect.record_ns(took_ns);
        connection.phase = Phase::Open;
        if let Some(user) = self.user(connection.user) {
            user.failures = 0;
        }
        self.proceed(io, connection, now_ns);
    }

    fn on_data(&mut self, io: &mut Io<'_>, connection: &mut Connection, bytes: &[u8]) {
        let now_ns = now_ns();
        if self.is_over(now_ns) {
            return;
        }
        self.turn_ns.get_or_insert(now_ns);
        self.stats.received(bytes.len());
        self.read(io, connection, bytes, now_ns);
    }

    fn on_discarded(&mut self, io: &mut Io<'_>, connection: &mut Connection, bytes: usize) {
        let now_ns = now_ns();
        if self.is_over(now_ns) {
            return;
        }
        self.turn_ns.get_or_insert(now_ns);
        self.stats.received(bytes);
        self.skip(io, connection, bytes as u64, now_ns);
    }

    fn on_eof(&mut self, io: &mut Io<'_>, connection: &mut Connection) {
        let now_ns = now_ns();
        if self.is_over(now_ns) {
            return;
        }
        self.end_of_stream(io, connection, now_ns);
        io.close(Closing::Abort);
    }

    fn on_deadline(&mut self, io: &mut Io<'_>, connection: &mut Connection) {
        let now_ns = now_ns();
        if let (Phase::Open, Some(front)) = (connection.phase, connection.front()) {
            let waited_ms = now_ns.saturating_sub(front.sent_ns) / 1_000_000;
            if waited_ms < self.response_timeout_ms {
                return io.set_deadline(self.response_timeout_ms - waited_ms);
            }
            self.fail_all(connection, ErrorClass::Timeout, now_ns);
        }
        // `on_close` reports a connection that was not established.
        io.close(Closing::Abort);
    }

    fn on_close(&mut self, mut connection: Connection, reason: Reason) {
        let now_ns = now_ns();
        match (connection.phase, reason) {
            (Phase::Leaving, _) => {}
            (_, Reason::Stopped) => self.censor(&mut connection),
            // It ended in the very moment: what it owed is censored like the rest.
            _ if self.is_over(now_ns) => self.censor(&mut connection),
            (Phase::Connecting, Reason::Failed(errno)) => {
                self.connect_failed(connection.user, super::user::class_of(errno), now_ns);
            }
            (Phase::Connecting, _) => {
                self.connect_failed(connection.user, ErrorClass::Timeout, now_ns);
            }
            (Phase::Open, Reason::Failed(errno)) => {
                let class = match errno {
                    Errno::TIMEDOUT => ErrorClass::Timeout,
                    _ => ErrorClass::Reset,
                };
                self.fail_all(&mut connection, class, now_ns);
                self.move_on(connection.user, now_ns);
            }
            (Phase::Open, _) => {
                self.fail_all(&mut connection, ErrorClass::ClosedEarly, now_ns);
                self.move_on(connection.user, now_ns);
            }
        }
    }

    fn on_command(&mut self, _: Stop) {
        self.is_stopped = true;
    }

    fn on_sent(&mut self, _: &mut Io<'_>, _: &mut Connection) {}
    fn on_progress(&mut self, _: &mut Io<'_>, _: &mut Connection) {}
    fn on_message(&mut self, _: &mut Io<'_>, _: &mut Connection, _: Stop) {}
    fn on_drain(&mut self, _: &mut Io<'_>, _: &mut Connection) {}
}
