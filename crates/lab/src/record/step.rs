//! One step: a subject under one load in one repeat, and its outcome.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use vervet_report::{Finding, Run};

/// One run of one subject under one load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its place in the order in which the lab ran, from 0; unique.
    pub order: u32,
    /// The name of the subject.
    pub subject: String,
    /// The name of the workload.
    pub workload: String,
    /// The load that was applied.
    pub load: LoadPoint,
    /// Which repeat, from 1.
    pub repeat: u32,
    /// Which window of the repeat, from 0, where subjects were loaded in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// How often the window was measured again because others had a core.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub measured_again: u32,
    /// Start, in milliseconds of Unix time.
    pub began_unix_ms: u64,
    /// Whether the step was completed, or why not.
    pub outcome: Outcome,
    /// The run of the generator; `None` if no request was sent.
    pub run: Option<StoredRun>,
    /// What the server spent.
    pub server: Watched,
    /// What the audit of the lab found, in addition to that of the generator.
    #[serde(default)]
    pub audit: Vec<Finding>,
}

/// A load: connections or rate, and reuse of connections.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LoadPoint {
    /// Closed or open, and how much.
    pub shape: LoadShape,
    /// Whether connections carry more than one exchange.
    pub connections: Connections,
    /// Further connections that stay idle during the load.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub idle_connections: u32,
    /// The most requests outstanding on a connection; 1 without pipelining.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub pipelining: u32,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_one(count: &u32) -> bool {
    *count == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// How much load, and what waits for what.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadShape {
    /// Closed load: connections, each of which sends its next request when it has the response.
    Closed {
        /// The number of connections.
        concurrency: u32,
    },
    /// Open load: requests per second, whether or not earlier ones have responses.
    Open {
        /// Requests due per second.
        rate: f64,
    },
}

/// Whether connections carry more than one exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Connections {
    /// Kept for the next exchange.
    KeepAlive,
    /// Closed after each exchange.
    Close,
}

impl LoadPoint {
    /// The value on the axis of a chart: connections, or requests per second.
    pub fn amount(&self) -> f64 {
        match self.shape {
            LoadShape::Closed { concurrency } => f64::from(concurrency),
            LoadShape::Open { rate } => rate,
        }
    }

    /// Connections of a closed load.
    pub fn concurrency(&self) -> Option<u32> {
        match self.shape {
            LoadShape::Closed { concurrency } => Some(concurrency),
            LoadShape::Open { .. } => None,
        }
    }
}

impl fmt::Display for LoadShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed { concurrency: 1 } => f.write_str("1 connection"),
            Self::Closed { concurrency } => write!(f, "{concurrency} connections"),
            Self::Open { rate } => write!(f, "{rate}/s"),
        }
    }
}

impl fmt::Display for LoadPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shape.fmt(f)?;
        if self.idle_connections > 0 {
            write!(f, " and {} idle ones", self.idle_connections)?;
        }
        if self.pipelining > 1 {
            write!(f, ", {} requests at once on each", self.pipelining)?;
        }
        match self.connections {
            Connections::KeepAlive => Ok(()),
            Connections::Close => f.write_str(", closed after each response"),
        }
    }
}

/// The outcome of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The load was applied to its end.
    Measured,
    /// The subject ended by itself.
    Crashed {
        /// Its exit status, and the end of its output.
        reason: String,
    },
    /// The subject did not become ready.
    NotReady {
        /// What was waited for, and how long.
        reason: String,
    },
    /// A response was not what the workload expects.
    WrongAnswers {
        /// The expected and the actual response.
        reason: String,
    },
}

impl Outcome {
    /// Why the step was not completed; `None` if it was.
    pub fn failure(&self) -> Option<String> {
        match self {
            Self::Measured => None,
            Self::Crashed { reason } => Some(format!("crashed: {reason}")),
            Self::NotReady { reason } => Some(format!("not ready: {reason}")),
            Self::WrongAnswers { reason } => Some(format!("wrong responses: {reason}")),
        }
    }
}

