//! `vervet lab probe`: what the host itself takes, as a task of a lab.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use vervet_lab::host::HostProbe;

use crate::console;
use crate::failure::Failure;

/// The amount of each measurement.
#[derive(Debug, Args)]
pub(crate) struct ProbeArguments {
    /// Random points per core for the computation of pi
    #[arg(long, value_name = "N", default_value_t = 50_000_000, value_parser = count())]
    samples: u64,
    /// Round trips of one byte over loopback
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = count())]
    round_trips: u64,
    /// Writes, each with fsync
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = count())]
    syncs: u64,
    /// System calls
    #[arg(long, value_name = "N", default_value_t = 2_000_000, value_parser = count())]
    calls: u64,
    /// Folder on the disk to measure
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

fn count() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=1_000_000_000)
}

/// Measures the host and prints the figures.
pub(crate) fn probe(arguments: &ProbeArguments) -> Result<ExitCode, Failure> {
    let asked = HostProbe {
        samples: arguments.samples,
        round_trips: arguments.round_trips,
        syncs: arguments.syncs,
        calls: arguments.calls,
        folder: arguments.folder.clone(),
    };
    let passed = asked.pass(&mut |figure| console::print(&format!("{figure}\n")));
    passed.map_err(|(what, error)| Failure::Other(format!("cannot {what}: {error}")))?;
    Ok(ExitCode::SUCCESS)
}
