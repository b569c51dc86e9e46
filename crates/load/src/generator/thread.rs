//! The loop of one thread: begins connections, hands out what is due, closes intervals, and ends.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use rustix::io::Errno;
use vervet_engine::reactor::{Handle, Reactor, ReactorOptions};
use vervet_report::{Ended, Interval};

use super::report::{Finished, Report, Usage};
use super::stats::ThreadStats;
use super::user::UserState;
use super::users::{Stop, Users};
use crate::clock::{now_ns, ns, thread_cpu_ns};
use crate::collect::permille;
use crate::kernel::thread_waited_ns;
use crate::pacer::Schedule;
use crate::plan::{Load, Plan};
use crate::share::Share;

/// Maximum wait of the loop, in which it may miss changes without a wakeup.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// When a run begins, for all threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// On the clock.
    pub(crate) epoch_ns: u64,
}

/// The moments of a run, on the clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    pub(super) window: u64,
    pub(super) end: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    WarmUp,
    Window,
}

/// One thread of the generator.
pub(crate) struct Thread {
    pub(super) reactor: Reactor<Users>,
    pub(super) plan: Arc<Plan>,
    /// The number among the threads of this machine.
    number: usize,
    pub(super) share: Share,
    pub(super) reports: Sender<Report>,
    pub(super) schedule: Option<Schedule>,
    /// Follows the schedule by the clock alone, to count due requests whether or not a user was
    /// free.
    pub(super) calendar: Option<Schedule>,
    pub(super) moments: Moments,
    pub(super) stage: Stage,
    pub(super) interval_ns: u64,
    pub(super) interval: usize,
    pub(super) interval_cpu_ns: u64,
    pub(super) window_cpu_ns: u64,
    pub(super) window_usage: Usage,
    pub(super) window_waited_ns: u64,
    pub(super) asked: u64,
    /// The part of the interval that is under way.
    interval_asked: u64,
    pub(super) connects: u64,
    pub(super) next_connect_ns: u64,
    pub(super) users_made: u32,
}

impl Thread {
    /// A thread's part, with its users made and nothing begun. To be called on the thread that will
    /// run it.
    pub(crate) fn new(
        plan: &Arc<Plan>,
        share: Share,
        reports: Sender<Report>,
    ) -> Result<Self, Errno> {
        let users = Users::new(plan);
        let reactor = Reactor::new(ReactorOptions::uncapped(), |_, _| users)?;
        let mut thread = Self {
            reactor,
            plan: Arc::clone(plan),
            number: (share.index / plan.part.of) as usize,
            share,
            reports,
            schedule: None,
            calendar: None,
            moments: Moments { window: 0, end: u64::MAX },
            stage: Stage::WarmUp,
            interval_ns: ns(plan.interval),
            interval: 0,
            interval_cpu_ns: 0,
            window_cpu_ns: 0,
            window_usage: Usage::default(),
            window_waited_ns: 0,
            asked: 0,
            interval_asked: 0,
            connects: 0,
            next_connect_ns: 0,
            users_made: 0,
        };
        let users = thread.share.part(plan.connections.into());
        thread.add_users(u32::try_from(users).unwrap_or(u32::MAX));
        Ok(thread)
    }

    /// A way to speak to it from other threads.
    pub(crate) fn handle(&self) -> Handle<Stop> {
        self.reactor.handle()
    }

    /// Makes the load until the plan is done, and reports.
    pub(crate) fn run(mut self, start: Start) -> Result<(), Errno> {
        while let lead_ns @ 1.. = start.epoch_ns.saturating_sub(now_ns()) {
            self.reactor.turn_within(Duration::from_nanos(lead_ns))?;
        }
        self.begin(start);
        loop {
            let now = now_ns();
            self.pass_moments(now);
            if let Some(ended) = self.is_over(now) {
                return self.finish(now, ended);
            }
            self.ring_alarms(now);
            self.hand_out(now);
            self.connect_some(now);
            let wait = self.wait(now_ns());
            self.reactor.turn_within(wait)?;
            self.note_lag();
        }
    }

    pub(super) fn users(&mut self) -> &mut Users {
        self.reactor.protocol_mut()
    }

