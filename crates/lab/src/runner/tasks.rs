//! A lab of tasks, from its first step to its last.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

use rustix::fs::statfs;

use super::options::{Options, RunError};
use super::resume;
use super::resume::Out;
use super::run::{append, end};
use super::stage::shown_word;
use crate::plan::{Plan, PlannedTask, PlannedTaskRun, TaskStart};
use crate::record::{
    Journal, JournalLine, LabRecord, Role, Subject, SubjectState, TaskStep, Weight,
};
use crate::subject::Missing;
use crate::task::{TaskPrograms, TaskRun, find_task, shown};

/// Where tasks are run: what was found, and a folder on the disk of the record, as what is kept is
/// kept there.
struct Scene<'a> {
    plan: &'a Plan,
    found: Vec<Result<TaskPrograms, Missing>>,
    folder: tempfile::TempDir,
    /// Paths of sockets have at most 108 bytes: they have a folder of their own.
    sockets: tempfile::TempDir,
}

/// Runs the remaining steps of a lab and returns its record.
pub(super) fn run(plan: &Plan, options: &mut Options<'_>) -> Result<LabRecord, RunError> {
    let out = Out::open(&options.out)?;
    let fail = |error| RunError::Folder(options.out.clone(), error);
    let builder = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix("vervet-lab-");
        builder
    };
    let scene = Scene {
        plan,
        found: plan.tasks.tasks.iter().map(|task| find_task(task, plan)).collect(),
        folder: builder()
            .tempdir_in(std::path::absolute(&options.out).map_err(fail)?)
            .map_err(fail)?,
        sockets: builder().tempdir().map_err(fail)?,
    };
    scene.announce(options)?;
    let (mut journal, mut record) = resume::open(plan, &out, scene.head(&options.program))?;
    if record.ended_unix_ms.is_some() {
        options.progress.message("all steps of this lab are done");
        return Ok(record);
    }
    scene.steps(options, &mut journal, &out, &mut record)?;
    end(&mut journal, &out, &mut record)?;
    Ok(record)
}

impl Scene<'_> {
    /// Reports skipped tasks; an error if none are left.
    fn announce(&self, options: &mut Options<'_>) -> Result<(), RunError> {
        for (task, found) in self.plan.tasks.tasks.iter().zip(&self.found) {
            if let Err(Missing(why)) = found {
                options.progress.message(&format!("{} skipped: {why}", task.name));
            }
        }
        if self.found.iter().all(Result::is_err) {
            return Err(RunError::NobodyThere);
        }
        Ok(())
    }

    fn head(&self, program: &str) -> crate::record::Head {
        let steps = &self.plan.tasks.steps;
        let there = steps.iter().filter(|step| self.found[step.task].is_ok());
        let mut head = resume::head(self.plan, program, there.count(), self.subjects());
        let disk = file_system(self.folder.path());
        head.environment.add("lab", "file system of the record", disk, Weight::Decides);
        head
    }

    /// The tasks, as a record has what took part.
    fn subjects(&self) -> Vec<Subject> {
        let of = self.plan.tasks.tasks.iter().zip(&self.found);
        of.map(|(task, found)| Subject {
            name: task.name.clone(),
            adapter: match &task.start {
                TaskStart::Adapter(adapter, _) => adapter.name.to_owned(),
                TaskStart::Command(_) => "command".to_owned(),
            },
            role: Role::Contestant,
            version: found.as_ref().ok().and_then(|found| found.version.clone()),
            command: found.as_ref().map_or_else(|_| Vec::new(), |found| self.command(task, found)),
            configuration: String::new(),
            cores: None,
            state: match found {
                Ok(_) => SubjectState::Present,
                Err(missing) => SubjectState::Skipped { reason: missing.0.clone() },
            },
        })
        .collect()
    }

    /// The command of a task as a record has it: of a program of ours its name, of the lab file's
    /// own each word.
    fn command(&self, task: &PlannedTask, found: &TaskPrograms) -> Vec<String> {
        let words = shown(self.plan, task, found);
        match &task.start {
            TaskStart::Adapter(..) => words.iter().map(|word| shown_word(word)).collect(),
            TaskStart::Command(_) => words,
        }
    }

    /// The steps that are left.
    fn steps(
        &self,
        options: &mut Options<'_>,
        journal: &mut Journal,
        out: &Out,
        record: &mut LabRecord,
    ) -> Result<(), RunError> {
        let begin = Instant::now();
        let done: BTreeSet<u32> = record.tasks.iter().map(|step| step.order).collect();
        let of = usize::try_from(record.head.steps_planned).unwrap_or(usize::MAX);
        for place in &self.plan.tasks.steps {
            let Ok(found) = &self.found[place.task] else {
                continue;
            };
            if done.contains(&place.order) {
                continue;
            }
            if begin.elapsed() > self.plan.time_limit {
                options
                    .progress
                    .message("time limit of the lab reached: the remaining steps are left out");
                break;
            }
            let step = self.step(place, found, options)?;
            append(journal, out, &JournalLine::Task(Box::new(step.clone())))?;
            options.progress.task(record.tasks.len() + 1, of, &step);
            record.tasks.push(step);
        }
        Ok(())
    }

    /// One run of one task. An interrupted run is repeated when the lab is resumed.
    fn step(
        &self,
        place: &PlannedTaskRun,
        found: &TaskPrograms,
        options: &Options<'_>,
    ) -> Result<TaskStep, RunError> {
        let task = &self.plan.tasks.tasks[place.task];
        let began_unix_ms = resume::unix_ms();
        let told = TaskRun {
            plan: self.plan,
            task,
            found,
            folder: &self.folder.path().join(&task.name),
            socket: &self.sockets.path().join(&task.name),
            interrupted: options.interrupted,
        }
        .pass();
        let told = told.map_err(|error| RunError::Folder(self.folder.path().to_owned(), error))?;
        if options.interrupted.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted);
        }
        Ok(TaskStep {
            order: place.order,
            task: task.name.clone(),
            group: task.group.clone(),
            repeat: place.repeat,
            began_unix_ms,
            outcome: told.outcome,
            phases: told.said.phases,
            facts: told.said.facts,
        })
    }
}

/// What the kernel calls the file system of a folder: on one in memory nothing is durable.
fn file_system(folder: &Path) -> String {
    let Ok(found) = statfs(folder) else {
        return "unknown".to_owned();
    };
    // statfs(2): the numbers of the file systems that servers have.
    let known = [
        (0xEF53, "ext4"),
        (0x0102_1994, "tmpfs: in memory, not durable"),
        (0x9123_683E, "btrfs"),
        (0x5846_5342, "xfs"),
        (0x2FC1_2FC1, "zfs"),
        (0x794C_7630, "overlay"),
        (0xF2F5_2010, "f2fs"),
    ];
    let number = u64::try_from(found.f_type).unwrap_or_default();
    let name = known.iter().find(|(one, _)| *one == number);
    name.map_or(format!("type {number:#x} of statfs(2)"), |(_, name)| (*name).to_owned())
}
