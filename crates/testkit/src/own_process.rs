//! Tests that need a process of their own: limits, descriptors and memory belong to all threads of
//! one.

use std::io::Write as _;
use std::process::Command;

/// Names the test that a process was started for.
const TEST: &str = "VERVET_OWN_PROCESS";

/// Runs the test that begins with this in a process of its own: `own_process!();`. In the process
/// of the other tests, the rest of the test is left out, and the test fails if it failed there.
#[macro_export]
macro_rules! own_process {
    () => {{
        fn here() {}
        if !$crate::is_own_process(::std::any::type_name_of_val(&here)) {
            return;
        }
    }};
}

/// Whether this process was started for the test whose inner function has this path; otherwise
/// starts it and waits. Use [`own_process!`](crate::own_process!), which also leaves the test.
#[track_caller]
pub fn is_own_process(inner: &str) -> bool {
    // `main::limits::holds::here` is a function of the test `limits::holds` of the program `main`.
    let (_, path) = inner.split_once("::").unwrap();
    let (test, _) = path.rsplit_once("::").unwrap();
    if std::env::var(TEST).is_ok_and(|named| named == test) {
        return true;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(TEST, test)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    // Past the harness, as `skipped` writes: what is skipped there is skipped here.
    std::io::stderr().write_all(&output.stderr).unwrap();
    assert!(
        output.status.success() && stdout.contains(" 1 passed;"),
        "{test}, in a process of its own, failed:\n{stdout}"
    );
    false
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_process_is_started_for_the_test() {
        own_process!();
        let test = std::env::var(super::TEST).unwrap();
        assert_eq!(test, "own_process::tests::a_process_is_started_for_the_test");
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        assert_eq!(arguments, ["--exact", test.as_str(), "--nocapture"]);
    }
}
