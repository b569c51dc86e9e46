//! Processes we start, and what the kernel says about them.
//!
//! Every process started here ends with us: by `Server`'s drop, or, when we are killed, by the
//! parent-death signal that setpriv(1) sets before it becomes the command.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use rustix::process::{Pid, Signal, kill_process};
use vervet_lab::subject::{holds, listeners};

/// How long a server may take to listen, and to end after TERM.
const START_MAX: Duration = Duration::from_secs(10);
const STOP_MAX: Duration = Duration::from_secs(3);
const POLL: Duration = Duration::from_millis(10);

/// A command pinned to one core, which is ended when this process ends.
pub(crate) fn pinned(core: u32) -> Command {
    let mut command = Command::new("setpriv");
    command
        .args(["--pdeathsig", "TERM", "taskset", "-c"])
        .arg(core.to_string());
    command.stdin(Stdio::null());
    command
}

/// A server process and its descendants; ended when dropped.
pub(crate) struct Server {
    child: Child,
}

impl Server {
    /// Starts `argv` on `core`; its output goes to the file `log`.
    pub(crate) fn start(argv: &[String], core: u32, log: &Path) -> Result<Self> {
        let log = File::create(log)?;
        let mut command = pinned(core);
        command.args(argv).stdout(log.try_clone()?).stderr(log);
        let child = command
            .spawn()
            .context("cannot run setpriv (is util-linux installed?)")?;
        Ok(Self { child })
    }

    /// Waits until some process of the tree listens on `port`; an error if another one does.
    pub(crate) fn wait_for_listener(&mut self, port: u16) -> Result<()> {
        let deadline = Instant::now() + START_MAX;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                bail!("the server ended at start ({status})");
            }
            let listeners = listeners(port);
            if !listeners.is_empty() {
                let owned = tree(self.child.id())?
                    .iter()
                    .any(|pid| holds(*pid, &listeners));
                return if owned {
                    Ok(())
                } else {
                    bail!("port {port} belongs to another process")
                };
            }
            sleep(POLL);
        }
        bail!("the server does not listen on port {port}")
    }

    /// Processor time of the whole tree so far.
    pub(crate) fn cpu(&self) -> Result<Cpu> {
        cpu_of_tree(self.child.id())
    }

    /// Resident memory of the tree now and at its highest, in KiB; pages that processes share count in each.
    pub(crate) fn memory_kib(&self) -> Result<Memory> {
        let mut memory = Memory::default();
        for pid in tree(self.child.id())? {
            let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
            memory.now += status_kib(&status, "VmRSS:").unwrap_or(0);
            memory.peak += status_kib(&status, "VmHWM:").unwrap_or(0);
        }
        Ok(memory)
    }

    fn stop(&mut self) -> Result<()> {
        if self.child.try_wait()?.is_some() {
            return Ok(());
        }
        signal(self.child.id(), Signal::TERM);
        let deadline = Instant::now() + STOP_MAX;
        while Instant::now() < deadline {
            if self.child.try_wait()?.is_some() {
                return Ok(());
            }
            sleep(POLL);
        }
        // Children first: they are ours as long as their parent lives.
        tree(self.child.id())?
            .iter()
            .rev()
            .for_each(|pid| signal(*pid, Signal::KILL));
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            eprintln!("cannot stop process {}: {error}", self.child.id());
        }
    }
}

/// Process ids of `root` and all its descendants.
fn tree(root: u32) -> Result<Vec<u32>> {
    let mut parents = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        if let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) {
            parents.push((pid, parent_of(&stat).unwrap_or(0)));
        }
    }
    let mut tree = vec![root];
    let mut next = 0;
    while next < tree.len() {
        let parent = tree[next];
        tree.extend(
            parents
                .iter()
                .filter(|(_, of)| *of == parent)
                .map(|(pid, _)| *pid),
        );
        next += 1;
    }
    Ok(tree)
}

/// Processor time of `root` and all its descendants so far, from the scheduler's own nanosecond counters.
pub(crate) fn cpu_of_tree(root: u32) -> Result<Cpu> {
    let mut cpu = Cpu::default();
    for pid in tree(root)? {
        for task in fs::read_dir(format!("/proc/{pid}/task"))? {
            let text = fs::read_to_string(task?.path().join("schedstat"))?;
            let one = parse_schedstat(&text).with_context(|| format!("schedstat: {text:?}"))?;
            cpu.running += one.running;
            cpu.waiting += one.waiting;
        }
    }
    Ok(cpu)
}

