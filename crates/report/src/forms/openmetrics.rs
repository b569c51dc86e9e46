//! A run as OpenMetrics 1.0: for the textfile collector of `node_exporter`, or to be pushed. Times are in seconds.

use std::fmt::Write as _;

use crate::audit::Verdict;
use crate::condition::Answer;
use crate::errors::{ErrorClass, Errors};
use crate::escape::Label;
use crate::histogram::Histogram;
use crate::run::Run;

/// Upper bounds of the buckets, as the format wants them written and in nanoseconds: three a decade, from ten microseconds to one
/// minute.
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

/// Quantiles that are told besides: buckets are too coarse to compare runs by.
const QUANTILES: [&str; 6] = ["0.5", "0.9", "0.95", "0.99", "0.999", "1"];

/// Names and values of labels.
type Labels<'a> = &'a [(&'a str, &'a str)];

/// The run, as numbers of families whose names begin with `vervet_load_`.
pub fn openmetrics(run: &Run) -> String {
    let mut text = Exposition::default();
    tell_asked(&mut text, run);
    tell_achieved(&mut text, run);
    tell_times(&mut text, run);
    tell_steps(&mut text, run);
    tell_generator(&mut text, run);
    tell_verdicts(&mut text, run);
    text.0.push_str("# EOF\n");
    text.0
}

fn tell_asked(text: &mut Exposition, run: &Run) {
    let asked = &run.asked;
    text.family(
        "run",
        "gauge",
        "What was loaded, by which program; always 1",
    );
    let labels = [
        ("target", asked.target.as_str()),
        ("mode", asked.mode.name()),
        ("tool", run.tool.as_str()),
    ];
    text.sample("", &labels, "1");
    let started_ms = run.started_unix_ms;
    let (whole, rest) = (started_ms / 1000, started_ms % 1000);
    text.family(
        "start_seconds",
        "gauge",
        "When the window began, since 1970",
    );
    text.sample("", &[], &format!("{whole}.{rest:03}"));
    text.one(
        "agents",
        "gauge",
        "Machines or processes that made the load",
        run.agents,
    );
    text.one(
        "connections",
        "gauge",
        "Connections at once",
        asked.connections,
    );
    let window = seconds(run.achieved.window_us.saturating_mul(1000));
    text.family("window_seconds", "gauge", "How long the window was");
    text.sample("", &[], &window);
}

fn tell_achieved(text: &mut Exposition, run: &Run) {
    let achieved = &run.achieved;
    if let Some(due) = achieved.asked {
        text.one(
            "due",
            "counter",
            "Requests that were due in the window",
            due,
        );
    }
    text.one("good", "counter", "Good answers", achieved.done);
    text.family("failed", "counter", "Failed requests by class");
    text.errors(&[], &run.errors);
    text.family("answers", "counter", "Answers by status, failed ones too");
    for (status, count) in &run.statuses {
        text.sample(
            "_total",
            &[("status", &status.to_string())],
            &count.to_string(),
        );
    }
    let in_flight = run.censored.count;
    text.one(
        "in_flight",
        "gauge",
        "Requests without an answer at the end",
        in_flight,
    );
    text.family("rate", "gauge", "Good answers per second");
    text.sample("", &[], &achieved.rate().to_string());
    if let Some(rate) = achieved.rate_asked() {
        text.family("rate_asked", "gauge", "Requests due per second");
        text.sample("", &[], &rate.to_string());
    }
    for (name, help, bytes) in [
        ("received_bytes", "Bytes received", achieved.bytes_received),
        ("sent_bytes", "Bytes sent", achieved.bytes_sent),
        (
            "content_bytes",
            "Content of good answers",
            achieved.content_bytes,
        ),
    ] {
        text.one(name, "counter", help, bytes);
    }
    let opened = achieved.connections_opened;
    text.one(
        "connections_opened",
        "counter",
        "Connections opened",
        opened,
    );
}

fn tell_times(text: &mut Exposition, run: &Run) {
    let times = &run.timings;
    let families = [
        (
            "connect",
            "From asking for a connection to having it",
            &times.connect,
        ),
        (
            "first_byte",
            "From the sent time to the first byte",
            &times.first_byte,
        ),
        (
            "response",
            "From the due time to the end of the answer",
            &times.response,
        ),
        (
            "service",
            "From the sent time to the end of the answer",
            &times.service,
        ),
    ];
    for (name, help, times) in families {
        text.family(&format!("{name}_seconds"), "histogram", help);
        text.times(times);
        let quantiles = format!("{name}_quantile_seconds");
        text.family(
            &quantiles,
            "gauge",
            "The time that this share did not exceed",
        );
        for quantile in QUANTILES.iter().filter(|_| !times.is_empty()) {
            let time_ns = times.quantile_ns(quantile.parse().unwrap_or(1.0));
            text.sample("", &[("quantile", quantile)], &seconds(time_ns));
        }
    }
}

