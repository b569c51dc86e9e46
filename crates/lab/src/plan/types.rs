//! What a lab file comes to.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::adapter::{Adapter, Connections, Settings};
use crate::document::{Difference, Log};
use crate::record::{History, LabFile, LoadShape, Role, Rule, Shortened};

use super::tasks::PlannedTasks;

/// The name of the server of ours that does nothing but send one answer.
pub const CEILING: &str = "ceiling";

/// Everything that is done, in order.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the lab file calls itself.
    pub title: String,
    /// The lab file.
    pub file: LabFile,
    /// The folder that it lies in.
    pub folder: PathBuf,
    /// What order and content are drawn from.
    pub seed: u64,
    /// How often each step is measured.
    pub repeats: u32,
    /// What of the lab file is left out.
    pub shortened: Shortened,
    /// The most that all of it may take.
    pub time_limit: Duration,
    /// The cores of the subjects; none: all.
    pub server_cores: Vec<u32>,
    /// The cores of the generator; none: all.
    pub generator_cores: Vec<u32>,
    /// What figures must reach.
    pub rules: Vec<Rule>,
    /// Differences that may be.
    pub allowed: Vec<Difference>,
    /// Whether the record has the name of the machine.
    pub names_host: bool,
    /// The subjects, in the order of the file; the ceiling last.
    pub subjects: Vec<PlannedSubject>,
    /// The trees that a workload asks for.
    pub trees: Vec<PlannedTree>,
    /// The workloads, in the order of the file.
    pub workloads: Vec<PlannedWorkload>,
    /// Each step, in the order in which they are run.
    pub steps: Vec<PlannedStep>,
    /// What is done in the place of servers and loads, in a lab of tasks.
    pub tasks: PlannedTasks,
    /// Published figures.
    pub history: Option<History>,
}

/// A subject.
#[derive(Clone, Debug)]
pub struct PlannedSubject {
    /// Its name.
    pub name: String,
    /// What it is there for.
    pub role: Role,
    /// How it comes to run.
    pub way: Way,
    /// The program that the file names.
    pub program: Option<PathBuf>,
    /// The application that the file names.
    pub app: Option<PathBuf>,
    /// The command of the process beside it; empty: none.
    pub beside: Vec<String>,
    /// The command that says whether it can take part; empty: it can.
    pub requires: Vec<String>,
    /// Variables of its environment.
    pub environment: Vec<(String, String)>,
    /// The request target that answers with 200 once it is ready.
    pub ready: Option<String>,
    /// How long that may take.
    pub ready_within: Duration,
    /// The command that prints its version.
    pub version: Vec<String>,
    /// The process of a server that runs already, by number or name.
    pub process: Option<String>,
    /// Which log it writes.
    pub log: Log,
}

/// How a subject comes to run.
#[derive(Clone, Debug)]
pub enum Way {
    /// An adapter starts it.
    Adapter(&'static Adapter, Settings),
    /// A command of the file starts it.
    Command(Vec<String>),
    /// It runs already.
    Address(SocketAddr),
    /// It is the server of canned answers.
    Ceiling,
}

/// Files that are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTree {
    /// Its name, which is its folder below the site.
    pub name: String,
    /// How many files.
    pub files: u32,
    /// The size of the smallest, in bytes.
    pub bytes_min: u64,
    /// The size of the largest, in bytes.
    pub bytes_max: u64,
    /// What each holds, where it is not drawn.
    pub content: Option<String>,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct PlannedWorkload {
    /// Its name.
    pub name: String,
    /// What it does.
    pub about: String,
    /// The T of Apdex.
    pub apdex: Duration,
    /// The congestion control that it is measured under; none: the one of the namespace.
    pub congestion: Option<String>,
    /// What is sent.
    pub request: Request,
    /// The index of its tree.
    pub tree: Option<usize>,
    /// What must come back.
    pub expected: Expected,
    /// The indices of the subjects that take part.
    pub subjects: Vec<usize>,
    /// The loads, each of them one step of every subject and repeat.
    pub loads: Vec<PlannedLoad>,
}

/// What is sent for each request, beside `Host` and what frames it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: String,
    /// The host; none: the address.
    pub host: Option<String>,
    /// The request target; `{file}` stands for a file of the tree.
    pub target: String,
    /// Further field lines, without their line ends.
    pub fields: Vec<String>,
    /// The content.
    pub content: Option<String>,
}

