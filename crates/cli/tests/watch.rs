//! `vervet watch` as it is typed: every format, every way to end, and its figures for our own
//! server against the kernel's account.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;
use vervet_testkit::{
    Cgroup, Child, PATIENCE, Signal, Stream, TempTree, Vervet, at_terminal, find_program,
    free_port, skip, wait_until,
};

const VERVET: &str = env!("CARGO_BIN_EXE_vervet");

fn watch<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Output {
    let mut command = Command::new(VERVET);
    command.arg("watch").args(arguments).stdin(Stdio::null());
    command.output().unwrap()
}

/// What it writes to standard output when it ends well.
#[track_caller]
fn watched<'a>(arguments: impl IntoIterator<Item = &'a str>) -> String {
    let output = watch(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout).unwrap()
}

/// A process that does nothing.
fn idle() -> Child {
    Child::start("sleep", ["600"])
}

#[track_caller]
fn check_refused(arguments: &[&str], status: i32, expected: &str) {
    let output = watch(arguments.iter().copied());
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {error}");
    assert!(error.contains(expected), "{arguments:?}: {error}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
}

#[test]
fn wrong_usage_is_status_2() {
    check_refused(&[], 2, "<TARGET>");
    check_refused(&["pid:x"], 2, "\"x\" is not a process ID");
    check_refused(&["port:65536"], 2, "\"65536\" is not a port (1 to 65535)");
    check_refused(
        &["1", "-i", "9ms"],
        2,
        "invalid interval `9ms`: expected a time from 10ms to 366d",
    );
    check_refused(&["1", "-d", "0"], 2, "invalid duration `0`");
    check_refused(&["1", "-n", "0"], 2, "0 is not in 1..");
    check_refused(&["1", "-f", "xml"], 2, "[possible values: table, json, ndjson, csv]");
    check_refused(&["1", "--", "true"], 2, "cannot be used with");
}

#[test]
fn a_missing_target_is_status_4() {
    check_refused(&["pid:4194304"], 4, "there is no process 4194304");
    check_refused(&["name:no such"], 4, "no process has the name \"no such\"");
    let port = format!(":{}", free_port());
    check_refused(&[&port], 4, "no process listens on port");
    check_refused(&["/no/such/cgroup"], 4, "cgroup");
    check_refused(&["no-such.service"], 4, "cgroup");
    check_refused(&["--", "./no-such-program"], 4, "cannot start ./no-such-program: ");
}

#[test]
fn a_file_that_cannot_be_written_is_status_1() {
    let child = idle();
    let pid = format!("pid:{}", child.id());
    check_refused(
        &[&pid, "-n", "1", "-o", "/no/such/folder/file"],
        1,
        "cannot write /no/such/folder/file",
    );
}

fn schema() -> jsonschema::Validator {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/watch.schema.json");
    let text = std::fs::read_to_string(file).unwrap();
    jsonschema::draft202012::new(&serde_json::from_str(&text).unwrap()).unwrap()
}

#[track_caller]
fn parsed(text: &str) -> Json {
    let value: Json = serde_json::from_str(text).unwrap();
    let errors: Vec<_> = schema().iter_errors(&value).map(|error| error.to_string()).collect();
    assert_eq!(errors, [""; 0], "{text}");
    value
}

#[test]
fn the_schema_finds_mistakes() {
    for text in
        ["{}", "[]", "{\"record\":\"sample\"}", "{\"head\":{},\"samples\":[],\"summary\":{}}"]
    {
        assert!(!schema().is_valid(&serde_json::from_str(text).unwrap()), "{text}");
    }
}

#[test]
fn json_is_one_document() {
    let child = idle();
    let pid = format!("pid:{}", child.id());
    let document = parsed(&watched([&pid, "-n", "3", "-i", "20ms", "-f", "json"]));
    assert_eq!(document["head"]["version"], 1);
    assert_eq!(document["head"]["subject"]["roots"][0]["pid"], child.id());
    assert_eq!(document["samples"].as_array().unwrap().len(), 4);
    assert_eq!(document["summary"]["samples"], 4);
    assert_eq!(document["summary"]["valid"], true);
    assert!(document["summary"]["pss_bytes"]["peak"].as_f64().unwrap() > 0.0);
    assert!(document["summary"]["host"]["tcp"]["listen_overflows"].is_u64());
}

#[test]
fn ndjson_is_a_record_a_line() {
    let child = idle();
    let pid = format!("pid:{}", child.id());
    let text = watched([&pid, "-d", "100ms", "-i", "50ms", "-f", "ndjson"]);
    let records: Vec<_> = text.lines().map(parsed).collect();
    let kinds: Vec<_> = records.iter().map(|record| record["record"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("head", "summary"));
    let samples = &kinds[1..kinds.len() - 1];
    assert!(samples.len() >= 2 && samples.iter().all(|kind| *kind == "sample"), "{kinds:?}");
}

#[test]
fn csv_has_a_name_for_each_column() {
    let child = idle();
    let pid = format!("pid:{}", child.id());
    let output = watch([pid.as_str(), "-n", "2", "-i", "20ms", "-f", "csv"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Vec<_>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 4, "{text}");
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{text}");
    let column = |name: &str| rows[0].iter().position(|column| *column == name).unwrap();
    assert_eq!(rows[3][column("processes")], "1");
    assert!(rows[3][column("pss_bytes")].parse::<u64>().unwrap() > 0);
    let names = String::from_utf8_lossy(&output.stderr);
    assert!(names.starts_with("watched pid:"), "the summary is on standard error: {names}");
}

#[test]
fn a_table_ends_with_the_summary() {
    let child = idle();
    let pid = format!("pid:{}", child.id());
    let text = watched([pid.as_str(), "-n", "1", "-i", "1s"]);
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].contains("CPU%") && lines[0].contains("PSS"), "{text}");
    assert!(lines[1].trim_start().starts_with("1.") && lines[1].contains('%').eq(&false), "{text}");
    let root = format!("watched pid:{0} [{0} (sleep)] for ", child.id());
    assert!(lines[2].starts_with(&root), "{text}");
    for name in
        ["cpu ", "memory ", "faults ", "switches ", "sockets ", "machine ", "tcp ", "this watch "]
    {
        assert!(lines.iter().any(|line| line.trim_start().starts_with(name)), "{name}: {text}");
    }
}

#[test]
fn outputs_are_written_to_files() {
    let child = idle();
    let pid = format!("pid:{}", child.id());
    let tree = TempTree::new();
    let file = tree.join("watch.json");
    let text = watched([pid.as_str(), "-n", "1", "-i", "20ms", "-o", file.to_str().unwrap()]);
    assert_eq!(text, "");
    let document = parsed(&std::fs::read_to_string(file).unwrap());
    assert_eq!(document["summary"]["samples"], 2);
}

/// A watch that has begun.
fn begun(arguments: &[&str]) -> Child {
    let arguments = std::iter::once("watch").chain(arguments.iter().copied());
    let mut child = Child::start(VERVET, arguments);
    child.wait_for_line(|line| line.contains("\"sample\""));
    child
}

#[track_caller]
fn check_ending(mut watch: Child, status: i32) -> Json {
    assert_eq!(watch.wait_exit(PATIENCE).code(), Some(status));
    let text = watch.text(Stream::Stdout);
    let last = parsed(text.lines().last().unwrap());
    assert_eq!(last["record"], "summary", "{text}");
    last
}

#[test]
fn ctrl_c_ends_it_with_the_summary() {
    let child = idle();
    let pid = format!("pid:{}", child.id());
    let mut endless = begun(&[&pid, "-f", "ndjson"]);
    endless.signal(Signal::INT);
    check_ending(endless, 0);
    let mut bounded = begun(&[&pid, "-f", "ndjson", "-d", "1h"]);
    bounded.signal(Signal::INT);
    check_ending(bounded, 130);
    let mut bounded = begun(&[&pid, "-f", "ndjson", "-n", "1000000"]);
    bounded.signal(Signal::TERM);
    check_ending(bounded, 143);
}

#[test]
fn it_ends_with_the_last_process() {
    for (more, status) in [(&[] as &[&str], 0), (&["-d", "1h"], 4)] {
        let child = idle();
        let pid = format!("pid:{}", child.id());
        let arguments: Vec<_> =
            [&pid, "-f", "ndjson"].into_iter().chain(more.iter().copied()).collect();
        let watch = begun(&arguments);
        drop(child);
        assert_eq!(check_ending(watch, status)["ended"], true);
    }
}

#[test]
fn it_ends_when_the_reader_closes() {
    let child = idle();
    let script = format!("{VERVET} watch pid:{} -i 10ms -f csv | head -n 2", child.id());
    let mut pipe = Child::start("sh", ["-c", &script]);
    assert!(pipe.wait_exit(PATIENCE).success());
    assert_eq!(pipe.text(Stream::Stdout).lines().count(), 2);
}

#[test]
fn a_command_is_watched_from_start_to_end() {
    let output = watch(["--", "sh", "-c", "echo data; exit 3"]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(output.stdout, b"data\n");
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.starts_with("watched pid:") && error.contains("(sh)]"), "{error}");

    let output = watch(["--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(output.status.code(), Some(137));

    // What is watched no longer does not go on.
    let output = watch(["-d", "50ms", "--", "sleep", "600"]);
    assert_eq!(output.status.code(), Some(143));
}

/// CPU time that a command uses, in microseconds.
const COMMAND_US: u64 = 300_000;

#[test]
fn all_that_a_command_uses_is_counted() {
    let Some(python) = find_program("python3") else {
        skip!("needs python3");
    };
    let program = format!("import time\nwhile time.process_time_ns() < {COMMAND_US}000: pass\n");
    let python = python.to_str().unwrap();
    let output =
        watch(["-f", "json", "--", "sh", "-c", "\"$0\" -c \"$1\" & wait", python, &program]);
    let document = parsed(std::str::from_utf8(&output.stderr).unwrap());
    let cpu = &document["summary"]["cpu"];
    let used = cpu["user_us"].as_u64().unwrap() + cpu["system_us"].as_u64().unwrap();
    assert!(used >= COMMAND_US - 20_000, "{used}");
}

#[test]
fn a_terminal_has_a_live_view() {
    let child = idle();
    let command = format!("{VERVET} watch pid:{} -d 700ms", child.id());
    let Some(terminal) = at_terminal(&command, 100) else {
        skip!("needs script of util-linux");
    };
    let mut terminal = Child::spawn(terminal);
    assert!(terminal.wait_exit(PATIENCE).success(), "{:#?}", terminal.lines());
    let text = terminal.text(Stream::Stdout);
    assert!(text.contains("\x1b[?25l") && text.contains("\x1b[?25h"), "{text:?}");
    assert!(text.contains('▁') && text.contains('█') && text.contains("machine "), "{text:?}");
    let summary = text.rsplit("\x1b[?25h").next().unwrap();
    assert!(summary.contains("watched pid:"), "{text:?}");
}

#[test]
fn a_terminal_that_cannot_draw_has_lines() {
    let child = idle();
    let command = format!("TERM=dumb {VERVET} watch pid:{} -d 300ms", child.id());
    let Some(terminal) = at_terminal(&command, 200) else {
        skip!("needs script of util-linux");
    };
    let mut terminal = Child::spawn(terminal);
    assert!(terminal.wait_exit(PATIENCE).success());
    let text = terminal.text(Stream::Stdout);
    assert!(text.contains("CPU%") && !text.contains('\x1b'), "{text:?}");
}

/// They may differ by one in so many: two in a hundred.
const TOLERANCE: u64 = 50;

/// CPU time that the server is made to use, in microseconds.
const USE_US: u64 = 1_000_000;

#[test]
fn our_server_uses_what_the_kernel_says() {
    let tree = TempTree::new().file("page", vec![b'x'; 1 << 20]);
    let Some(cgroup) = Cgroup::new(".service") else {
        skip!("needs root and a writable cgroup of version 2");
    };
    let server = Vervet::serve(VERVET, tree.path(), ["--workers", "2", "--log", "none"]);
    cgroup.adopt_tree(server.child.id());
    let unit = cgroup.path().file_name().unwrap().to_str().unwrap();
    let port = format!("port:{}", server.address.port());
    let mut watches: Vec<_> =
        [port.as_str(), unit].iter().map(|target| begun(&[target, "-f", "ndjson"])).collect();
    let requests = "GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(9)
        + "GET /page HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let before = cgroup.cpu_us();
    assert!(wait_until(PATIENCE * 3, || {
        for _ in 0..10 {
            let mut client = server.connect();
            client.send(&requests);
            client.read_to_close();
        }
        cgroup.cpu_us() - before > USE_US
    }));
    // The last connections are closed.
    let mut last = 0;
    wait_until(PATIENCE, || {
        let now = cgroup.cpu_us();
        std::mem::replace(&mut last, now) == now
    });
    for watch in &mut watches {
        watch.signal(Signal::INT);
    }
    let used = cgroup.cpu_us() - before;
    for watch in watches {
        let summary = check_ending(watch, 0);
        for account in [&summary["cpu"], &summary["cgroup"]["cpu"]] {
            let told =
                account["user_us"].as_u64().unwrap() + account["system_us"].as_u64().unwrap();
            assert!(told.abs_diff(used) * TOLERANCE < used, "{told} of {used}: {summary:#}");
        }
        assert_eq!(summary["valid"], true);
    }
}
