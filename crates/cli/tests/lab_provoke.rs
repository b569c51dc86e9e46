//! Each mistake that a lab is to stop, made on purpose by the labs of `labs/provoke`: the step is
//! shown, has no place, and the report says why. What is looked at is what was found, never how
//! fast anything was.
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{PoisonError, RwLock};

use serde_json::Value;
use vervet_testkit::{TempTree, find_program, skip};

/// Equal subjects are not compared while another lab keeps a core busy. The other labs need no
/// lock: each has a network namespace of its own and asserts nothing about speed.
static MACHINE: RwLock<()> = RwLock::new(());

/// What these labs need that a machine may lack.
fn lacks() -> Option<&'static str> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match find_program("python3") {
        None => Some("needs python3"),
        Some(_) if cores < 2 => Some("needs two cores"),
        Some(_) => None,
    }
}

fn lab(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../labs/provoke").join(name)
}

/// Runs a command of the lab, as root in a network namespace of its own: the kernel counts full
/// queues and retransmissions for each of them, so those of other tests are not counted here.
fn vervet(arguments: &[&str]) -> Output {
    const IN_NAMESPACE: &str = "ip link set lo up && exec \"$0\" lab \"$@\"";
    let program = env!("CARGO_BIN_EXE_vervet");
    let mut command = if has_namespaces() {
        let mut command = Command::new("unshare");
        command.args(["--net", "sh", "-c", IN_NAMESPACE, program]);
        command
    } else {
        let mut command = Command::new(program);
        command.arg("lab");
        command
    };
    command.args(arguments).output().unwrap()
}

fn has_namespaces() -> bool {
    let mut probe = Command::new("unshare");
    let output = probe.args(["--net", "ip", "link", "set", "lo", "up"]).output();
    output.is_ok_and(|output| output.status.success())
}

/// A lab of `labs/provoke` that was run.
struct Ran {
    folder: TempTree,
    /// What the lab concludes, as JSON.
    conclusions: Value,
}

impl Ran {
    #[track_caller]
    fn new(name: &str, more: &[&str]) -> Self {
        let folder = TempTree::new();
        let (file, out) = (lab(name), folder.path().join("out"));
        let mut arguments = vec!["run", file.to_str().unwrap(), "--quick", "--out"];
        arguments.push(out.to_str().unwrap());
        arguments.extend(more);
        let output = vervet(&arguments);
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{talk}");
        let output = vervet(&["report", out.to_str().unwrap(), "--format", "json"]);
        let conclusions = serde_json::from_slice(&output.stdout).unwrap();
        Self { folder, conclusions }
    }

    fn out(&self) -> String {
        self.folder.path().join("out").display().to_string()
    }

    /// What the lab concludes of its only panel.
    fn panel(&self) -> &Value {
        let panels = self.conclusions["panels"].as_array().unwrap();
        assert_eq!(panels.len(), 1);
        &panels[0]
    }

    /// The report, without the strokes that keep Markdown from reading names as signs.
    fn page(&self) -> String {
        let page = std::fs::read_to_string(self.folder.path().join("out/report.md")).unwrap();
        page.replace('\\', "")
    }
}

/// The names of the subjects in a list of places or of those without one.
fn names(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap();
    list.iter().map(|one| one["subject"].as_str().unwrap()).collect()
}

/// A subject without a rank: the page shows the reason, and its figures.
#[track_caller]
fn check_unranked(ran: &Ran, subject: &str, reason: &str) {
    let panel = ran.panel();
    let is_it = |one: &&Value| one["subject"] == subject;
    let unranked = panel["unranked"].as_array().unwrap();
    let found = unranked.iter().find(is_it);
    let found = found.unwrap_or_else(|| panic!("{subject} has a place: {panel:#}"));
    let told = found["reason"].as_str().unwrap();
    assert!(told.contains(reason), "{told}");
    assert!(!names(&panel["places"]).contains(&subject));
    let page = ran.page();
    assert!(page.contains(reason), "{reason:?} is not in {page}");
    // Shown all the same: its row is among those of the loads.
    let curves = panel["curves"].as_array().unwrap();
    let curve = curves.iter().find(is_it).unwrap();
    assert!(curve["points"][0]["not_ranked"].is_string(), "{curve}");
}

