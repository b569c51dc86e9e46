//! Each form against a committed file. `VERVET_WRITE=1` writes the files; look at what has changed
//! before it is committed.

use std::path::Path;

use vervet_report::forms::{
    csv_intervals, definitions_markdown, hgrm, html, json, openmetrics, schema, stream_interval,
    stream_run, stream_schema, text,
};

use crate::common::sample;

/// Holds a form against its file, below the folder of the crate.
#[track_caller]
fn check(file: &str, form: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("VERVET_WRITE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, form).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some(line) =
        (0..).zip(form.lines()).find(|(at, line)| committed.lines().nth(*at) != Some(line))
    {
        panic!(
            "{file}, line {}: VERVET_WRITE=1 rewrites it\n  is: {}\n now: {}",
            line.0 + 1,
            committed.lines().nth(line.0).unwrap_or("nothing"),
            line.1
        );
    }
    assert_eq!(committed.len(), form.len(), "{file} has more: VERVET_WRITE=1 rewrites it");
}

#[test]
fn text_is_as_committed() {
    check("tests/data/run.txt", &text(&sample()));
}

#[test]
fn json_is_as_committed() {
    check("tests/data/run.json", &json(&sample()));
}

#[test]
fn the_stream_is_as_committed() {
    let run = sample();
    let lines: String = run.intervals.iter().map(stream_interval).collect();
    check("tests/data/run.ndjson", &(lines + &stream_run(&run)));
}

#[test]
fn csv_is_as_committed() {
    check("tests/data/intervals.csv", &csv_intervals(&sample()));
}

#[test]
fn percentiles_are_as_committed() {
    check("tests/data/response.hgrm", &hgrm(&sample().timings.response));
}

#[test]
fn openmetrics_are_as_committed() {
    check("tests/data/run.prom", &openmetrics(&sample()));
}

#[test]
fn the_page_is_as_committed() {
    check("tests/data/run.html", &html(&sample()));
}

#[test]
fn schemas_and_definitions_are_as_committed() {
    check("../../docs/schema/load-report.json", &schema());
    check("../../docs/schema/load-stream.json", &stream_schema());
    check("../../docs/load-report.md", &definitions_markdown());
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    assert_eq!(html(&sample()), html(&sample()));
    assert_eq!(text(&sample()), text(&sample()));
}
