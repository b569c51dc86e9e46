//! `vervet-bench`: measures vervet beside its rivals and the machine's ceiling.
//!
//! The method and its reasons stand in `docs/performance.md`; `bench/run` prepares the machine.

mod beside;
mod compare;
mod cut;
mod document;
mod generators;
mod idle;
mod process;
mod ratio;
mod report;
mod rules;
mod run;
mod scrape;
mod subject;
mod summary;
mod workload;
mod wrk;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "vervet-bench",
    about = "Measure vervet beside its rivals and the machine's ceiling"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure all subjects under all workloads, interleaved
    Compare(CompareArgs),
    /// Measure load generators, ours among them, against a canned answer
    Generators(GeneratorsArgs),
}

/// What both comparisons are told.
#[derive(Args)]
pub(crate) struct BenchArgs {
    /// Folder for what the run writes; its file `environment` goes into the report
    #[arg(long)]
    work: PathBuf,
    /// Folder for the results
    #[arg(long)]
    out: PathBuf,
    /// Document whose part between the two bench markers is replaced
    #[arg(long)]
    markdown: Option<PathBuf>,
    /// The vervet command
    #[arg(long, default_value = "target/release/vervet")]
    vervet: PathBuf,
    /// How often each one is measured
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// How long each one is measured in a round, after a warm-up
    #[arg(long, default_value_t = 3)]
    seconds: u32,
}

/// The options of `vervet-bench compare`.
#[derive(Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    bench: BenchArgs,
    /// One round of one second: shows that everything works, and nothing else
    #[arg(long, conflicts_with_all = ["rounds", "seconds"])]
    quick: bool,
    /// Workloads to run, by name
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Subjects to run, by name
    #[arg(long, value_delimiter = ',')]
    subjects: Vec<String>,
    /// First of the loopback ports used
    #[arg(long, default_value_t = 10_000)]
    port: u16,
}

/// The options of `vervet-bench generators`.
#[derive(Args)]
pub(crate) struct GeneratorsArgs {
    #[command(flatten)]
    bench: BenchArgs,
    /// First of the loopback ports used
    #[arg(long, default_value_t = 12_000)]
    port: u16,
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Compare(args) => compare::compare(&args),
        Command::Generators(args) => generators::compare(&args),
    }
}
