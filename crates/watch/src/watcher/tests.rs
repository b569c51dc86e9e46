//! What a sample costs, counted in system calls and not in time; and what holds whatever is read.

use std::time::Instant;

use vervet_testkit::{Child, PATIENCE, wait_until};

use super::*;

#[track_caller]
fn check_forward(before: (u64, u64), now: (u64, u64), expected: (u64, u64)) {
    let cpu = |(user_us, system_us)| Cpu { user_us, system_us };
    assert_eq!(forward(cpu(before), cpu(now)), cpu(expected));
}

#[test]
fn processor_time_never_goes_back() {
    check_forward((10, 10), (12, 13), (12, 13));
    check_forward((10, 10), (5, 5), (10, 10));
    // The kernel moves time from one part to the other when it knows better.
    check_forward((10, 10), (8, 14), (10, 12));
    check_forward((10, 10), (14, 8), (12, 10));
    check_forward((10, 10), (4, 17), (10, 11));
    check_forward((0, 0), (0, 0), (0, 0));
}

/// A second at ten samples: nine read two files a process and open none, one reads everything.
#[test]
fn a_sample_reads_two_files_a_process_and_opens_none() {
    let children = 4;
    let script = "for i in 1 2 3 4; do sleep 600 & done; echo ready; wait";
    let mut child = Child::start("sh", ["-c", script]);
    child.wait_for_line(|line| line == "ready");
    let mut watcher = Watcher::open(&Target::Pid(child.id())).unwrap();
    let begin = Instant::now();
    assert!(wait_until(PATIENCE, || watcher.sample_all(begin).processes == children + 1));
    // Once more, as a child may just have become another program.
    watcher.sample_all(begin);
    for tenth in 1..10 {
        let (opens, reads) = (watcher.reader.opens, watcher.reader.reads);
        let sample = watcher.sample(begin + DETAIL_EVERY * tenth / 10);
        assert_eq!(sample.processes, children + 1);
        assert!(sample.detail.is_none() && sample.host.is_none() && sample.cgroup.is_none());
        let opened = watcher.reader.opens - opens;
        let read = watcher.reader.reads - reads;
        // Of the list of children, the end is read, too, where there are some.
        let most = 2 * u64::from(children + 1) + 1;
        assert!(opened == 0 && read <= most, "{opened} opened, {read} read");
    }
    // Its cost may have put it off, but not for longer than this.
    let sample = watcher.sample(begin + PUT_OFF_MAX);
    assert!(sample.detail.is_some() && sample.host.is_some());
    for pid in std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id()))
        .unwrap()
        .split_whitespace()
    {
        let pid = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
    child.wait_exit(PATIENCE);
}

#[test]
fn the_cost_of_a_sample_is_reported() {
    let mut watcher = Watcher::open(&Target::Pid(std::process::id())).unwrap();
    let sample = watcher.sample_all(Instant::now());
    assert!(sample.cost_us > 0);
    assert_eq!((sample.at_us, sample.cpu.total_us()), (0, 0));
}

/// After how long a reading is due again that took so many microseconds.
#[track_caller]
fn check(cost_us: u64, expected: Duration) {
    let now = Instant::now();
    let mut pace = Pace::every(Duration::from_secs(1));
    assert!(pace.is_due(now));
    pace.took(now, Duration::from_micros(cost_us));
    let just_before = now + expected.checked_sub(Duration::from_nanos(1)).unwrap();
    assert!(!pace.is_due(just_before));
    assert!(pace.is_due(now + expected));
}

#[test]
fn expensive_values_are_read_less_often() {
    check(0, Duration::from_secs(1));
    check(1_000, Duration::from_secs(1));
    check(1_001, Duration::from_millis(1_001));
    check(30_000, PUT_OFF_MAX);
    check(u64::MAX, PUT_OFF_MAX);
}
