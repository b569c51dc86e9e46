//! Clocks: the CPU time of a process and of this thread, and the time since boot.

use std::time::Duration;

use nix::time::ClockId;
use nix::unistd::Pid;
use rustix::time::{ClockId as Clock, Timespec, clock_gettime};

/// Above the largest process ID of Linux. The library would make the clock of another process of a
/// much larger one.
const PID_LIMIT: u32 = 1 << 22;

/// The CPU time of a process, including threads that have exited, in nanoseconds and with one
/// cheap system call. In /proc it has a resolution of 10 ms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessClock(ClockId);

impl ProcessClock {
    /// None if there is no such process.
    pub(crate) fn new(pid: u32) -> Option<Self> {
        let pid = (1..PID_LIMIT).contains(&pid).then_some(pid)?;
        let pid = Pid::from_raw(i32::try_from(pid).ok()?);
        ClockId::pid_cpu_clock_id(pid).ok().map(Self)
    }

    /// Microseconds; none if the process has been reaped.
    pub(crate) fn read_us(self) -> Option<u64> {
        let time = self.0.now().ok()?;
        let seconds = u64::try_from(time.tv_sec()).ok()?;
        let nanoseconds = u64::try_from(time.tv_nsec()).ok()?;
        Some(seconds * 1_000_000 + nanoseconds / 1000)
    }
}

/// The CPU time of this thread.
pub(crate) fn thread_cpu() -> Duration {
    duration(clock_gettime(Clock::ThreadCPUTime))
}

/// The time since boot, which is also the unit of process start times.
pub(crate) fn since_boot() -> Duration {
    duration(clock_gettime(Clock::Boottime))
}

fn duration(time: Timespec) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vervet_testkit::{Child, PATIENCE, wait_until};

    #[test]
    fn no_process_has_no_clock() {
        for pid in [0, PID_LIMIT - 1, PID_LIMIT, 1 << 30, u32::MAX] {
            let time = ProcessClock::new(pid).and_then(ProcessClock::read_us);
            assert_eq!(time, None, "{pid}");
        }
    }

    #[test]
    fn a_process_that_was_reaped_has_no_time() {
        let mut child = Child::start("true", [""; 0]);
        let clock = ProcessClock::new(child.id());
        child.wait_exit(PATIENCE);
        assert_eq!(clock.and_then(ProcessClock::read_us), None);
    }

    #[test]
    fn time_goes_on() {
        let clock = ProcessClock::new(std::process::id()).unwrap();
        let (before, thread, boot) = (clock.read_us().unwrap(), thread_cpu(), since_boot());
        assert!(wait_until(PATIENCE, || clock.read_us().unwrap() > before));
        assert!(thread_cpu() > thread);
        assert!(since_boot() > boot);
    }
}
