//! The engine carried by loops of another language: Python's `selectors` and `asyncio`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test an unwrap is an assertion")]

use std::path::PathBuf;
use std::process::Command;

/// The shared library, which cargo builds next to the test.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let name = "libvervet_poll.so";
    let mut folders = test.ancestors().skip(1).take(2).map(|folder| folder.join(name));
    folders.find(|path| path.exists()).unwrap()
}

fn check(carrier: &str) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/foreign_loop.py");
    let mut command = Command::new("timeout");
    command.args(["60", "python3", script]).arg(library()).arg(carrier);
    let output = command.output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{carrier}: {stderr}");
    assert_eq!(stdout, format!("{carrier}: 50 answers\n"));
}

#[test]
fn selectors_carries_the_engine() {
    check("selectors");
}

#[test]
fn asyncio_carries_the_engine() {
    check("asyncio");
}
