//! The arguments of `vervet load`. Each option is one field here, with its help, type and default.
//! Short options are those of wrk, ab and curl where they do not clash; docs/load.md has the table.

// These comments are what users read in the help, which knows no Markdown.
#![allow(clippy::doc_markdown)]

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use vervet_load::units;
use vervet_load::{Share, StatusSet};
use vervet_report::Condition;
use vervet_report::forms::{FORMS, Form};
use vervet_server::engine::listener::ListenAddress;
use vervet_watch::Target;

use super::inputs::InputArguments;

const EXAMPLES: &str = "\
Examples:
  vervet load http://127.0.0.1:8080/                  10 connections, 10 seconds
  vervet load http://127.0.0.1:8080/ -c 64 -d 30s --warm-up 5s
  vervet load http://127.0.0.1:8080/ --rate 5k        open load: 5,000 requests/s
  vervet load http://127.0.0.1:8080/ --find-max 'p99<10ms'
  vervet load http://127.0.0.1:8080/ --fail-if 'p99>20ms' --output json=run.json
  vervet load --canned 127.0.0.1:9000                 canned responses: the ceiling

Exit status:
  0 success; 1 a condition of --fail-if is true, more than 1 % of requests failed,
  or none succeeded; 2 usage; 3 the load generator was the bottleneck; 4 the
  target is not reachable; 5 another rule of the audit failed; 130 interrupted.";

/// The arguments of `vervet load`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct LoadArguments {
    /// Target: http://HOST:PORT/PATH, or unix:SOCKET:/PATH
    #[arg(value_name = "URL", required_unless_present_any = ["canned", "agent", "targets", "scenario", "har"])]
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) load: ShapeArguments,
    #[command(flatten)]
    pub(crate) connections: ConnectionArguments,
    #[command(flatten)]
    pub(crate) request: RequestArguments,
    #[command(flatten)]
    pub(crate) inputs: InputArguments,
    #[command(flatten)]
    pub(crate) check: CheckArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    #[command(flatten)]
    pub(crate) roles: RoleArguments,
}

/// The shape of the load.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct ShapeArguments {
    /// Concurrent connections; for open load the maximum [default: 10, for open load 64]
    #[arg(short, long, value_name = "N")]
    pub(crate) connections: Option<u32>,
    /// Duration of the run after warm-up: 10s, 500ms, 2m [default: 10s, unless -n is given]
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    pub(crate) duration: Option<Duration>,
    /// Total number of requests
    #[arg(short = 'n', long, value_name = "N", value_parser = count)]
    pub(crate) requests: Option<u64>,
    /// Open load: constant request rate per second, regardless of responses: 500, 5k, at most 10m
    #[arg(long, value_name = "RATE", value_parser = rate, conflicts_with_all = ["ramp", "steps", "stages"])]
    pub(crate) rate: Option<f64>,
    /// Open load: linear ramp of the rate: 100..5k
    #[arg(long, value_name = "FROM..TO", value_parser = rates, conflicts_with_all = ["steps", "stages"])]
    pub(crate) ramp: Option<(f64, f64)>,
    /// Open load: increase the rate in steps of equal duration: 100..500+100
    #[arg(long, value_name = "FROM..TO+BY", value_parser = steps, conflicts_with = "stages")]
    pub(crate) steps: Option<(f64, f64, f64)>,
    /// Open load: stages from a file, one per line: duration, and rate or FROM..TO
    #[arg(long, value_name = "FILE")]
    pub(crate) stages: Option<PathBuf>,
    /// Arrival process of open load
    #[arg(long, value_name = "KIND", default_value = "even")]
    pub(crate) arrival: ArrivalKind,
    /// Random seed; the same seed gives the same requests and due times
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) seed: u64,
    /// Warm-up before the run, excluded from the results
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = duration)]
    pub(crate) warm_up: Duration,
    /// Share of a distributed run, such as 0/3
    #[arg(long, value_name = "I/N", hide = true, value_parser = part)]
    pub(crate) part: Option<Share>,
    /// Threads that generate load [default: 1, or one per core of --cores]
    #[arg(short, long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// CPU cores to pin the threads to: 1 or 2-5 or 1,3
    #[arg(long, value_name = "LIST", value_parser = cores)]
    pub(crate) cores: Option<Cores>,
}

/// A list of CPU cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cores(pub(crate) Vec<usize>);

