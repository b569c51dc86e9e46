//! Labs of tasks with tasks that are scripts: their order, their figures to the digit, what fails,
//! and what goes on.
use std::path::Path;
use std::sync::atomic::AtomicBool;

use vervet_lab::check_text;
use vervet_lab::plan::{Pace, Plan};
use vervet_lab::present::{analysis_json, page_markdown, report_html, report_page, steps_csv};
use vervet_lab::record::{JOURNAL_FILE, LabRecord, Outcome, RECORD_FILE, Step, TaskStep};
use vervet_lab::runner::{Generator, Options, Progress, RunError, run};
use vervet_lab::statistics::Analysis;
use vervet_testkit::TempTree;

#[derive(Default)]
struct Heard(Vec<String>);

impl Progress for Heard {
    fn message(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }

    fn step(&mut self, _: usize, _: usize, _: &Step) {}

    fn task(&mut self, done: usize, of: usize, step: &TaskStep) {
        self.0.push(format!("{done}/{of} {}", step.task));
    }
}

fn plan(text: &str) -> Plan {
    plan_in(Path::new("/"), text)
}

fn plan_in(folder: &Path, text: &str) -> Plan {
    let head = "title = 'test'\ncores = { server = [], generator = [] }\n";
    let text = format!("{head}{text}");
    let checked = check_text(Path::new("test.toml"), text.as_bytes(), folder, Pace::Full);
    let findings = checked.to_text(vervet_config::Style::Plain);
    checked.plan.unwrap_or_else(|| panic!("{findings}"))
}

fn attempt(plan: &Plan, out: &Path, is_interrupted: bool) -> (Result<LabRecord, RunError>, Heard) {
    let mut heard = Heard::default();
    let result = run(
        plan,
        &mut Options {
            out: out.to_owned(),
            program: "vervet test".to_owned(),
            ceiling: Vec::new(),
            measurer: &mut Generator,
            progress: &mut heard,
            interrupted: &AtomicBool::new(is_interrupted),
        },
    );
    (result, heard)
}

fn record(text: &str) -> LabRecord {
    let out = TempTree::new();
    let (result, _) = attempt(&plan(text), out.path(), false);
    result.unwrap()
}

/// A task that is a script of the shell.
fn script(name: &str, more: &str, script: &str) -> String {
    format!("[task.{name}]\n{more}\ncommand = ['sh', '-c', '''{script}''']\n")
}

/// What comes of a script.
#[track_caller]
fn check(script_text: &str, expected: &Outcome) {
    let text = format!("repeats = 1\n{}", script("one", "", script_text));
    assert_eq!(record(&text).tasks[0].outcome, *expected, "{script_text}");
}

#[test]
fn what_is_not_measured_is_named() {
    let wrong = |reason: &str| Outcome::WrongAnswers { reason: reason.to_owned() };
    let crashed = |reason: &str| Outcome::Crashed { reason: reason.to_owned() };
    check("true", &wrong("no phase reported"));
    check(
        "echo phase put ten 5",
        &wrong("invalid line `phase put ten 5`: expected `phase NAME OPERATIONS NANOSECONDS`"),
    );
    check(
        "echo phase put 1 5; echo key 3 has another value >&2; exit 3",
        &wrong("key 3 has another value"),
    );
    check(
        "echo phase put 1 5; echo cannot get >&2; exit 1",
        &crashed("cannot get (exit status: 1)"),
    );
    check("kill -9 $$", &crashed("no output (signal: 9 (SIGKILL))"));
}

#[test]
fn one_that_does_not_end_is_ended() {
    let more = "timeout = '1s'";
    let text = format!("repeats = 1\n{}", script("one", more, "exec sleep 1000"));
    let reason = "did not exit within 1s".to_owned();
    assert_eq!(record(&text).tasks[0].outcome, Outcome::Crashed { reason });
}