    fn begin(&mut self, start: Start) {
        // Without effect where it is not allowed: then timers are 50 us late.
        if let Some(nanosecond) = std::num::NonZeroU64::new(1) {
            let _ = rustix::thread::set_current_timer_slack(Some(nanosecond));
        }
        let window_ns = start.epoch_ns.saturating_add(ns(self.plan.warm_up));
        let length = self.plan.duration.map_or(u64::MAX, ns);
        self.moments.window = window_ns;
        self.moments.end = window_ns.saturating_add(length);
        self.next_connect_ns = start.epoch_ns;
        let end_ns = self.moments.end;
        if let Load::Open { pacer, arrival } = &self.plan.load {
            let schedule = Schedule::new(Arc::clone(pacer), *arrival, self.share, start.epoch_ns);
            self.calendar = Some(schedule.clone());
            self.schedule = Some(schedule);
        }
        let users = self.users();
        users.epoch_ns = start.epoch_ns;
        users.end_ns = end_ns;
        users.stats.open_window(start.epoch_ns);
    }

    /// Whether the run is over, and how.
    fn is_over(&mut self, now: u64) -> Option<Ended> {
        if self.users().is_stopped {
            return Some(Ended::Interrupted);
        }
        if now >= self.moments.end {
            return Some(Ended::AsAsked);
        }
        let users = self.reactor.protocol();
        if users.stats.in_flight() > 0 || self.stage == Stage::WarmUp {
            return None;
        }
        if !users.may_begin() {
            return Some(Ended::AsAsked);
        }
        // With users that come and go by request of others, none at all may be what is wanted for a
        // while.
        let exhausted =
            users.exhausted > 0 && users.all.iter().all(|user| user.state == UserState::Ended);
        let never_due = self.schedule.as_ref().is_some_and(|it| it.next_ns().is_none());
        match () {
            () if exhausted => Some(Ended::Exhausted),
            () if never_due && self.moments.end == u64::MAX => Some(Ended::Exhausted),
            () => None,
        }
    }

    /// Time until something other than reading responses is due.
    fn wait(&mut self, now: u64) -> Duration {
        let boundary = match self.stage {
            Stage::WarmUp => self.moments.window,
            Stage::Window => {
                let intervals = (self.interval as u64 + 1).saturating_mul(self.interval_ns);
                let boundary = self.moments.window.saturating_add(intervals);
                boundary.min(self.moments.end)
            }
        };
        let users = self.reactor.protocol();
        let alarm = users.alarms.peek().map(|Reverse((at, _))| *at);
        let somebody_is_free = !users.free.is_empty() && users.may_begin();
        let due = self.schedule.as_ref().and_then(Schedule::next_ns);
        let due = due.filter(|_| somebody_is_free);
        let connect = (!users.to_connect.is_empty()).then_some(match self.plan.connect_rate {
            Some(_) => self.next_connect_ns,
            None => now,
        });
        let next = [alarm, due, connect].into_iter().flatten();
        let next = next.fold(boundary, u64::min);
        Duration::from_nanos(next.saturating_sub(now)).min(WAIT_MAX)
    }

    /// How late the last event of the turn was looked at, at most: since its first.
    fn note_lag(&mut self) {
        let users = self.reactor.protocol_mut();
        if let Some(begun_ns) = users.turn_ns.take() {
            let lag = now_ns().saturating_sub(begun_ns);
            users.stats.late(lag);
        }
    }

