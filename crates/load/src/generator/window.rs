//! The window of a run and its intervals, on one thread.

use super::report::{Piece, Report, Usage};
use super::thread::{Stage, Thread};
use crate::clock::thread_cpu_ns;
use crate::kernel::thread_waited_ns;

impl Thread {
    /// The window opens, and intervals are closed, by the clock.
    pub(super) fn pass_moments(&mut self, now: u64) {
        if self.stage == Stage::WarmUp && now >= self.moments.window {
            self.stage = Stage::Window;
            let window_ns = self.moments.window;
            self.count_due(window_ns);
            self.window_cpu_ns = thread_cpu_ns();
            self.interval_cpu_ns = self.window_cpu_ns;
            self.window_usage = Usage::of_this_thread();
            self.window_waited_ns = thread_waited_ns().unwrap_or(0);
            let left = self.plan.requests.map(|all| self.share.part(all));
            let users = self.users();
            // Those under way end in the window, and count there.
            let under_way = users.book.in_flight();
            users.left = left.map(|left| left.saturating_sub(under_way));
            users.book.open_window(window_ns);
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
    }

    pub(super) fn close_interval(&mut self, boundary: u64) {
        let asked = self.count_due(boundary);
        self.asked += asked;
        let cpu_ns = thread_cpu_ns();
        let begun = self.interval as u64 * self.interval_ns;
        let begun = self.moments.window.saturating_add(begun);
        let users = self.users();
        let connections = users.open_connections();
        let lag_ns = users.book.take_interval_lag_ns();
        let (tally, response) = users.book.close_interval();
        // Fails when nobody listens any more, and then nobody needs it.
        let _ = self.reports.send(Report::Piece(Box::new(Piece {
            number: self.interval,
            length_ns: boundary.saturating_sub(begun),
            asked,
            tally,
            response,
            lag_ns,
            connections,
            cpu_ns: cpu_ns.saturating_sub(self.interval_cpu_ns),
        })));
        self.interval_cpu_ns = cpu_ns;
        self.interval += 1;
    }

    /// Requests that became due before a moment and were not counted before.
    pub(super) fn count_due(&mut self, before_ns: u64) -> u64 {
        let mut count = 0;
        if let Some(calendar) = &mut self.calendar {
            while calendar.next_ns().is_some_and(|due| due < before_ns) {
                calendar.advance();
                count += 1;
            }
        }
        count
    }
}
