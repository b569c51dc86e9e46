//! The workloads: what is fetched, how, and the files it is fetched from.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use vervet_lab::adapter::{Connections, Traffic};

use crate::document;

/// What one request of a workload asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fetch {
    /// A file of 13 bytes.
    Tiny,
    /// The same, with `Connection: close`.
    TinyClose,
    /// The same, sixteen requests sent at once.
    TinyPipelined,
    /// A file of 200 KB.
    Large,
    /// 64 KiB at an unaligned offset of a file of 10 MiB.
    Range,
    /// One of 100,000 small files, at random.
    Many,
    /// The file of 13 bytes, by the host and the route of one of many sites.
    Routed,
    /// A page that greets by name.
    Greeting,
}

/// One row of the workload table.
#[derive(Clone, Copy)]
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) fetch: Fetch,
    /// Concurrent connections of the generator.
    pub(crate) connections: u32,
    /// Kept connections that have had one answer each and stay silent during the run.
    pub(crate) idle: u32,
    /// The subjects that are measured; none for those that take part in everything.
    pub(crate) cast: &'static [&'static str],
}

const fn row(name: &'static str, fetch: Fetch, connections: u32) -> Workload {
    Workload {
        name,
        fetch,
        connections,
        idle: 0,
        cast: &[],
    }
}

/// A row beside idle connections.
const fn beside(idle: u32, row: Workload) -> Workload {
    Workload { idle, ..row }
}

/// A row for certain subjects.
const fn of(cast: &'static [&'static str], row: Workload) -> Workload {
    Workload { cast, ..row }
}

const SITES_CAST: &[&str] = &["vervet+run", "vervet+sites"];
const LOG_CAST: &[&str] = &[
    "vervet+run",
    "vervet+combined",
    "vervet+json",
    "vervet+scraped",
];
const PAGE_CAST: &[&str] = &["vervet+run", "bjoern", "canned"];

/// All workloads, in the order of the report.
pub(crate) const WORKLOADS: [Workload; 12] = [
    row("tiny64", Fetch::Tiny, 64),
    row("tiny1000", Fetch::Tiny, 1000),
    beside(8_000, row("idle8000", Fetch::Tiny, 64)),
    row("close64", Fetch::TinyClose, 64),
    row("large100", Fetch::Large, 100),
    row("large1000", Fetch::Large, 1000),
    row("range", Fetch::Range, 64),
    row("many", Fetch::Many, 64),
    row("pipelined", Fetch::TinyPipelined, 64),
    of(SITES_CAST, row("sites64", Fetch::Routed, 64)),
    of(LOG_CAST, row("log64", Fetch::Tiny, 64)),
    of(PAGE_CAST, row("page64", Fetch::Greeting, 64)),
];

/// Content of the tiny file; the canned answer carries the same.
const TINY: &[u8] = b"Hello, world\n";
const LARGE_BYTES: usize = 200_000;
const HUGE_BYTES: usize = 10 * 1024 * 1024;
/// Off every page, block and sector border.
const RANGE: std::ops::Range<usize> = 1_234_567..1_234_567 + 65_536;
/// Files of the `many` tree.
const MANY_FILES: u32 = 100_000;
const MANY_BYTES: std::ops::RangeInclusive<usize> = 100..=4096;
/// The file of the `many` tree that is fetched before a run.
const MANY_PROBE: u32 = 4711;

const MANY_SCRIPT: &str = r#"
local requests = {}
function init()
  math.randomseed(1)
  for i = 0, 99999 do
    local path = string.format("/many/%d/%d/%d.txt", i % 32, math.floor(i / 32) % 32, i)
    requests[i + 1] = wrk.format("GET", path)
  end
