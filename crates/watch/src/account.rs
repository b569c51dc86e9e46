//! The usage of a process tree, including processes that have exited, each counted once. No I/O.
//!
//! The kernel has two counters for a process: its own usage, and that of the children that it has
//! reaped, including their own reaped children. So the sum of both over the running processes is
//! complete, with two exceptions: the usage of a child that no process of the tree reaps (its
//! parent has exited, or ignores its children) is lost, and the usage of reaped children has a
//! resolution of 10 ms, while our readings have nanoseconds. Therefore the last reading of a child
//! that has exited stays counted, and only the surplus of what its parent reaped is added:
//!
//! ```text
//! total = sum over all processes ever seen of own usage since the beginning
//!       + sum over the same of max(0, reaped since the beginning
//!                                     - last readings of children that have exited)
//! ```

use std::collections::HashMap;

/// The counters of a process, or of the children that it has reaped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    /// CPU time in microseconds.
    pub(crate) cpu_us: u64,
    /// Its share in kernel mode, in microseconds.
    pub(crate) system_us: u64,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
}

impl Counters {
    fn with(self, other: Self, operation: fn(u64, u64) -> u64) -> Self {
        Self {
            cpu_us: operation(self.cpu_us, other.cpu_us),
            system_us: operation(self.system_us, other.system_us),
            minor_faults: operation(self.minor_faults, other.minor_faults),
            major_faults: operation(self.major_faults, other.major_faults),
        }
    }

    fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    fn minus(self, other: Self) -> Self {
        self.with(other, u64::saturating_sub)
    }

    /// The maximum of each counter.
    pub(crate) fn max(self, other: Self) -> Self {
        self.with(other, u64::max)
    }
}

/// When a process started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Started {
    /// Before the watch: its usage up to then does not count.
    BeforeWatch,
    /// During the watch: all of its usage counts.
    DuringWatch,
}

/// The usage of a process and of its reaped children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) parent: u32,
    pub(crate) own: Counters,
    pub(crate) reaped: Counters,
}

#[derive(Debug)]
struct ProcessAccount {
    base: Reading,
    latest: Reading,
    /// The last readings of child processes that have exited.
    ended: Counters,
}

impl ProcessAccount {
    /// The usage of reaped children that was not read before they exited.
    fn surplus(&self) -> Counters {
        let reaped = self.latest.reaped.minus(self.base.reaped);
        reaped.minus(self.ended)
    }

    fn used(&self) -> Counters {
        let own = self.latest.own.minus(self.base.own);
        own.plus(self.surplus())
    }

    /// The minimum increase of its parent's counters when it is reaped.
    fn whole(&self) -> Counters {
        let reaped = self.latest.reaped.minus(self.base.reaped);
        let below = self.base.reaped.plus(reaped.max(self.ended));
        self.latest.own.plus(below)
    }
}

/// The usage of a tree.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    processes: HashMap<u32, ProcessAccount>,
    /// The usage of processes that have exited.
    settled: Counters,
}

impl Ledger {
    /// Adds a process to the tree.
    pub(crate) fn begin(&mut self, pid: u32, reading: Reading, started: Started) {
        let base = match started {
            Started::BeforeWatch => reading,
            Started::DuringWatch => Reading::default(),
        };
        let account = ProcessAccount { base, latest: reading, ended: Counters::default() };
        self.processes.insert(pid, account);
    }

    /// Updates the reading of a process.
    pub(crate) fn update(&mut self, pid: u32, reading: Reading) {
        if let Some(account) = self.processes.get_mut(&pid) {
            account.latest = reading;
        }
    }

    /// Removes processes that have exited. If a parent has exited too, the nearest remaining
    /// ancestor has reaped the process.
    pub(crate) fn end(&mut self, gone: &[u32]) {
        for pid in gone {
            let Some(whole) = self.processes.get(pid).map(ProcessAccount::whole) else {
                continue;
            };
            if let Some(above) = self.survivor_above(*pid, gone) {
                above.ended = above.ended.plus(whole);
            }
        }
        for pid in gone {
            if let Some(account) = self.processes.remove(pid) {
                self.settled = self.settled.plus(account.used());
            }
        }
    }

    fn survivor_above(&mut self, pid: u32, gone: &[u32]) -> Option<&mut ProcessAccount> {
        let mut pid = pid;
        // Each step goes to a parent. The bound is for process IDs that were reused and now form a
        // circle.
        for _ in 0..=gone.len() {
            pid = self.processes.get(&pid)?.latest.parent;
            if !gone.contains(&pid) {
                return self.processes.get_mut(&pid);
            }
        }
        None
    }

    /// Starts counting from the latest readings.
    pub(crate) fn rebase(&mut self) {
        self.settled = Counters::default();
        for account in self.processes.values_mut() {
            account.base = account.latest;
            account.ended = Counters::default();
        }
    }

    /// The usage of the tree since the watch began.
    pub(crate) fn total(&self) -> Counters {
        let living = self.processes.values().map(ProcessAccount::used);
        living.fold(self.settled, Counters::plus)
    }
}

#[cfg(test)]
mod tests;
