//! `vervet lab reproduce`: a lab again, from its report alone, and the two held against each other.

// These comments are what users read in the help, which knows no Markdown.
#![allow(clippy::doc_markdown)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use vervet_lab::compare::{Comparison, TOLERANCE, comparison_text};
use vervet_lab::record::{LabRecord, open_figures, open_record};
use vervet_lab::reproduce::write_bundle;

use super::run::{RunArguments, run};
use crate::failure::Failure;
use crate::talk;

const EXAMPLES: &str = "\
Examples:
  vervet lab reproduce report.html --dir again
  vervet lab reproduce report.html --dir again --files-only

DIR gets the lab file, the files that the report carries, SHA256SUMS, and the
results of the new run in DIR/results, which are then compared with the old ones.
What the old run left out (--quick, --only) is left out again. Interrupted, the
same command goes on where it stopped.

Exit status: that of lab run when it does not come to its end; 0 otherwise,
whatever the comparison says: it is another machine, or another day.";

/// What is run again, and where.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReproduceArguments {
    /// A report, a lab.json, or the folder that lab run wrote
    #[arg(value_name = "REPORT")]
    report: PathBuf,
    /// Folder to write to
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// Write the files, and run nothing
    #[arg(long)]
    files_only: bool,
}

/// Writes a lab out, runs it, and compares.
pub(crate) fn reproduce(arguments: &ReproduceArguments) -> Result<ExitCode, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Lab(error.to_string());
    let old = open_record(&arguments.report).map_err(|error| failed(&error))?;
    let written = write_bundle(&old, &arguments.dir).map_err(|error| failed(&error))?;
    talk::print(&format!(
        "{}\n{}\n",
        written.lab_file.display(),
        written.list.display()
    ))
    .map_err(Failure::Output)?;
    if !written.missing.is_empty() {
        let missing = written.missing.join(", ");
        let folder = arguments.dir.display();
        return Err(Failure::Lab(format!(
            "the report does not carry {missing}: put it into {folder}, with the hash in SHA256SUMS, and do this again"
        )));
    }
    if arguments.files_only {
        return Ok(ExitCode::SUCCESS);
    }
    let results = arguments.dir.join("results");
    let shortened = &old.head.shortened;
    let status = run(&RunArguments {
        file: written.lab_file,
        out: Some(results.clone()),
        quick: shortened.quick,
        only: shortened.only.clone(),
        dry_run: false,
    })?;
    if status != ExitCode::SUCCESS {
        return Ok(status);
    }
    tell(&arguments.report, &old, &results)
}

fn tell(report: &Path, old: &LabRecord, results: &Path) -> Result<ExitCode, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Lab(error.to_string());
    if let Err(error) = open_figures(report) {
        talk::say(format_args!("not compared: {error}"));
        return Ok(ExitCode::SUCCESS);
    }
    let new = open_figures(results).map_err(|error| failed(&error))?;
    let comparison = Comparison::of(old, &new, TOLERANCE).map_err(|error| failed(&error))?;
    talk::print(&comparison_text(&comparison)).map_err(Failure::Output)?;
    Ok(ExitCode::SUCCESS)
}
