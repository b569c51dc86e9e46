//! `vervet config`: the effective configuration, its schema and its reference.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use vervet_server::config::{Section as _, schema, show_json, show_text};
use vervet_server::settings::Document;

use super::documents::{FileArguments, read, report};
use crate::failure::Failure;
use crate::{console, limits};

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
        ConfigCommand::Limits => return limits::print(),
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
