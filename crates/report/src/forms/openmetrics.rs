//! A run as OpenMetrics 1.0, for the textfile collector of `node_exporter` or a push gateway. Times
//! are in seconds.

use std::fmt::Display;

use vervet_http::openmetrics::MetricKind::{self, Counter, Gauge};
use vervet_http::openmetrics::{Labels, OpenMetrics, seconds_from_ns};

use crate::audit::Verdict;
use crate::condition::Answer;
use crate::errors::{ErrorClass, Errors};
use crate::escape::Printable;
use crate::histogram::Histogram;
use crate::run::{Run, Timings};

/// Upper bounds of the buckets, as text and in nanoseconds: three per decade, from 10 microseconds
/// to one minute.
const BOUNDS: [(&str, u64); 21] = [
    ("1e-05", 10_000),
    ("2e-05", 20_000),
    ("5e-05", 50_000),
    ("0.0001", 100_000),
    ("0.0002", 200_000),
    ("0.0005", 500_000),
    ("0.001", 1_000_000),
    ("0.002", 2_000_000),
    ("0.005", 5_000_000),
    ("0.01", 10_000_000),
    ("0.02", 20_000_000),
    ("0.05", 50_000_000),
    ("0.1", 100_000_000),
    ("0.2", 200_000_000),
    ("0.5", 500_000_000),
    ("1.0", 1_000_000_000),
    ("2.0", 2_000_000_000),
    ("5.0", 5_000_000_000),
    ("10.0", 10_000_000_000),
    ("20.0", 20_000_000_000),
    ("60.0", 60_000_000_000),
];

/// Quantiles written in addition: buckets are too coarse to compare runs by.
const QUANTILES: [&str; 6] = ["0.5", "0.9", "0.95", "0.99", "0.999", "1"];

/// The run, as metric families whose names begin with `vervet_load_`.
pub fn openmetrics(run: &Run) -> String {
    let mut text = OpenMetrics::new("vervet_load_");
    add_settings(&mut text, run);
    add_results(&mut text, run);
    add_timings(&mut text, &run.timings);
    add_steps(&mut text, run);
    add_generator(&mut text, run);
    add_verdicts(&mut text, run);
    text.finish()
}

fn add_settings(text: &mut OpenMetrics, run: &Run) {
    let asked = &run.asked;
    let help = "Target, kind of load and program of the run; always 1.";
    text.family("run", Gauge, help);
    let labels: Labels<'_> = &[
        ("target", &Printable(&asked.target)),
        ("mode", &asked.mode.name()),
        ("tool", &Printable(&run.tool)),
    ];
    text.sample(labels, 1);
    let (whole, rest) = (run.started_unix_ms / 1000, run.started_unix_ms % 1000);
    let started = format!("{whole}.{rest:03}");
    text.single("start_seconds", Gauge, "Start of the measurement, as Unix time.", started);
    let help = "Machines or processes that generated the load.";
    text.single("agents", Gauge, help, run.agents);
    text.single("connections", Gauge, "Concurrent connections.", asked.connections);
    let window = seconds_from_ns(run.achieved.window_us.saturating_mul(1000));
    text.single("window_seconds", Gauge, "Length of the measurement.", window);
}

fn add_results(text: &mut OpenMetrics, run: &Run) {
    let achieved = &run.achieved;
    if let Some(due) = achieved.asked {
        text.single("due", Counter, "Requests that were due.", due);
    }
    text.single("good", Counter, "Successful responses.", achieved.done);
    text.family("failed", Counter, "Failed requests by class.");
    add_errors(text, &[], &run.errors);
    text.family("answers", Counter, "Responses by status, including failed ones.");
    for (status, count) in &run.statuses {
        text.sample(&[("status", status)], count);
    }
    let help = "Requests without a response at the end.";
    text.single("in_flight", Gauge, help, run.censored.count);
    text.single("rate", Gauge, "Successful responses per second.", achieved.rate());
    if let Some(rate) = achieved.rate_asked() {
        text.single("rate_asked", Gauge, "Requests due per second.", rate);
    }
    for (name, help, bytes) in [
        ("received_bytes", "Bytes received.", achieved.bytes_received),
        ("sent_bytes", "Bytes sent.", achieved.bytes_sent),
        ("content_bytes", "Body bytes of successful responses.", achieved.content_bytes),
    ] {
        text.single(name, Counter, help, bytes);
    }
    let opened = achieved.connections_opened;
    text.single("connections_opened", Counter, "Connections opened.", opened);
}

