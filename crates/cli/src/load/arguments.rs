//! What can be typed after `vervet load`. Each option is one field here, with its help, type and default. Short names are those
//! of wrk, ab and curl where they do not clash; docs/load.md has the whole table.

// These comments are what users read in the help, which knows no Markdown.
#![allow(clippy::doc_markdown)]

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use vervet_load::units;
use vervet_load::{Share, StatusSet};
use vervet_report::Condition;
use vervet_server::engine::listener::ListenAddress;
use vervet_watch::Target;

use super::inputs::InputArguments;

const EXAMPLES: &str = "\
Examples:
  vervet load http://127.0.0.1:8080/                  10 connections, 10 seconds
  vervet load http://127.0.0.1:8080/ -c 64 -d 30s --warm-up 5s
  vervet load http://127.0.0.1:8080/ --rate 5k        open load: 5,000 a second
  vervet load http://127.0.0.1:8080/ --find-max 'p99<10ms'
  vervet load http://127.0.0.1:8080/ --fail-if 'p99>20ms' --output json=run.json
  vervet load --canned 127.0.0.1:9000                 the machine's ceiling to load

Exit status:
  0 as asked; 1 a condition of --fail-if holds, or more than 1 % of requests
  failed; 2 usage; 3 the generator was the limit; 4 the target could not be
  asked; 130 interrupted.";

/// What is asked, how often, and what must come back.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct LoadArguments {
    /// What to load: http://HOST:PORT/PATH, or unix:SOCKET:/PATH
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

/// How much, how long, and when.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct ShapeArguments {
    /// Connections at once: users in closed load, the most in use in open load [default: 10, in open load 64]
    #[arg(short, long, value_name = "N")]
    pub(crate) connections: Option<u32>,
    /// Length of the run without its warm-up: 10s, 500ms, 2m [default: 10s, unless -n is given]
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    pub(crate) duration: Option<Duration>,
    /// Requests of the run
    #[arg(short = 'n', long, value_name = "N", value_parser = count)]
    pub(crate) requests: Option<u64>,
    /// Open load: requests per second, whatever the target does. 500, 5k
    #[arg(long, value_name = "RATE", value_parser = rate, conflicts_with_all = ["ramp", "steps", "stages"])]
    pub(crate) rate: Option<f64>,
    /// Open load whose rate goes from one to another in a straight line: 100..5k
    #[arg(long, value_name = "FROM..TO", value_parser = rates, conflicts_with_all = ["steps", "stages"])]
    pub(crate) ramp: Option<(f64, f64)>,
    /// Open load in steps of equal length: 100..500+100
    #[arg(long, value_name = "FROM..TO+BY", value_parser = steps, conflicts_with = "stages")]
    pub(crate) steps: Option<(f64, f64, f64)>,
    /// Open load by a file: one stage a line, how long and the rate or FROM..TO
    #[arg(long, value_name = "FILE")]
    pub(crate) stages: Option<PathBuf>,
    /// How requests of open load lie in time
    #[arg(long, value_name = "KIND", default_value = "even")]
    pub(crate) arrival: ArrivalKind,
    /// Where chance begins: the same seed makes the same run
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) seed: u64,
    /// Time before the run whose requests are made and not counted
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = duration)]
    pub(crate) warm_up: Duration,
    /// Which part of a run this is, as in 0/3: what a coordinator gives its agents
    #[arg(long, value_name = "I/N", hide = true, value_parser = part)]
    pub(crate) part: Option<Share>,
    /// Threads that make the load [default: one, or one for each of --cores]
    #[arg(short, long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Processors that they are bound to: 1 or 2-5 or 1,3
    #[arg(long, value_name = "LIST", value_parser = cores)]
    pub(crate) cores: Option<Cores>,
}

/// A list of processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cores(pub(crate) Vec<usize>);

