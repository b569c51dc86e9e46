//! The outcome of the command: errors before the run, and the exit status of a run.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use vervet_load::finding::Finding;
use vervet_report::{Answer, Ended, Run};
use vervet_server::config::{Diagnostic, Reading, render_text};

use super::agents;
use crate::config::style;
use crate::console;

/// Share of failed requests above which a run fails, unless a condition is about errors.
const ERROR_SHARE_MAX: f64 = 0.01;

/// Exit statuses, as CONVENTIONS of this field have them. 2 is what the parser of the command line
/// ends with, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    AsAsked = 0,
    Threshold = 1,
    Usage = 2,
    GeneratorLimit = 3,
    TargetFailed = 4,
    AuditFailed = 5,
    Interrupted = 130,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        ExitCode::from(status as u8)
    }
}

/// Why a run did not start, as messages for the user.
#[derive(Debug)]
pub(crate) struct Refused {
    lines: Vec<String>,
    /// What is printed instead of the lines: the findings of a document with the lines that they
    /// underline.
    block: String,
    status: Status,
}

impl Refused {
    fn new(lines: Vec<String>, status: Status) -> Self {
        Self { lines, block: String::new(), status }
    }

    pub(crate) fn usage(what: impl fmt::Display) -> Self {
        Self::new(what.to_string().lines().map(str::to_owned).collect(), Status::Usage)
    }

    pub(crate) fn target(what: impl fmt::Display) -> Self {
        Self::new(vec![what.to_string()], Status::TargetFailed)
    }

    /// The errors of several agents, a line each.
    pub(crate) fn agents(lines: Vec<String>) -> Self {
        Self::new(lines, Status::TargetFailed)
    }

    /// The user interrupted the run before its start.
    pub(crate) fn interrupted() -> Self {
        Self::new(vec!["interrupted before the run began".to_owned()], Status::Interrupted)
    }

    pub(crate) fn file(file: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::usage(format!("cannot read {}: {error}", file.display()))
    }

    pub(crate) fn findings(findings: &[Finding]) -> Self {
        Self::new(findings.iter().map(ToString::to_string).collect(), Status::Usage)
    }

    /// A configuration file with mistakes.
    pub(crate) fn document<T>(reading: &Reading<T>) -> Self {
        let sources = &reading.sources;
        let line = |one: &Diagnostic| match sources.position(one.span) {
            Some(at) => format!("{}:{}:{}: {}", at.file, at.line, at.column, one.message),
            None => one.message.clone(),
        };
        Self {
            lines: reading.diagnostics.iter().map(line).collect(),
            block: render_text(&reading.diagnostics, sources, style()),
            status: Status::Usage,
        }
    }

    /// Why, a line each.
    pub(crate) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Prints the messages, and returns the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        console::message_block(&self.block);
        for line in self.lines.iter().filter(|_| self.block.is_empty()) {
            console::message(format_args!("{line}"));
        }
        self.status.into()
    }
}

/// The exit status of a run; prints the reason.
pub(crate) fn judge(run: &Run) -> Status {
    let mut broken = false;
    for outcome in &run.conditions {
        let (condition, measured) = (&outcome.condition, &outcome.measured);
        match outcome.answer {
            Answer::DoesNotHold => continue,
            Answer::Holds => console::message(format_args!("failed: {condition} ({measured})")),
            Answer::NotMeasured => {
                console::message(format_args!("failed: {condition}: nothing was measured"));
            }
        }
        broken = true;
    }
    let speaks_of_errors = run.conditions.iter().any(|it| it.condition.contains("errors"));
    let share = run.error_share();
    if !speaks_of_errors && share > ERROR_SHARE_MAX {
        broken = true;
        console::message(format_args!("failed: {:.2} % of the requests failed", share * 100.0));
    }
    if run.achieved.done == 0 && run.achieved.ended != Ended::TargetFailed {
        broken = true;
        let waiting = run.censored.count;
        console::message(format_args!(
            "failed: no request succeeded; {waiting} had no response at the end of the run"
        ));
    }
    for lost in run.findings.iter().filter(|it| it.rule == agents::RULE) {
        console::message(format_args!("agents: {}", lost.measured));
    }
    match run.achieved.ended {
        Ended::Interrupted => Status::Interrupted,
        Ended::TargetFailed => {
            console::message(format_args!("the target could not be reached"));
            Status::TargetFailed
        }
        _ if run.failed_rules().any(|rule| rule == agents::RULE) => Status::TargetFailed,
        _ if broken => Status::Threshold,
        _ => judge_audit(run),
    }
}

/// The exit status of a run as its audit decides it; prints the reason.
pub(crate) fn judge_audit(run: &Run) -> Status {
    let failed: Vec<&str> = run.failed_rules().collect();
    if failed.contains(&"generator_cpu") {
        console::message(format_args!(
            "the load generator was the bottleneck: the figures measure it, not the target"
        ));
        return Status::GeneratorLimit;
    }
    if failed.is_empty() {
        return Status::AsAsked;
    }
    let failed = failed.join(", ");
    console::message(format_args!(
        "the audit failed ({failed}): do not compare servers by these figures"
    ));
    Status::AuditFailed
}
