//! System resources: open files and kernel queues, with advice where they are lower than what the
//! server is configured to use, and the memory of code.

use std::fs;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::reactor::sys;

/// Descriptors other than connections: standard streams, listeners, logs, and those of the
/// reactors.
const RESERVED_FILES: u64 = 64;
/// One of this many remaining descriptors is reserved for open files that responses are sent from.
const SHARE_FOR_FILES: u64 = 8;
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

    /// Returns how many connections the limit of open files allows.
    pub fn connections(&self) -> u32 {
        let rest = self.files.saturating_sub(RESERVED_FILES);
        u32::try_from(rest - rest / SHARE_FOR_FILES).unwrap_or(u32::MAX).max(1)
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
/// `connections_max` (0: as many as fit), one sentence for each, with the remedy.
pub fn advice(kernel: &Kernel, backlog: u32, connections_max: u32) -> Vec<String> {
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
    let connections = kernel.connections();
    if connections < connections_max {
        sentences.push(format!(
            "{} open files are enough for {connections} connections and not for connections_max = {connections_max} \
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
        assert_eq!(advice(kernel, 4096, connections_max), expected);
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
            841,
            &[
                "1024 open files are enough for 840 connections and not for connections_max = 841 (raise ulimit -n, or LimitNOFILE= of the service)",
            ],
        );
        check(&kernel(4096, 1024, 1024), 840, &[]);
        check(&kernel(4096, 1024, 1024), 0, &[]);
        check(&Kernel { files: 1024, ..Kernel::default() }, 840, &[]);
    }

    #[test]
    fn connections_follow_the_open_files() {
        for (files, expected) in [(0, 1), (64, 1), (72, 7), (1024, 840), (u64::MAX, u32::MAX)] {
            assert_eq!(kernel(0, 0, files).connections(), expected, "{files} files");
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
