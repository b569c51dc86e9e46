//! Running a lab with a scripted generator: order, resumption, what becomes of subjects that fail,
//! and the gate.
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use vervet_lab::check_text;
use vervet_lab::plan::{Pace, Plan};
use vervet_lab::present::{page_markdown, report_page};
use vervet_lab::record::{
    JOURNAL_FILE, LabRecord, Outcome, RECORD_FILE, Step, SubjectState, TaskStep, read_journal,
    read_record,
};
use vervet_lab::runner::{MeasureError, Measurer, Options, Order, Progress, RunError, run};
use vervet_lab::statistics::Analysis;
use vervet_report::{Mode, Reuse, Run, RunSettings, Stop, Verdict};
use vervet_testkit::{RawClient, TempTree, find_program, skip};

/// Makes up runs, and does to the subject what its test asks for.
struct Scripted<'t> {
    calls: Vec<String>,
    act: &'t mut dyn FnMut(usize, &Order<'_>, &mut Run) -> Result<(), MeasureError>,
}

impl Measurer for Scripted<'_> {
    fn measure(&mut self, order: &Order<'_>) -> Result<Run, MeasureError> {
        self.calls.push(format!("{} {:?}", order.workload.name, order.load.shape));
        let mut run = Run::new(
            "scripted",
            RunSettings {
                target: order.targets[0].clone(),
                mode: Mode::Closed,
                connections: u64::from(order.load.connections),
                reuse: Reuse::KeepAlive,
                pipelining: 1,
                stop: Stop::default(),
                warm_up_ms: 0,
                timeout_ms: 1000,
                threads: 1,
                checks: Vec::new(),
            },
        );
        (self.act)(self.calls.len(), order, &mut run)?;
        Ok(run)
    }
}

#[derive(Default)]
struct Heard(Vec<String>);

impl Progress for Heard {
    fn message(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }

    fn step(&mut self, done: usize, of: usize, step: &Step) {
        self.0.push(format!("{done}/{of} {}", step.subject));
    }

    fn task(&mut self, done: usize, of: usize, step: &TaskStep) {
        self.0.push(format!("{done}/{of} {}", step.task));
    }
}

fn plan(text: &str) -> Plan {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../labs/provoke");
    let checked = check_text(Path::new("test.toml"), text.as_bytes(), &folder, Pace::Full);
    let findings = checked.to_text(vervet_config::Style::Plain);
    checked.plan.unwrap_or_else(|| panic!("{findings}"))
}

/// A lab whose subjects are servers in these modes, by name.
fn lab(modes: &[(&str, &str)]) -> String {
    let mut text = "
title = 'test'
repeats = 2
cores = { server = [], generator = [] }
ceiling = false
workload.page = { expect = { text = 'hello' } }
load.some = { connections = [1, 2] }
"
    .to_owned();
    for (name, mode) in modes {
        let command = format!("['python3', '{{file}}/server.py', '{{port}}', '{mode}']");
        text.extend(["[subject.", name, "]\ncommand = ", &command, "\nready_within = '20s'\n"]);
    }
    text
}

type Act<'t> = dyn FnMut(usize, &Order<'_>, &mut Run) -> Result<(), MeasureError> + 't;

/// Runs a plan and gives what came of it, with what was said.
fn attempt(
    plan: &Plan,
    out: &Path,
    act: &mut Act<'_>,
    flag: &AtomicBool,
) -> (Result<LabRecord, RunError>, Vec<String>) {
    let mut measurer = Scripted { calls: Vec::new(), act };
    let mut heard = Heard::default();
    let result = run(
        plan,
        &mut Options {
            out: out.to_owned(),
            program: "vervet test".to_owned(),
            ceiling: Vec::new(),
            measurer: &mut measurer,
            progress: &mut heard,
            interrupted: flag,
        },
    );
    (result, heard.0)
}

/// A load that leaves the subject alone.
#[allow(clippy::unnecessary_wraps)]
fn nothing(_: usize, _: &Order<'_>, _: &mut Run) -> Result<(), MeasureError> {
    Ok(())
}

