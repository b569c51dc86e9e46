//! `vervet lab reproduce`: a lab is run, its record is moved, and from the record alone the lab is
//! run again and compared with itself.
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use vervet_testkit::{Child, PATIENCE, Signal, TempTree, find_program, sha256_hex, skip};

/// Two subjects, one of them a script next to the lab file, and a published figure of the other.
const LAB: &str = r#"
title = "Again"
repeats = 2
ceiling = false
allow = ["fields", "head-bytes", "keep-alive"]
cores = { server = [], generator = [] }

[subject.ours]
adapter = "vervet"
app = "page.html"

[subject.script]
command = ["python3", "{file}/apps/server.py", "{port}", "ok"]

[workload.hello]
expect = { text = "hello" }

[load.two]
connections = [1, 2]
duration = "200ms"
warm_up = "0s"

[quick]
steps = 1
repeats = 2
duration = "200ms"
warm_up = "0s"

[history]
source = "A post of 2012."
mistakes = ["Nobody says on what it ran."]

[[history.figure]]
what = "Another server"
subject = "ours"
figure = "goodput"
said = "29,231 requests a second"
connections = 2
wrong = "Called 42 % more."
"#;

/// The lab in a folder of its own.
fn written() -> TempTree {
    let labs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../labs");
    let server = fs::read_to_string(labs.join("provoke/server.py")).unwrap();
    TempTree::new()
        .file("lab/again.toml", LAB)
        .file("lab/page.html", "hello")
        .file("lab/apps/server.py", server)
}

fn vervet(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vervet"));
    command.current_dir(folder).arg("lab").args(arguments);
    command.output().unwrap()
}

