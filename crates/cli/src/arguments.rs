//! The command line: what can be typed. Everything else about it (help, manual page, completions, reference) is made
//! from here.

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::config::{CheckArguments, ConfigCommand};
use crate::deferred::Deferred;
use crate::generate::GenerateArguments;
use crate::lab::LabCommand;
use crate::load::LoadArguments;
use crate::passwd::PasswdArguments;
use crate::run::RunArguments;
use crate::serve::ServeArguments;
use crate::version::VersionArguments;
use crate::watch::WatchArguments;

/// A small, fast web server.
#[derive(Debug, Parser)]
#[command(
    name = "vervet",
    version,
    about = "A small, fast web server",
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What the program can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve a folder, or a single file, over HTTP
    ///
    /// Without options it listens on this machine only, lists folders that have no index page, and prints a line for
    /// each request. Ctrl-C stops it.
    Serve(Deferred<ServeArguments>),
    /// Serve the sites of a configuration file
    ///
    /// It stays in the foreground. HUP reads the file anew: what is wrong changes nothing and is said. TERM, INT and
    /// QUIT let requests under way end; a second one stops at once. USR1 opens the logs anew.
    Run(Deferred<RunArguments>),
    /// Check a configuration file: every mistake at once, each with its place
    Check(Deferred<CheckArguments>),
    /// Show what a configuration comes to, and what there is to be set
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Say which version this is, and with --build how it was built
    Version(Deferred<VersionArguments>),
    /// Print the table of limits that `serve --limit` sets
    Limits,
    /// Add, change, remove or list users of basic authentication in a file
    Passwd(Deferred<PasswdArguments>),
    /// Watch what a process and all below it use: processor time, memory, faults, switches, descriptors
    ///
    /// A server is more than one process, and its workers come and go: what they use is summed, that of those that have
    /// ended included. Once a second also the machine is looked at.
    Watch(Deferred<WatchArguments>),
    /// Make load, and say what holds
    ///
    /// Closed load (-c) asks again when an answer is in; open load (--rate) asks by the clock, and times count from when
    /// a request was due. What fails counts in neither rate nor times.
    Load(Deferred<LoadArguments>),
    /// Compare servers on this machine, and say what holds
    ///
    /// A lab file names servers, what is asked of them and under which load. Each step starts its server anew, and what
    /// the audit does not believe is shown and not ranked. Any server can take part.
    #[command(subcommand)]
    Lab(LabCommand),
    /// Write the files that are made from the program: manual pages, completions, reference
    #[command(hide = true)]
    Generate(Deferred<GenerateArguments>),
}

/// Reads the command line, or ends the program with the reason and status 2.
pub(crate) fn read() -> Arguments {
    let matches = command().get_matches();
    Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// The command line as it is defined.
pub(crate) fn command() -> clap::Command {
    Arguments::command()
}
