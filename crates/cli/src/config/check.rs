//! `vervet check`: every mistake of a configuration at once, without serving it.

use std::process::ExitCode;

use clap::Args;
use vervet_server::config::{Severity, render_json};
use vervet_server::engine::listener::Inherited;

use super::documents::{FileArguments, examined, read, report};
use crate::failure::Failure;
use crate::talk;
use crate::unasked::Unasked;

/// What is checked, and how findings are shown.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    file: FileArguments,
    /// Print findings as JSON to standard output
    #[arg(long)]
    json: bool,
}

/// Checks; status 1 where something refuses the configuration.
pub(crate) fn check(arguments: &CheckArguments) -> Result<ExitCode, Failure> {
    let reading = read(&arguments.file)?;
    let unasked = Unasked::find(&Inherited::default())?.addresses();
    let found = examined(&reading, &unasked);
    if arguments.json {
        let json = render_json(&found, &reading.sources);
        talk::print(&format!("{json:#}\n")).map_err(Failure::Output)?;
    } else {
        report(&found, &reading.sources);
    }
    let errors = found.iter().filter(|one| one.severity == Severity::Error);
    match errors.count() {
        0 => {
            talk::say(format_args!("{} is fine", arguments.file.file.display()));
            Ok(ExitCode::SUCCESS)
        }
        1 => Ok(fail(arguments, "1 error")),
        count => Ok(fail(arguments, &format!("{count} errors"))),
    }
}

fn fail(arguments: &CheckArguments, count: &str) -> ExitCode {
    talk::say(format_args!(
        "{} has {count}",
        arguments.file.file.display()
    ));
    ExitCode::FAILURE
}
