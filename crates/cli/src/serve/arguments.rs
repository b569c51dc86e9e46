//! What can be typed after `vervet serve`. Each option is one field here, with its help, type and default.

// These comments are what users read in the help, which knows no Markdown.
#![allow(clippy::doc_markdown)]

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::BoolishValueParser;
use clap::{Arg, ArgAction, Args, ValueEnum};
use ipnet::IpNet;
use vervet_server::engine::listener::{BACKLOG, ListenAddress};
use vervet_server::settings::Workers;

use super::quantity::{self, LimitSetting};
use crate::environment::workers_of;

const EXAMPLES: &str = "\
Examples:
  vervet serve                              this folder, at http://127.0.0.1:8080/
  vervet serve site --listen :80            to everyone, on port 80
  vervet serve site --listen unix:/run/web.sock --unix-mode 660
  vervet serve page.html                    a single file
  vervet serve build --spa --max-age 1h     an application of one page
  vervet serve site --log json --log-file access.log
  vervet serve site --limit content_bytes_max=10MiB --limit head_timeout_ms=5s

Environment:
  Each option can be set by a variable, too: VERVET_ and its name, such as
  VERVET_LOG_FILE for --log-file, several values separated by commas. What is
  typed goes before. PORT=8080 stands for --listen :8080 and WEB_CONCURRENCY=4
  for --workers 4. Sockets that LISTEN_FDS announces are used where no --listen
  is given.

Signals:
  TERM, INT and QUIT let requests under way end; a second one stops at once.
  USR1 and HUP open the log file anew.";

/// What is served, where, and how.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_args = with_variable)]
pub(crate) struct ServeArguments {
    /// Folder to serve, or one file (served at / and at its own name)
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) listen: ListenArguments,
    #[command(flatten)]
    pub(crate) files: FilesArguments,
    #[command(flatten)]
    pub(crate) log: LogArguments,
    #[command(flatten)]
    pub(crate) work: WorkArguments,
    #[command(flatten)]
    pub(crate) sockets: SocketArguments,
}

/// Where it can be reached.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where")]
pub(crate) struct ListenArguments {
    /// Address to listen on; repeatable. 127.0.0.1:8080, [::1]:8080, :8080 (everyone), port 0 (a free one),
    /// unix:/path, unix:@name, fd:3, fd:name [default: 127.0.0.1:8080, or a free port when that is taken]
    #[arg(long, value_name = "ADDR", value_delimiter = ',')]
    pub(crate) listen: Vec<ListenAddress>,
    /// Permissions of the file of a unix socket, octal [default: what the umask leaves]
    #[arg(long, value_name = "MODE", value_parser = unix_mode)]
    pub(crate) unix_mode: Option<u32>,
    /// Network whose connections begin with a PROXY protocol header; repeatable. On a unix socket any network means
    /// that all connections do
    #[arg(long, value_name = "NET", value_delimiter = ',', value_parser = network)]
    pub(crate) proxy_protocol: Vec<IpNet>,
}

/// Which files, and how they are answered.
#[derive(Debug, Args)]
#[command(next_help_heading = "Files")]
#[allow(clippy::struct_excessive_bools)] // each is a switch that is typed, read once and turned into an enum
pub(crate) struct FilesArguments {
    /// Page to answer with where a folder is asked for; repeatable, the first that exists is taken
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "index.html"
    )]
    pub(crate) index: Vec<String>,
    /// Answer unknown paths with the page at /, whose script routes them
    #[arg(long)]
    pub(crate) spa: bool,
    /// Do not list folders that have no index page
    #[arg(long)]
    pub(crate) no_listing: bool,
    /// Serve names that begin with a dot, too
    #[arg(long)]
    pub(crate) hidden: bool,
    /// Follow symbolic links that stay within the folder
    #[arg(long)]
    pub(crate) follow_symlinks: bool,
    /// How long browsers may use a file without asking again: Cache-Control: max-age. 0 to ask each time
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = quantity::duration)]
    pub(crate) max_age: Duration,
    /// Send everything as it is, uncompressed
    #[arg(long)]
    pub(crate) no_compression: bool,
}

