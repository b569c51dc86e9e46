//! `vervet load --find-max`: the evidence of each try, in order, in every form.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use vervet_testkit::Child;

const BINARY: &str = env!("CARGO_BIN_EXE_vervet");

fn search(goal: &str, more: &[&str]) -> Output {
    let mut canned = Child::start(BINARY, ["load", "--canned", "127.0.0.1:0"]);
    let url = format!("http://{}/", canned.wait_for_address());
    let mut command = Command::new(BINARY);
    command.args(["load", &url, "--find-max", goal, "-c", "2", "-d", "200ms", "-q"]);
    command.args(more).output().unwrap()
}

/// The document, which is as its schema says.
#[track_caller]
fn document(output: &Output) -> Value {
    let talk = String::from_utf8_lossy(&output.stderr);
    let run: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {talk}"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/load-report.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    let mistakes: Vec<_> = schema.iter_errors(&run).map(|it| it.to_string()).collect();
    assert_eq!(mistakes, [""; 0]);
    run
}

/// As many connections as help says of open load, which a search makes.
#[test]
fn a_search_has_the_connections_of_open_load() {
    let mut canned = Child::start(BINARY, ["load", "--canned", "127.0.0.1:0"]);
    let url = format!("http://{}/", canned.wait_for_address());
    let mut command = Command::new(BINARY);
    command.args(["load", &url, "--find-max", "p99<1ns", "-d", "100ms", "-q", "--format", "json"]);
    let run = document(&command.output().unwrap());
    assert_eq!(run["asked"]["connections"], 64);
}

fn tries(run: &Value) -> &[Value] {
    run["search"]["tries"].as_array().unwrap()
}

fn requested_rate(tried: &Value) -> u64 {
    tried["rate_asked_milli"].as_u64().unwrap()
}

#[test]
fn a_condition_that_never_holds_is_reported_with_all_tries() {
    let output = search("p99<1ns", &["--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let run = document(&output);
    assert_eq!(run["search"]["condition"], "p99<1ns");
    let rates: Vec<u64> = tries(&run).iter().map(requested_rate).collect();
    // Each fails twice before it counts as failed.
    let expected = [1_000_000, 250_000, 62_500, 15_625, 3906].map(|rate| [rate; 2]);
    assert_eq!(rates, expected.concat());
    assert_eq!(run["search"]["holds_milli"], Value::Null);
    assert_eq!(run["search"]["fails_milli"], 3906);
    assert!(tries(&run).iter().all(|tried| tried["outcome"] != "holds"), "{run}");
    assert_eq!(run["environment"], Value::Object(serde_json::Map::new()));
    let text = search("p99<1ns", &[]);
    let text = String::from_utf8(text.stdout).unwrap();
    let (_, table) = text.split_once("\nSearch for the highest rate\n").unwrap();
    let rows: Vec<_> = table.lines().take(11).collect();
    assert!(rows[0].contains("requested") && rows[0].contains("outcome"), "{text}");
    for (number, row) in (1..).zip(&rows[1..]) {
        assert!(row.trim_start().starts_with(&format!("{number} ")), "{text}");
    }
}

/// The rate doubles until a try fails; the tries say when that was.
#[test]
fn tries_stand_in_their_order() {
    let output = search("p99<1000s", &["--format", "json"]);
    let run = document(&output);
    let tries = tries(&run);
    assert_eq!(requested_rate(&tries[0]), 1_000_000);
    for pair in tries.windows(2) {
        if pair[0]["outcome"] != "holds" {
            break;
        }
        assert_eq!(requested_rate(&pair[1]), 2 * requested_rate(&pair[0]), "{tries:#?}");
    }
    let failed = tries.iter().any(|tried| tried["outcome"] == "rate_not_reached");
    assert!(failed, "two connections carry any rate: {tries:#?}");
    // The report is that of the best try, which held twice where it was confirmed.
    let best = &run["search"]["holds_milli"];
    let is_best =
        |tried: &&Value| tried["outcome"] == "holds" && tried["rate_asked_milli"] == *best;
    if let Some(last) = tries.iter().rfind(is_best) {
        assert_eq!(run["achieved"]["done"], last["done"]);
        assert!(run["search"]["fails_milli"].as_u64() > best.as_u64(), "{run}");
    }
}
