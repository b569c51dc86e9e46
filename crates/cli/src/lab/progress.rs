//! What is said while a lab runs: a line for each step, on standard error.

use vervet_lab::record::{Outcome, Phase, Step, TaskStep};
use vervet_lab::runner::Progress;

use crate::console;

/// Says it.
pub(crate) struct ProgressMessages;

impl Progress for ProgressMessages {
    fn say(&mut self, text: &str) {
        console::message(format_args!("{text}"));
    }

    fn step(&mut self, done: usize, of: usize, step: &Step) {
        let what = match &step.outcome {
            Outcome::Measured => measured(step),
            other => failed(other),
        };
        console::message(format_args!(
            "{done}/{of} {} on {}, {}: {what}",
            step.subject, step.workload, step.load
        ));
    }

    fn task(&mut self, done: usize, of: usize, step: &TaskStep) {
        let what = match &step.outcome {
            Outcome::Measured => phases(step),
            other => failed(other),
        };
        console::message(format_args!("{done}/{of} {}: {what}", step.task));
    }
}

/// What came of a step that was not measured to its end.
fn failed(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Measured => String::new(),
        Outcome::Crashed { reason } => format!("crashed: {reason}"),
        Outcome::NotReady { reason } => format!("not ready: {reason}"),
        Outcome::WrongAnswers { reason } => format!("wrong answers: {reason}"),
    }
}

/// The phases of a task, as one line has room for them.
fn phases(step: &TaskStep) -> String {
    let one = |phase: &Phase| {
        let time = std::time::Duration::from_nanos(phase.time_ns);
        format!("{} {:.1} ms", phase.name, time.as_secs_f64() * 1000.0)
    };
    let phases: Vec<String> = step.phases.iter().map(one).collect();
    phases.join(", ")
}

/// The figures of a step, as one line has room for them.
fn measured(step: &Step) -> String {
    let run = step.run.as_ref().and_then(|run| run.read().ok());
    let Some(run) = run else {
        return "no figures".to_owned();
    };
    let milliseconds =
        |nanoseconds: u64| std::time::Duration::from_nanos(nanoseconds).as_secs_f64() * 1000.0;
    let response = &run.timings.response;
    let rate = format!(
        "{:.0}/s, p50 {:.2} ms, p99 {:.2} ms",
        run.achieved.rate(),
        milliseconds(response.quantile_ns(0.5)),
        milliseconds(response.quantile_ns(0.99))
    );
    let errors = run.errors.total();
    let errors = (errors > 0).then(|| format!("{errors} errors"));
    let failed = |rule: &&vervet_report::Finding| rule.verdict == vervet_report::Verdict::Failed;
    let findings = run.findings.iter().chain(&step.audit).filter(failed);
    let rules: Vec<&str> = findings.map(|one| one.rule.as_str()).collect();
    let audit = (!rules.is_empty()).then(|| format!("audit failed: {}", rules.join(", ")));
    let parts: Vec<String> = [Some(rate), errors, audit].into_iter().flatten().collect();
    parts.join(", ")
}
