//! `vervet load` as it is typed: what it refuses, how it ends, what it writes.

use std::fs;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Output};

use vervet_testkit::{Child, TempTree};

const BINARY: &str = env!("CARGO_BIN_EXE_vervet");

fn load(arguments: &[&str]) -> Output {
    let mut command = Command::new(BINARY);
    command.arg("load").args(arguments).output().unwrap()
}

#[track_caller]
fn check(arguments: &[&str], status: i32, said: &str) -> String {
    let output = load(arguments);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {talk}{printed}");
    assert!(talk.contains(said), "{arguments:?}: {talk}");
    printed
}

/// The canned-answer server, as a program of its own.
fn canned() -> (Child, String) {
    let mut child = Child::start(BINARY, ["load", "--canned", "127.0.0.1:0"]);
    let address = child.wait_for_address();
    (child, format!("http://{address}/"))
}

#[test]
fn the_report_has_the_usage_of_the_server() {
    let (child, url) = canned();
    let target = format!("pid:{}", child.id());
    let arguments = [&*url, "-c", "2", "-d", "1s", "--watch", &target, "--format", "json", "-q"];
    let printed = load(&arguments).stdout;
    let run: serde_json::Value = serde_json::from_slice(&printed).unwrap();
    let watched = &run["watched"][0];
    assert_eq!(watched["invalid"], "");
    let name = watched["name"].as_str().unwrap();
    assert!(name.contains(&child.id().to_string()), "{name}");
    let samples = watched["samples"].as_array().unwrap();
    assert!(!samples.is_empty());
    let spent = samples.iter().map(|sample| {
        sample["cpu_user_permille"].as_u64().unwrap()
            + sample["cpu_system_permille"].as_u64().unwrap()
    });
    assert!(spent.sum::<u64>() > 0, "{samples:?}");
    assert!(samples[0]["memory_bytes"].as_u64().unwrap() > 0);
}

#[test]
fn watched_targets_must_exist() {
    let url = "http://127.0.0.1:9/";
    let arguments = [url, "-n", "1", "--watch", "name:no-such-program-here"];
    check(&arguments, 4, "no-such-program-here");
    check(&[url, "--watch", "pid:1", "--find-max", "p99<1s"], 2, "cannot be used with");
}

fn nobody() -> SocketAddr {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    gone.local_addr().unwrap()
}

#[test]
fn refuses_invalid_shapes() {
    let url = "http://127.0.0.1:9/";
    check(&["https://127.0.0.1/"], 2, "https is not supported");
    check(&[], 2, "URL");
    check(&[url, "-c", "0"], 2, "connections must be 1 to");
    check(&[url, "-d", "soon"], 2, "expected a time such as 10s");
    check(&[url, "--rate", "0"], 2, "above 0");
    check(&[url, "--rate", "1000000k", "-d", "1s"], 2, "at most 10m, 10000000 requests per second");
    check(&[url, "--ramp", "1..11m"], 2, "at most 10m");
    check(&[url, "--steps", "1..20m+10m"], 2, "at most 10m");
    check(&[url, "--rate", "5", "--pipeline", "2"], 2, "pipelining needs closed load");
    check(&[url, "--fail-if", "p99>soon"], 2, "p99>soon");
    check(&[url, "--check-hash", "abc"], 2, "64 hexadecimal digits");
    check(&[url, "--stages", "/nowhere"], 2, "cannot read /nowhere");
    check(&[url, "-H", "no colon"], 2, "no colon");
    check(&[url, "--source", "::1"], 2, "one is IPv4");
    check(&["http://name.invalid/"], 2, "cannot look up name.invalid");
    check(&[url, "--replay", "/nowhere"], 2, "cannot read /nowhere");
}

#[test]
fn a_target_that_refuses_ends_with_4() {
    let url = format!("http://{}/", nobody());
    check(&[&url, "-n", "3", "-c", "1"], 4, "the target could not be reached");
    check(&[&url, "--find-max", "p99<1s"], 4, "cannot reach");
}

/// Neither successful nor failed: all were in flight at the end, and that is not a success.
#[test]
fn a_target_that_never_finishes_a_response_fails_the_run() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for mut stream in listener.incoming().flatten() {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nnever");
            open.push(stream);
        }
    });
    let arguments = [&*url, "-c", "4", "-d", "300ms"];
    check(&arguments, 1, "no request succeeded; 4 had no response at the end");
}

