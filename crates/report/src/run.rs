//! The record of one run.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit::{Finding, Verdict};
use crate::condition::ConditionOutcome;
use crate::errors::Errors;
use crate::histogram::Histogram;
use crate::interval::Interval;
use crate::interval::StepFigures;
use crate::machine::Watched;
use crate::machine::{Generator, KernelCounters};
use crate::plan::Asked;
use crate::search::Search;
use crate::slowest::Slowest;

/// The version of [`Run`] as a document. A field that is added does not raise it; one that changes
/// its meaning or goes does.
pub const VERSION: u32 = 1;

/// What one load run was asked, what it achieved, and whether it may be believed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "A load run")]
pub struct Run {
    /// The version of this form of document: [`VERSION`].
    #[schemars(range(min = 1))]
    pub version: u32,
    /// The program that made it, with its version.
    pub tool: String,
    /// When the window began, in milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// How many machines or processes made the load together.
    pub agents: u64,
    /// The load that was asked for.
    pub asked: Asked,
    /// What was achieved within the window.
    pub achieved: Achieved,
    /// How long things took, of the requests that were answered as asked.
    pub timings: Timings,
    /// Requests that failed, by class.
    pub errors: Errors,
    /// Answers by status, failed ones too.
    pub statuses: BTreeMap<u16, u64>,
    /// Requests whose answer had not come when the run ended.
    pub censored: Censored,
    /// The run piece by piece, in order of time.
    pub intervals: Vec<Interval>,
    /// Figures by step of a scenario, in its order; empty where there is one request only.
    pub steps: Vec<StepFigures>,
    /// What the audit found.
    pub findings: Vec<Finding>,
    /// What became of the conditions that were asked for. Merging forgets them: they are asked of
    /// the whole run.
    #[serde(default)]
    pub conditions: Vec<ConditionOutcome>,
    /// The search that this run is the best try of; null where there was none. Merging forgets it,
    /// as agents make no search.
    #[serde(default)]
    pub search: Option<Search>,
    /// What the generator itself used.
    pub generator: Generator,
    /// What the kernel counted.
    pub kernel: KernelCounters,
    /// The server's processes, where they were watched.
    pub watched: Vec<Watched>,
    /// The slowest requests, slowest first.
    pub slowest: Slowest,
    /// What is known of the machine and its settings, by name: kernel, processor, congestion
    /// control.
    pub environment: BTreeMap<String, BTreeSet<String>>,
}

/// What was achieved within the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "AchievedRecord")]
pub struct Achieved {
    /// How long the window was, in microseconds: the run without its warm-up.
    pub window_us: u64,
    /// How the run came to its end.
    pub ended: Ended,
    /// Requests that were due within the window; none in closed load.
    pub asked: Option<u64>,
    /// Requests that were answered as asked within the window.
    pub done: u64,
    /// Bytes received, heads and all, of failed requests too.
    pub bytes_received: u64,
    /// The number of bytes sent.
    pub bytes_sent: u64,
    /// Bytes of content of the answers that were as asked.
    pub content_bytes: u64,
    /// Connections opened, those of the warm-up not counted.
    pub connections_opened: u64,
}

/// How a run came to its end.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Its time was up, or its requests were made.
    #[default]
    AsAsked,
    /// The scripts had nothing more to do.
    Exhausted,
    /// It was stopped from outside.
    Interrupted,
    /// The target could not be asked at all.
    TargetFailed,
}

/// How long things took. Failed requests are in none of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timings {
    /// From asking for a connection to having it, of each connection.
    pub connect: Histogram,
    /// From the sent time to the first byte of the answer.
    pub first_byte: Histogram,
    /// From the due time to the end of the answer: what a user would have waited. In closed load a
    /// request is due when the answer before it has come.
    pub response: Histogram,
    /// From the sent time to the end of the answer: what the target took once it was asked.
    pub service: Histogram,
}