fn out() -> (TempTree, PathBuf) {
    let tree = TempTree::new();
    let path = tree.path().join("out");
    (tree, path)
}

fn orders(record: &LabRecord) -> Vec<u32> {
    record.steps.iter().map(|step| step.order).collect()
}

#[test]
fn each_step_is_on_the_disk_and_an_interrupted_lab_goes_on() {
    if find_program("python3").is_none() {
        skip!("needs python3");
    }
    let plan = plan(&lab(&[("one", "ok"), ("two", "ok")]));
    let (_tree, out) = out();
    let flag = AtomicBool::new(false);
    let journal = out.join(JOURNAL_FILE);
    let lines = || std::fs::read_to_string(&journal).unwrap().lines().count();
    let mut stop = |call: usize, _: &Order<'_>, _: &mut Run| {
        // The head and the table of the gate come first; then a line for each step before this one.
        assert_eq!(lines(), 2 + call - 1);
        flag.store(call == 4, Ordering::Relaxed);
        Ok(())
    };
    let (result, _) = attempt(&plan, &out, &mut stop, &flag);
    assert!(matches!(result, Err(RunError::Interrupted)), "{result:?}");
    assert!(!out.join(RECORD_FILE).exists());
    flag.store(false, Ordering::Relaxed);

    let mut calls = 0;
    let mut count = |_: usize, _: &Order<'_>, _: &mut Run| {
        calls += 1;
        Ok(())
    };
    let (result, heard) = attempt(&plan, &out, &mut count, &flag);
    let record = result.unwrap();
    assert_eq!(calls, 5, "three of eight were done");
    assert_eq!(orders(&record), (0..8).collect::<Vec<_>>());
    assert!(heard.contains(&"resuming after 3 of 8 steps".to_owned()), "{heard:?}");
    assert!(record.ended_unix_ms.is_some());
    assert_eq!(read_record(&out.join(RECORD_FILE)).unwrap(), record);

    let (again, heard) = attempt(&plan, &out, &mut nothing, &flag);
    assert_eq!(again.unwrap().steps.len(), 8);
    assert!(heard.contains(&"all steps of this lab are done".to_owned()), "{heard:?}");
}

