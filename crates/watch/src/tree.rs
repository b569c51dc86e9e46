//! A tree of processes, followed as they fork and exit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::account::{Counters, Ledger, Started};
use crate::cgroup::Cgroup;
use crate::clock;
use crate::find::all_processes;
use crate::kernel_file::{Keep, Reader};
use crate::process::{ChildLookup, Process, Units};
use crate::sample::{Counted, Descriptors, Detail, Event, Root, Switches};

/// The maximum number of processes whose files stay open, two for each; the files of further ones
/// are opened for each sample.
pub(crate) const KEPT_OPEN_MAX: usize = 128;

/// The maximum number of passes of a sample, which is repeated if processes exit meanwhile.
const PASSES_MAX: usize = 4;

/// The time from which on the usage of a tree is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountFrom {
    /// From the first sample.
    FirstSample,
    /// From the start of its first process.
    ProcessStart,
}

/// A tree, or several that are watched as one.
#[derive(Debug)]
pub(crate) struct Tree {
    proc: PathBuf,
    units: Units,
    begin: CountFrom,
    /// Ticks since boot, at the first sample.
    begin_ticks: Option<u64>,
    processes: BTreeMap<u32, Process>,
    roots: Vec<RootState>,
    ledger: Ledger,
    switches: Switches,
    events: Vec<Event>,
    /// A root process has exited, and no successor was looked for yet.
    new_loss: bool,
}

#[derive(Debug)]
struct RootState {
    root: Root,
    has_ended: bool,
}

/// The values that each sample has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TreeSample {
    pub(crate) used: Counters,
    pub(crate) rss_bytes: u64,
    pub(crate) processes: u32,
    pub(crate) threads: u32,
}

/// Which processes belong to a tree.
#[derive(Debug)]
pub(crate) enum Membership<'a> {
    /// The roots and their descendants.
    Descent,
    /// The processes in the cgroup.
    Cgroup(&'a mut Cgroup),
}

impl Tree {
    /// A tree without processes.
    pub(crate) fn new(proc: &Path, begin: CountFrom) -> Self {
        Self {
            proc: proc.to_owned(),
            units: Units::here(),
            begin,
            begin_ticks: None,
            processes: BTreeMap::new(),
            roots: Vec::new(),
            ledger: Ledger::default(),
            switches: Switches::default(),
            events: Vec::new(),
            new_loss: false,
        }
    }

