//! Reports of a thread, while it runs and at the end.

use vervet_report::{Ended, Interval};

use super::stats::ThreadStats;

/// A report of a thread, with its number.
pub(crate) enum Report {
    /// An interval of the window has ended.
    Interval(usize, Box<Interval>),
    /// The thread has ended.
    Finished(usize, Box<Finished>),
}

/// The results of a thread.
pub(crate) struct Finished {
    pub(crate) stats: ThreadStats,
    pub(crate) asked: u64,
    /// When its window ended, on the clock.
    pub(crate) end_ns: u64,
    pub(crate) cpu_ns: u64,
    /// How long it waited for a processor in its window; 0 if the kernel does not report it.
    pub(crate) waited_ns: u64,
    pub(crate) usage: Usage,
    pub(crate) answers: Vec<u64>,
    pub(crate) ended: Ended,
}

/// The CPU time of a thread, in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) user_us: u64,
    pub(crate) system_us: u64,
}

impl Usage {
    pub(super) fn of_this_thread() -> Self {
        use nix::sys::resource::{UsageWho, getrusage};
        let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else {
            return Self::default();
        };
        let us = |time: nix::sys::time::TimeVal| {
            u64::try_from(time.tv_sec() * 1_000_000 + time.tv_usec()).unwrap_or(0)
        };
        Self { user_us: us(usage.user_time()), system_us: us(usage.system_time()) }
    }

    pub(super) fn since(self, before: Self) -> Self {
        Self {
            user_us: self.user_us.saturating_sub(before.user_us),
            system_us: self.system_us.saturating_sub(before.system_us),
        }
    }
}
