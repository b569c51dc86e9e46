//! The arguments of `vervet serve`. Each option is one field here, with its help and default.

// These comments are what users read in the help, which knows no Markdown.
#![allow(clippy::doc_markdown)]

use std::path::PathBuf;

use clap::builder::{BoolishValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, Args};
use vervet_server::engine::Carrier;
use vervet_server::engine::listener::{BACKLOG, ListenAddress};

use crate::config::assignment;

const EXAMPLES: &str = "\
Examples:
  vervet serve                              this directory at http://127.0.0.1:8080/
  vervet serve site --listen :80            port 80 on all network interfaces
  vervet serve site --listen unix:/run/web.sock --unix-mode 660
  vervet serve page.html                    a single file
  vervet serve build --spa --max-age 1h     a single-page application
  vervet serve site --log json --log-file access.log
  vervet serve site --limit content_bytes_max=10MiB --limit head_timeout_ms=5s

Environment:
  Each option can also be set by an environment variable: VERVET_ and its name,
  such as VERVET_LOG_FILE for --log-file, with commas between several values.
  Options take precedence. PORT=8080 is the same as --listen :8080, and
  WEB_CONCURRENCY=4 the same as --workers 4. Without --listen, sockets passed by
  systemd (LISTEN_FDS) are used.

Signals:
  SIGTERM, SIGINT and SIGQUIT shut down gracefully; a second one exits at once.
  SIGUSR1 and SIGHUP reopen the log file.";

/// The arguments of `vervet serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_args = with_variable)]
pub(crate) struct ServeArguments {
    /// Directory to serve, or one file (served at / and at its own name)
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
    #[command(flatten)]
    pub(crate) account: AccountArguments,
}

/// The account that the server runs as.
#[derive(Debug, Args)]
#[command(next_help_heading = "Account")]
pub(crate) struct AccountArguments {
    /// User to run as once the sockets are bound. Required if started as root; "root" keeps root
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Group to run as [default: the primary group of the user]
    #[arg(long, value_name = "NAME")]
    pub(crate) group: Option<String>,
}

/// Where to listen.
#[derive(Debug, Args)]
#[command(next_help_heading = "Listening")]
pub(crate) struct ListenArguments {
    /// Address to listen on; repeatable. 127.0.0.1:8080, [::1]:8080, :8080 (all interfaces), port 0
    /// (any free port), unix:/path, unix:@name, fd:3, fd:name [default: 127.0.0.1:8080, or a free
    /// port if that is in use]
    #[arg(long, value_name = "ADDR", value_delimiter = ',')]
    pub(crate) listen: Vec<ListenAddress>,
    /// Octal permissions of unix socket files, such as 660 [default: set by the umask]
    #[arg(long, value_name = "MODE")]
    pub(crate) unix_mode: Option<String>,
    /// Network of proxies that send a PROXY protocol header, such as 10.0.0.0/8; repeatable. On a
    /// unix socket, any value requires the header on all connections
    #[arg(long, value_name = "NET", value_delimiter = ',')]
    pub(crate) proxy_protocol: Vec<String>,
}

/// Which files are served, and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Files")]
#[allow(clippy::struct_excessive_bools)] // each is a switch that is typed, read once and turned into an enum
pub(crate) struct FilesArguments {
    /// Index file of directories; repeatable, the first that exists is served
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "index.html")]
    pub(crate) index: Vec<String>,
    /// Single-page application: serve the page at / for unknown paths
    #[arg(long)]
    pub(crate) spa: bool,
    /// Do not list directories that have no index file
    #[arg(long)]
    pub(crate) no_listing: bool,
    /// Serve hidden files (names that begin with a dot)
    #[arg(long)]
    pub(crate) hidden: bool,
    /// Follow symbolic links that stay inside the directory
    #[arg(long)]
    pub(crate) follow_symlinks: bool,
    /// Cache lifetime: Cache-Control max-age, such as 1h. 0 makes caches revalidate each time
    #[arg(long, value_name = "TIME", default_value = "0")]
    pub(crate) max_age: String,
    /// Do not compress responses
    #[arg(long)]
    pub(crate) no_compression: bool,
}

