//! Reports panics: each is a bug, printed with its backtrace. The process aborts, as a server that
//! continues without a worker looks healthy from outside.

use std::backtrace::Backtrace;
use std::panic;

use crate::console;

/// Prints location and backtrace of any panic, then aborts, which writes a core dump if enabled.
pub(crate) fn report_panics() {
    panic::set_hook(Box::new(|info| {
        let trace = Backtrace::force_capture();
        console::message(format_args!("a bug: {info}\n{trace}"));
        std::process::abort();
    }));
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::Command;

    use super::*;

    /// Set for a process that is to crash.
    const CRASHING: &str = "VERVET_TEST_CRASH";

    fn a_function_of_a_worker() {
        let numbers: Vec<u32> = Vec::new();
        let index = std::hint::black_box(7);
        assert_eq!(numbers[index], 0);
    }

    /// The whole life of such a process: a thread of it panics while another would go on.
    #[test]
    #[ignore = "run by another test as another process"]
    fn child() {
        if std::env::var_os(CRASHING).is_none() {
            return;
        }
        report_panics();
        let worker = std::thread::Builder::new().name("worker 1".to_owned());
        let _ = worker.spawn(a_function_of_a_worker).map(std::thread::JoinHandle::join);
        println!("still there");
    }

    /// FEATURES Y5: "crash prints backtrace". The end is that of a program that has crashed.
    #[test]
    fn a_panic_of_any_thread_is_logged_with_its_trace_and_ends_the_process() {
        let test = ["run::crash::tests::child", "--ignored", "--exact", "--nocapture"];
        let output = Command::new(std::env::current_exe().unwrap())
            .args(test)
            .env(CRASHING, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(6), "{:?} {said}", output.status);
        let place = "vervet: a bug: panicked at crates/cli/src/run/crash.rs:";
        assert!(said.lines().any(|line| line.starts_with(place)), "{said}");
        assert!(said.contains("index out of bounds: the len is 0 but the index is 7"), "{said}");
        assert!(said.contains("a_function_of_a_worker"), "{said}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("still there"));
    }
}