fn add_timings(text: &mut OpenMetrics, timings: &Timings) {
    let families = [
        (
            ["connect_seconds", "connect_quantile_seconds"],
            "Time to open a connection.",
            &timings.connect,
        ),
        (
            ["first_byte_seconds", "first_byte_quantile_seconds"],
            "Time from sending a request to the first byte of its response.",
            &timings.first_byte,
        ),
        (
            ["response_seconds", "response_quantile_seconds"],
            "Time from when a request was due to the end of its response.",
            &timings.response,
        ),
        (
            ["service_seconds", "service_quantile_seconds"],
            "Time from sending a request to the end of its response.",
            &timings.service,
        ),
    ];
    for ([histogram, quantiles], help, times) in families {
        text.family(histogram, MetricKind::Histogram, help);
        add_times(text, times);
        let help = "Quantiles of these times.";
        text.family(quantiles, Gauge, help);
        for quantile in QUANTILES.iter().filter(|_| !times.is_empty()) {
            let time_ns = times.quantile_ns(quantile.parse().unwrap_or(1.0));
            text.sample(&[("quantile", quantile)], seconds_from_ns(time_ns));
        }
    }
}

fn add_steps(text: &mut OpenMetrics, run: &Run) {
    let help = "Successful responses by step of the scenario.";
    text.family("step_good", Counter, help);
    for step in &run.steps {
        text.sample(&[("step", &Printable(&step.name))], step.done);
    }
    let help = "Failed requests by step and class.";
    text.family("step_failed", Counter, help);
    for step in &run.steps {
        add_errors(text, &[("step", &Printable(&step.name))], &step.errors);
    }
}

fn add_generator(text: &mut OpenMetrics, run: &Run) {
    let generator = &run.generator;
    let help = "CPU time of the generator.";
    text.family("generator_cpu_seconds", Counter, help);
    for (mode, time_us) in [("user", generator.cpu_user_us), ("system", generator.cpu_system_us)] {
        let time = seconds_from_ns(time_us.saturating_mul(1000));
        text.sample(&[("mode", &mode)], time);
    }
    let busiest = f64::from(generator.busiest_thread_permille) / 1000.0;
    let help = "CPU use of its busiest thread, in cores.";
    text.single("generator_busy_ratio", Gauge, help, busiest);
    let lag = seconds_from_ns(generator.lag.max_ns());
    text.single("generator_lag_max_seconds", Gauge, "Maximum lag of the generator.", lag);
    let help = "TCP counters of the kernel of the generator.";
    text.family("kernel", Counter, help);
    for (name, count) in run.kernel.named() {
        if let Some(count) = count {
            text.sample(&[("counter", &name)], count);
        }
    }
}

fn add_verdicts(text: &mut OpenMetrics, run: &Run) {
    let help =
        "Verdict by rule: 0 passed, 1 warning, 2 failed (do not compare servers by this run).";
    text.family("audit", Gauge, help);
    for finding in &run.findings {
        let number = match finding.verdict {
            Verdict::Passed => 0,
            Verdict::Warning => 1,
            Verdict::Failed => 2,
        };
        text.sample(&[("rule", &Printable(&finding.rule))], number);
    }
    let help = "1 if a condition of --fail-if is true, 0 if not, NaN if nothing was measured.";
    text.family("condition", Gauge, help);
    for outcome in &run.conditions {
        let number = match outcome.answer {
            Answer::Holds => "1",
            Answer::DoesNotHold => "0",
            Answer::NotMeasured => "NaN",
        };
        text.sample(&[("condition", &Printable(&outcome.condition))], number);
    }
}

/// Adds all error classes, including those without errors: a series that begins with 1 shows no
/// increase.
fn add_errors(text: &mut OpenMetrics, labels: Labels<'_>, errors: &Errors) {
    for class in ErrorClass::ALL {
        let name = class.name();
        let labels = [labels, &[("class", &name as &dyn Display)]].concat();
        text.sample(&labels, errors.count(class));
    }
}

fn add_times(text: &mut OpenMetrics, times: &Histogram) {
    // Each time is the lowest of its equivalence class: a time that equals a bound is within it.
    let packed = times.pack();
    let mut recorded = packed.recorded().peekable();
    let mut counts = [0_u64; BOUNDS.len()];
    for (count, (_, bound_ns)) in counts.iter_mut().zip(BOUNDS) {
        while let Some((_, more)) = recorded.next_if(|(time_ns, _)| *time_ns <= bound_ns) {
            *count = count.saturating_add(more);
        }
    }
    let within = counts.iter().sum();
    let all = times.count();
    #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
    let sum_s = times.mean_ns() * all as f64 / 1e9;
    let buckets = BOUNDS.iter().map(|(bound, _)| bound).zip(counts);
    text.histogram(&[], buckets, all.saturating_sub(within), sum_s);
}
