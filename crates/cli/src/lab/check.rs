//! `vervet lab check`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::failure::Failure;

/// What it is done with.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Where to find the lab file
    #[arg(value_name = "FILE")]
    path: PathBuf,
}

/// Does it.
pub(crate) fn check(arguments: &CheckArguments) -> Result<ExitCode, Failure> {
    Err(Failure::Lab(format!(
        "{}: this release cannot do that yet",
        arguments.path.display()
    )))
}