    fn finish(mut self, now: u64, ended: Ended) -> Result<(), Errno> {
        let end_ns = now.min(self.moments.end);
        let cpu_ns = thread_cpu_ns().saturating_sub(self.window_cpu_ns);
        let usage = Usage::of_this_thread().since(self.window_usage);
        let waited_ns = thread_waited_ns().unwrap_or(0);
        self.close_interval(end_ns);
        let schedule = self.schedule.take();
        let users = self.reactor.protocol_mut();
        users.stats.integrate(end_ns);
        let answers = users.all.iter().map(|user| user.answers).collect();
        // Those that were due and nobody was free for: counted, not visited, as they may be
        // millions.
        if let (Some(schedule), Some(calendar)) = (schedule, &self.calendar)
            && users.may_begin()
            && let Some(due_ns) = schedule.next_ns().filter(|due_ns| *due_ns < end_ns)
        {
            let count = calendar.passed().saturating_sub(schedule.passed());
            users.stats.censor_many(count, due_ns, end_ns);
        }
        let waiting: Vec<u64> = users.all.iter().filter_map(|user| user.due_ns).collect();
        if users.may_begin() {
            for due in waiting {
                users.stats.censor(due, end_ns);
            }
        }
        users.over_ns = Some(end_ns);
        self.reactor.handle().stop();
        while !self.reactor.turn()?.done {}
        let users = self.reactor.protocol_mut();
        let scripts = Arc::clone(&self.plan.scripts);
        let stats = std::mem::replace(&mut users.stats, ThreadStats::new(scripts));
        let finished = Finished {
            stats,
            asked: self.asked,
            end_ns,
            cpu_ns,
            waited_ns: waited_ns.saturating_sub(self.window_waited_ns),
            usage,
            answers,
            ended,
        };
        let _ = self.reports.send(Report::Finished(self.number, Box::new(finished)));
        Ok(())
    }

    /// The window opens, and intervals are closed, by the clock.
    fn pass_moments(&mut self, now: u64) {
        if self.stage == Stage::WarmUp && now >= self.moments.window {
            self.stage = Stage::Window;
            let window_ns = self.moments.window;
            self.count_due(window_ns);
            self.interval_asked = 0;
            self.window_cpu_ns = thread_cpu_ns();
            self.interval_cpu_ns = self.window_cpu_ns;
            self.window_usage = Usage::of_this_thread();
            self.window_waited_ns = thread_waited_ns().unwrap_or(0);
            let left = self.plan.requests.map(|all| self.share.part(all));
            let users = self.users();
            // Those under way end in the window, and count there.
            let under_way = users.stats.in_flight();
            users.left = left.map(|left| left.saturating_sub(under_way));
            users.stats.open_window(window_ns);
            for user in &mut users.all {
                user.answers = 0;
            }
        }
        while self.stage == Stage::Window {
            let number = self.interval as u64 + 1;
            let boundary = number.saturating_mul(self.interval_ns);
            let boundary = self.moments.window.saturating_add(boundary);
            if now < boundary || boundary > self.moments.end {
                break;
            }
            self.close_interval(boundary);
        }
        // In each turn those that it brought: random ones, all at once at the end of an interval,
        // would hold up the run.
        self.count_due(now.min(self.moments.end));
    }

    fn close_interval(&mut self, boundary: u64) {
        self.count_due(boundary);
        let asked = std::mem::take(&mut self.interval_asked);
        self.asked += asked;
        let cpu_ns = thread_cpu_ns();
        let begun = self.interval as u64 * self.interval_ns;
        let begun = self.moments.window.saturating_add(begun);
        let users = self.users();
        let connections = users.open_connections();
        let lag_ns = users.stats.take_interval_lag_ns();
        let (tally, response) = users.stats.close_interval();
        let length_ns = boundary.saturating_sub(begun);
        let is_empty = tally.done == 0 && tally.errors.total() == 0;
        // The end of the run at a boundary leaves an interval without length.
        if length_ns >= 1_000_000 || !is_empty {
            let interval = Interval {
                start_ms: self.interval as u64 * self.interval_ns / 1_000_000,
                length_ms: length_ns / 1_000_000,
                asked: self.calendar.is_some().then_some(asked),
                done: tally.done,
                errors: tally.errors,
                bytes: tally.bytes_received,
                generator_cpu_permille: permille(
                    cpu_ns.saturating_sub(self.interval_cpu_ns),
                    length_ns,
                ),
                generator_lag_ns: lag_ns,
                connections,
                ..Interval::default()
            };
            let interval = Box::new(interval.with_response(&response));
            // Fails if the run was dropped.
            let _ = self.reports.send(Report::Interval(self.number, interval));
        }
        self.interval_cpu_ns = cpu_ns;
        self.interval += 1;
    }

    /// Counts the requests that became due before a moment and were not counted before.
    fn count_due(&mut self, before_ns: u64) {
        if let Some(calendar) = &mut self.calendar {
            self.interval_asked += calendar.pass(before_ns);
        }
    }
}
