//! Follows a process tree: the caller polls it for samples.
//!
//! Each sample reads CPU time, memory, faults and the numbers of processes and threads: a
//! clock and two files per process, all kept open. Expensive values are read less often, and use no
//! more than a thousandth of a core.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::account::Counters;
use crate::cgroup::Cgroup;
use crate::clock::thread_cpu;
use crate::find::{FindError, Resolved, find};
use crate::host::HostFiles;
use crate::kernel_file::Reader;
use crate::process::{ChildLookup, Units};
use crate::sample::{CgroupSample, Cpu, Faults, Root, Sample};
use crate::target::Target;
use crate::tree::{CountFrom, Membership, Tree, TreeSample};

/// The shortest interval of expensive values: PSS, swap, descriptors, sockets, switches, and
/// children of other threads than the main one.
const DETAIL_EVERY: Duration = Duration::from_secs(1);

/// The shortest interval of readings of the host.
const HOST_EVERY: Duration = Duration::from_secs(1);

/// How long a successor of a root that has exited is looked for by name, port or cgroup, as it may
/// be restarted.
const RETURN_PATIENCE: Duration = Duration::from_secs(2);

/// Where procfs is mounted.
const PROC: &str = "/proc";

/// Source of the CPU time of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Account {
    /// The processes, and the counters of the parents of processes that have exited.
    Processes,
    /// The kernel's accounting of the cgroup.
    Cgroup,
}

/// The processes that are watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    /// The target as given.
    pub target: String,
    /// The root processes of the tree.
    pub roots: Vec<Root>,
    /// The cgroup that is watched, or that no process outside of the tree is in.
    pub cgroup: Option<PathBuf>,
    /// Source of the CPU time.
    pub account: Account,
}

/// Which expensive values a sample reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    AsDue,
    Everything,
}

/// Follows a process tree.
#[derive(Debug)]
pub struct Watcher {
    target: Target,
    proc: PathBuf,
    reader: Reader,
    units: Units,
    tree: Tree,
    account: Account,
    cgroup: Option<OwnCgroup>,
    host: HostFiles,
    detail_pace: Pace,
    host_pace: Pace,
    begin: Option<Instant>,
    latest: Sample,
    /// Until when a successor of a root that has exited is looked for.
    looking_until: Option<Instant>,
}

/// The cgroup of a tree, and its counters at the first sample.
#[derive(Debug)]
struct OwnCgroup {
    cgroup: Cgroup,
    base: Option<CgroupSample>,
    /// The usage of a former cgroup of the same name.
    settled: Cpu,
}

impl Watcher {
    /// Finds the target. The count starts with the first sample.
    pub fn open(target: &Target) -> Result<Self, FindError> {
        Self::open_below(Path::new(PROC), target, CountFrom::FirstSample)
    }

    /// Watches a process that was just started, and counts from its start. The caller should not
    /// reap it before [`Watcher::has_ended`]: until then the kernel still reports its usage.
    pub fn open_child(pid: u32) -> Result<Self, FindError> {
        Self::open_below(Path::new(PROC), &Target::Pid(pid), CountFrom::ProcessStart)
    }

    fn open_below(proc: &Path, target: &Target, begin: CountFrom) -> Result<Self, FindError> {
        let mut reader = Reader::default();
        let found = find(proc, target, &mut reader)?;
        let mut tree = Tree::new(proc, begin);
        let mut account = Account::Processes;
        let cgroup = match found {
            Resolved::Roots(roots) => {
                for pid in roots {
                    tree.add_root(pid, &mut reader);
                }
                let first = tree.roots().next();
                let first = first.ok_or_else(|| FindError::NotFound(target.clone()))?;
                Cgroup::of_process(proc, first.pid, &mut reader)
            }
            Resolved::Cgroup(cgroup) => {
                account = Account::Cgroup;
                Some(*cgroup)
            }
        };
        let first = tree.roots().next().map_or(0, |root| root.pid);
        Ok(Self {
            target: target.clone(),
            proc: proc.to_owned(),
            reader,
            units: Units::here(),
            tree,
            account,
            cgroup: cgroup.map(|cgroup| OwnCgroup { cgroup, base: None, settled: Cpu::default() }),
            host: HostFiles::new(proc, first),
            detail_pace: Pace::every(DETAIL_EVERY),
            host_pace: Pace::every(HOST_EVERY),
            begin: None,
            latest: Sample::default(),
            looking_until: None,
        })
    }

