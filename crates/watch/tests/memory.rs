//! A watch takes no more memory after an hour than after its first minute: an hour of samples, ten
//! a second, on a clock of the test's own. The readings are real, and so are the processes that are
//! born and end meanwhile.

use std::process::{self, Command};
use std::time::{Duration, Instant};

use vervet_testkit::{Child, own_process, rss_bytes};
use vervet_watch::{Tally, Target, Watcher};

/// Ten samples a second.
const INTERVAL: Duration = Duration::from_millis(100);
/// What comes before memory is looked at: buffers have grown to what they need, and all that is
/// read seldom was read.
const MINUTE: u32 = 600;
const HOUR: u32 = 36_000;
/// What an hour may ask for and keep: nothing for a sample. It is the heap of the watch alone.
const KEPT_BYTES_MAX: i64 = 16 << 10;
/// How much the whole test process may grow meanwhile.
const GROWTH_BYTES_MAX: u64 = 2 << 20;

#[test]
fn an_hour_takes_no_more_memory_than_a_minute() {
    own_process!();
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "echo born; while :; do (:); done"]);
    let mut shell = Child::spawn(shell);
    shell.wait_for_line(|line| line == "born");
    let mut watcher = Watcher::open(&Target::Pid(shell.id())).unwrap();
    let mut tally = Tally::default();
    let begin = Instant::now();
    let mut take = |numbers: std::ops::Range<u32>| {
        for number in numbers {
            let sample = watcher.sample(begin + INTERVAL * number);
            tally.add(&sample);
        }
    };
    take(0..MINUTE);
    let rss = || rss_bytes(process::id()).unwrap();
    let before = rss();
    let heap = allocation_counter::measure(|| take(MINUTE..MINUTE + HOUR));
    let grown = rss().saturating_sub(before);
    println!(
        "an hour of samples: {} bytes of heap kept, {grown} bytes of resident memory more",
        heap.bytes_current
    );
    assert!(heap.bytes_current <= KEPT_BYTES_MAX, "{heap:?}");
    assert!(grown <= GROWTH_BYTES_MAX, "{grown} bytes");
    let summary = tally.summary();
    assert_eq!(summary.samples, u64::from(MINUTE + HOUR));
    assert_eq!(summary.duration_us, u64::from(MINUTE + HOUR - 1) * 100_000);
    assert!(summary.faults.minor > 0, "children were born: {summary:?}");
}
