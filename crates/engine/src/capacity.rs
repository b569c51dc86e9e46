//! System resources: how many connections the open files allow, kernel queues, advice where they
//! are lower than what the server is configured to use, and the memory of code.

use std::fs;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::reactor::sys;

/// Descriptors of the process other than connections: standard streams, listeners, logs, opened
/// folders, and the connections of an admin listener, which has an engine of its own.
pub const RESERVED_FILES: u64 = 64;
/// Descriptors of each worker: its epoll set, its timer, two for wake-ups, its own listeners.
const RESERVED_FILES_PER_WORKER: u64 = 8;
/// One of this many remaining descriptors is reserved for open files that responses are sent from,
/// and for rejected connections.
const SHARE_FOR_FILES: u64 = 8;
/// The maximum number of rejected connections of one worker that may linger after their 503.
pub(crate) const REFUSED_MAX: u32 = 64;
/// A lower maximum of half-open connections causes a warning; kernels choose 128 to 4096 by memory.
const SYN_BACKLOG_LOW: u64 = 1024;

/// Settings of the kernel and limits of this process; `None` if a setting is not readable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// `net.core.somaxconn`: the maximum of every listen backlog, in connections.
    pub backlog_max: Option<u64>,
    /// `net.ipv4.tcp_max_syn_backlog`: the maximum number of half-open connections of one listener.
    pub syn_backlog_max: Option<u64>,
    /// `net.ipv4.tcp_congestion_control`: the default congestion control of listeners.
    pub congestion: Option<String>,
    /// The current limit of open files of this process.
    pub files: u64,
    /// The hard limit of open files, up to which this process may raise its limit.
    pub files_max: u64,
}

impl Kernel {
    /// Reads the settings of the running kernel and the limits of this process.
    pub fn read() -> Kernel {
        let limit = getrlimit(Resource::Nofile);
        Kernel {
            backlog_max: setting("core/somaxconn").and_then(|text| text.parse().ok()),
            syn_backlog_max: setting("ipv4/tcp_max_syn_backlog").and_then(|text| text.parse().ok()),
            congestion: setting("ipv4/tcp_congestion_control"),
            files: limit.current.unwrap_or(u64::MAX),
            files_max: limit.maximum.unwrap_or(u64::MAX),
        }
    }
}

/// What the limit of open files allows the connections of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Connections at the same time. The rest of the descriptors is for files, logs and an admin
    /// listener.
    pub connections_max: u32,
    /// Connections from one address: half of them, so that others have room.
    pub per_address_max: u32,
    /// Rejected connections of each worker that may linger after their 503. Others are closed as
    /// soon as it is sent.
    pub refused_max: u32,
}

impl Capacity {
    /// Returns what this many open files allow an engine with this many workers.
    pub fn new(files: u64, workers: usize) -> Self {
        let workers = u64::try_from(workers).unwrap_or(u64::MAX).max(1);
        let own = RESERVED_FILES.saturating_add(workers.saturating_mul(RESERVED_FILES_PER_WORKER));
        // Where there are very few, most of them.
        let rest = files - own.min(files - files / 4);
        let for_files = rest / SHARE_FOR_FILES;
        let fit = |count: u64| u32::try_from(count).unwrap_or(u32::MAX).max(1);
        let connections_max = fit(rest - for_files);
        Self {
            connections_max,
            per_address_max: fit(u64::from(connections_max) / 2),
            refused_max: fit(for_files / 2 / workers).min(REFUSED_MAX),
        }
    }

    /// Returns what the current limit of this process allows.
    pub fn of_process(workers: usize) -> Self {
        Self::new(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX), workers)
    }
}

fn setting(name: &str) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/sys/net/{name}")).ok()?;
    Some(text.trim().to_owned())
}

/// Unmaps the resident pages of all code of this process and its libraries. Call it once, after the
/// start: reading a configuration runs more code than serving does, and each touched page brings 64
/// KiB into memory. Code that runs again comes from the page cache in a few microseconds.
pub fn release_code_pages() {
    sys::release_code_pages();
}