    /// Takes a sample. The first call starts the count.
    pub fn sample(&mut self, now: Instant) -> Sample {
        self.take(now, Depth::AsDue)
    }

    /// Takes a sample with all values, for the begin and the end of an interval.
    pub fn sample_all(&mut self, now: Instant) -> Sample {
        self.take(now, Depth::Everything)
    }

    /// The processes that are watched. The roots of a cgroup are known after the first sample.
    pub fn subject(&self) -> Subject {
        Subject {
            target: self.target.to_string(),
            roots: self.tree.roots().cloned().collect(),
            cgroup: self.cgroup.as_ref().map(|own| own.cgroup.name.clone()),
            account: self.account,
        }
    }

    /// Whether all processes have exited, without a successor by name, port or cgroup.
    pub fn has_ended(&self) -> bool {
        let may_return = self.looking_until.is_some()
            || (self.tree.has_new_loss() && !matches!(self.target, Target::Pid(_)));
        self.begin.is_some() && self.tree.has_ended() && !may_return
    }

    fn take(&mut self, now: Instant, depth: Depth) -> Sample {
        let cost_before = thread_cpu();
        let begin = *self.begin.get_or_insert(now);
        let is_due = |pace: &Pace| depth == Depth::Everything || pace.is_due(now);
        let (detail_due, host_due) = (is_due(&self.detail_pace), is_due(&self.host_pace));
        let lookup = if detail_due { ChildLookup::AllThreads } else { ChildLookup::MainThread };
        self.find_successor(now);
        let look = self.sample_tree(lookup);
        let mut sample = Self::cheap(look);
        sample.at_us =
            u64::try_from(now.saturating_duration_since(begin).as_micros()).unwrap_or(u64::MAX);
        if detail_due || self.account == Account::Cgroup {
            self.read_cgroup(&mut sample, lookup);
        }
        if detail_due {
            let before = thread_cpu();
            sample.detail = Some(self.tree.detail(&mut self.reader));
            self.detail_pace.took(now, thread_cpu().saturating_sub(before));
        }
        if host_due {
            let before = thread_cpu();
            sample.host = self.host.read(self.units, &mut self.reader);
            self.host_pace.took(now, thread_cpu().saturating_sub(before));
        }
        sample.events = self.tree.take_events();
        // The last reading of a process that exits may be less than the one before: counters never
        // decrease.
        sample.cpu = forward(self.latest.cpu, sample.cpu);
        sample.faults.minor = sample.faults.minor.max(self.latest.faults.minor);
        sample.faults.major = sample.faults.major.max(self.latest.faults.major);
        let cost = thread_cpu().saturating_sub(cost_before);
        sample.cost_us = u64::try_from(cost.as_micros()).unwrap_or(u64::MAX);
        self.latest.cpu = sample.cpu;
        self.latest.faults = sample.faults;
        sample
    }

    fn sample_tree(&mut self, lookup: ChildLookup) -> TreeSample {
        match (&mut self.cgroup, self.account) {
            (Some(own), Account::Cgroup) => {
                let membership = Membership::Cgroup(&mut own.cgroup);
                let look = self.tree.sample(membership, lookup, &mut self.reader);
                if self.tree.roots().next().is_none() {
                    self.tree.name_roots();
                    let first = self.tree.roots().next().map_or(0, |root| root.pid);
                    self.host = HostFiles::new(&self.proc, first);
                }
                look
            }
            _ => self.tree.sample(Membership::Descent, lookup, &mut self.reader),
        }
    }

