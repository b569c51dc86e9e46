//! One run of one task, from its empty folder to its output.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::adapter::{TaskLaunch, TaskSetup};
use super::output::{TaskOutput, parse_output};
use super::programs::TaskPrograms;
use super::server;
use crate::adapter::Process;
use crate::plan::{Plan, PlannedTask, TaskStart};
use crate::record::Outcome;
use crate::subject::Children;

/// How a client ends whose store gave another value than was put.
const WRONG: i32 = 3;
/// How long a server has to be seen to end, when its client has failed.
const END_MAX: Duration = Duration::from_millis(500);

/// What a run needs.
pub(crate) struct TaskRun<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) task: &'a PlannedTask,
    pub(crate) found: &'a TaskPrograms,
    /// A folder on the disk of the record; leftovers of an earlier run are removed.
    pub(crate) folder: &'a Path,
    /// A path for a socket, short enough for one.
    pub(crate) socket: &'a Path,
    pub(crate) interrupted: &'a AtomicBool,
}

/// Outcome and output of a run.
pub(crate) struct TaskResult {
    pub(crate) outcome: Outcome,
    pub(crate) said: TaskOutput,
}

impl TaskRun<'_> {
    /// Runs it. An error is one of the lab's own files.
    pub(crate) fn pass(&self) -> io::Result<TaskResult> {
        self.clean()?;
        fs::create_dir_all(self.folder)?;
        let launch = self.launch();
        let cores = &self.plan.server_cores;
        let server = match server::start(&launch, cores, self.folder, self.socket) {
            Ok(server) => server,
            Err(reason) => {
                self.clean()?;
                return Ok(TaskResult {
                    outcome: Outcome::NotReady { reason },
                    said: TaskOutput::default(),
                });
            }
        };
        let told = self.measure(&launch, server)?;
        self.clean()?;
        Ok(told)
    }

    /// What is run, with the places of this run.
    fn launch(&self) -> TaskLaunch {
        match &self.task.start {
            TaskStart::Adapter(adapter, settings) => (adapter.launch)(&TaskSetup {
                program: &self.found.server,
                folder: self.folder,
                socket: self.socket,
                settings,
            }),
            TaskStart::Command(command) => TaskLaunch {
                client: command.iter().skip(1).map(|text| self.fill(text)).collect(),
                ..TaskLaunch::default()
            },
        }
    }

    fn fill(&self, text: &str) -> String {
        let tasks = &self.plan.tasks;
        text.replace("{count}", &tasks.count.to_string())
            .replace("{value_bytes}", &tasks.value_bytes.to_string())
            .replace("{seed}", &self.plan.seed.to_string())
            .replace("{folder}", &self.folder.display().to_string())
            .replace("{file}", &self.plan.folder.display().to_string())
    }

    /// Runs the client and parses its output.
    fn measure(&self, launch: &TaskLaunch, mut server: Children) -> io::Result<TaskResult> {
        let log = self.folder.join("client.log");
        let mut client = Children::default();
        let cores = &self.plan.generator_cores;
        client.start(&self.client(launch), cores, self.folder, &log)?;
        let status = self.wait(&mut client);
        client.stop();
        let output = fs::read(&log).unwrap_or_default();
        let output = String::from_utf8_lossy(&output).into_owned();
        let told = match parse_output(&output) {
            Ok(said) => TaskResult { outcome: self.outcome(status, &said, &mut server), said },
            Err(reason) => TaskResult {
                outcome: Outcome::WrongAnswers { reason },
                said: TaskOutput::default(),
            },
        };
        Ok(told)
    }

    /// The command of the client with the operations of the lab.
    fn client(&self, launch: &TaskLaunch) -> Process {
        let mut command = vec![self.found.client.display().to_string()];
        command.extend(launch.client.iter().cloned());
        if let TaskStart::Adapter(adapter, _) = &self.task.start
            && adapter.client == super::Client::Stores
        {
            let fill = |text: &&str| self.fill(text);
            let more = ["--count", "{count}", "--value-bytes", "{value_bytes}", "--seed", "{seed}"];
            command.extend(more.iter().map(fill));
        }
        Process { command, ..Process::default() }
    }

    /// Waits until the client exits; `None` on timeout or interrupt.
    fn wait(&self, client: &mut Children) -> Option<ExitStatus> {
        let is_over = || self.interrupted.load(Ordering::Relaxed);
        client.wait_until(Instant::now() + self.task.timeout, is_over)
    }

    fn outcome(
        &self,
        status: Option<ExitStatus>,
        said: &TaskOutput,
        server: &mut Children,
    ) -> Outcome {
        let last = said.rest.last().map_or("no output", String::as_str);
        let Some(status) = status else {
            let reason = format!("did not exit within {:?}", self.task.timeout);
            return Outcome::Crashed { reason };
        };
        if status.code() == Some(WRONG) {
            return Outcome::WrongAnswers { reason: last.to_owned() };
        }
        if !status.success() {
            let mut reason = format!("{last} ({status})");
            // Its connections end before its process does.
            if let Some(ended) = server.wait_until(Instant::now() + END_MAX, || false) {
                reason = format!("its server exited ({ended}): {reason}");
            }
            return Outcome::Crashed { reason };
        }
        if said.phases.is_empty() {
            let reason = "no phase reported".to_owned();
            return Outcome::WrongAnswers { reason };
        }
        Outcome::Measured
    }

    fn clean(&self) -> io::Result<()> {
        // A socket that is left would keep the next server from listening.
        let _ = fs::remove_file(self.socket);
        match fs::remove_dir_all(self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// The command of a task with placeholders for what each run chooses.
pub(crate) fn shown(plan: &Plan, task: &PlannedTask, found: &TaskPrograms) -> Vec<String> {
    let never = AtomicBool::new(false);
    let (folder, socket) = (PathBuf::from("{folder}"), PathBuf::from("{socket}"));
    let run = TaskRun { plan, task, found, folder: &folder, socket: &socket, interrupted: &never };
    let launch = run.launch();
    let server = launch.server.iter().flat_map(|part| part.command.clone());
    server.chain(run.client(&launch).command).collect()
}