/// A rule that was found of a subject.
#[track_caller]
fn check_found(ran: &Ran, subject: &str, rule: &str, verdict: &str) {
    let panel = ran.panel();
    let curves = panel["curves"].as_array().unwrap();
    let curve = curves.iter().find(|curve| curve["subject"] == subject);
    let findings = curve.unwrap()["points"][0]["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["rule"] == rule);
    let found = found.unwrap_or_else(|| panic!("{rule} is not among {findings:#?}"));
    assert_eq!(found["verdict"], verdict, "{found:#}");
    // As a sentence: but for its first letter, which is a capital.
    let mut meaning = found["meaning"].as_str().unwrap().chars();
    meaning.next();
    assert!(ran.page().contains(meaning.as_str()), "{found:#}");
}

#[test]
fn a_starved_generator_measures_itself() {
    if let Some(lack) = lacks() {
        skip!("{lack}");
    }
    let _alone = MACHINE.write().unwrap_or_else(PoisonError::into_inner);
    let ran = Ran::new("starved.toml", &[]);
    check_unranked(&ran, "starved", "audit: ");
    check_found(&ran, "starved", "generator_starved", "failed");
}

/// The wait for a free connection is the server's: 16 connections carry 400 requests per second,
/// and while it stands still they are all in use.
#[test]
fn a_server_that_stalls_is_no_limit_of_the_generator() {
    if let Some(lack) = lacks() {
        skip!("{lack}");
    }
    let _shared = MACHINE.read().unwrap_or_else(PoisonError::into_inner);
    let ran = Ran::new("stall.toml", &[]);
    let point = &ran.panel()["curves"][0]["points"][0];
    let findings = point["findings"].as_array().unwrap();
    let lag = findings.iter().find(|finding| finding["rule"] == "generator_lag");
    assert!(lag.is_none_or(|lag| lag["verdict"] != "failed"), "{point:#}");
    let p99_ms = point["figures"]["response_p99_ms"]["median"].as_f64().unwrap();
    assert!(p99_ms > 500.0, "{point:#}");
}

#[test]
fn a_full_accept_queue_is_distinguished_from_a_slow_server() {
    if let Some(lack) = lacks() {
        skip!("{lack}");
    }
    let ran = Ran::new("queue.toml", &[]);
    check_unranked(&ran, "queue", "audit: ");
    check_found(&ran, "queue", "listen_overflows", "failed");
    check_found(&ran, "queue", "queue_overflow", "warning");
}

#[test]
fn a_crashed_subject_has_no_rank() {
    if let Some(lack) = lacks() {
        skip!("{lack}");
    }
    let ran = Ran::new("crash.toml", &[]);
    check_unranked(&ran, "tires", "crashed: exited under load");
    check_found(&ran, "tires", "crash", "failed");
    assert!(ran.page().contains("output: mode tires"));
}

#[test]
fn wrong_answers_do_not_count_as_throughput() {
    if let Some(lack) = lacks() {
        skip!("{lack}");
    }
    let ran = Ran::new("wrong.toml", &[]);
    check_unranked(&ran, "wrong", "wrong responses: expected status 200, got 404");
    check_unranked(&ran, "changes", "audit: ");
    check_found(&ran, "changes", "wrong_answers", "failed");
}

#[test]
fn equal_subjects_tie() {
    if let Some(lack) = lacks() {
        skip!("{lack}");
    }
    let _shared = MACHINE.read().unwrap_or_else(PoisonError::into_inner);
    let ran = Ran::new("twins.toml", &[]);
    let panel = ran.panel();
    let places = panel["places"].as_array().unwrap();
    assert_eq!(places.len(), 2, "{panel:#}");
    for place in places {
        assert_eq!(place["place"], 1, "{panel:#}");
        assert_eq!(place["tied"], true, "{panel:#}");
    }
    let page = ran.page();
    assert!(
        page.contains("No significant difference: castor, pollux.")
            || page.contains("No significant difference: pollux, castor."),
        "{page}"
    );
}

#[test]
fn labs_of_equal_subjects_do_not_differ() {
    if let Some(lack) = lacks() {
        skip!("{lack}");
    }
    let _shared = MACHINE.read().unwrap_or_else(PoisonError::into_inner);
    // At the same time, so that what else the machine does slows both down.
    let (one, other) = std::thread::scope(|scope| {
        let run = |name| scope.spawn(move || Ran::new("twins.toml", &["--only", name]));
        let labs = (run("castor"), run("pollux"));
        (labs.0.join().unwrap(), labs.1.join().unwrap())
    });
    let output = vervet(&["compare", &one.out(), &other.out()]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let goodput = text.lines().find(|line| line.contains("successful responses per second: "));
    assert!(goodput.is_some_and(|line| line.contains(": no significant difference")), "{text}");
    assert!(text.contains("pollux against castor"), "{text}");
}
