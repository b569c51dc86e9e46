//! `vervet lab report`, `compare`, `trend` and `reproduce`: what they print, write, and end with.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use vervet_testkit::docs::{Runner, to_run};
use vervet_testkit::{TempTree, sha256_hex};

/// A lab of one server on one machine, as its form is: written here in full, so that a reader of
/// the form that became stricter is found out.
fn record(rates: &[f64], began_unix_ms: u64) -> String {
    let steps: Vec<String> =
        rates.iter().enumerate().map(|(order, rate)| step(order, *rate)).collect();
    let lab = "title = \"Example\"\n";
    format!(
        r#"{{"version":1,"head":{{"title":"Example","program":"vervet 0.1.0","began_unix_ms":{began_unix_ms},
        "lab":{{"name":"example.toml","text":"title = \"Example\"\n","sha256":"{}"}},"assets":[],"seed":1,"repeats":3,
        "steps_planned":{},"environment":{{"facts":[]}},
        "subjects":[{{"name":"monkey","adapter":"command","role":"contestant","version":null,"command":["monkey"],
        "configuration":"","cores":null,"state":"present"}}],
        "workloads":[{{"name":"file","description":"","apdex_seconds":1.5}}],"history":null}},
        "fairness":[],"steps":[{}],"ended_unix_ms":{began_unix_ms}}}"#,
        sha256_hex(lab.as_bytes()),
        rates.len(),
        steps.join(",")
    )
}

fn step(order: usize, rate: f64) -> String {
    let mut run = vervet_report::Run::new(
        "test",
        vervet_report::RunSettings {
            target: "http://127.0.0.1/".to_owned(),
            mode: vervet_report::Mode::Closed,
            connections: 100,
            reuse: vervet_report::Reuse::KeepAlive,
            pipelining: 1,
            stop: vervet_report::Stop::default(),
            warm_up_ms: 0,
            timeout_ms: 1000,
            threads: 1,
            checks: Vec::new(),
        },
    );
    run.achieved.window_us = 1_000_000;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let (done, time_ns) = (rate as u64, (100.0 / rate * 1e9) as u64);
    run.achieved.done = done;
    run.timings.response.record_many_ns(time_ns, done);
    format!(
        r#"{{"order":{order},"subject":"monkey","workload":"file",
        "load":{{"shape":{{"closed":{{"concurrency":100}}}},"connections":"keep_alive"}},"repeat":{},
        "began_unix_ms":1,"outcome":"measured","run":{},"server":{{"invalid":{{"reason":"not watched"}}}},"audit":[]}}"#,
        order + 1,
        serde_json::to_string(&run).unwrap()
    )
}

const SLOW: [f64; 5] = [17_222.0; 5];
const FAST: [f64; 5] = [29_231.0; 5];

fn lab(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vervet"));
    command.current_dir(folder).arg("lab").args(arguments).output().unwrap()
}

