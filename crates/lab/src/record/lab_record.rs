//! The record of one lab: everything that a report, a comparison or another run of the same lab
//! needs.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Step, TaskStep};

/// The version of the form in which records are written. It grows when an older reader would
/// misread a record.
pub const LAB_RECORD_VERSION: u32 = 1;

/// Everything that is known of one lab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabRecord {
    /// [`LAB_RECORD_VERSION`] of the program that wrote it.
    pub version: u32,
    /// What was set up.
    pub head: Head,
    /// What the fairness gate saw.
    pub fairness: Vec<FairnessRow>,
    /// What was run, in the order in which it was run.
    pub steps: Vec<Step>,
    /// The steps of a lab of tasks, in the order in which they were run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskStep>,
    /// End of the last step, in milliseconds of Unix time; `None` if the lab was interrupted.
    pub ended_unix_ms: Option<u64>,
}

impl LabRecord {
    /// A record without steps.
    pub fn new(head: Head) -> Self {
        Self {
            version: LAB_RECORD_VERSION,
            head,
            fairness: Vec::new(),
            steps: Vec::new(),
            tasks: Vec::new(),
            ended_unix_ms: None,
        }
    }

    /// Whether programs took their own time, and no server was loaded.
    pub fn is_of_tasks(&self) -> bool {
        self.head.workloads.is_empty()
    }

    /// Whether the fairness gate stopped it.
    pub fn is_refused(&self) -> bool {
        self.fairness.iter().any(|row| row.verdict == FairnessVerdict::Refused)
    }

    /// How many steps are done.
    pub fn steps_done(&self) -> usize {
        self.steps.len() + self.tasks.len()
    }

    /// The subject of a name.
    pub fn subject(&self, name: &str) -> Option<&Subject> {
        self.head.subjects.iter().find(|subject| subject.name == name)
    }

    /// The workload of a name.
    pub fn workload(&self, name: &str) -> Option<&Workload> {
        let mut workloads = self.head.workloads.iter();
        workloads.find(|workload| workload.name == name)
    }
}

/// What is known before the first step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// What the lab file calls itself.
    pub title: String,
    /// Version of the program, with its commit if known.
    pub program: String,
    /// Start of the lab, in milliseconds of Unix time.
    pub began_unix_ms: u64,
    /// The lab file that was run.
    pub lab: LabFile,
    /// The files that the lab file names: applications, and those of commands.
    pub assets: Vec<Asset>,
    /// The parts of the lab file that were left out; nothing in old records.
    #[serde(default)]
    pub shortened: Shortened,
    /// The number that the order of steps was shuffled by.
    pub seed: u64,
    /// How often each step was to be run.
    pub repeats: u32,
    /// How many steps were planned.
    pub steps_planned: u32,
    /// The machine and its settings.
    pub environment: Environment,
    /// The servers, in the order of the lab file; the ceiling among them.
    pub subjects: Vec<Subject>,
    /// Workloads in the order of the lab file; empty in a lab of tasks.
    pub workloads: Vec<Workload>,
    /// Old figures to show next to the new ones.
    pub history: Option<History>,
    /// What figures must reach.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
}

/// The lab file as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabFile {
    /// Its name, without folders.
    pub name: String,
    /// The text of the file.
    pub text: String,
    /// SHA-256 of the text, in hexadecimal digits.
    pub sha256: String,
}

/// A file that the lab file names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asset {
    /// Its path as seen from the folder of the lab file, without `..`.
    pub path: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
    /// Its content, if it is text and small enough for the record.
    pub text: Option<String>,
    /// Whether it may be executed.
    #[serde(default)]
    pub executable: bool,
}

/// What of a lab file was left out when it was run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortened {
    /// The lab was shortened by `[quick]` (`--quick`).
    pub quick: bool,
    /// The only subjects that were run in addition to the ceiling (`--only`); none: all.
    pub only: Vec<String>,
}

impl fmt::Display for Shortened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quick = self.quick.then(|| "--quick".to_owned());
        let only = self.only.iter().map(|name| format!("--only {name}"));
        let flags: Vec<String> = quick.into_iter().chain(only).collect();
        match flags.as_slice() {
            [] => f.write_str("nothing"),
            flags => f.write_str(&flags.join(" ")),
        }
    }
}

/// A workload: the request and the expected response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Its name in the lab file; unique.
    pub name: String,
    /// What it does, in a sentence; may be empty.
    pub description: String,
    /// The response time that satisfies its users, in seconds: the T of Apdex.
    pub apdex_seconds: f64,
}

/// Old figures to show next to new ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// Where the figures were published, and how they were measured.
    pub source: String,
    /// The figures that were published.
    pub figures: Vec<OldFigure>,
    /// What was wrong with the experiment as a whole, one sentence each.
    pub mistakes: Vec<String>,
}

