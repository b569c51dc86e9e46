//! Resolves `[task.NAME]`: how each task is run, in which order, and errors in its directives.

use std::path::PathBuf;
use std::time::Duration;

use vervet_config::{Diagnostic, Diagnostics, Name, Path};

use super::resolve::{Names, Pace, sets};
use super::steps::drawn;
use super::steps::{STEPS_MAX, Sets};
use super::subjects::{check_settings, refuse_without_adapter};
use crate::adapter::Settings;
use crate::document::{Lab, Task};
use crate::task::{TASK_ADAPTERS, TaskAdapter};

/// The longest name of a task: it is part of the path of a socket.
const NAME_BYTES_MAX: usize = 40;

/// What is done in a lab of tasks.
#[derive(Clone, Debug, Default)]
pub struct PlannedTasks {
    /// The tasks, in the order of the file.
    pub tasks: Vec<PlannedTask>,
    /// Each run of one, in the order in which they are done.
    pub steps: Vec<PlannedTaskRun>,
    /// How many values are put into a store.
    pub count: u32,
    /// How long each is.
    pub value_bytes: u64,
    /// The client of stores that the file names.
    pub client: Option<PathBuf>,
}

/// A task as it is run.
#[derive(Clone, Debug)]
pub struct PlannedTask {
    /// The name in the lab file.
    pub name: String,
    /// How it is run.
    pub start: TaskStart,
    /// The server that the file names.
    pub program: Option<PathBuf>,
    /// What it is compared within.
    pub group: String,
    /// How long one run may take.
    pub timeout: Duration,
}

/// How a task is run.
#[derive(Clone, Debug)]
pub enum TaskStart {
    /// An adapter runs it.
    Adapter(&'static TaskAdapter, Settings),
    /// By a command of the file.
    Command(Vec<String>),
}

/// One task for one repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedTaskRun {
    /// Its place, from 0.
    pub order: u32,
    /// Which repeat, from 1.
    pub repeat: u32,
    /// The index of the task.
    pub task: usize,
}

/// All tasks, and their runs in order.
pub(super) fn resolve(lab: &Lab, pace: Pace, found: &mut Diagnostics) -> PlannedTasks {
    if !lab.task.is_empty() && !lab.subject.is_empty() {
        let message = "a lab has either subjects or tasks, not both";
        found.push(Diagnostic::error(lab.task.span(), message).expected("two lab files"));
    }
    let tasks = lab.task.iter().map(|(name, task)| one(name, task, found));
    let tasks: Vec<PlannedTask> = tasks.collect::<Vec<_>>().into_iter().flatten().collect();
    let operations = &lab.operations;
    let count = match pace {
        Pace::Full => *operations.count,
        Pace::Quick => *operations.count.value().min(lab.quick.count.value()),
    };
    let steps = places(tasks.len(), sets(lab, pace));
    if steps.len() > STEPS_MAX {
        let message = format!("the lab has {} steps, at most {STEPS_MAX} are allowed", steps.len());
        found.push(Diagnostic::error(lab.title.span(), message).expected("fewer repeats"));
    }
    PlannedTasks {
        steps,
        tasks,
        count,
        value_bytes: operations.value.bytes(),
        client: operations.client.value().clone().map(Path::into_path_buf),
    }
}

/// Each repeat passes through all tasks, in an order that is drawn.
fn places(tasks: usize, sets: Sets) -> Vec<PlannedTaskRun> {
    let each = (1..=sets.repeats).flat_map(|repeat| {
        let order = drawn(sets.seed, [u64::from(repeat), 0, 0], tasks);
        order.into_iter().map(move |task| (repeat, task))
    });
    let numbered =
        (0..).zip(each).map(|(order, (repeat, task))| PlannedTaskRun { order, repeat, task });
    numbered.collect()
}

fn one(name: &Name, task: &Task, found: &mut Diagnostics) -> Option<PlannedTask> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !name.bytes().all(plain) || name.len() > NAME_BYTES_MAX {
        let problem =
            Diagnostic::error(name.span(), "the name of a task must be a valid folder name");
        found.push(
            problem.expected(format!("letters, digits, `-` and `_`, at most {NAME_BYTES_MAX}")),
        );
    }
    Some(PlannedTask {
        name: name.value().clone(),
        start: start(name, task, found)?,
        program: task.program.value().clone().map(Path::into_path_buf),
        group: task.group.value().clone(),
        timeout: task.timeout.duration(),
    })
}

/// How a task is run: by exactly one of two directives.
fn start(name: &Name, task: &Task, found: &mut Diagnostics) -> Option<TaskStart> {
    let adapter = match (task.adapter.value(), task.command.is_empty()) {
        (Some(adapter), true) => adapter,
        (None, false) => return Some(command(task, found)),
        (adapter, _) => {
            let name_text = name.value();
            let message = if adapter.is_some() {
                format!("the task `{name_text}` has both `adapter` and `command`")
            } else {
                format!("the task `{name_text}` has neither `adapter` nor `command`")
            };
            let problem = Diagnostic::error(name.span(), message);
            found.push(problem.expected("either `adapter` or `command`"));
            return None;
        }
    };
    let span = task.adapter.span();
    let names = Names::new("adapter of tasks", TASK_ADAPTERS.iter().map(|one| one.name));
    let known = TASK_ADAPTERS[names.index(adapter, span, found)?];
    check_settings(known.name, known.settings, &task.settings, found);
    let given = task.settings.iter();
    let given = given.map(|(name, value)| (name.as_str(), value.0.as_str()));
    Some(TaskStart::Adapter(known, Settings::new(known.settings, given)))
}

fn command(task: &Task, found: &mut Diagnostics) -> TaskStart {
    let settings = (!task.settings.is_empty(), "settings", task.settings.span());
    let program = (task.program.is_some(), "program", task.program.span());
    refuse_without_adapter(&[settings, program], found);
    TaskStart::Command(task.command.value().clone())
}
