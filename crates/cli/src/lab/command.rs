//! What can be typed after `vervet lab`.

use std::process::ExitCode;

use clap::Subcommand;

use super::check::{CheckArguments, check};
use super::compare::{CompareArguments, compare};
use super::init::{InitArguments, init};
use super::listing::print_adapters;
use super::probe::{ProbeArguments, probe};
use super::report::{ReportArguments, report};
use super::reproduce::{ReproduceArguments, reproduce};
use super::run::{RunArguments, run};
use super::trend::{TrendArguments, trend};
use crate::failure::Failure;

/// The subcommands of `vervet lab`.
#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Write a first lab file, with comments
    Init(InitArguments),
    /// Run a lab: every subject under every load, in shuffled order
    Run(RunArguments),
    /// Check a lab file and list which of its subjects are installed
    Check(CheckArguments),
    /// List the adapters: servers that a lab can start, with their settings
    Adapters,
    /// Write the report of a lab
    Report(ReportArguments),
    /// Compare two labs and fail if the second is slower
    Compare(CompareArguments),
    /// Show how figures changed over many labs
    Trend(TrendArguments),
    /// Run a lab again from its record
    Reproduce(ReproduceArguments),
    /// Measure the host itself: computation, loopback, disk and system calls
    Probe(ProbeArguments),
}

/// Runs a subcommand.
pub(crate) fn lab(command: &LabCommand) -> Result<ExitCode, Failure> {
    match command {
        LabCommand::Init(arguments) => init(arguments),
        LabCommand::Run(arguments) => run(arguments),
        LabCommand::Check(arguments) => check(arguments),
        LabCommand::Adapters => print_adapters(),
        LabCommand::Report(arguments) => report(arguments),
        LabCommand::Compare(arguments) => compare(arguments),
        LabCommand::Trend(arguments) => trend(arguments),
        LabCommand::Reproduce(arguments) => reproduce(arguments),
        LabCommand::Probe(arguments) => probe(arguments),
    }
}
