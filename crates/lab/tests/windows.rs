//! Subjects loaded in turn, idle connections, congestion controls, and rules.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::common::{Lab, closed, run};
use vervet_lab::check_text;
use vervet_lab::plan::{Pace, Plan};
use vervet_lab::record::{Against, Bound, LabRecord, Outcome, Rule, Step, TaskStep};
use vervet_lab::runner::{self, MeasureError, Measurer, Options, Order, Progress};
use vervet_lab::statistics::{Figure, Verdict};
use vervet_report::Run;
use vervet_testkit::{TempTree, find_program, skip};

fn plan_or_findings(text: &str) -> Result<Plan, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../labs/provoke");
    let checked = check_text(Path::new("test.toml"), text.as_bytes(), &folder, Pace::Full);
    let findings = checked.to_text(vervet_config::Style::Plain);
    checked.plan.ok_or(findings)
}

/// Two subjects that are loaded for two seconds, half a second at a time.
const IN_TURN: &str = "
title = 'test'
repeats = 2
ceiling = false
cores = { server = [], generator = [] }
workload.page = { expect = { text = 'hello' } }
load.some = { connections = 1, duration = '2s', warm_up = '1s', window = '500ms' }
subject.one.command = ['python3', '{file}/server.py', '{port}', 'ok']
subject.two.command = ['python3', '{file}/server.py', '{port}', 'ok']
";

#[test]
fn windows_go_there_and_back_again() {
    let plan = plan_or_findings(IN_TURN).unwrap();
    assert_eq!(plan.steps.len(), 2 * 2 * 4);
    for repeat in plan.steps.chunks(8) {
        let order: Vec<usize> = repeat.iter().map(|step| step.subject).collect();
        let (first, second) = (order[0], order[1]);
        assert_ne!(first, second);
        let expected = [first, second, second, first].repeat(2);
        assert_eq!(order, expected);
        let windows: Vec<u32> = repeat.iter().map(|step| step.window).collect();
        assert_eq!(windows, [0, 0, 1, 1, 2, 2, 3, 3]);
    }
}

/// Settings of the generator: address, length and warm-up.
#[derive(Default)]
struct Recorded(Vec<(SocketAddr, Duration, Duration)>);

impl Measurer for Recorded {
    fn measure(&mut self, order: &Order<'_>) -> Result<Run, MeasureError> {
        let load = order.load;
        self.0.push((order.address, load.duration, load.warm_up));
        Ok(run(100.0, &[(1.0, 1)]))
    }
}

impl Progress for Recorded {
    fn message(&mut self, _: &str) {}
    fn step(&mut self, _: usize, _: usize, _: &Step) {}
    fn task(&mut self, _: usize, _: usize, _: &TaskStep) {}
}

fn measured(text: &str) -> (LabRecord, Recorded) {
    let out = TempTree::new();
    let mut measurer = Recorded::default();
    let record = runner::run(
        &plan_or_findings(text).unwrap(),
        &mut Options {
            out: out.path().join("out"),
            program: "vervet test".to_owned(),
            ceiling: Vec::new(),
            measurer: &mut measurer,
            progress: &mut Recorded::default(),
            interrupted: &AtomicBool::new(false),
        },
    );
    (record.unwrap(), measurer)
}

#[test]
fn all_subjects_of_a_round_stay_up() {
    if find_program("python3").is_none() {
        skip!("needs python3");
    }
    let (record, asked) = measured(IN_TURN);
    assert_eq!(record.steps.len(), 16);
    let mut addresses: BTreeMap<(u32, &str), Vec<SocketAddr>> = BTreeMap::new();
    for (step, (address, duration, warm_up)) in record.steps.iter().zip(&asked.0) {
        assert_eq!(step.outcome, Outcome::Measured);
        assert_eq!(*duration, Duration::from_millis(500));
        // A server is warmed up once.
        let expected = u64::from(step.window == Some(0));
        assert_eq!(*warm_up, Duration::from_secs(expected));
        let server = step.server.figures().unwrap();
        assert!(server.rss_idle_bytes.unwrap() > 0);
        let key = (step.repeat, step.subject.as_str());
        addresses.entry(key).or_default().push(*address);
    }
    for (server, addresses) in addresses {
        assert_eq!(addresses.len(), 4);
        assert!(addresses.iter().all(|one| *one == addresses[0]), "{server:?}");
    }
}