/// How connections are made and used.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connections")]
#[allow(clippy::struct_excessive_bools)] // each is a switch that is typed and read once
pub(crate) struct ConnectionArguments {
    /// A new connection for each request
    #[arg(long, conflicts_with = "requests_per_connection")]
    pub(crate) close: bool,
    /// on, or off for --close
    #[arg(long, value_name = "ON", default_value = "on", overrides_with = "keep")]
    pub(crate) keep_alive: Switch,
    /// Keep connections, as is the default: for those used to ab
    #[arg(short = 'k', hide = true)]
    pub(crate) keep: bool,
    /// A new connection after so many requests; browsers come to about 25
    #[arg(long, value_name = "N")]
    pub(crate) requests_per_connection: Option<u64>,
    /// Requests that wait for their answers on one connection
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) pipeline: u32,
    /// Connections begun per second at most
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) connect_rate: Option<f64>,
    /// Connect to this unix socket, whatever the URL says
    #[arg(long, value_name = "PATH")]
    pub(crate) unix: Option<PathBuf>,
    /// IPv4 only
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub(crate) ipv4: bool,
    /// IPv6 only
    #[arg(short = '6', long)]
    pub(crate) ipv6: bool,
    /// Address of this machine to connect from; repeatable, taken in turn
    #[arg(short = 'B', long, value_name = "IP", value_delimiter = ',')]
    pub(crate) source: Vec<IpAddr>,
    /// How long a connection may take
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    pub(crate) connect_timeout: Duration,
    /// How long an answer may take; looked at every 128 ms
    #[arg(short = 's', long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub(crate) timeout: Duration,
}

/// What is sent.
#[derive(Debug, Args)]
#[command(next_help_heading = "Request")]
pub(crate) struct RequestArguments {
    /// The method [default: GET, or POST with content]
    #[arg(short = 'X', long, visible_short_alias = 'm', value_name = "METHOD")]
    pub(crate) method: Option<String>,
    /// HEAD instead of GET
    #[arg(short = 'i', long, conflicts_with = "method")]
    pub(crate) head: bool,
    /// A field, as in "Accept: text/html"; repeatable. Variables as in {seq} and {random}
    #[arg(
        short = 'H',
        long = "header",
        visible_alias = "field",
        value_name = "FIELD"
    )]
    pub(crate) fields: Vec<String>,
    /// Content, with variables
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["data_file", "put"])]
    pub(crate) data: Option<String>,
    /// Content from a file, as it is
    #[arg(short = 'p', long, value_name = "FILE", conflicts_with = "put")]
    pub(crate) data_file: Option<PathBuf>,
    /// The same, with PUT
    #[arg(short = 'u', long, value_name = "FILE")]
    pub(crate) put: Option<PathBuf>,
    /// Content-Type
    #[arg(short = 'T', long, value_name = "TYPE")]
    pub(crate) content_type: Option<String>,
    /// USER:PASSWORD for basic authentication
    #[arg(short = 'A', long, value_name = "USER:PASSWORD")]
    pub(crate) basic: Option<String>,
    /// NAME=VALUE for Cookie; repeatable
    #[arg(short = 'C', long, value_name = "PAIR")]
    pub(crate) cookie: Vec<String>,
}

/// What answers must be.
#[derive(Debug, Args)]
#[command(next_help_heading = "Checks")]
pub(crate) struct CheckArguments {
    /// Statuses that are right: 200, 2xx, 200-299,304
    #[arg(id = "check_status", long = "check-status", value_name = "SET", value_parser = statuses)]
    pub(crate) status: Option<StatusSet>,
    /// Bytes of content
    #[arg(id = "check_length", long = "check-length", value_name = "BYTES")]
    pub(crate) length: Option<u64>,
    /// SHA-256 of the content, 64 hexadecimal digits
    #[arg(id = "check_hash", long = "check-hash", value_name = "HASH", value_parser = sha256)]
    pub(crate) hash: Option<[u8; 32]>,
    /// Text that the content has
    #[arg(id = "check_text", long = "check-text", value_name = "TEXT")]
    pub(crate) text: Option<String>,
}

