//! `vervet lab reproduce`: runs a lab again from its record alone, and compares the two.

// These comments are what users read in the help, which knows no Markdown.
#![allow(clippy::doc_markdown)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use vervet_lab::compare::{Comparison, TOLERANCE, comparison_text};
use vervet_lab::record::{LabRecord, open_record};
use vervet_lab::reproduce::write_bundle;

use super::run::{RunArguments, run};
use crate::console;
use crate::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  vervet lab reproduce s0.lab --dir again
  vervet lab reproduce lab.json --dir again --files-only

DIR receives the lab file, the files that the record contains, SHA256SUMS, and
in DIR/results the results of the new run, which are compared with the old ones.
The new run uses the same --quick and --only as the old one. If it is
interrupted, run the same command again to continue.

Exit status: that of lab run if the run does not complete; otherwise 0, whatever
the comparison finds, as another machine or another day gives other figures.";

/// What is run again, and where.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReproduceArguments {
    /// The folder that lab run wrote, or its lab.json
    #[arg(value_name = "RESULTS")]
    results: PathBuf,
    /// Folder to write to
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// Write the files, and do not run the lab
    #[arg(long)]
    files_only: bool,
}

/// Writes a lab out, runs it, and compares.
pub(crate) fn reproduce(arguments: &ReproduceArguments) -> Result<ExitCode, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Other(error.to_string());
    let old = open_record(&arguments.results).map_err(|error| failed(&error))?;
    let written = write_bundle(&old, &arguments.dir).map_err(|error| failed(&error))?;
    console::print(&format!("{}\n{}\n", written.lab_file.display(), written.list.display()))
        .map_err(Failure::Output)?;
    if !written.missing.is_empty() {
        let missing = written.missing.join(", ");
        let folder = arguments.dir.display();
        return Err(Failure::Other(format!(
            "the record does not contain {missing}: copy it to {folder}, with the hash in SHA256SUMS, and run this again"
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
    compare(&old, &results)
}

fn compare(old: &LabRecord, results: &Path) -> Result<ExitCode, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Other(error.to_string());
    let new = open_record(results).map_err(|error| failed(&error))?;
    let comparison = Comparison::new(old, &new, TOLERANCE).map_err(|error| failed(&error))?;
    console::print(&comparison_text(&comparison)).map_err(Failure::Output)?;
    Ok(ExitCode::SUCCESS)
}