/// The access log.
#[derive(Debug, Args)]
#[command(next_help_heading = "Access log")]
pub(crate) struct LogArguments {
    /// Format of access log lines [default: pretty, or combined with --log-file]
    #[arg(long, value_name = "FORMAT", value_parser = one_of(LOG_FORMATS))]
    pub(crate) log: Option<String>,
    /// File to append the access log to; - for standard output. SIGUSR1 reopens it
    #[arg(long, value_name = "PATH", default_value = "-")]
    pub(crate) log_file: PathBuf,
}

/// The formats of access log lines.
const LOG_FORMATS: Words = &[
    ("pretty", "Short and aligned; with colors on a terminal, unless NO_COLOR is set"),
    ("common", "NCSA common log format"),
    ("combined", "NCSA combined log format: common, with Referer and User-Agent"),
    ("json", "One JSON object per line"),
    ("none", "No access log"),
];

/// Threads and limits.
#[derive(Debug, Args)]
#[command(next_help_heading = "Workers and limits")]
pub(crate) struct WorkArguments {
    /// Worker threads; auto for one per available CPU (affinity and cgroup limits apply)
    #[arg(long, value_name = "N", default_value = "auto")]
    pub(crate) workers: String,
    /// Set a limit listed by `vervet limits`, with an optional unit (k, MiB, ms, s, h); repeatable
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = assignment)]
    pub(crate) limit: Vec<(String, String)>,
    /// How to treat connections above connections_max
    #[arg(long, value_name = "POLICY", default_value = "reject", value_parser = one_of(OVERLOADS))]
    pub(crate) overload: String,
    /// Time for running requests to complete on graceful shutdown [default: 30s]
    #[arg(long, value_name = "TIME")]
    pub(crate) drain_timeout: Option<String>,
    /// What runs the event loops
    #[arg(long, value_name = "CARRIER", default_value = "thread", hide = true, value_parser = carrier())]
    pub(crate) carrier: Carrier,
}

/// How connections above the limit are treated.
const OVERLOADS: Words = &[
    ("reject", "Respond with 503 and Retry-After"),
    ("wait", "Leave them in the accept queue of the kernel"),
];

/// Options of the listening sockets.
#[derive(Debug, Args)]
#[command(next_help_heading = "Socket options")]
pub(crate) struct SocketArguments {
    /// Length of the accept queue (listen backlog)
    #[arg(long, value_name = "N", default_value_t = BACKLOG)]
    pub(crate) backlog: u32,
    /// One socket per worker, balanced by the kernel (SO_REUSEPORT); other processes may join
    #[arg(long)]
    pub(crate) reuse_port: bool,
    /// Accept connections before their first data arrives (no TCP_DEFER_ACCEPT)
    #[arg(long)]
    pub(crate) no_defer_accept: bool,
    /// Queue length of TCP_FASTOPEN, for requests in the SYN packet; 0 disables it
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) fastopen: u32,
    /// TCP congestion control, such as bbr [default: that of the system]
    #[arg(long, value_name = "NAME")]
    pub(crate) congestion: Option<String>,
}

/// Words that the configuration takes as they are, each with its help.
type Words = &'static [(&'static str, &'static str)];

fn one_of(words: Words) -> PossibleValuesParser {
    words.iter().map(|(word, help)| PossibleValue::new(word).help(help)).into()
}

fn carrier() -> impl TypedValueParser<Value = Carrier> {
    PossibleValuesParser::new(["thread", "tokio"]).map(|name| match name.as_str() {
        "tokio" => Carrier::Tokio,
        _ => Carrier::Thread,
    })
}

/// Lets `VERVET_LOG_FILE` set `--log-file`. The help says so once, not at each option.
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