/// One figure of a publication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OldFigure {
    /// What it was measured of, as it was published.
    pub what: String,
    /// The subject whose new figure is shown next to it; none: no new figure.
    pub subject: Option<String>,
    /// The workload whose new figure is shown next to it; none: the first.
    pub workload: Option<String>,
    /// At how many connections or users it was measured; none: the best step is shown.
    pub connections: Option<u32>,
    /// The phase of a task; none: all of its phases together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Which figure: `seconds` and `operations_per_second` of phases; `goodput`,
    /// `response_mean_ms`, `response_p50_ms`, `response_p90_ms`, `response_p99_ms`,
    /// `response_max_ms`, `error_share`, `cpu_us_per_request`, `requests_per_cpu_second`,
    /// `memory_peak_bytes`.
    pub figure: String,
    /// The value as it was published, with its unit.
    pub said: String,
    /// What is wrong in it, in a sentence; may be empty.
    pub wrong: String,
}

/// A server under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Its name in the lab file; unique.
    pub name: String,
    /// What starts it: `nginx`, `gunicorn`, `command`.
    pub adapter: String,
    /// What it is there for.
    pub role: Role,
    /// Version, as printed by the program.
    pub version: Option<String>,
    /// The command line that it was started with, with its flags.
    pub command: Vec<String>,
    /// The generated configuration as text; empty if there is none.
    pub configuration: String,
    /// The cores that it may run on, as `taskset` writes them; none: all.
    pub cores: Option<String>,
    /// Whether it took part.
    pub state: SubjectState,
}

/// What a subject is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It is compared with the others.
    Contestant,
    /// The built-in canned-response server: the upper bound of this kernel. Never ranked.
    Ceiling,
}

/// Whether a subject took part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectState {
    /// It was found and has its steps.
    Present,
    /// It took no part.
    Skipped {
        /// Why: not installed, refused by the fairness gate.
        reason: String,
    },
}

impl Subject {
    /// Whether it took part and is compared.
    pub fn is_contestant(&self) -> bool {
        self.role == Role::Contestant && self.state == SubjectState::Present
    }
}

/// Facts about the machine at the start of the lab.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// In the order in which they are shown. Names are unique.
    pub facts: Vec<Fact>,
}

impl Environment {
    /// The value of a fact.
    pub fn value(&self, name: &str) -> Option<&str> {
        let fact = self.facts.iter().find(|fact| fact.name == name)?;
        Some(&fact.value)
    }

    /// Adds a fact about the machine.
    pub fn add(&mut self, group: &str, name: &str, value: impl Into<String>, weight: Weight) {
        self.facts.push(Fact {
            group: group.to_owned(),
            name: name.to_owned(),
            value: value.into(),
            weight,
        });
    }
}

/// One thing that was known, for example the congestion control of TCP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What it belongs to: `cpu`, `kernel`, `limits`, `vervet`.
    pub group: String,
    /// Name of the fact: `model name`, `net.core.somaxconn`.
    pub name: String,
    /// The value as its source writes it.
    pub value: String,
    /// Whether figures may differ because of it.
    pub weight: Weight,
}

/// Whether figures of environments that differ in a fact are comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Figures may differ because of it: `lab compare` reports a difference.
    Decides,
    /// For the reader only: the load before the lab, the time of the day.
    Informs,
}

/// A rule of the lab file for one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// The name of the workload.
    pub workload: String,
    /// The name of the subject.
    pub subject: String,
    /// The name of the figure.
    pub figure: String,
    /// What the ratio must be.
    pub bound: Bound,
    /// What the figure is divided by.
    pub against: Against,
}

/// What a ratio must be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The ratio is at least this.
    AtLeast(f64),
    /// The ratio is at most this.
    AtMost(f64),
}

/// What a figure is compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// The same figure of one of these subjects: the one with the most requests per CPU-second.
    Subjects(Vec<String>),
    /// The same figure of the same subject under this workload.
    Workload(String),
    /// A number of bytes.
    Bytes(u64),
}

impl Bound {
    /// Whether a ratio is what it must be.
    pub fn holds(self, ratio: f64) -> bool {
        match self {
            Self::AtLeast(least) => ratio >= least,
            Self::AtMost(most) => ratio <= most,
        }
    }
}

/// One property of the responses to one workload, over all subjects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FairnessRow {
    /// The name of the workload.
    pub workload: String,
    /// What was looked at: `status`, `content sha-256`, `field bytes`, `compression`, `log`,
    /// `keep-alive`.
    pub property: String,
    /// Subject and value, in the order of the subjects.
    pub values: Vec<(String, String)>,
    /// What became of it.
    pub verdict: FairnessVerdict,
}

/// Verdict of the fairness gate on a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FairnessVerdict {
    /// All subjects have the same value.
    Equal,
    /// The responses differ, as the lab file permits; the report says so.
    Differs,
    /// They differ and the lab file does not admit it: no step was run.
    Refused,
}
