//! `vervet lab report`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::failure::Failure;

/// What it is done with.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Where to find a lab
    #[arg(value_name = "RECORD")]
    path: PathBuf,
}

/// Does it.
pub(crate) fn report(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    Err(Failure::Lab(format!(
        "{}: this release cannot do that yet",
        arguments.path.display()
    )))
}
