//! `vervet lab trend`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::failure::Failure;

/// What it is done with.
#[derive(Debug, Args)]
pub(crate) struct TrendArguments {
    /// Where to find a folder of labs
    #[arg(value_name = "DIR")]
    path: PathBuf,
}

/// Does it.
pub(crate) fn trend(arguments: &TrendArguments) -> Result<ExitCode, Failure> {
    Err(Failure::Lab(format!(
        "{}: this release cannot do that yet",
        arguments.path.display()
    )))
}