#[test]
fn idle_connections_get_an_answer_and_stay() {
    if find_program("python3").is_none() {
        skip!("needs python3");
    }
    let text = IN_TURN
        .replace("window = '500ms'", "idle_connections = 3, pipelining = 4")
        .replace("repeats = 2", "repeats = 1");
    let (record, _) = measured(&text);
    for step in &record.steps {
        assert_eq!(step.outcome, Outcome::Measured);
        let load = "1 connection and 3 idle ones, 4 requests at once on each";
        assert_eq!(step.load.to_string(), load);
        assert_eq!(step.window, None);
    }
}

#[test]
fn pipelining_of_an_open_load_is_refused() {
    let text = IN_TURN.replace("window = '500ms'", "rate = 10, pipelining = 4");
    let findings = plan_or_findings(&text).unwrap_err();
    assert!(findings.contains("`pipelining` needs a closed load"), "{findings}");
}

#[test]
fn a_workload_is_measured_under_each_congestion_control() {
    let rule = "
        [[rule]]
        workload = 'page'
        subject = 'one'
        figure = 'goodput'
        at_least = 1
        against_workload = 'page'
        ";
    let controls = format!("congestion = ['cubic', 'bbr']\n{IN_TURN}{rule}");
    let plan = plan_or_findings(&controls).unwrap();
    let names: Vec<&str> = plan.workloads.iter().map(|workload| workload.name.as_str()).collect();
    assert_eq!(names, ["page (cubic)", "page (bbr)"]);
    assert_eq!(plan.workloads[1].congestion.as_deref(), Some("bbr"));
    let rules: Vec<(&str, &Against)> =
        plan.rules.iter().map(|rule| (rule.workload.as_str(), &rule.against)).collect();
    let same = |name: &str| Against::Workload(name.to_owned());
    let expected = [("page (cubic)", &same("page (cubic)")), ("page (bbr)", &same("page (bbr)"))];
    assert_eq!(rules, expected);
}

#[track_caller]
fn check_refused(rule: &str, says: &str) {
    let text = format!("{IN_TURN}[[rule]]\nworkload = 'page'\nsubject = 'one'\n{rule}");
    let findings = plan_or_findings(&text).unwrap_err();
    assert!(findings.contains(says), "{says:?} is not in {findings}");
}

#[test]
fn refuses_rules_that_say_too_much_or_too_little() {
    let figure = "figure = 'goodput'\n";
    check_refused(&format!("{figure}against = ['two']"), "either `at_least` or `at_most`");
    check_refused(
        &format!("{figure}at_least = 1\nat_most = 2\nagainst = ['two']"),
        "either `at_least` or `at_most`",
    );
    check_refused(
        &format!("{figure}at_least = 1\nagainst = ['two']\nagainst_size = '1MiB'"),
        "one of `against`",
    );
    check_refused(&format!("{figure}at_least = 1\nagainst = ['three']"), "`three`");
    check_refused("figure = 'seconds'\nat_most = 1\nagainst = ['two']", "figure of tasks");
}

/// A run of one second with one response time for all.
fn window(done: f64, p99_ms: f64) -> Run {
    let mut run = run(done, &[(p99_ms, 1)]);
    run.achieved.window_us = 1_000_000;
    run
}

