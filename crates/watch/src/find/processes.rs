//! All processes of the machine, once: for names, for ports, and for kernels that do not tell children.

use std::collections::HashMap;
use std::path::Path;

use crate::kept::{Reader, Shape};
use crate::readings::stat;

/// A process as it is seen in passing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passing {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) name: Vec<u8>,
}

/// All that run. Who ends meanwhile is passed over, who waits to be reaped too.
pub(crate) fn all_processes(proc: &Path, reader: &mut Reader) -> Vec<Passing> {
    let entries = std::fs::read_dir(proc).into_iter().flatten().flatten();
    let mut found = Vec::new();
    for entry in entries {
        let pid = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let Some(pid) = pid else {
            continue;
        };
        let text = reader.read_once(&entry.path().join("stat"), Shape::Record);
        let Some(stat) = text.ok().and_then(stat).filter(|stat| stat.state != b'Z') else {
            continue;
        };
        found.push(Passing {
            pid,
            parent: stat.parent,
            name: stat.name.to_vec(),
        });
    }
    found
}

/// Those of `chosen` that have none of them above, in the order of their numbers.
pub(super) fn topmost(chosen: &[u32], all: &[Passing]) -> Vec<u32> {
    let parents: HashMap<_, _> = all
        .iter()
        .map(|process| (process.pid, process.parent))
        .collect();
    let has_one_above = |pid: &u32| {
        let above = std::iter::successors(parents.get(pid), |parent| parents.get(parent));
        // The bound is against numbers that were used twice while we looked, and now form a circle.
        above.take(all.len()).any(|parent| chosen.contains(parent))
    };
    let mut top: Vec<_> = chosen
        .iter()
        .copied()
        .filter(|pid| !has_one_above(pid))
        .collect();
    top.sort_unstable();
    top.dedup();
    top
}
