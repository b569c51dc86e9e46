//! A lab runs each store for a few operations: every phase is reported, and errors are named.
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use vervet_lab::check_text;
use vervet_lab::plan::Pace;
use vervet_lab::present::{page_markdown, report_page};
use vervet_lab::record::{LabRecord, Outcome, Step, TaskStep};
use vervet_lab::runner::{Generator, Options, Progress, run};
use vervet_lab::statistics::Analysis;
use vervet_testkit::{TempTree, find_program, skip};

struct Nobody;

impl Progress for Nobody {
    fn say(&mut self, _: &str) {}
    fn step(&mut self, _: usize, _: usize, _: &Step) {}
    fn task(&mut self, _: usize, _: usize, _: &TaskStep) {}
}

/// The record of one run of a task with so many values each way.
fn record(task: &str, count: u32) -> LabRecord {
    let client = env!("CARGO_BIN_EXE_vervet-stores");
    run_lab(&format!(
        "title = 'test'\nrepeats = 1\ncores = {{ server = [], generator = [] }}\n\
         operations = {{ count = {count}, value = '100B', client = '{client}' }}\n[task.store]\n{task}\n"
    ))
}

fn run_lab(text: &str) -> LabRecord {
    let checked = check_text(Path::new("test.toml"), text.as_bytes(), Path::new("/"), Pace::Full);
    let out = TempTree::new();
    let result = run(
        checked.plan.as_ref().unwrap(),
        &mut Options {
            out: out.path().join("out"),
            program: "vervet test".to_owned(),
            ceiling: Vec::new(),
            measurer: &mut Generator,
            progress: &mut Nobody,
            interrupted: &AtomicBool::new(false),
        },
    );
    let left = std::fs::read_dir(out.path().join("out")).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!left.into_iter().any(|name| name.starts_with("vervet-lab-")));
    result.unwrap()
}

/// Every phase is reported once, with its operations, and the report shows their shares.
#[track_caller]
fn check(task: &str) {
    let record = record(task, 50);
    let step = &record.tasks[0];
    assert_eq!(step.outcome, Outcome::Measured);
    let phases = step.phases.iter();
    let phases: Vec<(&str, u64)> =
        phases.map(|phase| (phase.name.as_str(), phase.operations)).collect();
    let expected = [("create", 1), ("connect", 1), ("put", 50), ("get", 50), ("close", 1)];
    assert_eq!(phases, expected);
    let analysis = Analysis::of(&record).unwrap();
    let shares = analysis.groups[0].tasks[0].phases.iter();
    let sum: f64 = shares.map(|phase| phase.share.unwrap().median).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    let page = page_markdown(&report_page(&record, &analysis), None);
    assert!(page.contains("| place | task | create | connect | put | get | close | whole |"));
}

/// The lab of the repository, shortened: each store that is installed reports every phase.
#[test]
fn every_store_of_s2c() {
    let lab = include_str!("../../s2c.toml");
    let client = env!("CARGO_BIN_EXE_vervet-stores");
    let lab = lab.replace("repeats = 5", "repeats = 1\ncores = { server = [], generator = [] }");
    let operations = format!("[operations]\nclient = '{client}'\n");
    let lab = lab.replace("[operations]\n", &operations);
    let record = run_lab(&lab.replace("count = 10_000", "count = 100"));
    let measured: Vec<&str> = record.tasks.iter().map(|step| step.task.as_str()).collect();
    // What is in the client itself is always there.
    for name in ["redb", "sqlite", "redb-durable", "sqlite-durable", "sqlite-no-index"] {
        assert!(measured.contains(&name), "{name}: {measured:?}");
    }
    for step in &record.tasks {
        assert_eq!(step.outcome, Outcome::Measured, "{}", step.task);
        let operations: Vec<u64> = step.phases.iter().map(|phase| phase.operations).collect();
        assert_eq!(operations, [1, 1, 100, 100, 1], "{}", step.task);
    }
}

#[test]
fn stores_within_the_client() {
    for settings in [
        "adapter = 'redb'",
        "adapter = 'redb'\nsettings = { durable = true }",
        "adapter = 'sqlite'",
        "adapter = 'sqlite'\nsettings = { durable = true, index = false }",
    ] {
        check(settings);
    }
}

#[test]
fn memcached() {
    if find_program("memcached").is_none() {
        skip!("needs memcached");
    }
    check("adapter = 'memcached'");
}

#[test]
fn redis_or_valkey() {
    let names = ["valkey-server", "redis-server"];
    if names.iter().all(|name| find_program(name).is_none()) {
        skip!("needs valkey-server or redis-server");
    }
    check("adapter = 'redis'");
    check("adapter = 'redis'\nsettings = { durable = true }");
}

#[test]
fn mariadb() {
    if find_program("mariadbd").is_none() {
        skip!("needs mariadbd");
    }
    check("adapter = 'mariadb'\nsettings = { durable = true, index = false }");
}

/// More puts than any machine has made when its server is killed.
const MANY: u32 = 10_000_000;

#[test]
fn a_server_that_is_killed_half_way_is_named() {
    if find_program("memcached").is_none() {
        skip!("needs memcached");
    }
    let script = "#!/bin/sh\nexec timeout --foreground --signal KILL 1 memcached \"$@\"\n";
    let folder = TempTree::new();
    let program = folder.write("killed", script);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let task = format!("adapter = 'memcached'\nprogram = '{}'", program.display());
    let record = record(&task, MANY);
    let Outcome::Crashed { reason } = &record.tasks[0].outcome else {
        panic!("{:?}", record.tasks[0]);
    };
    assert!(reason.starts_with("its server ended ("), "{reason}");
    assert!(reason.contains("cannot put key-"), "{reason}");
    let analysis = Analysis::of(&record).unwrap();
    let task = &analysis.groups[0].tasks[0];
    assert!(task.total.is_none() && task.phases.is_empty() && task.place.is_none());
    let page = page_markdown(&report_page(&record, &analysis), None);
    assert!(page.contains("## What failed"));
}