    /// After a root has exited: a process that matches the target now took its place.
    fn find_successor(&mut self, now: Instant) {
        let is_new = self.tree.take_new_loss();
        if matches!(self.target, Target::Pid(_)) || (!is_new && self.looking_until.is_none()) {
            return;
        }
        if is_new {
            self.looking_until = now.checked_add(RETURN_PATIENCE);
        }
        let came_back = match find(&self.proc, &self.target, &mut self.reader) {
            Ok(Resolved::Roots(pids)) => {
                let came = pids
                    .into_iter()
                    .filter(|pid| self.tree.add_root(*pid, &mut self.reader).is_some());
                came.count() > 0
            }
            Ok(Resolved::Cgroup(cgroup)) => {
                self.follow_cgroup(*cgroup);
                self.tree.name_roots() > 0
            }
            Err(_) => false,
        };
        if came_back || self.looking_until.is_some_and(|until| now >= until) {
            self.looking_until = None;
        }
    }

    /// A restarted unit has a new cgroup of the same name, whose counters start at zero.
    fn follow_cgroup(&mut self, cgroup: Cgroup) {
        if self.cgroup.as_ref().is_some_and(|own| own.cgroup.is(&cgroup)) {
            return;
        }
        self.cgroup = Some(OwnCgroup {
            cgroup,
            base: Some(CgroupSample::default()),
            settled: self.latest.cpu,
        });
    }

    fn cheap(look: TreeSample) -> Sample {
        let Counters { cpu_us, system_us, minor_faults, major_faults } = look.used;
        let system_us = system_us.min(cpu_us);
        Sample {
            cpu: Cpu { user_us: cpu_us - system_us, system_us },
            faults: Faults { minor: minor_faults, major: major_faults },
            rss_bytes: look.rss_bytes,
            processes: look.processes,
            threads: look.threads,
            ..Sample::default()
        }
    }

    fn read_cgroup(&mut self, sample: &mut Sample, lookup: ChildLookup) {
        let Some(own) = &mut self.cgroup else {
            return;
        };
        if self.account == Account::Processes {
            // It counts as the tree's own as long as no other process is in it.
            let there = own.cgroup.processes(lookup, &mut self.reader);
            let has_others = there.iter().any(|pid| !self.tree.contains(*pid));
            if has_others {
                self.cgroup = None;
                return;
            }
        }
        let Some(mut now) = own.cgroup.account(&mut self.reader) else {
            return;
        };
        let base = *own.base.get_or_insert(now);
        let since = |now: Option<u64>, base: Option<u64>| Some(now?.saturating_sub(base?));
        now.cpu = now.cpu.since(base.cpu);
        now.cpu.user_us += own.settled.user_us;
        now.cpu.system_us += own.settled.system_us;
        now.throttled_us = since(now.throttled_us, base.throttled_us);
        now.throttled_periods = since(now.throttled_periods, base.throttled_periods);
        if self.account == Account::Cgroup {
            sample.cpu = now.cpu;
        }
        sample.cgroup = Some(now);
    }
}

/// Neither part decreases, and the sum is that of `now` unless that would decrease.
fn forward(before: Cpu, now: Cpu) -> Cpu {
    let total = now.total_us().max(before.total_us());
    let user_us = now.user_us.clamp(before.user_us, total - before.system_us);
    Cpu { user_us, system_us: total - user_us }
}

/// A reading is not repeated before this many times its cost has passed: 0.1 % of a core for each
/// of the two expensive groups.
const COST_SPACING: u32 = 1000;

/// The longest delay of a reading by its cost.
const PUT_OFF_MAX: Duration = Duration::from_secs(30);

/// When a group of expensive values is read.
#[derive(Debug)]
struct Pace {
    every: Duration,
    due: Option<Instant>,
}

impl Pace {
    /// Due immediately, then at this interval.
    fn every(every: Duration) -> Self {
        Self { every, due: None }
    }

    /// Whether it is due.
    fn is_due(&self, now: Instant) -> bool {
        self.due.is_none_or(|due| now >= due)
    }

    /// Sets the next time after a reading with this cost in CPU time.
    fn took(&mut self, now: Instant, cost: Duration) {
        let put_off = cost.saturating_mul(COST_SPACING).min(PUT_OFF_MAX);
        self.due = now.checked_add(self.every.max(put_off));
    }
}

#[cfg(test)]
mod tests;