/// What must come back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// The status code.
    pub status: u16,
    /// The length of the content in bytes.
    pub length: Option<u64>,
    /// The SHA-256 of the content, in lower-case hexadecimal.
    pub sha256: Option<String>,
    /// A text in the content.
    pub contains: Option<String>,
}

/// A load with one value of its sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedLoad {
    /// The name of the load in the file.
    pub name: String,
    /// Closed or open, and how much.
    pub shape: LoadShape,
    /// The most connections.
    pub connections: u32,
    /// Further connections that stay idle.
    pub idle_connections: u32,
    /// How connections are used.
    pub reuse: Reuse,
    /// The most requests outstanding on a connection.
    pub pipelining: u32,
    /// How long one window takes, where subjects are loaded in turn.
    pub window: Option<Duration>,
    /// How long it is measured, all windows together.
    pub duration: Duration,
    /// How long it is loaded before.
    pub warm_up: Duration,
    /// How long an answer may take.
    pub timeout: Duration,
}

/// How connections are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// For one exchange each.
    Close,
    /// For all.
    Keep,
    /// For so many.
    Requests(u32),
}

/// One subject under one load for one repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedStep {
    /// Its place, from 0.
    pub order: u32,
    /// Which repeat, from 1.
    pub repeat: u32,
    /// Which window of the repeat, from 0; always 0 where subjects are measured alone.
    pub window: u32,
    /// The index of its workload.
    pub workload: usize,
    /// The index of its load among those of the workload.
    pub load: usize,
    /// The index of its subject.
    pub subject: usize,
}

impl PlannedLoad {
    /// How many windows a repeat has.
    pub fn windows(&self) -> u32 {
        let Some(window) = self.window else {
            return 1;
        };
        let windows = self.duration.as_nanos().div_ceil(window.as_nanos().max(1));
        u32::try_from(windows).unwrap_or(u32::MAX).max(1)
    }
}

impl PlannedStep {
    /// Steps with the same round follow each other; with windows all subjects are up during it.
    pub fn round(&self) -> [u64; 3] {
        [
            u64::from(self.repeat),
            self.workload as u64,
            self.load as u64,
        ]
    }
}

impl Reuse {
    /// What becomes of a connection after most answers.
    pub fn connections(self) -> Connections {
        match self {
            Self::Close => Connections::Closed,
            Self::Keep | Self::Requests(_) => Connections::Kept,
        }
    }
}

impl Plan {
    /// Whether programs take their own time, and no server is loaded.
    pub fn is_of_tasks(&self) -> bool {
        !self.tasks.tasks.is_empty()
    }

    /// How many steps there are.
    pub fn steps_count(&self) -> usize {
        self.steps.len() + self.tasks.steps.len()
    }

    /// Whether a step measures this subject under this workload: `--only` leaves some out.
    pub fn is_measured(&self, workload: usize, subject: usize) -> bool {
        let is_it = |step: &PlannedStep| step.workload == workload && step.subject == subject;
        self.steps.iter().any(is_it)
    }

    /// The names of all that is measured.
    pub fn names(&self) -> Vec<&str> {
        let subjects = self.subjects.iter().map(|subject| subject.name.as_str());
        let tasks = self.tasks.tasks.iter().map(|task| task.name.as_str());
        subjects.chain(tasks).collect()
    }

    /// The workload of a step.
    pub fn workload(&self, step: &PlannedStep) -> &PlannedWorkload {
        &self.workloads[step.workload]
    }

    /// The load of a step.
    pub fn load(&self, step: &PlannedStep) -> &PlannedLoad {
        &self.workloads[step.workload].loads[step.load]
    }

    /// The subject of a step.
    pub fn subject(&self, step: &PlannedStep) -> &PlannedSubject {
        &self.subjects[step.subject]
    }
}
