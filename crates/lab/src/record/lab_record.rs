//! The record of one lab: everything that a report, a comparison or another run of the same lab needs.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Environment, FairnessRow, Rule, Step, Subject, TaskStep};

/// The version of the form in which records are written. It grows when an older reader would misread a record.
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
    /// When the last step ended, in milliseconds of Unix time; none where the lab was interrupted.
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

    /// How many steps are done.
    pub fn steps_done(&self) -> usize {
        self.steps.len() + self.tasks.len()
    }

    /// The subject of a name.
    pub fn subject(&self, name: &str) -> Option<&Subject> {
        self.head
            .subjects
            .iter()
            .find(|subject| subject.name == name)
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
    /// The version of the program, with its commit where it is known.
    pub program: String,
    /// When the lab began, in milliseconds of Unix time.
    pub began_unix_ms: u64,
    /// The lab file.
    pub lab: LabFile,
    /// The files that the lab file names: applications, and those of commands.
    pub assets: Vec<Asset>,
    /// What of the lab file was left out. Records that do not say left out nothing.
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
    /// What was asked, in the order of the lab file; nothing in a lab of tasks.
    pub workloads: Vec<Workload>,
    /// Old figures that these are to stand beside.
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
    /// Its text.
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
    /// Its content, where it is text and small enough to be carried along.
    pub text: Option<String>,
    /// Whether it may be executed.
    #[serde(default)]
    pub executable: bool,
}

/// What of a lab file was left out when it was run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortened {
    /// It was run with what `[quick]` says (`--quick`).
    pub quick: bool,
    /// The only subjects that were run beside the ceiling (`--only`); none: all.
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

/// What is asked of every subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Its name in the lab file; unique.
    pub name: String,
    /// What it does, in a sentence; may be empty.
    pub description: String,
    /// The response time that satisfies its users, in seconds: the T of Apdex.
    pub apdex_seconds: f64,
}

/// Old figures that new ones are shown beside.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// Where they were published, and how they came about.
    pub source: String,
    /// The figures.
    pub figures: Vec<OldFigure>,
    /// What was wrong with the experiment as a whole, one sentence each.
    pub mistakes: Vec<String>,
}

/// One old figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OldFigure {
    /// What it was measured of, as it was published.
    pub what: String,
    /// The subject whose new figure stands beside it; none: no new figure.
    pub subject: Option<String>,
    /// The workload whose new figure stands beside it; none: the first.
    pub workload: Option<String>,
    /// At how many connections or users it was measured; none: the best step stands beside it.
    pub connections: Option<u32>,
    /// The phase of a task; none: all of its phases together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Which figure: `seconds` and `operations_per_second` of phases; `goodput`, `response_mean_ms`, `response_p50_ms`, `response_p90_ms`, `response_p99_ms`,
    /// `response_max_ms`, `error_share`, `cpu_us_per_request`, `requests_per_cpu_second`, `memory_peak_bytes`.
    pub figure: String,
    /// The value as it was published, with its unit.
    pub said: String,
    /// What is wrong in it, in a sentence; may be empty.
    pub wrong: String,
}