/// The status, and what standard output and standard error begin with or hold.
#[track_caller]
fn check(folder: &Path, arguments: &[&str], status: i32, printed: &str, said: &str) {
    let output = lab(folder, arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    let talk = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {text}{talk}");
    assert!(text.contains(printed), "{arguments:?} printed {text:?}, not {printed:?}");
    assert!(talk.contains(said), "{arguments:?} said {talk:?}, not {said:?}");
}

fn two() -> TempTree {
    TempTree::new()
        .file("slow/lab.json", record(&SLOW, 1_000))
        .file("fast/lab.json", record(&FAST, 2_000))
}

#[test]
fn incomparable_labs_end_with_2() {
    let tree = two().file("old.json", r#"{"version":0}"#).dir("empty");
    let folder = tree.path();
    check(folder, &["compare", "slow", "gone"], 2, "", "gone: No such file");
    check(
        folder,
        &["compare", "slow", "empty"],
        2,
        "",
        "no lab.json, lab.json.gz or journal.jsonl",
    );
    check(
        folder,
        &["compare", "slow", "old.json"],
        2,
        "",
        "unsupported record version 0, expected 1",
    );
    check(folder, &["compare", "slow", "fast", "--fail-on", "speed"], 2, "", "expected one of");
    check(
        folder,
        &["compare", "slow", "fast", "--tolerance", "100"],
        2,
        "",
        "from 0 to less than 100",
    );
}

#[test]
fn a_regression_ends_with_1() {
    let tree = two();
    let better = "29,231/s against 17,222/s, +69.7 % of 17,222/s";
    check(tree.path(), &["compare", "slow", "fast"], 0, better, "");
    let worse = "17,222/s against 29,231/s, -41.1 % of 29,231/s";
    check(tree.path(), &["compare", "fast", "slow"], 1, worse, "slow is worse than fast");
    check(
        tree.path(),
        &["compare", "fast", "slow", "--tolerance", "50"],
        0,
        "no significant difference",
        "",
    );
    check(tree.path(), &["compare", "fast", "slow", "--fail-on", "error_share"], 0, worse, "");
    check(
        tree.path(),
        &["compare", "slow", "fast", "--format", "json"],
        0,
        "\"tell\": \"better\"",
        "",
    );
}

#[test]
fn reports_are_written_as_their_names_end() {
    let tree = two();
    let folder = tree.path();
    for (file, begins) in [
        ("r.html", "<!doctype html>"),
        ("r.md", "# Example"),
        ("r.json", "{"),
        ("r.csv", "order,subject"),
    ] {
        check(folder, &["report", "slow", "-o", file, "--charts", "charts"], 0, "", "");
        let text = fs::read_to_string(folder.join(file)).unwrap();
        assert!(text.starts_with(begins), "{file}");
    }
    let chart = fs::read_to_string(folder.join("charts/1-file-rate.svg")).unwrap();
    assert!(chart.starts_with("<svg"));
    check(
        folder,
        &["report", "slow", "--format", "csv"],
        0,
        "0,monkey,file,closed,100,true,1,",
        "",
    );
    check(folder, &["report", "slow/r.html", "--format", "markdown"], 0, "17,222/s", "");
    check(
        folder,
        &["report", "slow", "-o", "no/such/r.html"],
        1,
        "",
        "cannot write no/such/r.html",
    );
    check(folder, &["report", "r.md"], 1, "", "invalid record of a lab");
}

#[test]
fn a_trend_ends_with_1_when_its_newest_record_is_a_regression() {
    let tree = two().file("third/lab.json", record(&FAST, 3_000)).file("broken.json", "[]");
    let folder = tree.path();
    check(folder, &["trend", "."], 0, "slow: 17,222/s", "skipped broken.json");
    tree.write("fourth.json", record(&SLOW, 4_000));
    check(
        folder,
        &["trend", "."],
        1,
        "regression, -41.1 % of 29,231/s",
        "the newest record is a regression",
    );
    check(folder, &["trend", ".", "-o", "trend.html"], 1, "", "");
    let page = fs::read_to_string(folder.join("trend.html")).unwrap();
    assert!(page.contains("data-heat=\"excellent\""));
    check(folder, &["trend", "slow"], 1, "", "1 records found, a trend needs two");
}

#[test]
fn a_record_gives_its_files_back() {
    let tree = two();
    let folder = tree.path();
    check(
        folder,
        &["reproduce", "slow", "--dir", "again", "--files-only"],
        0,
        "again/example.toml",
        "",
    );
    let text = fs::read_to_string(folder.join("again/example.toml")).unwrap();
    assert_eq!(text, "title = \"Example\"\n");
    let list = fs::read_to_string(folder.join("again/SHA256SUMS")).unwrap();
    assert_eq!(list, format!("{}  example.toml\n", sha256_hex(text.as_bytes())));
    tree.write("again/example.toml", "changed");
    check(
        folder,
        &["reproduce", "slow", "--dir", "again", "--files-only"],
        1,
        "",
        "the file or the record was changed",
    );
}

#[test]
fn the_page_about_reports_can_be_typed() {
    let tree = TempTree::new()
        .file("before/lab.json", record(&SLOW, 1_000))
        .file("after/lab.json", record(&FAST, 2_000))
        .file("history/1/lab.json", record(&SLOW, 1_000))
        .file("history/2/lab.json", record(&SLOW, 2_000));
    // The runner copies what git lists.
    for arguments in [["init", "-q"], ["add", "-A"]] {
        let git = Command::new("git").current_dir(tree.path()).args(arguments).status();
        assert!(git.unwrap().success());
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lab-report.md");
    let blocks = vervet_testkit::docs::Block::all_of(
        "docs/lab-report.md",
        &fs::read_to_string(page).unwrap(),
    );
    let blocks = to_run(blocks, &[]);
    assert!(!blocks.is_empty());
    let runner = Runner {
        binary: Path::new(env!("CARGO_BIN_EXE_vervet")),
        repository: tree.path(),
        patience: std::time::Duration::from_secs(30),
    };
    for block in &blocks {
        runner.run(block).unwrap();
    }
}
