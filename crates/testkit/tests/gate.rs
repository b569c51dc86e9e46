//! The gate counts right: a sum that hides a failure is worse than none.

use std::process::{Command, Output};

use vervet_testkit::{TempTree, skip};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Runs a line of shell with the gate's functions at hand; `log` is the output to be counted, in
/// `$log`.
fn shell(line: &str, log: &str) -> Output {
    let tree = TempTree::new().file("log", log).file("results", "");
    let mut command = Command::new("bash");
    command.args(["-c", &format!("set -eu; . scripts/common.sh; . scripts/count.sh; {line}")]);
    command
        .current_dir(ROOT)
        .env("log", tree.join("log"))
        .env("VERVET_RESULTS", tree.join("results"));
    command.env_remove("VERVET_REQUIRE_ALL").env_remove("CI");
    command.output().unwrap()
}

/// What `line` prints last for `log`.
#[track_caller]
fn check(line: &str, log: &str, expected: &str) {
    let output = shell(line, log);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        printed.lines().last(),
        Some(expected),
        "{line}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[track_caller]
fn check_tests(status: u8, log: &str, expected: &str) {
    let line =
        format!("count_tests \"$log\" {status}; echo $TESTS_PASSED $TESTS_FAILED $TESTS_SKIPPED");
    check(&line, log, expected);
}

#[track_caller]
fn check_fuzzing(status: u8, log: &str, expected: &str) {
    let line = format!(
        "count_fuzzing \"$log\" {status}; echo $(how_many pass) $(how_many fail) $(how_many skip)"
    );
    check(&line, log, expected);
}

const GOOD: &str = "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s\n";
const BAD: &str = "test result: FAILED. 2 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n";

#[test]
fn failed_tests_are_counted_over_all_binaries() {
    check_tests(101, &format!("{BAD}noise\n{GOOD}{BAD}"), "9 6 1");
}

#[test]
fn a_crash_and_code_that_does_not_compile_are_failures() {
    check_tests(101, GOOD, "5 1 1");
    check_tests(101, "error: could not compile\n", "0 1 0");
    check_tests(124, GOOD, "5 1 1");
}

const TIMED: &str = "     Running unittests src/lib.rs (target/debug/deps/vervet_http-0a1b)\n\
    test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.49s\n\
         Running tests/main.rs (target/debug/deps/main-0a1b)\n\
    test a::b ... ok <0.5s>\ntest a::c ... FAILED <21.7s>\ntest d ... FAILED\ntest e ... ok <20.1s>\n\
    test result: FAILED. 2 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 41.50s\n";

#[test]
fn failed_tests_are_named() {
    check("failed_tests \"$log\" | tr '\\n' ' '; echo", TIMED, "a::c d ");
    check("failed_tests \"$log\"; echo none", "error: could not compile `vervet`\n", "none");
}

#[test]
fn slow_tests_and_programs_are_named() {
    check(
        "slow_tests \"$log\" 20 | tr '\\n' ';'; echo",
        TIMED,
        "SLOW: a::c took 21.7 s, at most 20;SLOW: e took 20.1 s, at most 20;",
    );
    check(
        "program_steps \"$log\" | tr '\\n' ';'; echo",
        TIMED,
        "0 unit tests of vervet_http;42 integration tests of vervet_http;",
    );
}

#[test]
fn a_budget_that_is_exceeded_is_named() {
    check("budget time 900 900 s", "", "time: 900 of 900 s");
    check("budget time 901 900 s", "", "time: 901 of 900 s: OVER BUDGET");
}

#[track_caller]
fn check_again(log: &str, expected: &str) {
    let line = "TESTS_PASSED=10 TESTS_FAILED=3 TESTS_SKIPPED=1; count_again \"$log\"; \
                echo $TESTS_PASSED $TESTS_FAILED $TESTS_SKIPPED";
    check(line, log, expected);
}

#[test]
fn a_test_that_fails_again_has_failed() {
    check_again(BAD, "10 3 1");
    check_again(&format!("{BAD}{BAD}"), "10 3 1");
    check_again("signal: 11\n", "10 3 1");
}

#[test]
fn a_test_that_passes_alone_is_not_a_failure() {
    check_again(GOOD, "13 0 1");
    let line = "printf 'test a::c ... ok <1.0s>\\n' >again; flaky_or_failed \"$log\" again | tr '\\n' ';'; rm again; echo";
    check(line, TIMED, "FLAKY: a::c;FAILED: d;");
}

#[test]
fn a_skip_is_not_a_pass() {
    check_tests(
        0,
        &format!("SKIPPED: a: needs h2o\ntest x ... SKIPPED: b: needs wrk\n{GOOD}"),
        "3 0 3",
    );
}

#[test]
fn what_another_test_runs_is_no_skip() {
    check_tests(0, &format!("test a ... ignored, run by b\n{GOOD}"), "5 0 0");
    check_tests(0, &format!("test a ... ignored, too slow\n{GOOD}"), "5 0 1");
}

#[test]
fn each_fuzz_target_is_a_test() {
    check_fuzzing(0, "fuzz head ok (1000 runs)\nfuzz chunked ok\n", "2 0 0");
    check_fuzzing(1, "fuzz head ok\nfuzz chunked FAILED (log: fuzz/a.log)\n", "1 1 0");
}

#[test]
fn fuzzing_that_tries_nothing_fails() {
    check_fuzzing(0, "", "0 1 0");
    check_fuzzing(2, "fuzz head ok\n", "1 1 0");
}

#[test]
fn a_part_that_fails_is_recorded() {
    check("attempt part false; echo $FAILED $(how_many fail)", "", "1 1");
    check("attempt part true; echo $FAILED $(how_many pass)", "", "0 1");
}

#[test]
fn a_skip_is_a_failure_where_all_is_required() {
    check("record skip part why; echo $FAILED", "", "0");
    check("VERVET_REQUIRE_ALL=1; record skip part why; echo $FAILED", "", "1");
}

/// Skips when another test of this file, which runs this one as a program, asks for it.
#[test]
fn skips_when_asked() {
    if std::env::var_os("VERVET_TRY_SKIP").is_some() {
        skip!("asked to");
    }
}

fn run_skipping(require_all: &str) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "gate::skips_when_asked"]).env("VERVET_TRY_SKIP", "1");
    command.env("VERVET_REQUIRE_ALL", require_all).output().unwrap()
}

#[test]
fn a_skipped_test_says_so_though_its_output_is_captured() {
    let output = run_skipping("0");
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "SKIPPED: gate::skips_when_asked: asked to\n"
    );
}

#[test]
fn a_skipped_test_fails_where_all_is_required() {
    assert!(!run_skipping("1").status.success());
}