/// Processor time of a tree of processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cpu {
    /// Time on a processor.
    pub(crate) running: Duration,
    /// Time ready to run, while something else had the processor.
    pub(crate) waiting: Duration,
}

/// Processor time, user and system, of all that were started here and have ended, with their threads and their own children.
pub(crate) fn ended_cpu() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else {
        return Duration::ZERO;
    };
    let time = |time: TimeVal| {
        let us = time.tv_sec() * 1_000_000 + time.tv_usec();
        Duration::from_micros(u64::try_from(us).unwrap_or(0))
    };
    time(usage.user_time()) + time(usage.system_time())
}

/// Resident memory, in KiB.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) now: u32,
    pub(crate) peak: u32,
}

/// Says whether nobody listens on `port`.
pub(crate) fn is_free(port: u16) -> bool {
    listeners(port).is_empty()
}

/// Busy share (0 to 1) of each of `cores` over `window`.
pub(crate) fn busy(cores: [u32; 2], window: Duration) -> Result<[f64; 2]> {
    let before = fs::read_to_string("/proc/stat")?;
    sleep(window);
    let after = fs::read_to_string("/proc/stat")?;
    Ok(cores.map(
        |core| match (core_ticks(&before, core), core_ticks(&after, core)) {
            (Some((busy, all)), Some((busy_after, all_after))) if all_after > all => {
                f64::from(busy_after.saturating_sub(busy)) / f64::from(all_after - all)
            }
            _ => 0.0,
        },
    ))
}

fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // An error means that the process has just ended, which is what was asked for.
        let _ = kill_process(pid, signal);
    }
}

fn parent_of(stat: &str) -> Option<u32> {
    // The command's name stands in brackets and may hold anything, brackets too.
    stat.rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(1)?
        .parse()
        .ok()
}

fn parse_schedstat(text: &str) -> Option<Cpu> {
    let mut fields = text
        .split_whitespace()
        .map(|field| field.parse().map(Duration::from_nanos));
    Some(Cpu {
        running: fields.next()?.ok()?,
        waiting: fields.next()?.ok()?,
    })
}

fn status_kib(status: &str, name: &str) -> Option<u32> {
    let line = status.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Busy and all ticks of one core since boot; idle and iowait are not busy.
fn core_ticks(stat: &str, core: u32) -> Option<(u32, u32)> {
    let line = stat
        .lines()
        .find(|line| line.split(' ').next() == Some(&format!("cpu{core}")))?;
    let ticks: Vec<u32> = line
        .split_whitespace()
        .skip(1)
        .take(8)
        .flat_map(str::parse)
        .collect();
    let all: u32 = ticks.iter().sum();
    Some((all - ticks.get(3)? - ticks.get(4)?, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_schedstat() {
        let rows = [
            ("", None),
            ("12\n", None),
            ("x 7 1\n", None),
            ("1224697 70656 2\n", Some((1_224_697, 70_656))),
        ];
        for (text, expected) in rows {
            let cpu =
                parse_schedstat(text).map(|cpu| (cpu.running.as_nanos(), cpu.waiting.as_nanos()));
            assert_eq!(cpu, expected, "{text:?}");
        }
    }

    #[test]
    fn finds_the_parent_behind_any_name() {
        assert_eq!(parent_of("12 (a) b) S 7 12 12"), Some(7));
        assert_eq!(parent_of("12 S 7"), None);
    }

    #[test]
    fn reads_memory_and_ticks() {
        assert_eq!(
            status_kib("VmPeak:\t 9 kB\nVmRSS:\t    1948 kB\n", "VmRSS:"),
            Some(1948)
        );
        assert_eq!(status_kib("Name:\tx\n", "VmRSS:"), None);
        let stat = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 40 5 6 7 8 0 0\n";
        assert_eq!(core_ticks(stat, 0), Some((27, 72)));
        assert_eq!(core_ticks(stat, 1), None);
    }
}
