//! `vervet lab reproduce`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::failure::Failure;

/// What it is done with.
#[derive(Debug, Args)]
pub(crate) struct ReproduceArguments {
    /// Where to find a report
    #[arg(value_name = "REPORT")]
    path: PathBuf,
}

/// Does it.
pub(crate) fn reproduce(arguments: &ReproduceArguments) -> Result<ExitCode, Failure> {
    Err(Failure::Lab(format!(
        "{}: this release cannot do that yet",
        arguments.path.display()
    )))
}