#[test]
fn windows_are_summed_and_response_times_are_their_median() {
    let mut lab = Lab::new(&["a"]);
    for (number, p99_ms) in [7.0, 9000.0, 8.0].into_iter().enumerate() {
        lab = lab.run("a", closed(10), &window(10.0, p99_ms));
        let step = lab.record.steps.last_mut().unwrap();
        (step.repeat, step.window) = (1, Some(u32::try_from(number).unwrap()));
    }
    lab.record.head.repeats = 1;
    let point = lab.point();
    assert_eq!(point.repeats.len(), 1);
    let figures = point.repeats[0].figures.as_ref().unwrap();
    assert_eq!((figures.done, figures.window_seconds), (300, 3.0));
    assert_eq!(point.median(Figure::Goodput), Some(100.0));
    let p99_ms = point.median(Figure::ResponseP99).unwrap();
    assert!((p99_ms - 8.0).abs() < 0.1, "{p99_ms}");
    // Two seconds of CPU time in each window.
    assert_eq!(point.median(Figure::RequestsPerCpuSecond), Some(50.0));
}

/// The verdict on `a` against `b`, whose goodput is 100 in each repeat.
#[track_caller]
fn check_rule(bound: Bound, rates: &[f64], expected: Verdict) {
    let others = vec![100.0; rates.len()];
    let mut lab = Lab::new(&["a", "b"]).rates("a", 10, rates).rates("b", 10, &others);
    lab.record.head.rules = vec![Rule {
        workload: "hello".to_owned(),
        subject: "a".to_owned(),
        figure: "goodput".to_owned(),
        bound,
        against: Against::Subjects(vec!["b".to_owned()]),
    }];
    let results = lab.analysis().rules(&lab.record);
    assert_eq!(results[0].verdict, expected, "{rates:?}");
}

#[test]
fn a_bound_inside_the_interval_is_inconclusive() {
    let least = Bound::AtLeast(1.0);
    check_rule(least, &[90.0, 95.0, 100.0, 180.0, 190.0], Verdict::Met);
    check_rule(least, &[90.0, 95.0, 99.0, 180.0, 190.0], Verdict::Inconclusive);
    check_rule(least, &[90.0, 95.0, 96.0, 97.0, 99.0], Verdict::NotMet);
    check_rule(least, &[99.9], Verdict::NotMet);
    let most = Bound::AtMost(1.0);
    check_rule(most, &[90.0, 95.0, 100.0, 180.0, 190.0], Verdict::Met);
    check_rule(most, &[90.0, 95.0, 101.0, 180.0, 190.0], Verdict::Inconclusive);
    check_rule(most, &[101.0, 102.0, 103.0], Verdict::NotMet);
    check_rule(most, &[], Verdict::NotMeasured);
}

/// Of the first rival the audit left the fastest repeat; the median of all its repeats is less
/// than that of the second.
#[test]
fn the_best_rival_and_the_ratio_use_the_same_repeats() {
    let mut lab = Lab::new(&["ours", "thinned", "best"])
        .rates("ours", 10, &[100.0, 100.0, 100.0])
        .rates("thinned", 10, &[90.0])
        .failing("thinned", 10, "generator_cpu", &[50.0, 50.0])
        .rates("best", 10, &[80.0, 80.0, 80.0]);
    let rivals = vec!["thinned".to_owned(), "best".to_owned()];
    lab.record.head.rules = vec![Rule {
        workload: "hello".to_owned(),
        subject: "ours".to_owned(),
        figure: "requests_per_cpu_second".to_owned(),
        bound: Bound::AtLeast(1.2),
        against: Against::Subjects(rivals),
    }];
    let result = lab.analysis().rules(&lab.record).remove(0);
    assert_eq!((result.other.as_str(), result.verdict), ("best", Verdict::Met));
    // The tables show the same: rates only of the repeat that the generator did not limit.
    let panel = lab.panel();
    let thinned = &panel.curve("thinned").unwrap().points[0];
    assert_eq!(thinned.median(Figure::RequestsPerCpuSecond), Some(250.0));
    assert_eq!(thinned.median(Figure::Goodput), Some(90.0));
}
