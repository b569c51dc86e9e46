//! `vervet lab run`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::failure::Failure;

/// What it is done with.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Where to find the lab file
    #[arg(value_name = "FILE")]
    path: PathBuf,
}

/// Does it.
pub(crate) fn run(arguments: &RunArguments) -> Result<ExitCode, Failure> {
    Err(Failure::Lab(format!(
        "{}: this release cannot do that yet",
        arguments.path.display()
    )))
}