/// How connections are opened and reused.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connections")]
#[allow(clippy::struct_excessive_bools)] // each is a switch that is typed and read once
pub(crate) struct ConnectionArguments {
    /// Open a new connection for each request (no keep-alive)
    #[arg(long, conflicts_with = "requests_per_connection")]
    pub(crate) close: bool,
    /// Reuse connections; off is the same as --close
    #[arg(long, value_name = "ON", default_value = "on", overrides_with = "keep")]
    pub(crate) keep_alive: Switch,
    /// Reuse connections (the default), as in ab
    #[arg(short = 'k', hide = true)]
    pub(crate) keep: bool,
    /// Open a new connection after this many requests; typical for browsers: 25
    #[arg(long, value_name = "N")]
    pub(crate) requests_per_connection: Option<u64>,
    /// Pipelined requests per connection
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) pipeline: u32,
    /// Maximum rate of new connections per second
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) connect_rate: Option<f64>,
    /// Connect to this unix socket instead of the host of the URL
    #[arg(long, value_name = "PATH")]
    pub(crate) unix: Option<PathBuf>,
    /// Use IPv4 only
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub(crate) ipv4: bool,
    /// Use IPv6 only
    #[arg(short = '6', long)]
    pub(crate) ipv6: bool,
    /// Local address to connect from; repeatable, used in turn
    #[arg(short = 'B', long, value_name = "IP", value_delimiter = ',')]
    pub(crate) source: Vec<IpAddr>,
    /// Timeout for opening a connection
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    pub(crate) connect_timeout: Duration,
    /// Timeout for a response; checked every 128 ms
    #[arg(short = 's', long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub(crate) timeout: Duration,
}

/// The request.
#[derive(Debug, Args)]
#[command(next_help_heading = "Request")]
pub(crate) struct RequestArguments {
    /// Method [default: GET, or POST with a body]
    #[arg(short = 'X', long, visible_short_alias = 'm', value_name = "METHOD")]
    pub(crate) method: Option<String>,
    /// Send HEAD instead of GET
    #[arg(short = 'i', long, conflicts_with = "method")]
    pub(crate) head: bool,
    /// Header, such as "Accept: text/html"; repeatable. May have variables such as {seq} and
    /// {random}
    #[arg(short = 'H', long = "header", visible_alias = "field", value_name = "FIELD")]
    pub(crate) fields: Vec<String>,
    /// Request body; may have variables
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["data_file", "put"])]
    pub(crate) data: Option<String>,
    /// Request body from a file, without variables
    #[arg(short = 'p', long, value_name = "FILE", conflicts_with = "put")]
    pub(crate) data_file: Option<PathBuf>,
    /// PUT a request body from a file
    #[arg(short = 'u', long, value_name = "FILE")]
    pub(crate) put: Option<PathBuf>,
    /// Content-Type of the body
    #[arg(short = 'T', long, value_name = "TYPE")]
    pub(crate) content_type: Option<String>,
    /// Credentials for HTTP basic authentication
    #[arg(short = 'A', long, value_name = "USER:PASSWORD")]
    pub(crate) basic: Option<String>,
    /// Cookie, as NAME=VALUE; repeatable
    #[arg(short = 'C', long, value_name = "PAIR")]
    pub(crate) cookie: Vec<String>,
}

/// Checks of responses.
#[derive(Debug, Args)]
#[command(next_help_heading = "Checks")]
pub(crate) struct CheckArguments {
    /// Expected status codes: 200, 2xx, 200-299,304
    #[arg(id = "check_status", long = "check-status", value_name = "SET", value_parser = statuses)]
    pub(crate) status: Option<StatusSet>,
    /// Expected body length in bytes
    #[arg(id = "check_length", long = "check-length", value_name = "BYTES")]
    pub(crate) length: Option<u64>,
    /// Expected SHA-256 of the body, as 64 hexadecimal digits
    #[arg(id = "check_hash", long = "check-hash", value_name = "HASH", value_parser = sha256)]
    pub(crate) hash: Option<[u8; 32]>,
    /// Text that the body must contain
    #[arg(id = "check_text", long = "check-text", value_name = "TEXT")]
    pub(crate) text: Option<String>,
}

