//! `vervet lab check`: every mistake of a lab file at once, and which of its subjects this machine
//! has.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use vervet_lab::check_file;
use vervet_lab::plan::{Pace, Plan, SubjectStart};
use vervet_lab::subject::find_subject;
use vervet_lab::task::find_task;

use super::listing::span;
use vervet_server::config::Severity;

use crate::config::style;
use crate::console;
use crate::failure::Failure;

/// Which lab file is checked.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The lab file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Checks the file and prints the findings.
pub(crate) fn check(arguments: &CheckArguments) -> Result<ExitCode, Failure> {
    let plan = planned(&arguments.file, Pace::Full)?;
    let mut text = String::new();
    for subject in &plan.subjects {
        if matches!(subject.start, SubjectStart::Ceiling) {
            continue;
        }
        let state = match find_subject(subject, &plan.folder) {
            Ok(found) => found.version.unwrap_or_else(|| "there".to_owned()),
            Err(missing) => format!("missing: {}", missing.0),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: {state}", subject.name);
    }
    for task in &plan.tasks.tasks {
        let state = match find_task(task, &plan) {
            Ok(found) => found.version.unwrap_or_else(|| "there".to_owned()),
            Err(missing) => format!("missing: {}", missing.0),
        };
        // As above.
        let _ = writeln!(text, "{}: {state}", task.name);
    }
    let count = plan.steps_count();
    let _ = writeln!(text, "{count} steps, about {}", span(plan.estimate()));
    console::print(&text).map_err(Failure::Output)?;
    console::message(format_args!("{} is valid", arguments.file.display()));
    Ok(ExitCode::SUCCESS)
}

/// Reads a lab file, prints its findings, and returns its plan.
pub(crate) fn planned(file: &Path, pace: Pace) -> Result<Plan, Failure> {
    let checked = check_file(file, pace).map_err(|error| Failure::Read(file.to_owned(), error))?;
    if !checked.diagnostics.is_empty() {
        console::message_block(&checked.to_text(style()));
    }
    let errors = checked.diagnostics.iter();
    let errors = errors.filter(|one| one.severity == Severity::Error);
    let count = match errors.count() {
        1 => "1 error".to_owned(),
        count => format!("{count} errors"),
    };
    checked.plan.ok_or_else(|| Failure::Other(format!("{} has {count}", file.display())))
}
