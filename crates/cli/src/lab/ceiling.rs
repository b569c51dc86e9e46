//! `vervet lab ceiling`: the server of canned answers, as a process of its own.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use vervet_lab::ceiling::{Canned, Then, serve};

use crate::failure::Failure;

/// What it is done with.
#[derive(Debug, Args)]
pub(crate) struct CeilingArguments {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS")]
    listen: SocketAddr,
    /// The file with the content of every answer
    #[arg(long, value_name = "FILE")]
    content: PathBuf,
    /// Close each connection after its answer
    #[arg(long)]
    close: bool,
}

/// Does it, until the process is ended.
pub(crate) fn ceiling(arguments: &CeilingArguments) -> Result<ExitCode, Failure> {
    let then = if arguments.close {
        Then::Close
    } else {
        Then::Keep
    };
    let canned = Canned {
        content: arguments.content.clone(),
        then,
    };
    let served = serve(arguments.listen, &canned);
    served.map_err(|error| {
        Failure::Other(format!("cannot serve at {}: {error}", arguments.listen))
    })?;
    Ok(ExitCode::SUCCESS)
}
