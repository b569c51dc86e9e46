//! `vervet generate`: manual pages, completions and reference pages.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::failure::Failure;
use crate::reference;

/// The arguments of `vervet generate`.
#[derive(Debug, Args)]
pub(crate) struct GenerateArguments {
    /// Root of the directory tree to write to, laid out as in the repository
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
}

/// Writes all of them.
pub(crate) fn generate(arguments: &GenerateArguments) -> Result<ExitCode, Failure> {
    for (name, content) in reference::files().map_err(Failure::Output)? {
        let path = arguments.dir.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(Failure::write(folder))?;
        }
        std::fs::write(&path, content).map_err(Failure::write(&path))?;
    }
    Ok(ExitCode::SUCCESS)
}
