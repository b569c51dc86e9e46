//! From a target to processes: by process ID, by name, by the port they listen on, by cgroup and
//! unit.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::cgroup::{Cgroup, mount};
use crate::kernel_file::{Reader, Shape};
use crate::process::ChildLookup;
use crate::readings::{listening_inodes, socket_inode, stat};
use crate::target::Target;

/// Interpreters, whose first argument is the program that runs.
const INTERPRETERS: &[&str] = &["python", "perl", "ruby", "node", "php", "bash", "sh", "dash"];

/// The processes that match a target.
#[derive(Debug)]
pub(crate) enum Resolved {
    /// These processes and their descendants.
    Roots(Vec<u32>),
    /// The processes in this cgroup.
    Cgroup(Box<Cgroup>),
}

/// Why no process matches a target.
#[derive(Debug)]
pub enum FindError {
    /// No such process, name, listener or cgroup.
    NotFound(Target),
    /// A bare number that is both a process ID and a port with a listener.
    Ambiguous(u32),
    /// The port has a listener, but the file descriptors of its process cannot be read.
    OwnerHidden(u16),
    /// No cgroup v2 hierarchy is mounted.
    NoCgroups,
    /// The procfs cannot be read.
    Proc(PathBuf, io::Error),
}

impl fmt::Display for FindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(target) => match target {
                Target::Pid(pid) => write!(f, "there is no process {pid}"),
                Target::Port(port) => write!(f, "no process listens on port {port}"),
                Target::Number(number) => {
                    write!(f, "there is no process {number}, and no process listens on that port")
                }
                Target::Name(name) => {
                    write!(f, "no process has the name \"{}\"", name.escape_debug())
                }
                Target::Cgroup(path) => {
                    write!(f, "no process is in the cgroup {}", path.display())
                }
                Target::Unit(unit) => {
                    write!(f, "no process is in the cgroup of the unit {}", unit.escape_debug())
                }
            },
            Self::Ambiguous(number) => write!(
                f,
                "{number} is a process ID and a port with a listener: write pid:{number} or port:{number}"
            ),
            Self::OwnerHidden(port) => write!(
                f,
                "cannot see which process listens on port {port} (run as its user, or as root)"
            ),
            Self::NoCgroups => f.write_str(
                "no cgroup v2 hierarchy is mounted on this machine or in this container",
            ),
            Self::Proc(path, error) => write!(f, "cannot read {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for FindError {}

/// Finds the processes that match a target now.
pub(crate) fn find(
    proc: &Path,
    target: &Target,
    reader: &mut Reader,
) -> Result<Resolved, FindError> {
    std::fs::read_dir(proc).map_err(|error| FindError::Proc(proc.to_owned(), error))?;
    let found = match target {
        Target::Pid(pid) => pid_alone(proc, *pid),
        Target::Name(name) => named(proc, name, reader),
        Target::Port(port) => listening(proc, *port, reader)?,
        Target::Number(number) => return process_or_port(proc, *number, reader),
        Target::Cgroup(path) => {
            let mount = mount(proc, reader).ok_or(FindError::NoCgroups)?;
            return in_cgroup(Cgroup::at(&mount, path), target, reader);
        }
        Target::Unit(unit) => {
            let mount = mount(proc, reader).ok_or(FindError::NoCgroups)?;
            return in_cgroup(Cgroup::of_unit(&mount, unit), target, reader);
        }
    };
    not_none(found, target)
}

fn not_none(found: Vec<u32>, target: &Target) -> Result<Resolved, FindError> {
    if found.is_empty() {
        return Err(FindError::NotFound(target.clone()));
    }
    Ok(Resolved::Roots(found))
}

fn pid_alone(proc: &Path, pid: u32) -> Vec<u32> {
    // `/proc/TID` exists for each thread, too, but is not a process.
    let is_process = proc.join(format!("{pid}/task/{pid}")).is_dir();
    is_process.then_some(pid).into_iter().collect()
}

fn process_or_port(proc: &Path, number: u32, reader: &mut Reader) -> Result<Resolved, FindError> {
    let target = Target::Number(number);
    let process = pid_alone(proc, number);
    let Ok(port) = u16::try_from(number) else {
        return not_none(process, &target);
    };
    match (process.is_empty(), listening(proc, port, reader)) {
        (false, Ok(found)) if found.is_empty() => Ok(Resolved::Roots(process)),
        (false, _) => Err(FindError::Ambiguous(number)),
        (true, found) => not_none(found?, &target),
    }
}

fn in_cgroup(
    cgroup: Option<Cgroup>,
    target: &Target,
    reader: &mut Reader,
) -> Result<Resolved, FindError> {
    let mut cgroup = cgroup.ok_or_else(|| FindError::NotFound(target.clone()))?;
    if cgroup.processes(ChildLookup::AllThreads, reader).is_empty() {
        return Err(FindError::NotFound(target.clone()));
    }
    Ok(Resolved::Cgroup(Box::new(cgroup)))
}

/// The topmost processes with this name, except this process and its ancestors.
fn named(proc: &Path, name: &str, reader: &mut Reader) -> Vec<u32> {
    let all = all_processes(proc, reader);
    let asking = ancestors(std::process::id(), &all);
    let mut chosen = Vec::new();
    for process in &all {
        if !asking.contains(&process.pid) && is_named(proc, process, name, reader) {
            chosen.push(process.pid);
        }
    }
    topmost(&chosen, &all)
}

fn ancestors(pid: u32, all: &[ProcessStat]) -> Vec<u32> {
    let above = |pid: &u32| {
        let process = all.iter().find(|process| process.pid == *pid)?;
        Some(process.parent)
    };
    std::iter::successors(Some(pid), above).take(all.len() + 1).collect()
}

fn is_named(proc: &Path, process: &ProcessStat, name: &str, reader: &mut Reader) -> bool {
    if process.name == name.as_bytes() {
        return true;
    }
    let path = proc.join(format!("{}/cmdline", process.pid));
    let Ok(line) = reader.read_once(&path, Shape::List) else {
        return false;
    };
    let mut words = line.split(|byte| *byte == 0);
    let program = base(words.next().unwrap_or_default());
    if program == name.as_bytes() {
        return true;
    }
    let interprets = INTERPRETERS.iter().any(|one| {
        // `python3.11` is python.
        let version = program.strip_prefix(one.as_bytes());
        version.is_some_and(|rest| rest.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.'))
    });
    let mut script = words.filter(|word| !word.starts_with(b"-"));
    interprets && base(script.next().unwrap_or_default()) == name.as_bytes()
}

/// The part after the last slash.
fn base(word: &[u8]) -> &[u8] {
    word.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// The topmost processes with a listener on the port; empty if there is none.
fn listening(proc: &Path, port: u16, reader: &mut Reader) -> Result<Vec<u32>, FindError> {
    let mut inodes = Vec::new();
    for table in ["self/net/tcp", "self/net/tcp6"] {
        // Without IPv6 there is no table of it.
        if let Ok(text) = reader.read_once(&proc.join(table), Shape::List) {
            inodes.extend(listening_inodes(text, port));
        }
    }
    if inodes.is_empty() {
        return Ok(Vec::new());
    }
    let all = all_processes(proc, reader);
    let pids = all.iter().map(|process| process.pid);
    let mut owners: Vec<_> = pids.filter(|pid| owns(proc, *pid, &inodes)).collect();
    // The service manager keeps the sockets that it hands on; who serves is somebody else, if there
    // is one.
    if owners.len() > 1 {
        owners.retain(|pid| *pid != 1);
    }
    if owners.is_empty() {
        return Err(FindError::OwnerHidden(port));
    }
    Ok(topmost(&owners, &all))
}

fn owns(proc: &Path, pid: u32, inodes: &[u64]) -> bool {
    let folder = proc.join(format!("{pid}/fd"));
    let mut descriptors = std::fs::read_dir(folder).into_iter().flatten().flatten();
    descriptors.any(|descriptor| {
        let link = std::fs::read_link(descriptor.path()).unwrap_or_default();
        socket_inode(link.as_os_str().as_encoded_bytes())
            .is_some_and(|inode| inodes.contains(&inode))
    })
}

/// The identity of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) name: Vec<u8>,
}

/// All running processes, without zombies.
pub(crate) fn all_processes(proc: &Path, reader: &mut Reader) -> Vec<ProcessStat> {
    let entries = std::fs::read_dir(proc).into_iter().flatten().flatten();
    let mut found = Vec::new();
    for entry in entries {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(pid) = pid else {
            continue;
        };
        let text = reader.read_once(&entry.path().join("stat"), Shape::Record);
        let Some(stat) = text.ok().and_then(stat).filter(|stat| stat.state != b'Z') else {
            continue;
        };
        found.push(ProcessStat { pid, parent: stat.parent, name: stat.name.to_vec() });
    }
    found
}

/// The processes of `chosen` without an ancestor in it, ordered by ID.
fn topmost(chosen: &[u32], all: &[ProcessStat]) -> Vec<u32> {
    let parents: HashMap<_, _> = all.iter().map(|process| (process.pid, process.parent)).collect();
    let has_one_above = |pid: &u32| {
        let above = std::iter::successors(parents.get(pid), |parent| parents.get(parent));
        // The bound is for process IDs that were reused meanwhile and form a circle.
        above.take(all.len()).any(|parent| chosen.contains(parent))
    };
    let mut top: Vec<_> = chosen.iter().copied().filter(|pid| !has_one_above(pid)).collect();
    top.sort_unstable();
    top.dedup();
    top
}

#[cfg(test)]
mod tests;
