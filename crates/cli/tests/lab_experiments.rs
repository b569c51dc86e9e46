//! The labs of this repository run with whatever rivals are installed: what is written is looked
//! at, never how fast it was.
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use vervet_testkit::{Child, PATIENCE, Signal, TempTree, skipped, wait_until};

fn labs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../labs")
}

/// The Python servers are those of the repository, though the lab file lies elsewhere here.
fn vervet(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vervet"));
    let python = labs().join("python");
    if python.is_dir() {
        command.env("VERVET_LAB_PYTHON", python);
    }
    command.args(arguments).output().unwrap()
}

/// A lab of the repository, made so short that a loaded machine is through in seconds, and its
/// applications.
fn short(name: &str, folder: &TempTree) -> PathBuf {
    let text = std::fs::read_to_string(labs().join(name)).unwrap();
    let (before, after) = text.split_once("[quick]").unwrap();
    let after = after.split_once("\n\n").map_or("", |(_, rest)| rest);
    let quick =
        "steps = 1\nrepeats = 1\nduration = '500ms'\nwarm_up = '50ms'\nfiles = 50\ncount = 100\n";
    let apps = labs().join("apps").display().to_string();
    // A machine may have one core only, and the folder of the lab file is another one here.
    let cores = if before.contains("\ncores = ") {
        ""
    } else {
        "cores = { server = [], generator = [] }\n"
    };
    let text = format!("{cores}{before}[quick]\n{quick}\n{after}");
    folder.write(name, text.replace("\"apps/", &format!("\"{apps}/")))
}

/// The record of a quick run of these subjects, or of all, and its report as text.
fn run_quick(name: &str, only: &[&str]) -> (Value, String) {
    let folder = TempTree::new();
    let file = short(name, &folder);
    let out = folder.path().join("out");
    let (file, out_text) = (file.to_str().unwrap(), out.to_str().unwrap());
    let mut arguments = vec!["lab", "run", file, "--quick", "--out", out_text];
    arguments.extend(only.iter().flat_map(|name| ["--only", name]));
    let output = vervet(&arguments);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{talk}");
    assert!(out.join("report.html").is_file());
    let record = std::fs::read(out.join("lab.json")).unwrap();
    let report = std::fs::read_to_string(out.join("report.md")).unwrap();
    (serde_json::from_slice(&record).unwrap(), report)
}

/// Our server and one rival: each that is present has every step of its workloads, and each step
/// of our server and of the ceiling has a run.
#[track_caller]
fn check(name: &str, rival: &str) {
    let only = ["vervet", rival];
    let (record, _) = run_quick(name, &only);
    let steps = record["steps"].as_array().unwrap();
    assert_eq!(steps.len() as u64, record["head"]["steps_planned"].as_u64().unwrap());
    assert!(record["ended_unix_ms"].is_u64());
    for subject in record["head"]["subjects"].as_array().unwrap() {
        let subject_name = subject["name"].as_str().unwrap();
        let is_ours = subject_name == "vervet" || subject["role"] == "ceiling";
        let is_wanted = is_ours || only.contains(&subject_name);
        let is_present = subject["state"] == "present";
        let of = steps.iter().filter(|step| step["subject"] == subject["name"]);
        assert_eq!(of.clone().count() > 0, is_present && is_wanted, "{subject}");
        for step in of.filter(|_| is_ours) {
            assert_eq!(step["outcome"], "measured", "{step}");
            assert!(step["run"]["achieved"]["done"].as_u64().unwrap() > 0, "{step}");
        }
    }
    let fairness = record["fairness"].as_array().unwrap();
    assert!(fairness.iter().all(|row| row["verdict"] != "refused"));
    let history = &record["head"]["history"];
    assert!(!history["mistakes"].as_array().unwrap().is_empty());
}

#[test]
fn s0_runs() {
    check("s0.toml", "nginx");
}

#[test]
fn s2a_runs() {
    check("s2a.toml", "nginx");
}

