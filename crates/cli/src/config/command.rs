//! `vervet config`: the effective configuration, its schema, its reference and the limits; and
//! `vervet check`, which validates a configuration without serving it.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use vervet_server::config::{Section as _, Severity, render_json, schema, show_json, show_text};
use vervet_server::engine::limits::Limits;
use vervet_server::engine::listener::Inherited;
use vervet_server::settings::Document;

use super::documents::{Examiner, FileArguments, examined, read, report};
use crate::console;
use crate::default_listen::DefaultListen;
use crate::failure::Failure;

/// The subcommands of `vervet config`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every directive with its value and origin: flag, environment, file or default
    Show(ShowArguments),
    /// Print the JSON Schema of configuration files, for completion in editors
    Schema,
    /// Print the reference of all directives as Markdown
    Reference,
    /// Print the limits with their defaults and bounds
    Limits,
}

/// The arguments of `vervet config show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    file: FileArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(crate) fn config(command: &ConfigCommand) -> Result<ExitCode, Failure> {
    let text = match command {
        ConfigCommand::Show(arguments) => return show(arguments),
        ConfigCommand::Schema => format!("{:#}\n", schema(Document::declaration())),
        ConfigCommand::Reference => reference(),
        ConfigCommand::Limits => return limits(),
    };
    console::print(&text).map_err(Failure::Output)?;
    Ok(ExitCode::SUCCESS)
}

fn reference() -> String {
    let pages = vervet_server::config::reference(Document::declaration());
    let texts: Vec<String> = pages.into_iter().map(|page| page.text).collect();
    texts.join("\n")
}

fn show(arguments: &ShowArguments) -> Result<ExitCode, Failure> {
    let reading = read(&arguments.file)?;
    report(&reading.diagnostics, &reading.sources);
    let Some(document) = &reading.value else {
        return Ok(ExitCode::FAILURE);
    };
    let text = if arguments.json {
        format!("{:#}\n", show_json(document, &reading.sources))
    } else {
        show_text(document, &reading.sources)
    };
    console::print(&text).map_err(Failure::Output)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the limits with their defaults and bounds.
pub(crate) fn limits() -> Result<ExitCode, Failure> {
    console::print(&limits_table()).map_err(Failure::Output)?;
    Ok(ExitCode::SUCCESS)
}

fn limits_table() -> String {
    let width = Limits::TABLE.iter().map(|row| row.name.len()).max();
    let width = width.unwrap_or_default();
    let mut page = String::new();
    // Writing to a String does not fail.
    let _ = writeln!(
        page,
        "{:width$}  {:>12}  {:>8}  {:>16}  {:12}  WHAT IT LIMITS",
        "LIMIT", "DEFAULT", "LEAST", "GREATEST", "UNIT"
    );
    for row in Limits::TABLE {
        let _ = writeln!(
            page,
            "{:width$}  {:>12}  {:>8}  {:>16}  {:12}  {}",
            row.name, row.default, row.min, row.max, row.unit, row.doc
        );
    }
    page
}

/// The arguments of `vervet check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    file: FileArguments,
    /// Print the errors as JSON to standard output
    #[arg(long)]
    json: bool,
}

/// Reports all findings of a start as the account of the configuration; the status is 1 if there
/// are errors.
pub(crate) fn check(arguments: &CheckArguments) -> Result<ExitCode, Failure> {
    let reading = read(&arguments.file)?;
    let listen = DefaultListen::from_environment(&Inherited::default())?;
    let examiner = Examiner::Starting(Some(&arguments.file.file));
    let found = examined(&reading, &listen.addresses(), examiner);
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
    console::message(format_args!("{} has {count}", arguments.file.file.display()));
    ExitCode::FAILURE
}
