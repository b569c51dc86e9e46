//! What a target means now.

use std::path::Path;

use super::{name, port};
use crate::cgroup::{Cgroup, mount};
use crate::error::FindError;
use crate::kept::Reader;
use crate::process::Forkers;
use crate::target::Target;

/// What a target means.
#[derive(Debug)]
pub(crate) enum Found {
    /// These processes and their descendants.
    Roots(Vec<u32>),
    /// The processes in this cgroup.
    Cgroup(Box<Cgroup>),
}

/// Finds what a target means now.
pub(crate) fn find(proc: &Path, target: &Target, reader: &mut Reader) -> Result<Found, FindError> {
    std::fs::read_dir(proc).map_err(|error| FindError::Proc(proc.to_owned(), error))?;
    let found = match target {
        Target::Pid(pid) => pid_alone(proc, *pid),
        Target::Name(name) => name::named(proc, name, reader),
        Target::Port(port) => port::listening(proc, *port, reader)?,
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

fn not_none(found: Vec<u32>, target: &Target) -> Result<Found, FindError> {
    if found.is_empty() {
        return Err(FindError::NotFound(target.clone()));
    }
    Ok(Found::Roots(found))
}

fn pid_alone(proc: &Path, pid: u32) -> Vec<u32> {
    // `/proc/TID` exists for each thread, too, but is not a process.
    let is_process = proc.join(format!("{pid}/task/{pid}")).is_dir();
    is_process.then_some(pid).into_iter().collect()
}

fn process_or_port(proc: &Path, number: u32, reader: &mut Reader) -> Result<Found, FindError> {
    let target = Target::Number(number);
    let process = pid_alone(proc, number);
    let Ok(port) = u16::try_from(number) else {
        return not_none(process, &target);
    };
    match (process.is_empty(), port::listening(proc, port, reader)) {
        (false, Ok(found)) if found.is_empty() => Ok(Found::Roots(process)),
        (false, _) => Err(FindError::Ambiguous(number)),
        (true, found) => not_none(found?, &target),
    }
}

fn in_cgroup(
    cgroup: Option<Cgroup>,
    target: &Target,
    reader: &mut Reader,
) -> Result<Found, FindError> {
    let mut cgroup = cgroup.ok_or_else(|| FindError::NotFound(target.clone()))?;
    if cgroup.processes(Forkers::AllThreads, reader).is_empty() {
        return Err(FindError::NotFound(target.clone()));
    }
    Ok(Found::Cgroup(Box::new(cgroup)))
}