/// Reports and thresholds.
#[derive(Debug, Args)]
#[command(next_help_heading = "Report")]
pub(crate) struct OutputArguments {
    /// Output format
    #[arg(long, value_name = "FORM", default_value = FORMS[0].name, value_parser = formats())]
    pub(crate) format: &'static Form,
    /// Also write a report to a file, such as json=run.json; repeatable
    #[arg(short = 'o', long, value_name = "FORM=FILE", value_parser = form_and_file)]
    pub(crate) output: Vec<(&'static Form, PathBuf)>,
    /// Interval of the time series
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    pub(crate) interval: Duration,
    /// Exit with status 1 if this is true: 'p99>20ms', 'errors>0.1%', 'rate<5k', or if a rule of
    /// the audit failed: 'audit'; repeatable
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Condition>,
    /// Find the highest rate at which this is true: 'p99<10ms'
    #[arg(long, value_name = "CONDITION", conflicts_with_all = ["ramp", "steps", "stages", "agents"])]
    pub(crate) find_max: Option<Condition>,
    /// Also monitor local processes: a process ID, name, port, systemd unit or cgroup; repeatable
    #[arg(long, value_name = "TARGET", conflicts_with = "find_max")]
    pub(crate) watch: Vec<Target>,
    /// Show no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Other roles of the command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Roles")]
pub(crate) struct RoleArguments {
    /// Serve canned responses on one thread, to measure the upper bound of this machine (ceiling)
    #[arg(long, value_name = "ADDR", conflicts_with_all = ["url", "agent"])]
    pub(crate) canned: Option<ListenAddress>,
    /// Body length of --canned in bytes [default: "Hello, world" and a newline]
    #[arg(long, value_name = "BYTES", requires = "canned", value_parser = size)]
    pub(crate) canned_bytes: Option<usize>,
    /// File with the response body of --canned
    #[arg(long, value_name = "FILE", requires = "canned", conflicts_with = "canned_bytes")]
    pub(crate) canned_file: Option<PathBuf>,
    /// Close each connection of --canned after its response
    #[arg(long, requires = "canned")]
    pub(crate) canned_close: bool,
    /// Status code of --canned
    #[arg(long, value_name = "STATUS", requires = "canned", default_value = "200", value_parser = clap::value_parser!(u16).range(200..=599))]
    pub(crate) canned_status: u16,
    /// Run as an agent that generates load for coordinators. Must not be reachable by untrusted
    /// clients
    #[arg(long, value_name = "ADDR", conflicts_with = "url")]
    pub(crate) agent: Option<String>,
    /// Distribute the load over these agents: HOST:PORT,...
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) agents: Vec<String>,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

/// The arrival process of open load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalKind {
    /// Constant interval
    Even,
    /// Random intervals, as of independent users
    Poisson,
}

fn duration(text: &str) -> Result<Duration, String> {
    units::duration(text)
        .map_err(|reason| format!("{reason}; expected a time such as 10s or 500ms"))
}

fn rate(text: &str) -> Result<f64, String> {
    match units::rate(text)? {
        rate if rate > 0.0 => Ok(rate),
        _ => Err("expected a number above 0, such as 500 or 5k".to_owned()),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number between 1 and 2^53"
)]
fn count(text: &str) -> Result<u64, String> {
    let number = units::number(text).filter(|number| (1.0..9e15).contains(number));
    let whole = number.filter(|number| number.fract() == 0.0);
    let whole =
        whole.ok_or_else(|| "expected a whole number above 0, such as 500 or 5k".to_owned())?;
    Ok(whole as u64)
}

fn rates(text: &str) -> Result<(f64, f64), String> {
    let (from, to) = text.split_once("..").ok_or("expected FROM..TO")?;
    let rate = |text| units::rate(text).map_err(|what| format!("invalid rate `{text}`: {what}"));
    Ok((rate(from)?, rate(to)?))
}

fn steps(text: &str) -> Result<(f64, f64, f64), String> {
    let (range, by) = text.split_once('+').ok_or("expected FROM..TO+BY")?;
    let (from, to) = rates(range)?;
    Ok((from, to, rate(by)?))
}

fn cores(text: &str) -> Result<Cores, String> {
    let wrong = || format!("invalid CPU list `{text}`: expected 1, 2-5 or 1,3");
    let mut cores = Vec::new();
    for part in text.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let from: usize = from.parse().map_err(|_| wrong())?;
        let to: usize = to.parse().map_err(|_| wrong())?;
        if from > to || to - from >= vervet_load::THREADS_MAX {
            return Err(wrong());
        }
        cores.extend(from..=to);
    }
    Ok(Cores(cores))
}

fn part(text: &str) -> Result<Share, String> {
    let numbers =
        text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
    match numbers {
        Some((index, of)) if index < of => Ok(Share { index, of }),
        _ => Err("expected I/N with I below N".to_owned()),
    }
}

fn statuses(text: &str) -> Result<StatusSet, String> {
    StatusSet::parse(text).ok_or_else(|| "expected 200, 2xx, 200-299 or a list of them".to_owned())
}

fn sha256(text: &str) -> Result<[u8; 32], String> {
    let wrong = || "expected 64 hexadecimal digits, as sha256sum prints them".to_owned();
    if text.len() != 64 || !text.is_ascii() {
        return Err(wrong());
    }
    let mut hash = [0; 32];
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(|_| wrong())?;
    }
    Ok(hash)
}

fn size(text: &str) -> Result<usize, String> {
    let bytes = count(text).ok().and_then(|bytes| usize::try_from(bytes).ok());
    let bytes = bytes.filter(|bytes| *bytes <= vervet_load::canned::CONTENT_BYTES_MAX);
    bytes.ok_or_else(|| "expected a number of bytes, at most 1 GiB".to_owned())
}

fn formats() -> impl TypedValueParser<Value = &'static Form> {
    let value = |form: &Form| PossibleValue::new(form.name).help(form.about);
    let values = PossibleValuesParser::new(FORMS.iter().map(value));
    values.try_map(|name| form(&name))
}

fn form(name: &str) -> Result<&'static Form, String> {
    let form = FORMS.iter().find(|form| form.name == name);
    form.ok_or_else(|| {
        let names: Vec<&str> = FORMS.iter().map(|form| form.name).collect();
        format!("unknown format `{name}`: expected {}", names.join(", "))
    })
}

fn form_and_file(text: &str) -> Result<(&'static Form, PathBuf), String> {
    let (name, file) = text.split_once('=').ok_or("expected FORMAT=FILE, such as json=run.json")?;
    if file.is_empty() {
        return Err("the name of the file is missing".to_owned());
    }
    Ok((form(name)?, PathBuf::from(file)))
}
