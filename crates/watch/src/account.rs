//! What a tree has used, processes that have ended included, and nothing twice. No I/O.
//!
//! The kernel keeps two accounts of a process: what it has used itself, and what those of its
//! children used that it has reaped, with theirs. So the sum over the living is complete, if the
//! reaped of each is counted. Two things spoil that: a child that nobody in the tree reaps (its
//! parent has ended, or ignores its children) takes its account with it, and the accounts of the
//! reaped are in hundredths of a second, our readings in nanoseconds. Therefore what was last read
//! of a child that has ended stays counted, and of what its parent reaped only the surplus comes on
//! top:
//!
//! ```text
//! total = sum over all processes ever seen of own since the beginning
//!       + sum over the same of max(0, reaped since the beginning
//!                                     - last reading of children that have ended)
//! ```

use std::collections::HashMap;

/// What is counted both for a process and for the children that it has reaped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    /// Processor time in microseconds.
    pub(crate) cpu_us: u64,
    /// The part of it in the kernel.
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

    /// The greater of each.
    pub(crate) fn max(self, other: Self) -> Self {
        self.with(other, u64::max)
    }
}

/// Since when a process counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Birth {
    /// It was there before the watch began: what it had used by then does not count.
    Before,
    /// It began during the watch.
    Since,
}

/// Both accounts of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) parent: u32,
    pub(crate) own: Counters,
    pub(crate) reaped: Counters,
}

#[derive(Debug)]
struct Entry {
    base: Reading,
    latest: Reading,
    /// What was read of processes below that have ended.
    ended: Counters,
}

impl Entry {
    /// What it reaped and nobody read before.
    fn surplus(&self) -> Counters {
        let reaped = self.latest.reaped.minus(self.base.reaped);
        reaped.minus(self.ended)
    }

    fn used(&self) -> Counters {
        let own = self.latest.own.minus(self.base.own);
        own.plus(self.surplus())
    }

    /// What its parent's account grows by, at least, when it is reaped.
    fn whole(&self) -> Counters {
        let reaped = self.latest.reaped.minus(self.base.reaped);
        let below = self.base.reaped.plus(reaped.max(self.ended));
        self.latest.own.plus(below)
    }
}

/// The account of a tree.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    entries: HashMap<u32, Entry>,
    /// Of processes that have ended.
    settled: Counters,
}

impl Ledger {
    /// A process is new in the tree.
    pub(crate) fn begin(&mut self, pid: u32, reading: Reading, birth: Birth) {
        let base = match birth {
            Birth::Before => reading,
            Birth::Since => Reading::default(),
        };
        let entry = Entry {
            base,
            latest: reading,
            ended: Counters::default(),
        };
        self.entries.insert(pid, entry);
    }

    /// A process was read again.
    pub(crate) fn update(&mut self, pid: u32, reading: Reading) {
        if let Some(entry) = self.entries.get_mut(&pid) {
            entry.latest = reading;
        }
    }

    /// Processes that exited at once: a process that exited with its parent was reaped by the
    /// nearest remaining ancestor.
    pub(crate) fn end(&mut self, gone: &[u32]) {
        for pid in gone {
            let Some(whole) = self.entries.get(pid).map(Entry::whole) else {
                continue;
            };
            if let Some(above) = self.survivor_above(*pid, gone) {
                above.ended = above.ended.plus(whole);
            }
        }
        for pid in gone {
            if let Some(entry) = self.entries.remove(pid) {
                self.settled = self.settled.plus(entry.used());
            }
        }
    }

    fn survivor_above(&mut self, pid: u32, gone: &[u32]) -> Option<&mut Entry> {
        let mut pid = pid;
        // Each step goes to a parent; the bound is against numbers that were used twice and now
        // form a circle.
        for _ in 0..=gone.len() {
            pid = self.entries.get(&pid)?.latest.parent;
            if !gone.contains(&pid) {
                return self.entries.get_mut(&pid);
            }
        }
        None
    }

    /// Forgets what was used until now: from here on it counts.
    pub(crate) fn rebase(&mut self) {
        self.settled = Counters::default();
        for entry in self.entries.values_mut() {
            entry.base = entry.latest;
            entry.ended = Counters::default();
        }
    }

    /// What the tree has used since the watch began.
    pub(crate) fn total(&self) -> Counters {
        let living = self.entries.values().map(Entry::used);
        living.fold(self.settled, Counters::plus)
    }
}

#[cfg(test)]
mod tests;
