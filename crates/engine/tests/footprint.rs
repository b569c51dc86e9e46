//! What a started program keeps in memory.

use std::fs;

use vervet_engine::capacity::release_code_pages;
use vervet_testkit::own_process;

/// Memory of this process that is pages of files, in KiB.
fn file_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssFile:"));
    line.and_then(|line| line.split_whitespace().next()).unwrap().parse().unwrap()
}

#[test]
fn released_code_pages_are_loaded_again() {
    own_process!();
    let before = file_kib();
    release_code_pages();
    let after = file_kib();
    assert!(after < before, "{after} KiB after {before}");
    // The released code works as before.
    assert!(file_kib() > 0);
    release_code_pages();
}
