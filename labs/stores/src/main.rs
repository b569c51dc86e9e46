//! Fills a store, reads it again, and reports how long each phase took: the client of the stores
//! that `vervet lab run` compares. A separate program, so that `vervet` contains no store clients.
//!
//! Standard output has a line for each phase when it ends, `phase NAME OPERATIONS NANOSECONDS`, and
//! one for each further fact, `fact NAME TEXT`. Errors go to standard error, and the exit status
//! says whose fault they are: [`Problem::status`].

mod pairs;
mod phases;
mod problem;
mod stores;

use std::process::ExitCode;

use clap::Parser;

use crate::pairs::Pairs;
use crate::problem::Problem;
use crate::stores::{Place, store};

/// What is done.
#[derive(Debug, Parser)]
#[command(name = "vervet-stores", version, about = "Puts and gets of a store, phase by phase")]
struct Arguments {
    /// Which store: memcached, redis, redb, sqlite or mariadb
    store: String,
    /// Where it is: the Unix socket of a server, or a file that is made
    #[arg(long, value_name = "PATH")]
    at: std::path::PathBuf,
    /// How many values are put, and then read
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    count: u32,
    /// How long each value is
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=32_768))]
    value_bytes: u32,
    /// What the values, and the order in which they are read, are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Whether each put is on the disk before the next: of the stores within this program
    #[arg(long)]
    durable: bool,
    /// Whether a table has no index on its keys
    #[arg(long)]
    no_index: bool,
}

fn main() -> ExitCode {
    match done(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(problem.status())
        }
    }
}

fn done(arguments: &Arguments) -> Result<(), Problem> {
    let store = store(&arguments.store)?;
    let place = Place {
        at: arguments.at.clone(),
        is_durable: arguments.durable,
        has_index: !arguments.no_index,
    };
    let pairs = Pairs::new(arguments.seed, arguments.count, arguments.value_bytes);
    phases::pass(store, &place, &pairs, &mut std::io::stdout().lock())
}