#[test]
fn the_scripts_of_commands_are_carried() {
    let folder = TempTree::new()
        .file("apps/fill.sh", "echo phase put 1 5\n")
        .file("other.sh", "echo not named\n");
    let text = "repeats = 1\n[task.one]\ncommand = ['sh', '{file}/apps/fill.sh']\n";
    let out = TempTree::new();
    let (result, _) = attempt(&plan_in(folder.path(), text), out.path(), false);
    let record = result.unwrap();
    assert_eq!(record.tasks[0].outcome, Outcome::Measured);
    let carried: Vec<(&str, Option<&str>)> = record
        .head
        .assets
        .iter()
        .map(|asset| (asset.path.as_str(), asset.text.as_deref()))
        .collect();
    assert_eq!(carried, [("apps/fill.sh", Some("echo phase put 1 5\n"))]);
}

/// Two stores that differ significantly, one tied with the first, one of another group, one that
/// fails and one that is not there.
fn lab() -> String {
    let says = |put: u64, get: u64| {
        format!(
            "echo phase put 10 {put}; echo phase get 10 {get}; echo fact version 1.0; echo $RANDOM talk"
        )
    };
    [
        "repeats = 3\nhistory = { source = 'A post.', mistakes = ['One run.'], figure = [\n\
         { what = 'Old', subject = 'slow', phase = 'put', figure = 'seconds', said = '9 s' },\n\
         { what = 'Old', subject = 'slow', figure = 'seconds', said = '12 s' },\n\
         { what = 'Old', subject = 'slow', phase = 'get', figure = 'operations_per_second', said = '3/s' }] }\n"
            .to_owned(),
        script("slow", "group = 'a'", &says(3_000_000_000, 1_000_000_000)),
        script("quick", "group = 'a'", &says(500_000_000, 500_000_000)),
        script("same", "group = 'a'", &says(250_000_000, 750_000_000)),
        script("other", "group = 'b'", "echo probe call 4 2000"),
        script("broken", "group = 'a'", "echo no use >&2; exit 1"),
        "[task.missing]\ncommand = ['no-such-program-anywhere']\n".to_owned(),
    ]
    .concat()
}

#[test]
fn figures_places_and_shares_are_what_was_told() {
    let record = record(&lab());
    assert_eq!(record.tasks.len(), 15);
    let analysis = Analysis::new(&record).unwrap();
    let groups: Vec<&str> = analysis.groups.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(groups, ["a", "b"]);
    let tasks = analysis.groups[0].tasks.iter();
    let places: Vec<(&str, Option<usize>)> =
        tasks.map(|task| (task.name.as_str(), task.place)).collect();
    let expected = [("quick", Some(1)), ("same", Some(1)), ("slow", Some(3)), ("broken", None)];
    assert_eq!(places, expected);
    let slow = &analysis.groups[0].tasks[2];
    let put = slow.phase("put").unwrap();
    assert!((put.seconds.median - 3.0).abs() < 1e-9);
    assert!((put.share.unwrap().median - 0.75).abs() < 1e-9);
    assert!((put.per_second().median - 10.0 / 3.0).abs() < 1e-9);
    assert!((slow.total.unwrap().median - 4.0).abs() < 1e-9);
    let other = &analysis.groups[1].tasks[0];
    assert_eq!((other.total, other.place), (None, None));
    assert_eq!(other.phases[0].share, None);
    assert_eq!(analysis.groups[0].tasks[3].failures.len(), 3);
}

#[test]
fn who_has_no_place_takes_none_away() {
    // The quickest came to its end once only.
    let once = "[ -e {file}/done ] && exit 1; touch {file}/done; echo phase put 1 1000";
    let text = [
        "repeats = 3\n".to_owned(),
        script("quick", "", once),
        script("first", "", "echo phase put 1 2000"),
        script("second", "", "echo phase put 1 3000"),
    ];
    let (folder, out) = (TempTree::new(), TempTree::new());
    let plan = plan_in(folder.path(), &text.concat());
    let record = attempt(&plan, out.path(), false).0.unwrap();
    let groups = Analysis::new(&record).unwrap().groups;
    let places = groups[0].tasks.iter();
    let places: Vec<(&str, Option<usize>)> =
        places.map(|task| (task.name.as_str(), task.place)).collect();
    let expected = [("quick", None), ("first", Some(1)), ("second", Some(2))];
    assert_eq!(places, expected);
}