/// As many requests as the limit lets are due, and one connection carries them: what is due is
/// counted while the run goes on, and what is left of it at the end is not visited.
#[test]
fn the_highest_rate_ends_with_its_time() {
    let (_canned, url) = canned();
    let printed =
        load(&[&url, "--rate", "10m", "-c", "1", "-d", "500ms", "--format", "json", "-q"]);
    let run: serde_json::Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert_eq!(run["achieved"]["window_us"], 500_000);
    assert_eq!(run["achieved"]["asked"], 5_000_000);
    let left = run["censored"]["count"].as_u64().unwrap();
    let finished = run["achieved"]["done"].as_u64().unwrap();
    assert!(finished + left >= 4_999_999, "{finished} and {left}");
}

#[test]
fn conditions_decide_how_it_ends() {
    let (_canned, url) = canned();
    let few: [&str; 4] = ["-n", "200", "-c", "2"];
    let with = |more: &[&'static str]| [&[url.as_str()], &few[..], more].concat();
    let printed = check(&with(&[]), 0, "");
    assert!(printed.contains("successful responses") && printed.contains("200"), "{printed}");
    check(&with(&["--fail-if", "p99>1ns"]), 1, "failed: p99>1ns");
    check(&with(&["--fail-if", "p99>100s"]), 0, "");
    check(&with(&["--check-text", "moon"]), 1, "100.00 % of the requests failed");
    check(&with(&["--check-text", "moon", "--fail-if", "errors>100%"]), 1, "no request succeeded");
    check(&with(&["--fail-if", "audit"]), 0, "");
    check(
        &with(&["--check-text", "world", "--check-length", "13", "--check-status", "200"]),
        0,
        "",
    );
    check(&with(&["--close"]), 0, "");
}

/// Two thousand responses in 50 ms say nothing of what the next second would be.
#[test]
fn a_failed_audit_has_a_status_of_its_own() {
    let (_canned, url) = canned();
    let short = [&*url, "-c", "2", "-d", "50ms"];
    let printed = check(&short, 5, "the audit failed (window_length)");
    assert!(printed.contains("FAILED   window_length: 0.050 s"), "{printed}");
    let condition = [&short[..], &["--fail-if", "audit"]].concat();
    check(&condition, 1, "failed: audit (window_length)");
}

#[test]
fn each_form_is_written() {
    let (_canned, url) = canned();
    let tree = TempTree::new();
    let names = ["text", "json", "csv", "ndjson", "hgrm", "html", "openmetrics"];
    let files = names.map(|form| tree.path().join(form));
    let mut arguments = vec![url.clone(), "-n".into(), "500".into(), "-q".into()];
    for (form, file) in names.iter().zip(&files) {
        arguments.push(format!("--output={form}={}", file.display()));
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let printed = check(&arguments, 0, "");
    let texts = files.map(|file| fs::read_to_string(file).unwrap());
    assert_eq!(texts[0], printed);
    let run: serde_json::Value = serde_json::from_str(&texts[1]).unwrap();
    assert_eq!(run["achieved"]["done"], 500);
    assert!(texts[2].lines().count() >= 2);
    assert!(texts[3].lines().all(|line| line.starts_with('{')));
    assert!(texts[4].contains("Percentile"), "{}", texts[4]);
    assert!(texts[5].starts_with("<!"), "{}", texts[5]);
    assert!(
        texts[6].contains("\nvervet_load_good_total 500\n") && texts[6].ends_with("# EOF\n"),
        "{}",
        texts[6]
    );
    // Nothing is left of how it was written.
    assert_eq!(fs::read_dir(tree.path()).unwrap().count(), names.len());
}

#[test]
fn an_interrupt_reports_what_there_is() {
    let (_canned, url) = canned();
    let mut child = Child::start(BINARY, ["load", &url, "-d", "1h", "--interval", "100ms"]);
    child.wait_for_line(|line| line.contains("generator"));
    child.signal(rustix::process::Signal::INT);
    let exit = child.wait_exit(vervet_testkit::PATIENCE);
    assert_eq!(exit.code(), Some(130));
}

#[test]
fn scenarios_and_lists_are_asked() {
    let (_canned, url) = canned();
    let tree = TempTree::new();
    let list = tree.path().join("targets.txt");
    fs::write(&list, format!("GET {url}a\nGET {url}b\n")).unwrap();
    let list = list.display().to_string();
    check(&["--targets", &list, "-n", "100", "-q"], 0, "");
    let log = tree.path().join("access.log");
    let line = "127.0.0.1 - - [10/Oct/2025:13:55:36 +0000] \"GET /a HTTP/1.1\" 200 13\n";
    fs::write(&log, line.repeat(20)).unwrap();
    let log = log.display().to_string();
    check(&[&url, "--replay", &log, "-q"], 0, "20 requests");
}
