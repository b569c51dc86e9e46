//! `vervet lab run`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use vervet_lab::plan::{Pace, Plan};
use vervet_lab::present::{page_markdown, report_html, report_page};
use vervet_lab::record::{LabRecord, Phase, Step, TaskStep};
use vervet_lab::runner::{Generator, Options, Progress, RunError, run as run_lab};
use vervet_lab::statistics::Analysis;
use vervet_report::{Finding, Verdict};

use super::check::planned;
use super::listing::{print_plan, span};
use crate::console;
use crate::failure::Failure;
use crate::version;

/// The exit status of an interrupted program, as shells define it.
const INTERRUPTED: u8 = 130;

/// The report, in the folder of the record.
const PAGE: &str = "report.html";
const TEXT: &str = "report.md";

/// Which lab is run, and how much of it.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The lab file
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// Folder for the results; an interrupted lab continues there [default: the name of FILE with
    /// .lab]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Run fewer and shorter steps, as set in `[quick]` of the lab file, to check that it works
    #[arg(long)]
    pub(super) quick: bool,
    /// Run only this subject and the ceiling; repeatable
    #[arg(long, value_name = "SUBJECT")]
    pub(super) only: Vec<String>,
    /// Print the steps in their order and an estimate of the time, and run none
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// Runs the lab and writes its reports.
pub(crate) fn run(arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let pace = if arguments.quick { Pace::Quick } else { Pace::Full };
    let mut plan = planned(&arguments.file, pace)?;
    plan.keep_only(&arguments.only).map_err(|name| {
        let known = plan.names().join(", ");
        Failure::Other(format!("unknown subject {name}: the lab has {known}"))
    })?;
    if arguments.dry_run {
        return print_plan(&plan);
    }
    let out = arguments.out.clone().unwrap_or_else(|| folder(&arguments.file));
    measure(&plan, &out)
}

fn measure(plan: &Plan, out: &Path) -> Result<ExitCode, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The second one does not wait for the step to be given up.
        let ends = signal_hook::flag::register_conditional_shutdown(
            signal,
            i32::from(INTERRUPTED),
            Arc::clone(&interrupted),
        );
        let asks = signal_hook::flag::register(signal, Arc::clone(&interrupted));
        ends.and(asks)
            .map_err(|error| Failure::Other(format!("cannot handle signals: {error}")))?;
    }
    raise_descriptors();
    console::message(format_args!(
        "{}: {} steps, about {}",
        plan.title,
        plan.steps_count(),
        span(plan.estimate())
    ));
    let result = run_lab(
        plan,
        &mut Options {
            out: out.to_owned(),
            program: version::program(),
            ceiling: ceiling()?,
            measurer: &mut Generator,
            progress: &mut ProgressMessages,
            interrupted: &interrupted,
        },
    );
    match result {
        Ok(record) => {
            write_reports(&record, out)?;
            let (count, page) = (record.steps_done(), out.join(PAGE));
            console::message(format_args!("{count} steps in {}", page.display()));
            Ok(ExitCode::SUCCESS)
        }
        Err(RunError::Interrupted) => {
            console::message(format_args!("{}", RunError::Interrupted));
            Ok(ExitCode::from(INTERRUPTED))
        }
        Err(error) => Err(Failure::Other(error.to_string())),
    }
}

/// Writes the report next to the record, as HTML and as Markdown for code forges.
fn write_reports(record: &LabRecord, out: &Path) -> Result<(), Failure> {
    let told = |error: &dyn std::fmt::Display| Failure::Other(error.to_string());
    let analysis = Analysis::new(record).map_err(|error| told(&error))?;
    let page = report_html(record, &analysis);
    let text = page_markdown(&report_page(record, &analysis), None);
    for (name, text) in [(PAGE, page), (TEXT, text)] {
        let path = out.join(name);
        std::fs::write(&path, text).map_err(Failure::write(&path))?;
    }
    Ok(())
}

/// The folder of a record that was not named.
fn folder(file: &Path) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default();
    Path::new(stem).with_extension("lab")
}

/// The command of the canned-response server: this program.
fn ceiling() -> Result<Vec<String>, Failure> {
    let this = std::env::current_exe();
    let this =
        this.map_err(|error| Failure::Other(format!("cannot find this program: {error}")))?;
    Ok(vec![this.display().to_string(), "load".to_owned()])
}

/// A connection needs a descriptor at both ends, and both inherit this limit.
fn raise_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // The step that lacks descriptors reports it.
    let _ = setrlimit(Resource::Nofile, raised);
}

/// Prints a line for each step to standard error.
struct ProgressMessages;

impl Progress for ProgressMessages {
    fn message(&mut self, text: &str) {
        console::message(format_args!("{text}"));
    }

    fn step(&mut self, done: usize, of: usize, step: &Step) {
        let what = step.outcome.failure().unwrap_or_else(|| measured(step));
        console::message(format_args!(
            "{done}/{of} {} on {}, {}: {what}",
            step.subject, step.workload, step.load
        ));
    }

    fn task(&mut self, done: usize, of: usize, step: &TaskStep) {
        let what = step.outcome.failure().unwrap_or_else(|| phases(step));
        console::message(format_args!("{done}/{of} {}: {what}", step.task));
    }
}

/// The phases of a task on one line.
fn phases(step: &TaskStep) -> String {
    let one = |phase: &Phase| {
        let time = Duration::from_nanos(phase.time_ns);
        format!("{} {:.1} ms", phase.name, time.as_secs_f64() * 1000.0)
    };
    let phases: Vec<String> = step.phases.iter().map(one).collect();
    phases.join(", ")
}

/// The figures of a step on one line.
fn measured(step: &Step) -> String {
    let run = step.run.as_ref().and_then(|run| run.read().ok());
    let Some(run) = run else {
        return "no figures".to_owned();
    };
    let milliseconds = |nanoseconds: u64| Duration::from_nanos(nanoseconds).as_secs_f64() * 1000.0;
    let response = &run.timings.response;
    let rate = format!(
        "{:.0}/s, p50 {:.2} ms, p99 {:.2} ms",
        run.achieved.rate(),
        milliseconds(response.quantile_ns(0.5)),
        milliseconds(response.quantile_ns(0.99))
    );
    let errors = run.errors.total();
    let errors = (errors > 0).then(|| format!("{errors} errors"));
    let failed = |rule: &&Finding| rule.verdict == Verdict::Failed;
    let findings = run.findings.iter().chain(&step.audit).filter(failed);
    let rules: Vec<&str> = findings.map(|one| one.rule.as_str()).collect();
    let audit = (!rules.is_empty()).then(|| format!("audit failed: {}", rules.join(", ")));
    let parts: Vec<String> = [Some(rate), errors, audit].into_iter().flatten().collect();
    parts.join(", ")
}
