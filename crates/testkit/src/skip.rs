//! Tests that need what a machine may lack: they say so where nobody can overlook it, and they are
//! counted.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

/// When this variable is `1` a test may not be skipped: `scripts/test` sets it where the set-up
/// could install everything.
const REQUIRE_ALL: &str = "VERVET_REQUIRE_ALL";

/// Leaves the test and says why: `skip!("needs h2o")`. One skip a test, because the summary counts
/// lines.
///
/// With `VERVET_REQUIRE_ALL=1` in the environment the test fails instead.
#[macro_export]
macro_rules! skip {
    ($($why:tt)+) => {{
        $crate::skipped(&::std::format!($($why)+));
        return;
    }};
}

/// Says that a test is skipped. Use [`skip!`](crate::skip!), which also leaves the test.
#[track_caller]
pub fn skipped(why: &str) {
    let all = std::env::var_os(REQUIRE_ALL).is_some_and(|value| value == "1");
    assert!(!all, "skipping is not allowed here ({REQUIRE_ALL}=1): {why}");
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // Not `eprintln!`: the test harness would keep that to itself, and `scripts/test` counts these
    // lines.
    let line = format!("SKIPPED: {test}: {why}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("standard error can be written to");
}

/// Where a program is, looked for in `PATH` and in the system folders that a user's `PATH` often
/// lacks.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// A Python that has a module: the one that stands first in `PATH`, or else the system's own, whose
/// modules are packages of the system.
pub fn find_python(module: &str) -> Option<PathBuf> {
    let candidates = find_program("python3").into_iter();
    let mut candidates = candidates.chain(["/usr/bin/python3".into()]);
    candidates.find(|python| {
        let import = format!("import {module}");
        let run = Command::new(python).args(["-c", &import]).output();
        run.is_ok_and(|output| output.status.success())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_is_there() {
        assert!(find_program("sh").is_some());
        assert_eq!(find_python("vervet_has_no_such_module"), None);
        assert_eq!(find_program("no-such-program-anywhere"), None);
    }
}
