//! `vervet lab probe`: what the host itself takes, as a task of a lab.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use vervet_lab::host::HostProbe;

use crate::failure::Failure;
use crate::talk;

/// How much is done.
#[derive(Debug, Args)]
pub(crate) struct ProbeArguments {
    /// Points drawn for pi by each core
    #[arg(long, value_name = "N", default_value_t = 50_000_000, value_parser = count())]
    samples: u64,
    /// Bytes that go over the loopback and come back
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = count())]
    round_trips: u64,
    /// Writes that are on the disk before the next
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = count())]
    syncs: u64,
    /// System calls
    #[arg(long, value_name = "N", default_value_t = 2_000_000, value_parser = count())]
    calls: u64,
    /// The folder on whose disk is written
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

fn count() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=1_000_000_000)
}

/// Does it.
pub(crate) fn probe(arguments: &ProbeArguments) -> Result<ExitCode, Failure> {
    let asked = HostProbe {
        samples: arguments.samples,
        round_trips: arguments.round_trips,
        syncs: arguments.syncs,
        calls: arguments.calls,
        folder: arguments.folder.clone(),
    };
    let passed = asked.pass(&mut |figure| talk::print(&format!("{figure}\n")));
    passed.map_err(|(what, error)| Failure::Lab(format!("cannot {what}: {error}")))?;
    Ok(ExitCode::SUCCESS)
}
