//! The processes of a subject: started on their cores in a group of their own, and certainly ended.
//!
//! They end with the lab in each of its ways to end: with the value when it is dropped; by the
//! signal that setpriv(1) asks the kernel for when the lab is killed or aborts, which masters such
//! as that of nginx pass on to their workers.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::adapter::Process;

/// How long processes have to end after TERM, before they are killed.
const STOP_MAX: Duration = Duration::from_secs(3);
/// The time between two looks while something is waited for that sends no event.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Processes that end with this value.
#[derive(Debug, Default)]
pub struct Children {
    running: Vec<Child>,
}

impl Children {
    /// Starts one more, in `folder`, its output appended to the file `log`.
    pub fn start(
        &mut self,
        part: &Process,
        cores: &[u32],
        folder: &Path,
        log: &Path,
    ) -> io::Result<()> {
        let log = File::options().create(true).append(true).open(log)?;
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "TERM"])
            .args(&part.command)
            .envs(part.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(folder)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let child = on_cores(cores, || command.spawn());
        self.running.push(child.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                io::Error::new(error.kind(), "setpriv not found (install util-linux)")
            }
            _ => error,
        })?);
        Ok(())
    }

    /// The processes that were started, by number.
    pub fn pids(&self) -> Vec<u32> {
        self.running.iter().map(Child::id).collect()
    }

    /// The started processes with all their descendants.
    pub fn tree(&self) -> Vec<u32> {
        tree(&self.pids())
    }

    /// How one of them ended, if one has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.running.iter_mut().find_map(|child| child.try_wait().ok().flatten())
    }

    /// Waits until a process exits and returns its status; `None` at `deadline` or once `is_over`.
    pub fn wait_until(
        &mut self,
        deadline: Instant,
        is_over: impl Fn() -> bool,
    ) -> Option<ExitStatus> {
        loop {
            let ended = self.ended();
            if ended.is_some() || Instant::now() >= deadline || is_over() {
                return ended;
            }
            self.pause();
        }
    }

    /// Waits a moment, or until the one that was started last has ended.
    pub fn pause(&self) {
        let pid = self.running.last().and_then(|child| i32::try_from(child.id()).ok());
        pause_for(pid.and_then(Pid::from_raw), LOOK_EVERY);
    }

    /// Ends all, the last started first, and waits until they are gone.
    pub fn stop(&mut self) {
        let born: BTreeMap<u32, String> =
            self.tree().into_iter().filter_map(|pid| Some((pid, born(pid)?))).collect();
        for child in self.running.iter().rev() {
            signal_group(child.id(), Signal::TERM);
        }
        let gone = |children: &mut Vec<Child>| {
            let reaped = children.iter_mut().all(|child| !matches!(child.try_wait(), Ok(None)));
            reaped && !born.iter().any(|(pid, born)| is_same(*pid, born))
        };
        let deadline = Instant::now() + STOP_MAX;
        while !gone(&mut self.running) && Instant::now() < deadline {
            self.pause();
        }
        for (pid, _) in born.iter().filter(|(pid, born)| is_same(**pid, born)) {
            signal(*pid, Signal::KILL);
        }
        for mut child in self.running.drain(..) {
            signal_group(child.id(), Signal::KILL);
            // It has been killed; the wait only takes its number back.
            let _ = child.wait();
        }
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Waits until a process ends, or for so long.
fn pause_for(pid: Option<Pid>, time: Duration) {
    let timeout = Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    };
    let descriptor = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    // One that has ended makes the wait end at once, over and over: then time alone is waited for.
    let is_over = |fd: &rustix::fd::OwnedFd| {
        let mut fds = [PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)];
        poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|count| count > 0)
    };
    let descriptor = descriptor.filter(|fd| !is_over(fd));
    let mut fds: Vec<PollFd<'_>> =
        descriptor.iter().map(|fd| PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)).collect();
    // A wait that a signal has cut short is only a look more.
    let _ = poll(&mut fds, Some(&timeout));
}