/// One run of one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskStep {
    /// Its place in the order in which the lab ran, from 0; unique.
    pub order: u32,
    /// The name of the task.
    pub task: String,
    /// The group that it is compared within; may be empty.
    pub group: String,
    /// Which repeat, from 1.
    pub repeat: u32,
    /// Start, in milliseconds of Unix time.
    pub began_unix_ms: u64,
    /// Whether the step was completed, or why not.
    pub outcome: Outcome,
    /// The reported phases in order; of a failed task, those before the failure.
    pub phases: Vec<Phase>,
    /// Other facts that it reported, with their names.
    pub facts: Vec<(String, String)>,
}

/// A phase with its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Its name; unique in its step.
    pub name: String,
    /// Whether it is a part of a whole, which all such phases make up together.
    pub is_part: bool,
    /// How many operations it had.
    pub operations: u64,
    /// How long it took, in nanoseconds.
    pub time_ns: u64,
}

/// The JSON of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoredRun {
    json: Box<RawValue>,
}

impl StoredRun {
    /// Stores a run as JSON.
    pub fn new(run: &Run) -> serde_json::Result<Self> {
        let json = serde_json::value::to_raw_value(run)?;
        Ok(Self { json })
    }

    /// Parses the run. Another version is an error.
    pub fn read(&self) -> serde_json::Result<Run> {
        vervet_report::forms::from_json(self.json())
    }

    /// The text of the JSON.
    pub fn json(&self) -> &str {
        self.json.get()
    }
}

impl PartialEq for StoredRun {
    fn eq(&self, other: &Self) -> bool {
        self.json() == other.json()
    }
}

/// What was watched of a subject's process tree during a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Watched {
    /// The figures are those of the whole tree for the whole step.
    Valid(ServerFigures),
    /// They are not to be used: a process was replaced, or could not be read.
    Invalid {
        /// Why the figures are not valid.
        reason: String,
    },
}

impl Watched {
    /// The figures, when they may be used.
    pub fn figures(&self) -> Option<&ServerFigures> {
        match self {
            Self::Valid(figures) => Some(figures),
            Self::Invalid { .. } => None,
        }
    }
}

/// What a process tree spent between the first and the last request of a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerFigures {
    /// CPU time in user mode, in microseconds.
    pub cpu_user_us: u64,
    /// CPU time in the kernel, in microseconds.
    pub cpu_system_us: u64,
    /// CPU time by the scheduler's clock, in nanoseconds; `None` if not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// How long the server was ready to run while others had its core, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
    /// The sum of resident memory before the first request, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_idle_bytes: Option<u64>,
    /// The greatest sum of resident memory, in bytes.
    pub rss_peak_bytes: u64,
    /// The mean sum of resident memory, in bytes.
    pub rss_mean_bytes: u64,
    /// Peak of the proportional memory (PSS), in bytes; `None` if it cannot be read.
    pub pss_peak_bytes: Option<u64>,
    /// The mean of the same.
    pub pss_mean_bytes: Option<u64>,
    /// The greatest number of processes.
    pub processes: u32,
    /// Readings during the step, in order of time; may be empty.
    #[serde(default)]
    pub samples: Vec<WatchedSample>,
}

impl ServerFigures {
    /// CPU time of both modes, in microseconds.
    pub fn cpu_us(&self) -> u64 {
        let ticks = self.cpu_user_us.saturating_add(self.cpu_system_us);
        self.cpu_ns.map_or(ticks, |cpu_ns| cpu_ns / 1000)
    }

    /// Peak memory in bytes: PSS if the kernel provides it, otherwise RSS.
    pub fn memory_peak_bytes(&self) -> u64 {
        self.pss_peak_bytes.unwrap_or(self.rss_peak_bytes)
    }
}

/// One reading of a process tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedSample {
    /// Milliseconds since the start of the step.
    pub at_ms: u64,
    /// CPU time since the start of the step, in microseconds.
    pub cpu_us: u64,
    /// Memory at this moment, in bytes.
    pub memory_bytes: u64,
}