/// What is told, and where.
#[derive(Debug, Args)]
#[command(next_help_heading = "Report")]
pub(crate) struct OutputArguments {
    /// Form of what is printed
    #[arg(long, value_name = "FORM", default_value = "text")]
    pub(crate) format: Form,
    /// Write another form to a file; repeatable
    #[arg(short = 'o', long, value_name = "FORM=FILE", value_parser = form_and_file)]
    pub(crate) output: Vec<(Form, PathBuf)>,
    /// Distance of the points of the series
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    pub(crate) interval: Duration,
    /// Fail when this holds: 'p99>20ms', 'errors>0.1%', 'rate<5k'; repeatable
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Condition>,
    /// Search the highest rate at which this holds: 'p99<10ms'
    #[arg(long, value_name = "CONDITION", conflicts_with_all = ["ramp", "steps", "stages", "agents"])]
    pub(crate) find_max: Option<Condition>,
    /// Watch these processes of this machine beside: a process number, name, port, unit or cgroup; repeatable
    #[arg(long, value_name = "TARGET", conflicts_with = "find_max")]
    pub(crate) watch: Vec<Target>,
    /// Say nothing while it runs
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// What else the command can be.
#[derive(Debug, Args)]
#[command(next_help_heading = "Roles")]
pub(crate) struct RoleArguments {
    /// Answer every request by the same bytes, on one thread, until interrupted: the ceiling of this machine
    #[arg(long, value_name = "ADDR", conflicts_with_all = ["url", "agent"])]
    pub(crate) canned: Option<ListenAddress>,
    /// Bytes of content of --canned [default: "Hello, world" and a line end]
    #[arg(long, value_name = "BYTES", requires = "canned", value_parser = size)]
    pub(crate) canned_bytes: Option<usize>,
    /// Status of --canned
    #[arg(long, value_name = "STATUS", requires = "canned", default_value = "200", value_parser = clap::value_parser!(u16).range(200..=599))]
    pub(crate) canned_status: u16,
    /// Make load for others: wait at this address for plans, one after another. To be kept from strangers
    #[arg(long, value_name = "ADDR", conflicts_with = "url")]
    pub(crate) agent: Option<String>,
    /// Have these agents make the load, each its share: HOST:PORT,...
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) agents: Vec<String>,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

/// How requests of open load lie in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalKind {
    /// At equal distances
    Even,
    /// By chance, as independent visitors come
    Poisson,
}

/// The forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people
    Text,
    /// Everything, as one document with a schema
    Json,
    /// The series, one interval a line
    Csv,
    /// Each interval when it is over, then the run
    Ndjson,
    /// Percentiles of response times, as HdrHistogram plots them
    Hgrm,
    /// One page, without network
    Html,
    /// OpenMetrics, for the textfile collector of node_exporter
    Openmetrics,
}

fn duration(text: &str) -> Result<Duration, String> {
    units::duration(text)
        .map_err(|reason| format!("{reason}; expected a time such as 10s or 500ms"))
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = units::number(text).filter(|rate| *rate > 0.0);
    rate.ok_or_else(|| "expected a number above 0, such as 500 or 5k".to_owned())
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
    let rate = |text| {
        units::number(text)
            .ok_or_else(|| format!("invalid rate `{text}`: expected a number such as 500 or 5k"))
    };
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
    let numbers = text
        .split_once('/')
        .and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
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
    let bytes = count(text)
        .ok()
        .and_then(|bytes| usize::try_from(bytes).ok());
    let bytes = bytes.filter(|bytes| *bytes <= vervet_load::canned::CONTENT_BYTES_MAX);
    bytes.ok_or_else(|| "expected a number of bytes, at most 1 GiB".to_owned())
}

fn form_and_file(text: &str) -> Result<(Form, PathBuf), String> {
    let (form, file) = text
        .split_once('=')
        .ok_or("expected FORMAT=FILE, such as json=run.json")?;
    let form = Form::from_str(form, true)?;
    if file.is_empty() {
        return Err("the name of the file is missing".to_owned());
    }
    Ok((form, PathBuf::from(file)))
}