/// Requests whose answer had not come when the run ended. They are neither done nor failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Censored {
    /// The number of these requests.
    pub count: u64,
    /// How long the oldest of them had been due, in nanoseconds.
    pub longest_ns: u64,
}

/// [`Achieved`] in a document, with the figures that follow from it and are not read back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AchievedRecord {
    /// How long the window was, in microseconds: the run without its warm-up.
    pub window_us: u64,
    /// How the run came to its end.
    pub ended: Ended,
    /// Requests that were due within the window; null in closed load.
    pub asked: Option<u64>,
    /// Requests that were answered as asked within the window.
    pub done: u64,
    /// Bytes received, heads and all, of failed requests too.
    pub bytes_received: u64,
    /// The number of bytes sent.
    pub bytes_sent: u64,
    /// Bytes of content of the answers that were as asked.
    pub content_bytes: u64,
    /// Connections opened, those of the warm-up not counted.
    pub connections_opened: u64,
    /// Requests due per second; null in closed load.
    pub rate_asked_per_s: Option<f64>,
    /// Good answers per second.
    pub rate_per_s: f64,
    /// Content of good answers per second, in bytes.
    pub goodput_bytes_per_s: f64,
}

impl Run {
    /// A run of which nothing is known but what was asked.
    pub fn new(tool: impl Into<String>, asked: Asked) -> Self {
        Self {
            version: VERSION,
            tool: tool.into(),
            started_unix_ms: 0,
            agents: 1,
            asked,
            achieved: Achieved::default(),
            timings: Timings::default(),
            errors: Errors::default(),
            statuses: BTreeMap::new(),
            censored: Censored::default(),
            intervals: Vec::new(),
            steps: Vec::new(),
            findings: Vec::new(),
            conditions: Vec::new(),
            search: None,
            generator: Generator::default(),
            kernel: KernelCounters::default(),
            watched: Vec::new(),
            slowest: Slowest::default(),
            environment: BTreeMap::new(),
        }
    }

    /// Requests that came to an end: done and failed.
    pub fn finished(&self) -> u64 {
        self.achieved.done.saturating_add(self.errors.total())
    }

    /// The share (0 to 1) of finished requests that failed; 0 when none was finished.
    #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
    pub fn error_share(&self) -> f64 {
        match self.finished() {
            0 => 0.0,
            finished => self.errors.total() as f64 / finished as f64,
        }
    }

    /// The worst that the audit says.
    pub fn verdict(&self) -> Verdict {
        let verdicts = self.findings.iter().map(|finding| finding.verdict);
        verdicts.max().unwrap_or(Verdict::Passed)
    }
}

impl Achieved {
    /// Good answers per second.
    pub fn rate(&self) -> f64 {
        self.per_second(self.done)
    }

    /// Requests due per second; none in closed load.
    pub fn rate_asked(&self) -> Option<f64> {
        self.asked.map(|asked| self.per_second(asked))
    }

    /// Content of good answers, in bytes per second.
    pub fn goodput(&self) -> f64 {
        self.per_second(self.content_bytes)
    }

    /// Something counted within the window, per second; 0 for a window without length.
    #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
    pub fn per_second(&self, count: u64) -> f64 {
        if self.window_us == 0 {
            return 0.0;
        }
        count as f64 * 1e6 / self.window_us as f64
    }
}

impl From<Achieved> for AchievedRecord {
    fn from(achieved: Achieved) -> Self {
        Self {
            window_us: achieved.window_us,
            ended: achieved.ended,
            asked: achieved.asked,
            done: achieved.done,
            bytes_received: achieved.bytes_received,
            bytes_sent: achieved.bytes_sent,
            content_bytes: achieved.content_bytes,
            connections_opened: achieved.connections_opened,
            rate_asked_per_s: achieved.rate_asked(),
            rate_per_s: achieved.rate(),
            goodput_bytes_per_s: achieved.goodput(),
        }
    }
}