/// Raises the limit of open files to the hard limit and returns it.
pub fn raise_files() -> Result<u64, Errno> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
    }
    Ok(limit.maximum.unwrap_or(u64::MAX))
}

/// Returns which kernel settings are too low for listeners of `backlog` connections and a server of
/// `connections_max` (0: as many as fit) with this many workers, one sentence for each, with the
/// remedy.
pub fn advice(kernel: &Kernel, backlog: u32, connections_max: u32, workers: usize) -> Vec<String> {
    let backlog = u64::from(backlog);
    let mut sentences = Vec::new();
    if let Some(cap) = kernel.backlog_max.filter(|cap| *cap < backlog) {
        sentences.push(format!(
            "the kernel cuts the backlog of {backlog} connections to {cap}: bursts beyond it wait a second (sysctl -w net.core.somaxconn={backlog})"
        ));
    }
    let syn_backlog_wanted = backlog.min(SYN_BACKLOG_LOW);
    if let Some(cap) = kernel.syn_backlog_max.filter(|cap| *cap < syn_backlog_wanted) {
        sentences.push(format!(
            "the kernel keeps {cap} half-open connections: bursts beyond it wait a second (sysctl -w net.ipv4.tcp_max_syn_backlog={syn_backlog_wanted})"
        ));
    }
    let connections = Capacity::new(kernel.files, workers).connections_max;
    if connections < connections_max {
        sentences.push(format!(
            "{} open files are enough for {connections} connections, so connections_max = {connections_max} is not reached \
             (raise ulimit -n, or LimitNOFILE= of the service)",
            kernel.files
        ));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(backlog_max: u64, syn_backlog_max: u64, files: u64) -> Kernel {
        Kernel {
            backlog_max: Some(backlog_max),
            syn_backlog_max: Some(syn_backlog_max),
            congestion: None,
            files,
            files_max: files,
        }
    }

    #[track_caller]
    fn check(kernel: &Kernel, connections_max: u32, expected: &[&str]) {
        assert_eq!(advice(kernel, 4096, connections_max, 2), expected);
    }

    #[test]
    fn what_is_too_small_is_named_at_its_edge() {
        check(
            &kernel(4095, 1024, 20_000),
            0,
            &[
                "the kernel cuts the backlog of 4096 connections to 4095: bursts beyond it wait a second (sysctl -w net.core.somaxconn=4096)",
            ],
        );
        check(
            &kernel(4096, 1023, 20_000),
            0,
            &[
                "the kernel keeps 1023 half-open connections: bursts beyond it wait a second (sysctl -w net.ipv4.tcp_max_syn_backlog=1024)",
            ],
        );
        check(
            &kernel(4096, 1024, 1024),
            827,
            &[
                "1024 open files are enough for 826 connections, so connections_max = 827 is not reached (raise ulimit -n, or LimitNOFILE= of the service)",
            ],
        );
        check(&kernel(4096, 1024, 1024), 826, &[]);
        check(&kernel(4096, 1024, 1024), 0, &[]);
        check(&Kernel { files: 1024, ..Kernel::default() }, 826, &[]);
    }

    #[test]
    fn connections_follow_the_open_files() {
        for (files, workers, connections_max, per_address_max, refused_max) in [
            (0, 1, 1, 1, 1),
            (20, 1, 5, 2, 1),
            (96, 1, 21, 10, 1),
            (128, 1, 49, 24, 3),
            (1024, 2, 826, 413, 29),
            (1024, 64, 392, 196, 1),
            (20_000, 2, 17_430, 8_715, 64),
            (u64::MAX, 1024, u32::MAX, u32::MAX / 2, 64),
        ] {
            let expected = Capacity { connections_max, per_address_max, refused_max };
            assert_eq!(Capacity::new(files, workers), expected, "{files} files, {workers} workers");
        }
    }

    #[test]
    fn the_running_kernel_can_be_read_and_the_limit_raised() {
        let raised = raise_files().unwrap();
        let kernel = Kernel::read();
        assert_eq!((kernel.files, kernel.files_max), (raised, raised));
        assert!(kernel.backlog_max.is_some());
    }
}