#[test]
fn another_lab_in_the_same_folder_is_refused() {
    if find_program("python3").is_none() {
        skip!("needs python3");
    }
    let text = lab(&[("one", "ok")]);
    let (_tree, out) = out();
    let flag = AtomicBool::new(false);
    attempt(&plan(&text), &out, &mut nothing, &flag).0.unwrap();
    let check = |text: &str, expected: &str| {
        let (result, _) = attempt(&plan(text), &out, &mut nothing, &flag);
        let error = result.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(&format!("{text}\n# changed"), "a lab with another lab file");
    let mut only = plan(&lab(&[("one", "ok")]));
    only.steps.truncate(1);
    let (result, _) = attempt(&only, &out, &mut nothing, &flag);
    let error = result.unwrap_err().to_string();
    assert!(error.contains("other steps (--quick or --only)"), "{error}");
}

/// The record of a lab of five subjects, of which one does what it should, and what was said.
fn failing() -> (LabRecord, Vec<String>) {
    let modes =
        [("good", "ok"), ("wrong", "wrong"), ("dies", "dies"), ("crash", "crash"), ("gone", "ok")];
    let text = lab(&modes).replacen(
        "[subject.gone]\ncommand = ['python3'",
        "[subject.gone]\ncommand = ['no-such-server'",
        1,
    );
    let (_tree, out) = out();
    let mut act = |_: usize, order: &Order<'_>, _: &mut Run| {
        // One that does not crash at this request answers it.
        let mut client = RawClient::connect(order.address);
        client.send("GET /crash HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        client.read_to_close();
        Ok(())
    };
    let (result, heard) = attempt(&plan(&text), &out, &mut act, &AtomicBool::new(false));
    (result.unwrap(), heard)
}

#[test]
fn subjects_that_fail_are_recorded_and_the_lab_goes_on() {
    if find_program("python3").is_none() {
        skip!("needs python3");
    }
    let (record, heard) = failing();
    let check = |name: &str, count: usize, is_right: &dyn Fn(&Step) -> bool| {
        let mut steps = record.steps.iter().filter(|step| step.subject == name);
        assert_eq!(steps.clone().count(), count, "{name}");
        if let Some(step) = steps.find(|step| !is_right(step)) {
            panic!("{name}: {step:?}");
        }
    };
    check("good", 4, &|step| step.outcome == Outcome::Measured && step.run.is_some());
    check("wrong", 4, &|step| {
        let expected = "expected status 200, got 404";
        matches!(&step.outcome, Outcome::WrongAnswers { reason } if reason == expected)
    });
    check("dies", 4, &|step| {
        let expected = "exited before it listened (exit status: 7); output: mode dies";
        matches!(&step.outcome, Outcome::NotReady { reason } if reason == expected)
    });
    check("crash", 4, &|step| {
        let is_told =
            |reason: &str| reason.contains("exit status: 3") && reason.contains("out of luck");
        let is_held =
            step.audit.iter().any(|one| one.rule == "crash" && one.verdict == Verdict::Failed);
        is_held && matches!(&step.outcome, Outcome::Crashed { reason } if is_told(reason))
    });
    check("gone", 0, &|_| false);
    let reason = "program no-such-server not found: install it, or correct `command`";
    assert_eq!(record.head.subjects[4].state, SubjectState::Skipped { reason: reason.to_owned() });
    assert!(heard.contains(&format!("gone skipped: {reason}")), "{heard:?}");
    assert_eq!(record.head.steps_planned, 16);
}

#[test]
fn wrong_answers_under_load_stand_against_the_figures() {
    if find_program("python3").is_none() {
        skip!("needs python3");
    }
    let (_tree, out) = out();
    let flag = AtomicBool::new(false);
    let mut act = |_: usize, _: &Order<'_>, run: &mut Run| {
        run.errors.wrong_content = 3;
        Ok(())
    };
    let (result, _) = attempt(&plan(&lab(&[("one", "ok")])), &out, &mut act, &flag);
    let record = result.unwrap();
    assert!(record.steps.iter().all(|step| step.audit[0].rule == "wrong_answers"));
}

#[test]
fn a_generator_that_waits_for_its_core_is_told_at_the_edge() {
    if find_program("python3").is_none() {
        skip!("needs python3");
    }
    let (_tree, out) = out();
    let flag = AtomicBool::new(false);
    let mut act = |call: usize, _: &Order<'_>, run: &mut Run| {
        run.achieved.window_us = if call == 3 { 499_999 } else { 500_000 };
        run.generator.busiest_thread_permille = 200;
        run.generator.occupied_thread_permille = if call == 1 { 700 } else { 701 };
        Ok(())
    };
    let (result, _) = attempt(&plan(&lab(&[("one", "ok")])), &out, &mut act, &flag);
    let told: Vec<bool> = result
        .unwrap()
        .steps
        .iter()
        .map(|step| {
            let mut rules = step.audit.iter().map(|one| one.rule.as_str());
            rules.any(|rule| rule == "generator_starved")
        })
        .collect();
    assert_eq!(told, [false, true, false, true]);
}

#[test]
fn subjects_that_answer_differently_stop_the_lab_unless_it_admits_that() {
    if find_program("python3").is_none() {
        skip!("needs python3");
    }
    let text = lab(&[("one", "ok"), ("two", "gzip")]);
    let (_tree, out) = out();
    let flag = AtomicBool::new(false);
    let (result, _) = attempt(&plan(&text), &out, &mut nothing, &flag);
    let Err(RunError::Unfair(refusal)) = result else {
        panic!("{result:?}");
    };
    let expected = "compression on the workload `page`:\n  one: none\n  two: gzip, 5 bytes";
    assert_eq!(refusal.differences, [expected]);
    let (record, _) = read_journal(&out.join(JOURNAL_FILE)).unwrap();
    assert!(record.is_refused());
    let page = report_page(&record, &Analysis::new(&record).unwrap());
    let report = page_markdown(&page, None).replace('\\', "");
    for piece in [
        "0 of 8 steps, stopped by the fairness gate",
        "compression on the workload `page`: one: none two: gzip, 5 bytes",
        &refusal.allow,
        "differs, and stopped the lab",
    ] {
        assert!(report.contains(piece), "{piece:?} is not in {report}");
    }
    for wrong in ["interrupted", "There are no findings", "every step was completed"] {
        assert!(!report.contains(wrong), "{wrong:?} is in {report}");
    }
    // The line that is shown permits it, in the same folder.
    let text = format!("{}\n{text}", refusal.allow);
    let (result, heard) = attempt(&plan(&text), &out, &mut nothing, &flag);
    assert_eq!(result.unwrap().steps.len(), 8, "{heard:?}");
}

