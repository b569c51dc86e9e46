//! The requests of a run: one request, a list, a scenario, a recording or a log, from arguments and
//! files.

// These comments are what users read in the help, which knows no Markdown.
#![allow(clippy::doc_markdown)]

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use vervet_load::Share;
use vervet_load::feed::{Cursor, FEED_BYTES_MAX, Feed, Order};
use vervet_load::har::{Converted, HAR_BYTES_MAX, Hosts, convert};
use vervet_load::replay::{LINE_BYTES_MAX, Log, Methods, Replay};
use vervet_load::request::{
    Common, Content, Credentials, Draft, DraftPart, Requests, Url, Weighted, split_field,
};
use vervet_load::scenario::{DOCUMENT_BYTES_MAX, Inputs, Scenario};
use vervet_load::script::Scripts;
use vervet_load::targets::{self, TARGETS_BYTES_MAX};
use vervet_load::template::{Names, Shared};

use super::arguments::{LoadArguments, RequestArguments};
use super::outcome::Refused;
use crate::console;

/// The largest file of content that is sent.
const CONTENT_BYTES_MAX: usize = 1 << 30;

/// Requests from files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Requests from files")]
pub(crate) struct InputArguments {
    /// File of requests, one per line: METHOD and URL, or a path if URL is given
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scenario", "har", "replay", "method", "head", "data", "data_file", "put"])]
    pub(crate) targets: Option<PathBuf>,
    /// Scenario file (TOML): what several kinds of users do, step by step
    #[arg(long, value_name = "FILE", conflicts_with_all = ["har", "replay", "method", "head", "data", "data_file", "put"])]
    pub(crate) scenario: Option<PathBuf>,
    /// Browser recording (HAR 1.2), converted to a scenario
    #[arg(long, value_name = "FILE", conflicts_with_all = ["replay", "method", "head", "data", "data_file", "put"])]
    pub(crate) har: Option<PathBuf>,
    /// Print the scenario that --har is converted to, for use with --scenario
    #[arg(long, requires = "har")]
    pub(crate) print_scenario: bool,
    /// Fail if the recording has several hosts, instead of keeping only requests to the first
    #[arg(long, alias = "all-hosts", requires = "har")]
    pub(crate) single_host: bool,
    /// Replay an access log (common, combined or JSON format) with its original timing
    #[arg(
        long,
        value_name = "FILE",
        requires = "url",
        conflicts_with_all = ["rate", "ramp", "steps", "stages", "find_max", "method", "head", "data", "data_file", "put"]
    )]
    pub(crate) replay: Option<PathBuf>,
    /// Speed of the replay: 2x, 0.5x
    #[arg(long, value_name = "SPEED", requires = "replay", default_value = "1x", value_parser = speed)]
    pub(crate) replay_speed: f64,
    /// Also replay unsafe methods such as POST; their bodies are empty, since logs have none
    #[arg(long, requires = "replay")]
    pub(crate) replay_all_methods: bool,
    /// CSV file with values for variables: {name} is the column of that name
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(crate) feed: Option<PathBuf>,
    /// Order of the rows: sequential, random, or once, after which users stop
    #[arg(long, value_name = "ORDER", requires = "feed", default_value = "sequential", value_parser = order)]
    pub(crate) feed_order: Order,
}

/// The requests of a run, and settings that follow from them.
pub(crate) struct Input {
    /// The server.
    pub(crate) url: Url,
    /// What it is called.
    pub(crate) name: String,
    pub(crate) scripts: Arc<dyn Scripts>,
    /// How many requests there are, where that is known: the requests of a log.
    pub(crate) requests: Option<u64>,
}

/// Reads the requests of a run.
pub(crate) fn input(
    arguments: &LoadArguments,
    fields: Vec<(String, String)>,
) -> Result<Input, Refused> {
    let inputs = &arguments.inputs;
    let url = arguments.url.as_deref().map(Url::parse).transpose();
    let url = url.map_err(Refused::usage)?;
    let fields = common_fields(&arguments.request, fields)?;
    let pair = arguments.request.basic.as_ref();
    let credentials = pair.map(|pair| Credentials::new(pair.as_bytes()));
    let feed = read_feed(inputs)?;
    let columns = feed.as_ref().map_or(Vec::new(), |feed| feed.feed().columns().to_vec());
    let common = Common {
        base: url.as_ref(),
        fields: &fields,
        credentials: credentials.as_ref(),
        columns: &columns,
        ..Common::default()
    };
    let reading = Reading { arguments, common, feed };
    match (&inputs.scenario, &inputs.har, &inputs.replay, &inputs.targets) {
        (Some(file), ..) => reading.scenario(file),
        (_, Some(file), ..) => reading.har(file),
        (_, _, Some(file), _) => reading.replay(file),
        (.., Some(file)) => reading.targets(file),
        _ => reading.one(),
    }
}

