//! What the kernel says of this process.

use std::fs;

use rustix::time::{ClockId, clock_gettime};

/// Memory, processor time and descriptors of this process; zero where the kernel does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessReport {
    /// Its number.
    pub id: u32,
    /// Memory that is in place, in bytes.
    pub resident_bytes: u64,
    /// Processor time of all threads, those that have ended too, in milliseconds.
    pub cpu_ms: u64,
    /// Open descriptors.
    pub descriptors: u64,
}

impl ProcessReport {
    /// Asks the kernel.
    pub fn read() -> Self {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        Self {
            id: std::process::id(),
            resident_bytes: resident_bytes().unwrap_or(0),
            cpu_ms: u64::try_from(cpu.tv_sec * 1000 + cpu.tv_nsec / 1_000_000).unwrap_or(0),
            descriptors: fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64),
        }
    }
}

fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_and_descriptors() {
        let process = ProcessReport::read();
        assert!(process.resident_bytes > 100_000, "{process:?}");
        assert!(process.descriptors >= 3, "{process:?}");
    }
}