#[test]
fn a_lab_without_any_subject_says_so() {
    let text = lab(&[("one", "ok")]).replace("python3", "no-such-server");
    let (_tree, out) = out();
    let flag = AtomicBool::new(false);
    let (result, _) = attempt(&plan(&text), &out, &mut nothing, &flag);
    assert!(matches!(result, Err(RunError::NobodyThere)), "{result:?}");
}

#[test]
fn a_generator_that_cannot_work_ends_the_lab() {
    if find_program("python3").is_none() {
        skip!("needs python3");
    }
    let (_tree, out) = out();
    let flag = AtomicBool::new(false);
    let mut act =
        |_: usize, _: &Order<'_>, _: &mut Run| Err(MeasureError("no descriptor left".to_owned()));
    let (result, _) = attempt(&plan(&lab(&[("one", "ok")])), &out, &mut act, &flag);
    assert_eq!(result.unwrap_err().to_string(), "cannot generate load: no descriptor left");
}

#[test]
fn a_process_beside_a_subject_is_a_part_of_it() {
    if find_program("python3").is_none() {
        skip!("needs python3");
    }
    // Nobody would answer if only the command were started.
    let command = "= ['python3', '{file}/server.py', '{port}', 'ok']\n";
    let second = [concat!("be", "side "), command].concat();
    let text = lab(&[("pair", "ok")]).replace(
        "command = ['python3', '{file}/server.py', '{port}', 'ok']\n",
        &format!("command = ['sleep', '1000']\n{second}"),
    );
    let (_tree, out) = out();
    let (result, _) = attempt(&plan(&text), &out, &mut nothing, &AtomicBool::new(false));
    let record = result.unwrap();
    assert_eq!(record.steps.len(), 4);
    assert!(record.steps.iter().all(|step| step.outcome == Outcome::Measured));
    let told = &record.head.subjects[0].configuration;
    assert!(told.starts_with("# second process: python3 {file}/server.py"), "{told}");
    let files: Vec<&str> = record.head.assets.iter().map(|asset| asset.path.as_str()).collect();
    assert_eq!(files, ["server.py"]);
}

#[test]
fn a_subject_that_lacks_something_says_what() {
    if find_program("python3").is_none() {
        skip!("needs python3");
    }
    let requires = "requires = ['sh', '-c', 'echo; echo it needs a moon; exit 1']\n";
    let silent = "requires = ['false']\n";
    let fine = "requires = ['test', '-f', '{file}/server.py']\n";
    let mut text = lab(&[("one", "ok"), ("two", "ok"), ("three", "ok")]);
    for (name, line) in [("one", requires), ("two", silent), ("three", fine)] {
        let head = format!("[subject.{name}]\n");
        text = text.replace(&head, &format!("{head}{line}"));
    }
    let (_tree, out) = out();
    let (result, heard) = attempt(&plan(&text), &out, &mut nothing, &AtomicBool::new(false));
    let record = result.unwrap();
    let skipped = |reason: &str| SubjectState::Skipped { reason: reason.to_owned() };
    assert_eq!(record.head.subjects[0].state, skipped("it needs a moon"));
    assert_eq!(record.head.subjects[1].state, skipped("`false` failed"));
    assert_eq!(record.head.subjects[2].state, SubjectState::Present);
    assert!(heard.contains(&"one skipped: it needs a moon".to_owned()));
}