#[test]
fn every_form_of_the_report_has_them() {
    let record = record(&lab());
    let analysis = Analysis::new(&record).unwrap();
    let text = page_markdown(&report_page(&record, &analysis), None);
    for piece in [
        "## Time by phase: a",
        "| rank | task | put | get | total |",
        "| 1, tied | quick | 500 ms (50.0 %) | 500 ms (50.0 %) | 1.00 s |",
        "| 3 | slow | 3.00 s (75.0 %) | 1.00 s (25.0 %) | 4.00 s |",
        "| other | call | 4 | 2.00 us | 2.00 us to 2.00 us | – | 500 ns | 2,000,000/s |",
        "| Old | time of put | 9 s | 3.00 s | slow |",
        "| Old | time of all phases | 12 s | 4.00 s | slow |",
        "| Old | get per second | 3/s | 10/s | slow |",
        "| broken | crashed: no use (exit status: 1) |",
        "| slow | version | 1.0 |",
        "skipped: program no-such-program-anywhere not found",
        "5 tasks, 1 skipped, 15 of 15 steps",
    ] {
        assert!(text.contains(piece), "{piece:?} is not in\n{text}");
    }
    let json = analysis_json(&record, &analysis);
    assert_eq!(json["groups"][0]["tasks"][0]["place"], 1);
    assert_eq!(json["groups"][0]["tasks"][2]["whole_seconds"]["median"], 4.0);
    let csv = steps_csv(&record, &analysis);
    // A head; two phases, or one row, of each run.
    assert_eq!(csv.lines().count(), 1 + 3 * (2 + 2 + 2 + 1 + 1));
    assert!(csv.contains(",measured,put,10,3000000000\r\n"), "{csv}");
    assert!(report_html(&record, &analysis).contains("</html>"));
}

#[test]
fn an_interrupted_lab_goes_on() {
    let out = TempTree::new();
    let text = format!(
        "repeats = 2\n{}{}",
        script("one", "", "echo phase a 1 1"),
        script("two", "", "echo phase a 1 1")
    );
    let plan = plan(&text);
    let (result, _) = attempt(&plan, out.path(), true);
    assert!(matches!(result, Err(RunError::Interrupted)), "{result:?}");
    assert!(out.path().join(JOURNAL_FILE).exists() && !out.path().join(RECORD_FILE).exists());
    let (result, heard) = attempt(&plan, out.path(), false);
    assert_eq!(result.unwrap().tasks.len(), 4);
    assert_eq!(heard.0.len(), 4, "{:?}", heard.0);
    let (_, heard) = attempt(&plan, out.path(), false);
    assert_eq!(heard.0, ["all steps of this lab are done"]);
    let (result, _) = attempt(&self::plan("[task.one]\ncommand = ['sh']\n"), out.path(), false);
    assert!(matches!(result, Err(RunError::Differs(..))), "{result:?}");
}

#[test]
fn the_order_is_drawn_for_each_repeat() {
    let tasks: String = (0..6).map(|n| script(&format!("t{n}"), "", "true")).collect();
    let plan = plan(&format!("repeats = 20\n{tasks}"));
    let orders = plan.tasks.steps.chunks(6);
    let orders: Vec<Vec<usize>> =
        orders.map(|one| one.iter().map(|step| step.task).collect()).collect();
    assert!(orders.iter().any(|order| *order != orders[0]));
    for mut order in orders {
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3, 4, 5]);
    }
}
