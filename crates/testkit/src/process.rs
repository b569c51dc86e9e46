//! Reads memory, CPU time and descriptors of a process.

use std::fs;
use std::time::Duration;

/// The resident memory of a process in bytes, from `/proc/PID/status` (`VmRSS`); none when it has
/// ended.
pub fn rss_bytes(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status_kib(&status, "VmRSS:").map(|kib| kib * 1024)
}

/// The processor time that all living threads of a process have had, to the nanosecond, from
/// `/proc/PID/task/*/schedstat`.
///
/// Threads that have ended no longer count; none when the process has ended.
pub fn cpu_time(pid: u32) -> Option<Duration> {
    let mut nanoseconds = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let Ok(schedstat) = fs::read_to_string(thread.path().join("schedstat")) else {
            continue;
        };
        nanoseconds += schedstat.split_ascii_whitespace().next()?.parse::<u64>().ok()?;
    }
    Some(Duration::from_nanos(nanoseconds))
}

/// How many descriptors a process has open; none when it has ended.
pub fn open_fds(pid: u32) -> Option<usize> {
    Some(fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count())
}

fn status_kib(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_not_there_has_nothing() {
        // Above the largest process number that Linux gives (2^22).
        let nobody = 1 << 30;
        assert_eq!((rss_bytes(nobody), cpu_time(nobody), open_fds(nobody)), (None, None, None));
    }

    #[test]
    fn reads_the_line_that_is_asked_for() {
        let status = "VmPeak:\t  9 kB\nVmRSS:\t    4321 kB\n";
        assert_eq!(status_kib(status, "VmRSS:"), Some(4321));
        assert_eq!(status_kib(status, "VmSwap:"), None);
    }

    #[test]
    fn this_process_has_memory_time_and_descriptors() {
        let me = std::process::id();
        assert!(rss_bytes(me).unwrap() > 100_000);
        let before = cpu_time(me).unwrap();
        assert!(crate::wait_until(crate::PATIENCE, || cpu_time(me).unwrap() > before));
        let descriptors = open_fds(me).unwrap();
        assert!(descriptors >= 3, "{descriptors}");
    }
}
