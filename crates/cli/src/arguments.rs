//! The definition of the command line. Help, manual pages, completions and reference are generated
//! from it.

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::config::{CheckArguments, ConfigCommand};
use crate::deferred::Deferred;
use crate::lab::LabCommand;
use crate::load::LoadArguments;
use crate::passwd::PasswdArguments;
use crate::reference::GenerateArguments;
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

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve a directory or a single file over HTTP
    ///
    /// By default, the server listens on localhost only, lists directories that have no index file,
    /// and prints an access log line for each request. Press Ctrl-C to stop it.
    Serve(Deferred<ServeArguments>),
    /// Serve the sites (virtual hosts) of a configuration file
    ///
    /// The server runs in the foreground. SIGHUP reloads the configuration; if it is invalid, the
    /// errors are logged and the running configuration stays in effect. SIGTERM, SIGINT and SIGQUIT
    /// shut down gracefully; a second signal exits at once. SIGUSR1 reopens the log files.
    Run(Deferred<RunArguments>),
    /// Validate a configuration file and report all errors with file, line and column
    ///
    /// Finds everything that `vervet run` would refuse, and warns of what cannot work: routes that
    /// no request reaches, rewrites and redirects that lead back to themselves, logs that nothing
    /// writes to. When it is run as root, it opens files, folders and logs as the account that
    /// `user` names, and says what that account lacks. Nothing is written.
    Check(Deferred<CheckArguments>),
    /// Show the effective configuration, its JSON Schema and its reference
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print the version, and build details with --build
    Version(Deferred<VersionArguments>),
    /// Print the limits (timeouts, sizes, connections) that `serve --limit` sets
    Limits,
    /// Manage a password file for HTTP basic authentication
    Passwd(Deferred<PasswdArguments>),
    /// Monitor the CPU time, memory, page faults, context switches and descriptors of a process
    /// tree
    ///
    /// Usage is summed over the process and its descendants, including those that have exited.
    /// Metrics of the host are sampled once per second.
    Watch(Deferred<WatchArguments>),
    /// Generate HTTP load and report throughput, latency and errors
    ///
    /// Closed load (-c) sends the next request when a response has arrived. Open load (--rate)
    /// sends requests on schedule, and measures latency from the time at which each request was
    /// due. Failed requests count in neither throughput nor latency.
    Load(Deferred<LoadArguments>),
    /// Benchmark and compare servers on this machine
    ///
    /// A lab file names the servers, the requests and the load. Each measurement starts its server
    /// from scratch. Results that fail the audit are shown but not ranked. Any HTTP server can be
    /// measured.
    #[command(subcommand)]
    Lab(LabCommand),
    /// Write manual pages, shell completions and reference pages
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
