//! `vervet check`: validates a configuration without serving it.

use std::process::ExitCode;

use clap::Args;
use vervet_server::config::{Severity, render_json};
use vervet_server::engine::listener::Inherited;

use super::documents::{FileArguments, examined, read, report};
use crate::console;
use crate::default_listen::DefaultListen;
use crate::failure::Failure;

/// The arguments of `vervet check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    file: FileArguments,
    /// Print the errors as JSON to standard output
    #[arg(long)]
    json: bool,
}

/// Reports all errors; the status is 1 if there are any.
pub(crate) fn check(arguments: &CheckArguments) -> Result<ExitCode, Failure> {
    let reading = read(&arguments.file)?;
    let listen = DefaultListen::from_environment(&Inherited::default())?;
    let found = examined(&reading, &listen.addresses());
    if arguments.json {
        let json = render_json(&found, &reading.sources);
        console::print(&format!("{json:#}\n")).map_err(Failure::Output)?;
    } else {
        report(&found, &reading.sources);
    }
    let errors = found.iter().filter(|one| one.severity == Severity::Error);
    match errors.count() {
        0 => {
            console::message(format_args!("{} is valid", arguments.file.file.display()));
            Ok(ExitCode::SUCCESS)
        }
        1 => Ok(fail(arguments, "1 error")),
        count => Ok(fail(arguments, &format!("{count} errors"))),
    }
}

fn fail(arguments: &CheckArguments, count: &str) -> ExitCode {
    console::message(format_args!(
        "{} has {count}",
        arguments.file.file.display()
    ));
    ExitCode::FAILURE
}