end
function request() return requests[math.random(#requests)] end
"#;
const PIPELINED_SCRIPT: &str = r"
local batch
function init() batch = string.rep(wrk.format('GET', '/tiny.txt'), 16) end
function request() return batch end
";

impl Workload {
    /// The workload in words.
    pub(crate) fn title(&self) -> String {
        let fetch = match self.fetch {
            Fetch::Tiny => "13-byte file, keep-alive",
            Fetch::TinyClose => "13-byte file, `Connection: close`",
            Fetch::TinyPipelined => "13-byte file, 16 requests at once",
            Fetch::Large => "200 KB file",
            Fetch::Range => "64 KiB range of a 10 MiB file",
            Fetch::Many => "100,000 small files at random",
            Fetch::Routed => "13-byte file on the eighth route of a site",
            Fetch::Greeting => "greeting page with an argument",
        };
        let beside = match self.idle {
            0 => String::new(),
            idle => format!(" beside {idle} idle ones"),
        };
        format!("{fetch}, {} connections{beside}", self.connections)
    }

    /// How many servers stand at once: idle connections of all of them would be too many descriptors.
    pub(crate) fn at_once(&self) -> usize {
        if self.idle > 0 { 1 } else { usize::MAX }
    }

    /// How long a server is loaded before it is the next one's turn. What the generator needs to make its requests, or to open
    /// its connections, is to be little of it.
    pub(crate) fn window(&self) -> Duration {
        Duration::from_millis(match self.fetch {
            Fetch::Many => 1500,
            _ if self.connections >= 1000 => 1000,
            _ => 500,
        })
    }

    /// Runs without being named by `--only`.
    pub(crate) fn by_default(&self) -> bool {
        self.fetch != Fetch::TinyPipelined
    }

    /// The path fetched before each run, and by most workloads during it.
    pub(crate) fn path(&self) -> String {
        match self.fetch {
            Fetch::Tiny | Fetch::TinyClose | Fetch::TinyPipelined => "/tiny.txt".to_owned(),
            Fetch::Large => "/large.bin".to_owned(),
            Fetch::Range => "/huge.bin".to_owned(),
            Fetch::Many => many_path(MANY_PROBE),
            Fetch::Routed => format!("/r{}/tiny.txt", document::ROUTE),
            Fetch::Greeting => "/hello?name=world".to_owned(),
        }
    }

    /// The host that is asked; none for the address itself.
    pub(crate) fn host(&self) -> Option<String> {
        (self.fetch == Fetch::Routed).then(|| document::host(document::SITE))
    }

    /// The field line that makes the request what it is.
    pub(crate) fn field(&self) -> Option<String> {
        match self.fetch {
            Fetch::Range => Some(format!("Range: bytes={}-{}", RANGE.start, RANGE.end - 1)),
            Fetch::TinyClose => Some("Connection: close".to_owned()),
            _ => None,
        }
    }

    /// Status and content of the right answer for `path()`.
    pub(crate) fn expected(&self, site: &Path) -> Result<(u16, Vec<u8>)> {
        let path = self.path();
        let file = match self.fetch {
            // A greeting of the world is what the canned server says.
            Fetch::Routed | Fetch::Greeting => "tiny.txt",
            _ => &path[1..],
        };
        let content =
            fs::read(site.join(file)).with_context(|| format!("cannot read {file} of the site"))?;
        Ok(match self.fetch {
            Fetch::Range => (206, content[RANGE].to_vec()),
            _ => (200, content),
        })
    }

    /// The generator's arguments; scripts stand in `work`.
    pub(crate) fn generator(&self, work: &Path, port: u16) -> Vec<String> {
        let mut arguments = vec![format!("-c{}", self.connections)];
        if let Some(field) = self.field() {
            arguments.extend(["-H".to_owned(), field]);
        }
        if let Some(host) = self.host() {
            arguments.extend(["-H".to_owned(), format!("Host: {host}")]);
        }
        let script = match self.fetch {
            Fetch::Many => Some("many.lua"),
            Fetch::TinyPipelined => Some("pipelined.lua"),
            _ => None,
        };
        if let Some(script) = script {
            arguments.extend(["-s".to_owned(), work.join(script).display().to_string()]);
        }
        arguments.push(format!("http://127.0.0.1:{port}{}", self.path()));
        arguments
    }

    /// Answers are so big that sendfile(2) costs less than copying.
    pub(crate) fn is_big(&self) -> bool {
        self.traffic().is_large()
    }

    /// What servers are set up for.
    pub(crate) fn traffic(&self) -> Traffic {
        let (content_bytes_max, files) = match self.fetch {
            Fetch::Tiny
            | Fetch::TinyClose
            | Fetch::TinyPipelined
            | Fetch::Routed
            | Fetch::Greeting => (TINY.len(), 1),
            Fetch::Large => (LARGE_BYTES, 1),
            Fetch::Range => (RANGE.end - RANGE.start, 1),
            Fetch::Many => (*MANY_BYTES.end(), MANY_FILES),
        };
        Traffic {
            content_bytes_max: content_bytes_max as u64,
            files: u64::from(files),
            connections: if self.closes() {
                Connections::Closed
            } else {
                Connections::Kept
            },
            connections_max: u64::from(self.connections) + u64::from(self.idle),
        }
    }

    /// All answers are the same 13 bytes.
    pub(crate) fn is_tiny(&self) -> bool {
        matches!(
            self.fetch,
            Fetch::Tiny | Fetch::TinyClose | Fetch::TinyPipelined | Fetch::Greeting
        )
    }

    /// Each answer ends its connection.
    pub(crate) fn closes(&self) -> bool {
        self.fetch == Fetch::TinyClose
    }
}

/// Writes the files that `workloads` fetch into `work/site`, and the generator's scripts into `work`.
pub(crate) fn create_site(work: &Path, workloads: &[&Workload]) -> Result<()> {
    let site = work.join("site");
    fs::create_dir_all(&site)?;
    let mut random = fastrand::Rng::with_seed(1);
    fs::write(site.join("tiny.txt"), TINY)?;
    fs::write(site.join("large.bin"), bytes(&mut random, LARGE_BYTES))?;
    fs::write(site.join("huge.bin"), bytes(&mut random, HUGE_BYTES))?;
    document::write_pages(work)?;
    fs::write(work.join("many.lua"), MANY_SCRIPT)?;
    fs::write(work.join("pipelined.lua"), PIPELINED_SCRIPT)?;
    if workloads
        .iter()
        .any(|workload| workload.fetch == Fetch::Many)
    {
        create_many(&site, &mut random)?;
    }
    Ok(())
}

fn create_many(site: &Path, random: &mut fastrand::Rng) -> Result<()> {
    for folder in 0..1024 {
        fs::create_dir_all(site.join(format!("many/{}/{}", folder % 32, folder / 32)))?;
    }
    for file in 0..MANY_FILES {
        let length = random.usize(MANY_BYTES);
        fs::write(site.join(&many_path(file)[1..]), bytes(random, length))?;
    }
    Ok(())
}

fn many_path(file: u32) -> String {
    format!("/many/{}/{}/{file}.txt", file % 32, file / 32 % 32)
}

fn bytes(random: &mut fastrand::Rng, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    random.fill(&mut bytes);
    bytes
}