/// Runs `work` with this thread on some cores: what it starts stays there. No cores are all.
fn on_cores<T>(cores: &[u32], work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    if cores.is_empty() {
        return work();
    }
    let before = sched_getaffinity(None)?;
    let mut wanted = CpuSet::new();
    for core in cores {
        let core = usize::try_from(*core).unwrap_or(usize::MAX);
        if core >= CpuSet::MAX_CPU || !before.is_set(core) {
            let message = format!("core {core} does not exist, or this process may not use it");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        wanted.set(core);
    }
    sched_setaffinity(None, &wanted)?;
    let result = work();
    sched_setaffinity(None, &before)?;
    result
}

/// The cores that this process may use.
pub(crate) fn cores_here() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(None) else {
        return Vec::new();
    };
    let all = (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core));
    all.filter_map(|core| u32::try_from(core).ok()).collect()
}

/// Processes and all their descendants.
pub(crate) fn tree(roots: &[u32]) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parents: Vec<(u32, u32)> =
        pids.filter_map(|pid| Some((pid, field(pid, PARENT)?.parse().ok()?))).collect();
    let mut tree = roots.to_vec();
    let mut next = 0;
    while next < tree.len() {
        let of = tree[next];
        let children = parents.iter().filter(|(_, parent)| *parent == of);
        tree.extend(children.map(|(pid, _)| *pid));
        next += 1;
    }
    tree
}

/// The field of /proc/PID/stat, counted after the command's name.
const STATE: usize = 0;
const PARENT: usize = 1;
const BORN: usize = 19;

fn field(pid: u32, index: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command's name stands in brackets and may hold anything, brackets too.
    let behind = stat.rsplit_once(')')?.1;
    behind.split_whitespace().nth(index).map(str::to_owned)
}

/// Start time of a process, which identifies it together with its ID.
fn born(pid: u32) -> Option<String> {
    field(pid, BORN)
}

/// Whether a process is still that one, and alive.
fn is_same(pid: u32, when: &str) -> bool {
    born(pid).as_deref() == Some(when) && field(pid, STATE).is_some_and(|state| state != "Z")
}

fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // An error means that it has just ended, which is what was asked for.
        let _ = kill_process(pid, signal);
    }
}

fn signal_group(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vervet_testkit::{PATIENCE, TempTree, wait_until};

    fn start(script: &str, folder: &TempTree) -> Children {
        let mut children = Children::default();
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        let part = Process {
            command,
            environment: vec![("GREETING".to_owned(), "hi".to_owned())],
            after: None,
        };
        children.start(&part, &[], folder.path(), &folder.path().join("log")).unwrap();
        children
    }

    #[test]
    fn nothing_is_left_even_of_what_ignores_signals() {
        let folder = TempTree::new();
        let script = "trap '' TERM; sh -c \"trap '' TERM; echo up; while :; do sleep 0.1; done\"";
        let mut children = start(script, &folder);
        let log = folder.path().join("log");
        assert!(
            wait_until(PATIENCE, || fs::read_to_string(&log).is_ok_and(|text| text.contains("up")))
        );
        let tree = children.tree();
        assert!(tree.len() >= 2, "{tree:?}");
        let born: Vec<_> = tree.iter().map(|pid| (*pid, born(*pid).unwrap())).collect();
        children.stop();
        assert!(wait_until(PATIENCE, || !born.iter().any(|(pid, born)| is_same(*pid, born))));
    }

    #[test]
    fn an_end_by_itself_is_seen() {
        let folder = TempTree::new();
        let mut children = start("echo $GREETING; exit 3", &folder);
        let mut status = None;
        assert!(wait_until(PATIENCE, || {
            status = children.ended();
            status.is_some()
        }));
        assert_eq!(status.and_then(|status| status.code()), Some(3));
        assert_eq!(fs::read_to_string(folder.path().join("log")).unwrap(), "hi\n");
    }

    #[test]
    fn cores_that_are_not_there_are_refused() {
        let error = on_cores(&[100_000], || Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "core 100000 does not exist, or this process may not use it");
        let first = cores_here()[0];
        let within = on_cores(&[first], || Ok(cores_here())).unwrap();
        assert_eq!(within, [first]);
        assert!(cores_here().len() >= within.len());
    }
}