/// Converts a recording to a scenario; prints notes on skipped entries.
pub(crate) fn document(inputs: &InputArguments, file: &Path) -> Result<String, Refused> {
    let bytes = read_bytes(file, HAR_BYTES_MAX)?;
    let hosts = if inputs.single_host { Hosts::All } else { Hosts::First };
    let converted = convert(&file.display().to_string(), &bytes, hosts);
    let Converted { document, notes } = converted.map_err(|found| Refused::findings(&found))?;
    for note in notes {
        console::message(format_args!("note: {}: {note}", file.display()));
    }
    Ok(document)
}

/// What all ways of asking need.
struct Reading<'a> {
    arguments: &'a LoadArguments,
    common: Common<'a>,
    feed: Option<Cursor>,
}

impl Reading<'_> {
    fn scenario(self, file: &Path) -> Result<Input, Refused> {
        let text = read_bytes(file, DOCUMENT_BYTES_MAX)?;
        self.walk(file, text)
    }

    fn har(self, file: &Path) -> Result<Input, Refused> {
        let text = document(&self.arguments.inputs, file)?;
        self.walk(file, text.into_bytes())
    }

    fn walk(self, file: &Path, text: Vec<u8>) -> Result<Input, Refused> {
        let name = file.display().to_string();
        let share = self.share();
        let inputs = Inputs {
            common: self.common,
            feed: self.feed,
            seed: self.arguments.load.seed,
            share,
            read: &mut |name| read_beside(file, name),
        };
        let mut reading = Scenario::read(&name, text, inputs);
        let scenario = reading.value.take();
        let scenario = scenario.ok_or_else(|| Refused::document(&reading))?;
        Ok(Input {
            url: scenario.base().clone(),
            name,
            scripts: Arc::new(scenario),
            requests: None,
        })
    }

    fn replay(self, file: &Path) -> Result<Input, Refused> {
        let url = self.url()?;
        let share = self.share();
        let inputs = &self.arguments.inputs;
        let methods = if inputs.replay_all_methods { Methods::All } else { Methods::Safe };
        let mut log = Log::new(url.clone(), self.common, methods);
        read_lines(file, |line| log.line(line)).map_err(Refused::file(file))?;
        let tally = log.tally();
        let name = file.display().to_string();
        if tally.taken == 0 {
            return Err(Refused::usage(format!("{name}: nothing to replay: {tally}")));
        }
        let replay = Replay::new(log, inputs.replay_speed, share);
        console::message(format_args!(
            "note: {name}: {tally}, over {:.1} s",
            replay.length().as_secs_f64()
        ));
        Ok(Input { url, name, scripts: Arc::new(replay), requests: Some(tally.taken as u64) })
    }

    fn targets(self, file: &Path) -> Result<Input, Refused> {
        let text = read_text(file, TARGETS_BYTES_MAX)?;
        let name = file.display().to_string();
        let mut read = |name: &str| read_beside(file, name);
        let list = targets::parse(&name, &text, &self.common, &mut read);
        let (url, list) = list.map_err(|found| Refused::findings(&found))?;
        Ok(self.list(url, name, list))
    }

    fn one(self) -> Result<Input, Refused> {
        let url = self.url()?;
        let draft = draft(&self.arguments.request, &url, &self.common)?;
        let name = format!("{} {}", draft.method(), draft.target);
        let names = Names { columns: self.common.columns, captures: &[] };
        let message = draft.compile(&names).map_err(|faults| {
            let texts = faults.iter().map(|fault| match fault.part {
                DraftPart::Field(at) => format!("field {}: {}", draft.fields[at].0, fault.message),
                _ => fault.message.clone(),
            });
            Refused::usage(texts.collect::<Vec<_>>().join("\n"))
        })?;
        let only = Weighted { name, weight: 1, message };
        let name = self.arguments.url.clone().unwrap_or_default();
        Ok(self.list(url, name, vec![only]))
    }

    fn list(self, url: Url, name: String, list: Vec<Weighted>) -> Input {
        let has_feed = self.feed.is_some();
        let share = self.share();
        let shared = Shared::new(self.feed, self.arguments.load.seed, share);
        let requests = Requests::new(list, Arc::new(shared));
        if has_feed && !requests.uses_feed() {
            console::message(format_args!("note: no request uses a column of the feed"));
        }
        Input { url, name, scripts: Arc::new(requests), requests: None }
    }

    /// What of the run this machine does: numbers, rows, visits and the requests of a log are
    /// divided like the rest.
    fn share(&self) -> Share {
        self.arguments.load.part.unwrap_or_default()
    }

    fn url(&self) -> Result<Url, Refused> {
        let url = self.common.base.cloned();
        url.ok_or_else(|| Refused::usage("the URL is missing: add http://HOST:PORT/PATH"))
    }
}

