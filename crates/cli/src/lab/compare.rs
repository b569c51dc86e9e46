//! `vervet lab compare`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::failure::Failure;

/// What it is done with.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// Where to find the first lab
    #[arg(value_name = "RECORD")]
    path: PathBuf,
}

/// Does it.
pub(crate) fn compare(arguments: &CompareArguments) -> Result<ExitCode, Failure> {
    Err(Failure::Lab(format!(
        "{}: this release cannot do that yet",
        arguments.path.display()
    )))
}