/// The access log.
#[derive(Debug, Args)]
#[command(next_help_heading = "Access log")]
pub(crate) struct LogArguments {
    /// A line for each request [default: pretty, and combined for a file]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) log: Option<LogFormat>,
    /// File to append the lines to; - for standard output. It is opened anew on USR1
    #[arg(long, value_name = "PATH", default_value = "-")]
    pub(crate) log_file: PathBuf,
}

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Short and aligned, for people; with colours on a terminal, unless NO_COLOR is set
    Pretty,
    /// The common log format of NCSA
    Common,
    /// The common format with Referer and User-Agent
    Combined,
    /// One JSON object
    Json,
    /// No lines
    None,
}

/// How much it does at a time, and for how long.
#[derive(Debug, Args)]
#[command(next_help_heading = "Work and limits")]
pub(crate) struct WorkArguments {
    /// Threads that answer requests; auto for as many as the processors and the control group allow
    #[arg(long, value_name = "N", default_value = "auto", value_parser = workers_of)]
    pub(crate) workers: Workers,
    /// Set a limit of `vervet limits`, with a unit if wanted (k, MiB, ms, s, h); repeatable
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = quantity::limit)]
    pub(crate) limit: Vec<LimitSetting>,
    /// What becomes of connections above connections_max
    #[arg(long, value_name = "POLICY", default_value = "reject")]
    pub(crate) overload: OverloadPolicy,
    /// How long requests under way may take to end after the first TERM or Ctrl-C [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) drain_timeout: Option<Duration>,
    /// What carries the reactors
    #[arg(long, value_name = "CARRIER", default_value = "thread", hide = true)]
    pub(crate) carrier: CarrierName,
}

/// What becomes of connections above the cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OverloadPolicy {
    /// 503 with Retry-After
    Reject,
    /// They wait in the kernel's queue
    Wait,
}

/// What carries the reactors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CarrierName {
    /// A plain thread for each.
    Thread,
    /// A tokio runtime for each.
    Tokio,
}

/// Options of the listening sockets that few need.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sockets")]
pub(crate) struct SocketArguments {
    /// Connections that may wait to be accepted
    #[arg(long, value_name = "N", default_value_t = BACKLOG)]
    pub(crate) backlog: u32,
    /// A socket for each worker, the kernel spreading connections (SO_REUSEPORT); other processes may join
    #[arg(long)]
    pub(crate) reuse_port: bool,
    /// Accept a connection before its first bytes are there
    #[arg(long)]
    pub(crate) no_defer_accept: bool,
    /// Connections whose request may come with the SYN (TCP_FASTOPEN); 0 for none
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) fastopen: u32,
    /// Congestion control by its kernel name, such as bbr [default: the system's]
    #[arg(long, value_name = "NAME")]
    pub(crate) congestion: Option<String>,
}

/// `--log-file` can be set by `VERVET_LOG_FILE`. The help says so once instead of at each option.
fn with_variable(argument: Arg) -> Arg {
    let Some(long) = argument.get_long() else {
        return argument;
    };
    let name = format!("VERVET_{}", long.replace('-', "_").to_uppercase());
    let argument = argument.env(name).hide_env(true);
    match argument.get_action() {
        ArgAction::SetTrue => argument.value_parser(BoolishValueParser::new()),
        _ => argument,
    }
}

fn unix_mode(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 8)
        .ok()
        .filter(|mode| *mode <= 0o777)
        .ok_or_else(|| format!("\"{text}\" is no mode (octal, such as 660)"))
}

fn network(text: &str) -> Result<IpNet, String> {
    let network = text.parse::<IpNet>().ok();
    let address = || text.parse::<IpAddr>().ok().map(IpNet::from);
    network
        .or_else(address)
        .ok_or_else(|| format!("\"{text}\" is no network (such as 10.0.0.0/8, or one address)"))
}