/// The headers of all requests: those of `-H` and those of other options.
fn common_fields(
    request: &RequestArguments,
    mut fields: Vec<(String, String)>,
) -> Result<Vec<(String, String)>, Refused> {
    for text in &request.fields {
        fields.push(split_field(text).map_err(Refused::usage)?);
    }
    if let Some(kind) = &request.content_type {
        fields.push(("Content-Type".to_owned(), kind.clone()));
    }
    if !request.cookie.is_empty() {
        fields.push(("Cookie".to_owned(), request.cookie.join("; ")));
    }
    Ok(fields)
}

fn draft(request: &RequestArguments, url: &Url, common: &Common<'_>) -> Result<Draft, Refused> {
    let mut draft = Draft::get(url);
    common.apply(&mut draft);
    let file = request.data_file.as_ref().or(request.put.as_ref());
    draft.content = match (&request.data, file) {
        (Some(text), _) => Content::Text(text.clone()),
        (None, Some(file)) => Content::Bytes(read_bytes(file, CONTENT_BYTES_MAX)?),
        (None, None) => Content::None,
    };
    draft.method = match (&request.method, request.head, &request.put) {
        (Some(method), ..) => method.clone(),
        (None, true, _) => "HEAD".to_owned(),
        (None, false, Some(_)) => "PUT".to_owned(),
        (None, false, None) => String::new(),
    };
    Ok(draft)
}

fn read_feed(inputs: &InputArguments) -> Result<Option<Cursor>, Refused> {
    let Some(file) = &inputs.feed else {
        return Ok(None);
    };
    let bytes = read_bytes(file, FEED_BYTES_MAX)?;
    let feed = Feed::parse(&file.display().to_string(), &bytes);
    let feed = feed.map_err(|found| Refused::findings(&found))?;
    Ok(Some(Cursor::new(Arc::new(feed), inputs.feed_order)))
}

/// Reads a file as text, up to a maximum size.
pub(crate) fn read_text(file: &Path, most: usize) -> Result<String, Refused> {
    let bytes = read_bytes(file, most)?;
    String::from_utf8(bytes)
        .map_err(|_| Refused::usage(format!("{}: not valid UTF-8", file.display())))
}

fn read_bytes(file: &Path, most: usize) -> Result<Vec<u8>, Refused> {
    read_most(file, most).map_err(Refused::file(file))
}

/// Reads a file, up to a maximum size.
fn read_most(file: &Path, most: usize) -> io::Result<Vec<u8>> {
    let file = File::open(file)?;
    let too_many = || io::Error::other(format!("more than {most} bytes"));
    // A pipe has no length, and a file may grow: what is read is counted, too.
    let known = file.metadata()?.len();
    if known > most as u64 {
        return Err(too_many());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(known).unwrap_or(0));
    file.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        return Err(too_many());
    }
    Ok(bytes)
}

/// A file that another names: from where that lies.
fn read_beside(file: &Path, name: &str) -> Result<Vec<u8>, String> {
    let folder = file.parent().unwrap_or(Path::new(""));
    read_most(&folder.join(name), CONTENT_BYTES_MAX).map_err(|error| error.to_string())
}

/// Hands on each line. Of one that is too long only so much is kept that it is seen to be.
fn read_lines(file: &Path, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let mut reader = BufReader::new(File::open(file)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        let most = LINE_BYTES_MAX as u64 + 2;
        if reader.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if !line.ends_with(b"\n") && line.len() > LINE_BYTES_MAX {
            reader.skip_until(b'\n')?;
        }
        take(&line);
    }
}

fn speed(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('x').unwrap_or(text).parse::<f64>().ok();
    let range = Replay::SPEEDS;
    number.filter(|speed| range.contains(speed)).ok_or_else(|| {
        format!("expected a factor such as 2x or 0.5x, from {} to {}", range.start(), range.end())
    })
}

fn order(text: &str) -> Result<Order, String> {
    text.parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest file is read as a whole, and one byte more is refused without being read.
    #[test]
    fn content_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("content");
        let file = File::create(&path).unwrap();
        let check = |bytes: usize, expected: Result<usize, &str>| {
            file.set_len(bytes as u64).unwrap();
            let read = read_most(&path, CONTENT_BYTES_MAX);
            let read = read.map(|bytes| bytes.len()).map_err(|error| error.to_string());
            assert_eq!(read, expected.map_err(str::to_owned));
        };
        check(CONTENT_BYTES_MAX, Ok(1 << 30));
        let refused = "more than 1073741824 bytes";
        check(CONTENT_BYTES_MAX + 1, Err(refused));
    }

    /// What says no length is counted while it is read.
    #[test]
    fn a_pipe_has_the_same_limit() {
        use std::os::fd::AsRawFd as _;
        let check = |bytes: &[u8], expected: Option<usize>| {
            let (reader, mut writer) = io::pipe().unwrap();
            io::Write::write_all(&mut writer, bytes).unwrap();
            drop(writer);
            let path = format!("/proc/self/fd/{}", reader.as_raw_fd());
            let read = read_most(Path::new(&path), 4);
            assert_eq!(read.ok().map(|bytes| bytes.len()), expected);
        };
        check(b"1234", Some(4));
        check(b"12345", None);
    }
}