/// Standard output and what was said, where a command ended with a status.
#[track_caller]
fn check(folder: &Path, arguments: &[&str], status: i32) -> (String, String) {
    let output = vervet(folder, arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    let talk = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {text}{talk}");
    (text, talk)
}

fn record(file: &Path) -> Value {
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

#[test]
fn a_lab_is_run_again_from_its_record() {
    if find_program("python3").is_none() {
        skip!("needs python3");
    }
    let tree = written();
    let folder = tree.path();
    check(folder, &["run", "lab/again.toml", "--out", "first"], 0);
    let page = fs::read_to_string(folder.join("first/report.md")).unwrap();
    check_history(&page);
    // Nothing but the record is left.
    fs::rename(folder.join("first/lab.json"), folder.join("first.json")).unwrap();
    let first = record(&folder.join("first.json"));
    fs::remove_dir_all(folder.join("lab")).unwrap();
    fs::remove_dir_all(folder.join("first")).unwrap();

    let (text, talk) = check(folder, &["reproduce", "first.json", "--dir", "again"], 0);
    assert!(text.starts_with("again/again.toml\nagain/SHA256SUMS\n"), "{text}");
    assert!(talk.contains("8/8 "), "{talk}");
    for place in ["ours, 1 connection", "ours, 2 connections", "script, 2 "] {
        assert!(text.contains(place), "{place}: {text}");
    }
    assert!(
        text.contains("successful responses per second: ") && !text.contains("lost: "),
        "{text}"
    );
    let again = record(&folder.join("again/results/lab.json"));
    check_measured(&again, 8);
    assert_eq!(again["head"]["lab"], first["head"]["lab"]);
    assert_eq!(again["head"]["assets"], first["head"]["assets"]);
    let assets = again["head"]["assets"].as_array().unwrap();
    let paths: Vec<&Value> = assets.iter().map(|asset| &asset["path"]).collect();
    assert_eq!(paths, ["apps/server.py", "page.html"]);
    let order = |record: &Value| -> Vec<Value> {
        let steps = record["steps"].as_array().unwrap();
        steps.iter().map(|step| step["subject"].clone()).collect()
    };
    assert_eq!(order(&again), order(&first), "the same seed");

    // From the folder of the new results, and once more where all is done: nothing is measured
    // again.
    check(folder, &["reproduce", "again/results", "--dir", "third", "--files-only"], 0);
    let server = fs::read(folder.join("third/apps/server.py")).unwrap();
    let sums = fs::read_to_string(folder.join("third/SHA256SUMS")).unwrap();
    assert!(sums.contains(&format!("{}  apps/server.py", sha256_hex(&server))));
    let (_, talk) = check(folder, &["reproduce", "first.json", "--dir", "again"], 0);
    assert!(talk.contains("all steps of this lab are done"), "{talk}");
}

/// Every step came to its end.
#[track_caller]
fn check_measured(record: &Value, count: usize) {
    let steps = record["steps"].as_array().unwrap();
    assert_eq!(steps.len(), count);
    for step in steps {
        assert_eq!(step["outcome"], "measured", "{}", step["subject"]);
    }
}

/// The published figure is next to the new one.
#[track_caller]
fn check_history(page: &str) {
    assert!(page.contains("Published figures next to new ones"), "{page}");
    assert!(page.contains("A post of 2012."));
    assert!(page.contains("Nobody says on what it ran."));
    let row = page.lines().find(|line| line.starts_with("| Another server |"));
    let cells: Vec<&str> = row.unwrap().split('|').map(str::trim).collect();
    assert_eq!(cells[2], "successful responses per second, 2 connections");
    assert_eq!(cells[3], "29,231 requests a second");
    // A new figure of its own, with its unit, and under which load it was had.
    assert!(cells[4].contains("/s"), "{cells:?}");
    assert_eq!(cells[5], "2 connections");
    assert_eq!(cells[6], "Called 42 % more.");
}

#[test]
fn a_reproduction_leaves_out_the_same_steps() {
    let tree = written();
    let folder = tree.path();
    let only = ["--quick", "--only", "ours"];
    let run = ["run", "lab/again.toml", "--out", "first"];
    check(folder, &[&run[..], &only[..]].concat(), 0);
    let (text, _) = check(folder, &["reproduce", "first", "--dir", "again"], 0);
    assert!(!text.contains("caution: the omitted part"), "{text}");
    let again = record(&folder.join("again/results/lab.json"));
    assert_eq!(again["head"]["shortened"]["quick"], true);
    assert_eq!(again["head"]["shortened"]["only"][0], "ours");
    check_measured(&again, 2);
}

#[test]
fn an_interrupted_reproduction_ends_with_130_and_goes_on() {
    let tree = written();
    let folder = tree.path();
    let run = ["run", "lab/again.toml", "--out", "first", "--only", "ours"];
    check(folder, &run, 0);
    let (report, again) = (folder.join("first"), folder.join("again"));
    let mut child = Child::start(
        env!("CARGO_BIN_EXE_vervet"),
        [
            "lab".as_ref(),
            "reproduce".as_ref(),
            report.as_os_str(),
            "--dir".as_ref(),
            again.as_os_str(),
        ],
    );
    child.wait_for_line(|line| line.contains("1/4 "));
    child.signal(Signal::INT);
    assert_eq!(child.wait_exit(PATIENCE).code(), Some(130));
    let (text, talk) = check(folder, &["reproduce", "first", "--dir", "again"], 0);
    assert!(talk.contains("resuming after "), "{talk}");
    assert!(text.contains("successful responses per second: "), "{text}");
}

/// A task that is a script next to the lab file and prints the content of another file there.
const TASKS: &str = r#"
title = "A task again"
repeats = 5
cores = { server = [], generator = [] }

[task.script]
command = ["sh", "{file}/apps/task.sh"]
"#;

const TASK_SCRIPT: &str = "echo phase put 100 1200000000\necho phase get 100 500000000\n";

#[test]
fn a_lab_of_tasks_is_run_again_from_its_record_and_compared() {
    let tree = TempTree::new().file("lab/tasks.toml", TASKS).file("lab/apps/task.sh", TASK_SCRIPT);
    let folder = tree.path();
    check(folder, &["run", "lab/tasks.toml", "--out", "first"], 0);
    fs::rename(folder.join("first/lab.json"), folder.join("first.json")).unwrap();
    fs::remove_dir_all(folder.join("lab")).unwrap();
    let (text, _) = check(folder, &["reproduce", "first.json", "--dir", "again"], 0);
    for line in [
        "  script\n    put: 1.20 s against 1.20 s: no significant difference (interval 0.0 % to 0.0 %, 5 repeats)\n",
        "    all phases: 1.70 s against 1.70 s: no significant difference",
    ] {
        assert!(text.contains(line), "{line:?} is not in {text}");
    }
    check(folder, &["compare", "first", "again/results"], 0);
    // One that takes longer ends with 1, unless only another phase is guarded.
    let slower = TASK_SCRIPT.replace("500000000", "900000000");
    let tree = tree.file("lab/tasks.toml", TASKS).file("lab/apps/task.sh", slower);
    let folder = tree.path();
    check(folder, &["run", "lab/tasks.toml", "--out", "slower"], 0);
    let (text, talk) = check(folder, &["compare", "first", "slower"], 1);
    assert!(text.contains("get: 900 ms against 500 ms, +80.0 % of 500 ms"), "{text}");
    assert!(talk.contains("slower is worse than first"), "{talk}");
    let put_only = ["compare", "first", "slower", "--fail-on", "phase:put"];
    check(folder, &put_only, 0);
    let get_only = ["compare", "first", "slower", "--fail-on", "phase:get"];
    check(folder, &get_only, 1);
}
