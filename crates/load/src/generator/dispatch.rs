//! Dispatches users whose think time is over, due requests, and new connections.

use std::cmp::Reverse;
use std::time::Duration;

use vervet_engine::reactor::Closing;

use super::connection::Connection;
use super::thread::Thread;
use super::user::{User, UserState};
use super::users::{Outcome, Users};
use crate::clock::{now_ns, ns};
use crate::pacer::Schedule;
use crate::plan::Load;

/// Maximum requests handed out per round, so that responses are read in between.
const DUE_PER_ROUND_MAX: usize = 256;
/// Connections begun in one round.
const CONNECTS_PER_ROUND_MAX: usize = 64;

impl Thread {
    pub(super) fn add_users(&mut self, count: u32) {
        let is_open = matches!(self.plan.load, Load::Open { .. });
        // A connection made in advance would hide what it costs, where each request is to have its
        // own.
        let in_advance = !is_open || self.plan.requests_per_connection() != Some(1);
        for _ in 0..count {
            let number = self.users_made * self.share.of + self.share.index;
            self.users_made += 1;
            let mut user = User::new(self.plan.scripts.user(number));
            let users = self.reactor.protocol_mut();
            let index = u32::try_from(users.all.len()).unwrap_or(u32::MAX);
            if in_advance {
                user.state = UserState::Connecting;
                users.to_connect.push_back(index);
            }
            users.all.push(user);
            if !in_advance {
                users.offer(index, 0);
            }
        }
        let users = self.reactor.protocol_mut();
        // One entry a user at most: no memory is asked for while the load is made.
        users.alarms.reserve(users.all.len());
        users.free.reserve(users.all.len());
        users.to_connect.reserve(users.all.len());
    }

    /// Users whose time of thinking is over go on.
    pub(super) fn ring_alarms(&mut self, now: u64) {
        while let Some(Reverse((at_ns, index))) = self.users().alarms.peek().copied() {
            if at_ns > now {
                return;
            }
            self.users().alarms.pop();
            let is_open = self.schedule.is_some();
            let Some(user) = self.users().user(index) else {
                continue;
            };
            if user.state != UserState::Thinking {
                continue;
            }
            let token = user.connection;
            if is_open {
                user.state =
                    if token.is_some() { UserState::Free } else { UserState::Disconnected };
                self.users().offer(index, now);
                continue;
            }
            user.due_ns = Some(at_ns);
            self.users().stats.late(now.saturating_sub(at_ns));
            match token {
                Some(token) => {
                    self.reactor.visit(token, |users, io, connection| {
                        users.proceed(io, connection, now_ns());
                    });
                }
                None => {
                    user_connects(self.users(), index);
                }
            }
        }
    }

    /// Hands due requests to free users. Without a free user they stay in the schedule, which takes
    /// no memory.
    pub(super) fn hand_out(&mut self, now: u64) {
        for _ in 0..DUE_PER_ROUND_MAX {
            let due = self.schedule.as_ref().and_then(Schedule::next_ns);
            let Some(due_ns) = due.filter(|due| *due <= now) else {
                return;
            };
            if !self.users().may_begin() {
                return;
            }
            let Some(index) = self.users().free.pop_front() else {
                return;
            };
            if self.hand_over(index, due_ns) == Handover::Accepted
                && let Some(schedule) = &mut self.schedule
            {
                schedule.advance();
            }
        }
    }

    /// Hands a due request to a user, if it is still free.
    fn hand_over(&mut self, index: u32, due_ns: u64) -> Handover {
        let users = self.users();
        let Some(user) = users.user(index) else {
            return Handover::Refused;
        };
        user.queued = false;
        let now = now_ns();
        // Before a user was free, the request waited for the target: that is in its response time,
        // and no lag of the generator.
        let lag_ns = now.saturating_sub(due_ns.max(user.free_since_ns));
        match (user.state, user.connection) {
            (UserState::Free, Some(token)) => {
                let asked = self.reactor.visit(token, |users, io, connection| {
                    users.stats.late(lag_ns);
                    let asked = users.ask(io, connection, due_ns, now);
                    if asked == Outcome::Ended {
                        io.close(Closing::AfterSent);
                    }
                    asked
                });
                match asked {
                    Some(Outcome::Sent) => Handover::Accepted,
                    _ => Handover::Refused,
                }
            }
            (UserState::Disconnected, _) => {
                user.due_ns = Some(due_ns);
                users.stats.late(lag_ns);
                user_connects(users, index);
                Handover::Accepted
            }
            _ => Handover::Refused,
        }
    }

    /// Opens the connections that users need, at most at the connect rate.
    pub(super) fn connect_some(&mut self, now: u64) {
        for _ in 0..CONNECTS_PER_ROUND_MAX {
            if self.plan.connect_rate.is_some() && now < self.next_connect_ns {
                return;
            }
            let Some(index) = self.users().to_connect.pop_front() else {
                return;
            };
            if let Some(rate) = self.plan.connect_rate {
                let gap = Duration::from_secs_f64((f64::from(self.share.of) / rate).min(1e9));
                // Not in arrears: a rate that was not needed is not made up for.
                self.next_connect_ns = self.next_connect_ns.max(now).saturating_add(ns(gap));
            }
            self.connect(index);
        }
    }

    fn connect(&mut self, index: u32) {
        let users = self.users();
        let connect_timeout_ms = users.connect_timeout_ms();
        if users.user(index).is_none() {
            return;
        }
        let begun_ns = now_ns();
        // In closed load a user's first request is due when it begins to connect.
        if self.schedule.is_none() {
            let user = self.users().user(index);
            if let Some(user) = user {
                user.due_ns.get_or_insert(begun_ns);
            }
        }
        let at = self.connects * u64::from(self.share.of) + u64::from(self.share.index);
        self.connects += 1;
        let addresses = self.plan.outgoing.len().max(1) as u64;
        let Some(outgoing) = self.plan.outgoing.get(usize::try_from(at % addresses).unwrap_or(0))
        else {
            return;
        };
        match self.reactor.connect(outgoing, Connection::new(index, begun_ns)) {
            Ok(token) => {
                if let Some(user) = self.users().user(index) {
                    user.connection = Some(token);
                }
                self.reactor.visit(token, |_, io, _| io.set_deadline(connect_timeout_ms));
            }
            Err(errno) => {
                let class = super::user::class_of(errno);
                self.users().connect_failed(index, class, begun_ns);
            }
        }
    }
}

fn user_connects(users: &mut Users, index: u32) {
    if let Some(user) = users.user(index) {
        user.state = UserState::Connecting;
        users.to_connect.push_back(index);
    }
}

/// Whether a due request was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handover {
    Accepted,
    Refused,
}