/// Each task whose programs are installed has finished with these phases in this order; others are
/// reported as skipped. Returns the names of the finished tasks.
#[track_caller]
fn check_tasks(record: &Value, phases: &[&str]) -> Vec<String> {
    let steps = record["tasks"].as_array().unwrap();
    let planned = record["head"]["steps_planned"].as_u64().unwrap();
    assert_eq!(steps.len() as u64, planned);
    let mut present = Vec::new();
    for subject in record["head"]["subjects"].as_array().unwrap() {
        let name = subject["name"].as_str().unwrap();
        let mut of = steps.iter().filter(|step| step["task"] == name);
        if subject["state"] != "present" {
            assert!(of.next().is_none(), "{subject}");
            skipped(&format!("{name}: {}", subject["state"]["skipped"]["reason"]));
            continue;
        }
        let step = of.next().unwrap_or_else(|| panic!("no step of {name}"));
        assert_eq!(step["outcome"], "measured", "{step}");
        let told = step["phases"].as_array().unwrap();
        let names: Vec<&str> = told
            .iter()
            .filter(|phase| phase["time_ns"].as_u64().unwrap() > 0)
            .map(|phase| phase["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, phases, "{step}");
        present.push(name.to_owned());
    }
    present
}

#[test]
fn the_host_is_measured() {
    let (record, report) = run_quick("host.toml", &[]);
    let probes = ["pi", "loopback", "fsync", "system-call"];
    assert_eq!(check_tasks(&record, &probes), ["host"]);
    for probe in probes {
        assert!(report.contains(&format!("| host | {probe} | ")), "{probe} is not in\n{report}");
    }
    // Points drawn on each core give pi to two digits.
    let facts = record["tasks"][0]["facts"].as_array().unwrap();
    let pi = facts.iter().find(|fact| fact[0] == "pi").unwrap();
    assert!(pi[1].as_str().unwrap().starts_with("3.14"), "{pi}");
}

#[test]
fn s3_runs() {
    // Nothing but Python servers, which may all be missing: then the lab says so.
    let folder = TempTree::new();
    let file = short("s3.toml", &folder);
    let out = folder.path().join("out");
    let output = vervet(&[
        "lab",
        "run",
        file.to_str().unwrap(),
        "--quick",
        "--only",
        "gunicorn-gthread",
        "--only",
        "granian",
        "--out",
        out.to_str().unwrap(),
    ]);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    if talk.contains("no subject of the lab is installed") {
        vervet_testkit::skip!("needs gunicorn or granian (labs/setup)");
    }
    assert!(output.status.success(), "{talk}");
    assert!(out.join("lab.json").is_file());
}

#[test]
fn every_lab_is_fine_and_names_its_steps() {
    let folders = [labs(), labs().join("provoke")];
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    for entry in entries {
        let file = entry.unwrap().path();
        if file.extension().is_none_or(|end| end != "toml") {
            continue;
        }
        let name = file.to_str().unwrap();
        let output = vervet(&["lab", "check", name]);
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{talk}");
        let output = vervet(&["lab", "run", name, "--quick", "--dry-run"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let last = text.lines().last().unwrap_or_default();
        // "18 steps, about 30 s": within two minutes.
        assert!(last.contains(" steps, about "), "{last}");
        let minutes = last.split("about ").nth(1).filter(|time| time.contains(" min "));
        assert!(minutes.is_none_or(|time| time.starts_with("1 min ")), "{name}: {last}");
    }
}

#[test]
fn an_unknown_name_is_reported() {
    let file = labs().join("s0.toml");
    let output = vervet(&["lab", "run", file.to_str().unwrap(), "--only", "ngnix"]);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(talk.contains("unknown subject ngnix: the lab has vervet, nginx, "), "{talk}");
}

#[test]
fn an_interrupted_lab_ends_with_130_and_goes_on() {
    let folder = TempTree::new();
    let text = "title = 'long'\nrepeats = 3\ncores = { server = [], generator = [] }\n[subject.vervet]\nadapter = 'vervet'\n\
        [tree.t]\ncontent = 'hello'\n[workload.w]\npath = '/t/{file}'\ntree = 't'\n[load.l]\nconnections = 2\n\
        duration = '400ms'\nwarm_up = '0s'\n";
    let file = folder.write("long.toml", text);
    let out = folder.path().join("out");
    let arguments = ["lab", "run", file.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let mut child = Child::start(env!("CARGO_BIN_EXE_vervet"), arguments);
    child.wait_for_line(|line| line.contains("1/6 "));
    child.signal(Signal::INT);
    assert_eq!(child.wait_exit(PATIENCE).code(), Some(130));
    assert!(!out.join("lab.json").exists());
    let output = vervet(&arguments);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && talk.contains("resuming after "), "{talk}");
    assert!(wait_until(PATIENCE, || out.join("lab.json").is_file()));
}

/// The first lab file is valid, is not replaced, and its steps are known.
#[test]
fn a_first_lab_file_is_written() {
    let folder = TempTree::new();
    let file = folder.path().join("lab.toml");
    let name = file.to_str().unwrap();
    let check = |arguments: &[&str], status: i32, said: &str| {
        let output = vervet(arguments);
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{talk}");
        assert!(talk.contains(said), "{talk}");
    };
    check(&["lab", "init", name], 0, "next: vervet lab check");
    check(&["lab", "init", name], 1, "exists and is not replaced");
    check(&["lab", "init", "/nowhere/lab.toml"], 1, "cannot write /nowhere/lab.toml");
    check(&["lab", "check", name], 0, "is valid");
    check(&["lab", "run", name, "--quick", "--dry-run"], 0, "");
    // What is commented out is valid, too.
    let text = std::fs::read_to_string(&file).unwrap();
    let examples = text.lines().map(|line| match line.strip_prefix("# ") {
        Some(example) if example.starts_with('[') || example.contains(" = ") => example,
        _ => line,
    });
    std::fs::write(&file, examples.collect::<Vec<_>>().join("\n")).unwrap();
    check(&["lab", "check", name], 0, "is valid");
}