fn tell_steps(text: &mut Exposition, run: &Run) {
    text.family(
        "step_good",
        "counter",
        "Good answers by step of the scenario",
    );
    for step in &run.steps {
        text.sample("_total", &[("step", &step.name)], &step.done.to_string());
    }
    text.family(
        "step_failed",
        "counter",
        "Failed requests by step and class",
    );
    for step in &run.steps {
        text.errors(&[("step", &step.name)], &step.errors);
    }
}

fn tell_generator(text: &mut Exposition, run: &Run) {
    let generator = &run.generator;
    text.family(
        "generator_cpu_seconds",
        "counter",
        "Processor time of the generator",
    );
    for (mode, us) in [
        ("user", generator.cpu_user_us),
        ("system", generator.cpu_system_us),
    ] {
        text.sample(
            "_total",
            &[("mode", mode)],
            &seconds(us.saturating_mul(1000)),
        );
    }
    let busiest = f64::from(generator.busiest_thread_permille) / 1000.0;
    text.family(
        "generator_busy_ratio",
        "gauge",
        "Share of a core of its busiest thread",
    );
    text.sample("", &[], &busiest.to_string());
    text.family(
        "generator_lag_max_seconds",
        "gauge",
        "How late it was at most",
    );
    text.sample("", &[], &seconds(generator.lag.max_ns()));
    text.family(
        "kernel",
        "counter",
        "What the kernel of the generator counted",
    );
    for (name, count) in run.kernel.named() {
        if let Some(count) = count {
            text.sample("_total", &[("counter", name)], &count.to_string());
        }
    }
}

fn tell_verdicts(text: &mut Exposition, run: &Run) {
    text.family(
        "audit",
        "gauge",
        "0 passed, 1 warning, 2 failed: do not compare by these figures",
    );
    for finding in &run.findings {
        let number = match finding.verdict {
            Verdict::Passed => "0",
            Verdict::Warning => "1",
            Verdict::Failed => "2",
        };
        text.sample("", &[("rule", &finding.rule)], number);
    }
    text.family(
        "condition",
        "gauge",
        "1 where a condition of --fail-if holds",
    );
    for outcome in &run.conditions {
        let number = match outcome.answer {
            Answer::Holds => "1",
            Answer::DoesNotHold => "0",
            Answer::NotMeasured => "NaN",
        };
        text.sample("", &[("condition", &outcome.condition)], number);
    }
}

/// The text so far, and the family that its samples belong to is the last that was begun.
#[derive(Default)]
struct Exposition(String, String);

impl Exposition {
    /// Begins a family, by its name without what all begin with.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.1 = format!("vervet_load_{name}");
        let name = &self.1;
        let _ = writeln!(self.0, "# TYPE {name} {kind}");
        let units = ["seconds", "bytes", "ratio"];
        if let Some(unit) = units
            .iter()
            .find(|unit| name.ends_with(&format!("_{unit}")))
        {
            let _ = writeln!(self.0, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.0, "# HELP {name} {help}.");
    }

    /// A family of one number.
    fn one(&mut self, name: &str, kind: &str, help: &str, number: u64) {
        self.family(name, kind, help);
        let end = if kind == "counter" { "_total" } else { "" };
        self.sample(end, &[], &number.to_string());
    }

    fn sample(&mut self, end: &str, labels: Labels<'_>, value: &str) {
        let Self(text, family) = self;
        let _ = write!(text, "{family}{end}");
        let mut before = '{';
        for (name, value) in labels {
            let _ = write!(text, "{before}{name}=\"{}\"", Label(value));
            before = ',';
        }
        if before == ',' {
            text.push('}');
        }
        let _ = writeln!(text, " {value}");
    }

    /// All classes, also those that did not occur: a series that begins with 1 shows no rise.
    fn errors(&mut self, labels: Labels<'_>, errors: &Errors) {
        for class in ErrorClass::ALL {
            let labels = [labels, &[("class", class.name())]].concat();
            self.sample("_total", &labels, &errors.of(class).to_string());
        }
    }

    fn times(&mut self, times: &Histogram) {
        // Each time as the lowest of those that are not told apart: one that is a bound itself is within it.
        let packed = times.pack();
        let mut recorded = packed.recorded().peekable();
        let mut within = 0_u64;
        for (bound, bound_ns) in BOUNDS {
            while let Some((_, count)) = recorded.next_if(|(time_ns, _)| *time_ns <= bound_ns) {
                within = within.saturating_add(count);
            }
            self.sample("_bucket", &[("le", bound)], &within.to_string());
        }
        let all = times.count();
        self.sample("_bucket", &[("le", "+Inf")], &all.to_string());
        self.sample("_count", &[], &all.to_string());
        #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
        let sum_s = times.mean_ns() * all as f64 / 1e9;
        self.sample("_sum", &[], &sum_s.to_string());
    }
}

/// Nanoseconds as seconds, with a point: what counts must not look like another number when it is read back.
#[expect(clippy::cast_precision_loss, reason = "times below 2^53")]
fn seconds(time_ns: u64) -> String {
    format!("{:?}", time_ns as f64 / 1e9)
}
