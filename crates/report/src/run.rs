//! The result of one load run.

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
use crate::plan::RunSettings;
use crate::search::Search;
use crate::slowest::Slowest;

/// Version of [`Run`] as a document. It increases when a field is removed or changes its meaning,
/// not when one is added.
pub const VERSION: u32 = 1;

/// Settings, results and audit of one load run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "A load run")]
pub struct Run {
    /// Version of the document format: [`VERSION`].
    #[schemars(range(min = 1))]
    pub version: u32,
    /// The program that generated the load, with its version.
    pub tool: String,
    /// Start of the measurement, in milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// Number of machines or processes that generated the load.
    pub agents: u64,
    /// The settings of the run.
    pub asked: RunSettings,
    /// Results of the measurement.
    pub achieved: Achieved,
    /// Times of successful responses.
    pub timings: Timings,
    /// Failed requests by class.
    pub errors: Errors,
    /// Responses by status, including failed ones.
    pub statuses: BTreeMap<u16, u64>,
    /// Requests without a response when the run ended.
    pub censored: Censored,
    /// The run by interval, in order of time.
    pub intervals: Vec<Interval>,
    /// Figures by step of the scenario, in its order; empty without a scenario.
    pub steps: Vec<StepFigures>,
    /// Findings of the audit.
    pub findings: Vec<Finding>,
    /// Conditions and their outcomes. Merging clears them, as they apply to the whole run.
    #[serde(default)]
    pub conditions: Vec<ConditionOutcome>,
    /// The search that this run is the best try of; null without a search. Merging clears it, as
    /// agents do not search.
    #[serde(default)]
    pub search: Option<Search>,
    /// Resource use of the generator.
    pub generator: Generator,
    /// TCP counters of the kernel.
    pub kernel: KernelCounters,
    /// Watched processes, such as those of the server.
    pub watched: Vec<Watched>,
    /// The slowest requests, slowest first.
    pub slowest: Slowest,
    /// The machine and its settings by name: kernel, CPU, congestion control.
    pub environment: BTreeMap<String, BTreeSet<String>>,
}

/// Results of the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "AchievedRecord")]
pub struct Achieved {
    /// Length of the measurement in microseconds: the run without its warm-up.
    pub window_us: u64,
    /// Why the run ended.
    pub ended: Ended,
    /// Requests that were due; none in closed load.
    pub asked: Option<u64>,
    /// The number of successful responses.
    pub done: u64,
    /// Bytes received, including heads and failed responses.
    pub bytes_received: u64,
    /// The number of bytes sent.
    pub bytes_sent: u64,
    /// Body bytes of successful responses.
    pub content_bytes: u64,
    /// Connections opened, without those of the warm-up.
    pub connections_opened: u64,
}

/// Why a run ended.
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
    /// The time was up, or all requests were sent.
    #[default]
    AsAsked,
    /// There were no more requests to send, for example no more rows of a feed.
    Exhausted,
    /// The run was interrupted.
    Interrupted,
    /// The target was not reachable.
    TargetFailed,
}

/// Times of successful responses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timings {
    /// Time to open each connection.
    pub connect: Histogram,
    /// From sending a request to the first byte of its response.
    pub first_byte: Histogram,
    /// From when a request was due to the end of its response. In closed load a request is due when
    /// the previous response has ended.
    pub response: Histogram,
    /// From sending a request to the end of its response.
    pub service: Histogram,
}

/// Requests without a response when the run ended. They are neither successful nor failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Censored {
    /// The number of these requests.
    pub count: u64,
    /// How long the oldest of these requests had been due, in nanoseconds.
    pub longest_ns: u64,
}

/// [`Achieved`] in a document, with derived figures, which are ignored when it is read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AchievedRecord {
    /// Length of the measurement in microseconds: the run without its warm-up.
    pub window_us: u64,
    /// Why the run ended.
    pub ended: Ended,
    /// Requests that were due; null in closed load.
    pub asked: Option<u64>,
    /// The number of successful responses.
    pub done: u64,
    /// Bytes received, including heads and failed responses.
    pub bytes_received: u64,
    /// The number of bytes sent.
    pub bytes_sent: u64,
    /// Body bytes of successful responses.
    pub content_bytes: u64,
    /// Connections opened, without those of the warm-up.
    pub connections_opened: u64,
    /// Requests due per second; null in closed load.
    pub rate_asked_per_s: Option<f64>,
    /// Successful responses per second.
    pub rate_per_s: f64,
    /// Body bytes of successful responses per second.
    pub goodput_bytes_per_s: f64,
}

impl Run {
    /// A run with these settings and no results.
    pub fn new(tool: impl Into<String>, asked: RunSettings) -> Self {
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

    /// Finished requests: successful and failed.
    pub fn finished(&self) -> u64 {
        self.achieved.done.saturating_add(self.errors.total())
    }

    /// The share (0 to 1) of finished requests that failed; 0 if none was finished.
    #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
    pub fn error_share(&self) -> f64 {
        match self.finished() {
            0 => 0.0,
            finished => self.errors.total() as f64 / finished as f64,
        }
    }

    /// The rules of the audit that failed.
    pub fn failed_rules(&self) -> impl Iterator<Item = &str> {
        let failed = self.findings.iter().filter(|finding| finding.verdict == Verdict::Failed);
        failed.map(|finding| finding.rule.as_str())
    }

    /// The worst verdict of the audit.
    pub fn verdict(&self) -> Verdict {
        let verdicts = self.findings.iter().map(|finding| finding.verdict);
        verdicts.max().unwrap_or(Verdict::Passed)
    }
}

impl Achieved {
    /// Successful responses per second.
    pub fn rate(&self) -> f64 {
        self.per_second(self.done)
    }

    /// Requests due per second; none in closed load.
    pub fn rate_asked(&self) -> Option<f64> {
        self.asked.map(|asked| self.per_second(asked))
    }

    /// Body bytes of successful responses per second.
    pub fn goodput(&self) -> f64 {
        self.per_second(self.content_bytes)
    }

    /// A count per second of the measurement; 0 if its length is 0.
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
