//! The types of a plan: a resolved lab file.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use vervet_report::Reuse;

use super::tasks::PlannedTasks;
use crate::adapter::{Adapter, Settings};
use crate::document::{Difference, Log};
use crate::hash::sha256_hex;
use crate::record::{Connections, History, LabFile, LoadPoint, LoadShape, Role, Rule, Shortened};

/// Name of the canned-response server.
pub const CEILING: &str = "ceiling";

/// Everything that is done, in order.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the lab file calls itself.
    pub title: String,
    /// The lab file that was read.
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
    /// The trees of files.
    pub trees: Vec<PlannedTree>,
    /// The workloads, in the order of the file.
    pub workloads: Vec<PlannedWorkload>,
    /// Each step, in the order in which they are run.
    pub steps: Vec<PlannedStep>,
    /// The tasks, in a lab of tasks.
    pub tasks: PlannedTasks,
    /// The published figures to show.
    pub history: Option<History>,
}

/// A subject as it is started.
#[derive(Clone, Debug)]
pub struct PlannedSubject {
    /// The name in the lab file.
    pub name: String,
    /// What it is there for.
    pub role: Role,
    /// How the subject is started.
    pub start: SubjectStart,
    /// The program that the file names.
    pub program: Option<PathBuf>,
    /// The application that the file names.
    pub app: Option<PathBuf>,
    /// The command of its second process; empty: none.
    pub beside: Vec<String>,
    /// Command that checks whether the subject can take part; empty for none.
    pub requires: Vec<String>,
    /// Variables of its environment.
    pub environment: Vec<(String, String)>,
    /// Request target that returns 200 once the subject is ready.
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

/// How a subject is started.
#[derive(Clone, Debug)]
pub enum SubjectStart {
    /// An adapter starts it.
    Adapter(&'static Adapter, Settings),
    /// A command of the file starts it.
    Command(Vec<String>),
    /// It runs already at this address.
    Address(SocketAddr),
    /// The lab's own canned-response server.
    Ceiling,
}

/// Files that are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTree {
    /// Its name, which is its folder below the site.
    pub name: String,
    /// The lab file that was read.
    pub files: u32,
    /// The size of the smallest, in bytes.
    pub bytes_min: u64,
    /// The size of the largest, in bytes.
    pub bytes_max: u64,
    /// Content of each file, if not random.
    pub content: Option<String>,
}

/// A workload of a plan.
#[derive(Clone, Debug)]
pub struct PlannedWorkload {
    /// The name in the lab file.
    pub name: String,
    /// The description in the lab file.
    pub about: String,
    /// The T of Apdex.
    pub apdex: Duration,
    /// The congestion control that it is measured under; none: the one of the namespace.
    pub congestion: Option<String>,
    /// The request that is sent.
    pub request: Request,
    /// The index of its tree.
    pub tree: Option<usize>,
    /// The response that is expected.
    pub expected: Expected,
    /// The indices of the subjects that take part.
    pub subjects: Vec<usize>,
    /// The loads, each of them one step of every subject and repeat.
    pub loads: Vec<PlannedLoad>,
}

/// What is sent for each request, without `Host` and the framing fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method of the request.
    pub method: String,
    /// The host; none: the address.
    pub host: Option<String>,
    /// The request target; `{file}` is replaced by a file of the tree.
    pub target: String,
    /// Further field lines, without their line ends.
    pub fields: Vec<String>,
    /// The content of the request.
    pub content: Option<String>,
}

/// The response that is expected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// The expected status code.
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
    /// The most connections at once.
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
    /// Timeout of a response.
    pub timeout: Duration,
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
    /// The load as a record has it.
    pub fn point(&self) -> LoadPoint {
        let connections = match self.reuse {
            Reuse::Close => Connections::Close,
            Reuse::KeepAlive | Reuse::Requests { .. } => Connections::KeepAlive,
        };
        LoadPoint {
            shape: self.shape,
            connections,
            idle_connections: self.idle_connections,
            pipelining: self.pipelining,
        }
    }

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
        [u64::from(self.repeat), self.workload as u64, self.load as u64]
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

/// About how long starting and ending a server takes, without its load.
const OVERHEAD: Duration = Duration::from_millis(700);

/// Estimated time of a task.
const TASK: Duration = Duration::from_secs(2);

impl Plan {
    /// How long a step takes, about.
    pub fn step_time(&self, step: &PlannedStep) -> Duration {
        let load = self.load(step);
        let before = if step.window == 0 { load.warm_up + OVERHEAD } else { Duration::ZERO };
        before + load.window.unwrap_or(load.duration)
    }

    /// How long all of them take, about.
    pub fn estimate(&self) -> Duration {
        let steps: Duration = self.steps.iter().map(|step| self.step_time(step)).sum();
        let tasks = u32::try_from(self.tasks.steps.len()).unwrap_or(u32::MAX);
        steps + TASK.saturating_mul(tasks)
    }

    /// Identifies the plan: equal plans have equal signatures.
    pub fn signature(&self) -> String {
        let loads: Vec<_> = self.workloads.iter().map(|workload| &workload.loads).collect();
        let text = format!(
            "{:?} {loads:?} {:?} {:?} {:?}",
            self.steps, self.trees, self.tasks, self.file.sha256
        );
        sha256_hex(text.as_bytes())
    }

    /// Keeps only the named subjects and the ceiling. An unknown name is the error.
    pub fn keep_only(&mut self, names: &[String]) -> Result<(), String> {
        if names.is_empty() {
            return Ok(());
        }
        let known = self.names();
        if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(name.clone());
        }
        let tasks = &self.tasks.tasks;
        self.tasks.steps.retain(|step| names.contains(&tasks[step.task].name));
        let (subjects, workloads) = (&self.subjects, &self.workloads);
        let is_named = |subject: usize| names.contains(&subjects[subject].name);
        // The ceiling sends what a subject sends.
        let has_named = |workload: usize| {
            let mut subjects = workloads[workload].subjects.iter();
            subjects.any(|subject| is_named(*subject))
        };
        self.steps.retain(|step| {
            let is_ceiling = subjects[step.subject].role == Role::Ceiling;
            is_named(step.subject) || is_ceiling && has_named(step.workload)
        });
        self.shortened.only = names.to_vec();
        Ok(())
    }
}
