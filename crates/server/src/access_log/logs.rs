//! All open targets of a program, and the threads that write them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use super::lane::{Work, Writer};
use super::outlet::{Drops, Handle, Notice, Outlet, Shared, Tell, lock};
use super::target::{Lane, OpenError, Target};

/// The targets of a program. Asking for one that is open gives the one that is open, so that a plan may be replaced by
/// another without a gap in its logs.
#[derive(Debug)]
pub struct Logs {
    tell: Tell,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    outlets: HashMap<String, Known>,
    writers: HashMap<Lane, Writer>,
    /// The writers of lanes that have one target each.
    alone: Vec<Writer>,
}

/// A target that is open, or was.
#[derive(Debug)]
struct Known {
    handle: Weak<Handle>,
    shared: Arc<Shared>,
}

impl Logs {
    /// No targets yet. `tell` is called from other threads and must not wait.
    pub fn new(tell: impl Fn(Notice) + Send + Sync + 'static) -> Self {
        Self {
            tell: Tell::new(tell),
            open: Mutex::default(),
        }
    }

    /// Opens a target, or gives the one that is open already: of two files with one path the first one's permissions hold.
    pub fn open(&self, target: &Target) -> Result<Outlet, OpenError> {
        let key = target.key();
        let mut open = lock(&self.open);
        let known = open
            .outlets
            .get(&key)
            .and_then(|known| known.handle.upgrade());
        if let Some(handle) = known {
            return Ok(Outlet(handle));
        }
        let (output, lane) = target.open()?;
        let writer = open.writer(lane)?;
        let outlet = Outlet::new(target.clone(), Arc::clone(&writer.bell), self.tell.clone());
        let shared = Arc::clone(outlet.shared());
        // A writer that has ended since it was looked for is replaced at the next try.
        if writer.add(Work::new(Arc::clone(&shared), output)).is_err() {
            drop(open);
            return self.open(target);
        }
        open.forget_closed();
        let handle = Arc::downgrade(&outlet.0);
        open.outlets.insert(key, Known { handle, shared });
        Ok(outlet)
    }

    /// Opens all files anew by their names, after writing what there is: what a log rotation asks for. Does not wait.
    pub fn reopen(&self) {
        for known in lock(&self.open).outlets.values() {
            known.shared.ask_reopen();
        }
    }

    /// The targets that are in use.
    pub fn outlets(&self) -> Vec<Outlet> {
        let open = lock(&self.open);
        let handles = open
            .outlets
            .values()
            .filter_map(|known| known.handle.upgrade());
        handles.map(Outlet).collect()
    }

    /// What each target in use has not written so far.
    pub fn drops(&self) -> Vec<(Target, Drops)> {
        let drops = |outlet: Outlet| (outlet.target().clone(), outlet.drops());
        self.outlets().into_iter().map(drops).collect()
    }

    /// Writes what there is and ends. What a target does not take within `patience` is counted as dropped.
    pub fn finish(&self, patience: Duration) -> Vec<(Target, Drops)> {
        let open = std::mem::take(&mut *lock(&self.open));
        let writers: Vec<&Writer> = open.writers.values().chain(&open.alone).collect();
        for writer in &writers {
            writer.bell.ask_close();
        }
        let end = Instant::now() + patience;
        for writer in writers {
            writer.has_ended_within(end.saturating_duration_since(Instant::now()));
        }
        let drops = |known: Known| {
            let mut drops = known.shared.drops();
            drops.lines += known.shared.unwritten();
            (known.shared.target.clone(), drops)
        };
        open.outlets.into_values().map(drops).collect()
    }
}

impl Open {
    /// The writer of a lane, started if there is none at work.
    fn writer(&mut self, lane: Lane) -> std::io::Result<&Writer> {
        self.alone.retain(Writer::is_at_work);
        self.writers.retain(|_, writer| writer.is_at_work());
        match lane {
            Lane::Alone => {
                self.alone.push(Writer::start()?);
                let last = self.alone.len() - 1;
                Ok(&self.alone[last])
            }
            lane => match self.writers.entry(lane) {
                std::collections::hash_map::Entry::Occupied(writer) => Ok(writer.into_mut()),
                std::collections::hash_map::Entry::Vacant(place) => {
                    Ok(place.insert(Writer::start()?))
                }
            },
        }
    }

    /// Forgets the targets that are closed and whose lines are written.
    fn forget_closed(&mut self) {
        self.outlets
            .retain(|_, known| known.handle.strong_count() > 0 || known.shared.unwritten() > 0);
    }
}
