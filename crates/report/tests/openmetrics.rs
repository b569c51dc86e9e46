//! A run as OpenMetrics, read by the parser of those who wrote the format, which is strict.

use vervet_report::forms::openmetrics;
use vervet_report::{Mode, Run, RunSettings};
use vervet_testkit::{Child, PATIENCE, Stream, TempTree, find_python, skip};

use crate::common::sample;

/// Says what it finds, a sample a line: by the strict parser, and, without types, by that of the
/// older text, which collectors of files read.
const PARSE: &str = "
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as strict
from prometheus_client.parser import text_string_to_metric_families as older
text = open(sys.argv[1]).read()
samples = {}
for family in strict(text):
    assert family.documentation, family.name
    for sample in family.samples:
        labels = ','.join(f'{key}={value}' for key, value in sorted(sample.labels.items()))
        print(family.type, sample.name, labels, float(sample.value))
        samples[(sample.name, labels)] = sample.value
for family in older(text):
    for sample in family.samples:
        labels = ','.join(f'{key}={value}' for key, value in sorted(sample.labels.items()))
        value = samples.pop((sample.name, labels))
        assert value == sample.value or value != value, sample
assert not samples, samples
";

/// What the parser finds in a run; none without a parser.
fn found(run: &Run) -> Option<String> {
    let text = openmetrics(run);
    let tree = TempTree::new().file("run.prom", &text);
    let file = tree.join("run.prom");
    let mut child =
        Child::start(find_python("prometheus_client")?, ["-c", PARSE, file.to_str().unwrap()]);
    let is_read = child.wait_exit(PATIENCE).success();
    assert!(is_read, "{}\n{text}", child.text(Stream::Stderr));
    Some(child.text(Stream::Stdout))
}

macro_rules! found {
    ($run:expr) => {
        match found($run) {
            Some(found) => found,
            None => skip!("needs python3 with prometheus_client (python3-prometheus-client)"),
        }
    };
}

#[test]
fn a_run_is_read_by_the_parser_of_prometheus() {
    let run = sample();
    let found = found!(&run);
    let response = &run.timings.response;
    let p99_s = format!("{:?}", to_s(response.quantile_ns(0.99)));
    for line in [
        "gauge vervet_load_run mode=open,target=http://127.0.0.1:8080/shop,tool=vervet 0.1.0 1.0",
        "gauge vervet_load_start_seconds  1795327807.0",
        "gauge vervet_load_window_seconds  10.0",
        "counter vervet_load_due_total  10000.0",
        &format!("counter vervet_load_good_total  {}.0", run.achieved.done),
        "counter vervet_load_failed_total class=refused 0.0",
        "counter vervet_load_answers_total status=503 12.0",
        "gauge vervet_load_in_flight  3.0",
        &format!("histogram vervet_load_response_seconds_bucket le=+Inf {}.0", response.count()),
        &format!("gauge vervet_load_response_quantile_seconds quantile=0.99 {p99_s}"),
        "counter vervet_load_kernel_total counter=ListenOverflows 4.0",
        "gauge vervet_load_condition condition=errors>1% 0.0",
    ] {
        assert!(found.lines().any(|has| has == line), "{line}\n{found}");
    }
    // Whatever a step is called, it is one sample.
    let steps =
        found.lines().filter(|line| line.starts_with("counter vervet_load_step_good_total"));
    assert_eq!(steps.count(), run.steps.len());
}

#[test]
fn a_run_without_anything_in_it_is_read_too() {
    let run = sample();
    let asked = RunSettings { mode: Mode::Closed, ..run.asked };
    let found = found!(&Run::new("vervet 0.1.0", asked));
    assert!(found.contains("histogram vervet_load_response_seconds_count  0.0"), "{found}");
    for absent in ["vervet_load_due", "vervet_load_response_quantile", "NaN"] {
        assert!(!found.contains(absent), "{absent}: {found}");
    }
}

/// Times count in the first bucket that reaches them, and in all above.
#[test]
fn buckets_are_cumulative() {
    let mut run = Run::new("vervet 0.1.0", sample().asked);
    for time_ns in [9_000, 10_000, 11_000, 999_000, 70_000_000_000] {
        run.timings.response.record_ns(time_ns);
    }
    let text = openmetrics(&run);
    for (bound, count) in
        [("1e-05", 2), ("2e-05", 3), ("0.0005", 3), ("0.001", 4), ("60.0", 4), ("+Inf", 5)]
    {
        let line = format!("vervet_load_response_seconds_bucket{{le=\"{bound}\"}} {count}\n");
        assert!(text.contains(&line), "{line}{text}");
    }
}

#[expect(clippy::cast_precision_loss, reason = "times below 2^53")]
fn to_s(time_ns: u64) -> f64 {
    time_ns as f64 / 1e9
}
