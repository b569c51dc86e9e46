//! `vervet lab init`: a first lab file, with comments, to be changed.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::console;
use crate::failure::Failure;

/// Two servers, a file, and what nearly every comparison has to permit.
const FIRST: &str = include_str!("first.toml");

/// Where the lab file is written.
#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// The lab file to write; an existing file is not replaced
    #[arg(value_name = "FILE", default_value = "lab.toml")]
    file: PathBuf,
}

/// Writes the file.
pub(crate) fn init(arguments: &InitArguments) -> Result<ExitCode, Failure> {
    let file = &arguments.file;
    let name = file.display();
    let mut new =
        OpenOptions::new().write(true).create_new(true).open(file).map_err(|error| match error
            .kind()
        {
            ErrorKind::AlreadyExists => Failure::Other(format!(
                "{name} exists and is not replaced: name another file, or remove it"
            )),
            _ => Failure::write(file)(error),
        })?;
    new.write_all(FIRST.as_bytes()).map_err(Failure::write(file))?;
    console::message(format_args!(
        "wrote {name}; next: vervet lab check {name}, then vervet lab run {name} --quick"
    ));
    Ok(ExitCode::SUCCESS)
}