    /// The root processes, including those that have exited.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Root> {
        self.roots.iter().map(|state| &state.root)
    }

    /// Adds a root process; none if it does not exist, or belongs to the tree already.
    pub(crate) fn add_root(&mut self, pid: u32, reader: &mut Reader) -> Option<&Root> {
        if self.processes.contains_key(&pid) {
            return None;
        }
        self.add(pid, reader)?;
        let name = self.processes.get(&pid)?.name.clone();
        let root = Root { pid, name };
        if self.begin_ticks.is_some() {
            self.events.push(Event::RootStarted(root.clone()));
        }
        self.roots.push(RootState { root, has_ended: false });
        self.roots.last().map(|state| &state.root)
    }

    /// Whether all processes have exited. Zombies have exited.
    pub(crate) fn has_ended(&self) -> bool {
        self.processes.values().all(Process::is_zombie)
    }

    /// Whether a process belongs to the tree.
    pub(crate) fn contains(&self, pid: u32) -> bool {
        self.processes.contains_key(&pid)
    }

    /// Takes the events since the last call.
    pub(crate) fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Reads every process, finds new ones, and removes those that have exited.
    pub(crate) fn sample(
        &mut self,
        mut membership: Membership<'_>,
        lookup: ChildLookup,
        reader: &mut Reader,
    ) -> TreeSample {
        for _ in 0..PASSES_MAX {
            let moved = self.refresh(reader);
            match &mut membership {
                Membership::Descent => self.add_descendants(lookup, reader),
                Membership::Cgroup(cgroup) => {
                    let there = cgroup.processes(lookup, reader);
                    self.add_all(&there, reader);
                    self.remove_others(&there);
                }
            }
            // Who was reaped while we looked is in the account of its parent, or not yet, depending
            // on whom was read first: then all are read again.
            if !moved {
                break;
            }
        }
        if self.begin_ticks.is_none() {
            let ticks = clock::since_boot().as_micros() / u128::from(self.units.tick_us);
            self.begin_ticks = Some(u64::try_from(ticks).unwrap_or(u64::MAX));
            if self.begin == CountFrom::FirstSample {
                // The first sample starts the count, not the search for the roots just before.
                self.ledger.rebase();
            }
        }
        self.note_ended_roots();
        let mut sample = TreeSample { used: self.ledger.total(), ..TreeSample::default() };
        for process in self.processes.values().filter(|process| !process.is_zombie()) {
            sample.rss_bytes += process.rss_bytes;
            sample.processes += 1;
            sample.threads += process.threads;
        }
        sample
    }

    /// Whether a process has exited, or was reaped by another one of the tree.
    fn refresh(&mut self, reader: &mut Reader) -> bool {
        let mut gone = Vec::new();
        let mut moved = false;
        for (pid, process) in &mut self.processes {
            let reaped = process.reading.reaped;
            match process.refresh(self.units, reader) {
                Some(reading) => {
                    moved |= reading.reaped != reaped;
                    self.ledger.update(*pid, reading);
                }
                None => gone.push(*pid),
            }
        }
        self.settle(&gone);
        moved || !gone.is_empty()
    }

    fn settle(&mut self, gone: &[u32]) {
        self.ledger.end(gone);
        for pid in gone {
            self.processes.remove(pid);
        }
    }

    fn add_descendants(&mut self, lookup: ChildLookup, reader: &mut Reader) {
        let mut parents: Vec<u32> = self.processes.keys().copied().collect();
        let mut children = Vec::new();
        while let Some(pid) = parents.pop() {
            children.clear();
            let Some(process) = self.processes.get_mut(&pid) else {
                continue;
            };
            let told = process.children(lookup, &mut children, reader);
            if told.is_err() && lookup == ChildLookup::AllThreads {
                // A kernel without these lists, or a process that has just exited.
                let all = all_processes(&self.proc, reader);
                let below = all.iter().filter(|process| process.parent == pid);
                children.extend(below.map(|process| process.pid));
            }
            for child in &children {
                if !self.processes.contains_key(child) && self.add(*child, reader).is_some() {
                    parents.push(*child);
                }
            }
        }
    }

    fn add_all(&mut self, pids: &[u32], reader: &mut Reader) {
        for pid in pids {
            if !self.processes.contains_key(pid) {
                self.add(*pid, reader);
            }
        }
    }

    /// Takes out who has left the cgroup. One that waits to be reaped is not listed there, and
    /// stays.
    fn remove_others(&mut self, there: &[u32]) {
        let left = self
            .processes
            .values()
            .filter(|process| !process.is_zombie() && !there.contains(&process.pid));
        let left: Vec<_> = left.map(|process| process.pid).collect();
        self.settle(&left);
    }

    fn add(&mut self, pid: u32, reader: &mut Reader) -> Option<()> {
        let keep = if self.processes.len() < KEPT_OPEN_MAX { Keep::Open } else { Keep::Closed };
        let mut process = Process::open(&self.proc, pid, keep, self.units, reader)?;
        let started = match self.begin_ticks {
            None if self.begin == CountFrom::FirstSample => Started::BeforeWatch,
            Some(begin) if process.start_ticks < begin => Started::BeforeWatch,
            _ => Started::DuringWatch,
        };
        if started == Started::DuringWatch {
            process.count_switches_from_start();
        }
        self.ledger.begin(pid, process.reading, started);
        self.processes.insert(pid, process);
        Some(())
    }

    fn note_ended_roots(&mut self) {
        for state in self.roots.iter_mut().filter(|state| !state.has_ended) {
            let process = self.processes.get(&state.root.pid);
            if let Some(process) = process.filter(|process| !process.is_zombie()) {
                // It may have executed another program.
                state.root.name.clone_from(&process.name);
            } else {
                state.has_ended = true;
                self.new_loss = true;
                self.events.push(Event::RootEnded(state.root.clone()));
            }
        }
    }

    /// Whether a root process has exited since the last call of [`Tree::take_new_loss`].
    pub(crate) fn has_new_loss(&self) -> bool {
        self.new_loss
    }

    /// Whether a root process has exited since the last call.
    pub(crate) fn take_new_loss(&mut self) -> bool {
        std::mem::take(&mut self.new_loss)
    }

    /// Makes processes of a cgroup roots if their parents do not belong to it. Returns the number
    /// of new roots.
    pub(crate) fn name_roots(&mut self) -> usize {
        let known: Vec<_> = self.roots.iter().map(|state| state.root.pid).collect();
        let processes = self.processes.values();
        let top = processes.filter(|process| !self.processes.contains_key(&process.reading.parent));
        // A worker that has outlived its root is not its successor.
        let is_old =
            |process: &&Process| known.contains(&process.pid) || known.contains(&process.forked_by);
        let new = top.filter(|process| !process.is_zombie() && !is_old(process));
        let new: Vec<_> =
            new.map(|process| Root { pid: process.pid, name: process.name.clone() }).collect();
        let count = new.len();
        for root in new {
            // The first roots were there when the watch began.
            if !known.is_empty() {
                self.events.push(Event::RootStarted(root.clone()));
            }
            self.roots.push(RootState { root, has_ended: false });
        }
        count
    }

    /// Reads the expensive values of every process.
    pub(crate) fn detail(&mut self, reader: &mut Reader) -> Detail {
        let mut memory = Some((0, 0));
        let mut descriptors = Counted::<Descriptors>::default();
        let mut unreadable = 0;
        for process in self.processes.values_mut() {
            let detail = process.detail(reader);
            memory = memory
                .zip(detail.pss_bytes.zip(detail.swap_bytes))
                .map(|((pss, swap), (own_pss, own_swap))| (pss + own_pss, swap + own_swap));
            match detail.descriptors {
                Some(own) => {
                    descriptors.value.open += own.open;
                    descriptors.value.sockets += own.sockets;
                }
                None => descriptors.unreadable += 1,
            }
            match detail.switches {
                Some(new) => {
                    self.switches.voluntary += new.voluntary;
                    self.switches.involuntary += new.involuntary;
                }
                None => unreadable += 1,
            }
        }
        Detail {
            pss_bytes: memory.map(|(pss, _)| pss),
            swap_bytes: memory.map(|(_, swap)| swap),
            switches: Counted { value: self.switches, unreadable },
            descriptors,
        }
    }
}
