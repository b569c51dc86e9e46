//! The series of tasks: for each phase of each task, and for all of them together, how long each record had it take.

use super::mark::{Before, Mark};
use crate::statistics::{ALL_PHASES, Better, Estimate, TaskFigures, TaskGroup, group_title};

/// One phase of a task, over all records.
#[derive(Debug, Clone)]
pub struct TaskLine {
    /// A heading: the task's group.
    pub group: String,
    /// The task.
    pub task: String,
    /// The phase, or `all phases`.
    pub phase: String,
    /// Whether it stands for the task: all phases together, or one that is part of no whole.
    pub is_whole: bool,
    /// What each record says; none where it does not have it.
    pub entries: Vec<Option<TaskEntry>>,
}

/// What one record says of a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskEntry {
    /// How long it took, in seconds.
    pub seconds: Estimate,
    /// What was done in that time: each phase with its operations. Only the same work is held against each other.
    pub work: Vec<(String, u64)>,
    /// Whether so many repeats came to their end that it can be held against others.
    pub has_enough_repeats: bool,
    /// Against the records before it.
    pub mark: Mark,
}

/// Adds what the record of this number says of its tasks.
pub(super) fn add(lines: &mut Vec<TaskLine>, number: usize, groups: &[TaskGroup]) {
    for group in groups {
        for task in &group.tasks {
            for (phase, is_whole, entry) in entries(task) {
                let line = line(lines, group_title(&group.name), &task.name, &phase);
                line.is_whole = is_whole;
                line.entries.resize(number, None);
                line.entries.push(Some(entry));
            }
        }
    }
}

/// Each phase of a task and whether it stands for it; at the end all of them together.
fn entries(task: &TaskFigures) -> Vec<(String, bool, TaskEntry)> {
    let entry = |seconds: Estimate, work: Vec<(String, u64)>| TaskEntry {
        seconds,
        work,
        has_enough_repeats: task.has_enough_repeats(),
        mark: Mark::TooFew,
    };
    let mut entries = Vec::new();
    let mut whole = Vec::new();
    for phase in &task.phases {
        let work = (phase.name.clone(), phase.operations);
        let is_part = phase.share.is_some();
        if is_part {
            whole.push(work.clone());
        }
        let entry = entry(phase.seconds, vec![work]);
        entries.push((phase.name.clone(), !is_part, entry));
    }
    if let Some(total) = task.total {
        entries.push((ALL_PHASES.to_owned(), true, entry(total, whole)));
    }
    entries
}

fn line<'a>(
    lines: &'a mut Vec<TaskLine>,
    group: &str,
    task: &str,
    phase: &str,
) -> &'a mut TaskLine {
    let known = |line: &TaskLine| line.group == group && line.task == task && line.phase == phase;
    let index = lines.iter().position(known).unwrap_or_else(|| {
        lines.push(TaskLine {
            group: group.to_owned(),
            task: task.to_owned(),
            phase: phase.to_owned(),
            is_whole: false,
            entries: Vec::new(),
        });
        lines.len() - 1
    });
    &mut lines[index]
}

impl TaskLine {
    /// Holds each entry against those before it that did the same.
    pub(super) fn mark(&mut self) {
        let mut before: Vec<(Vec<(String, u64)>, Before)> = Vec::new();
        for entry in self.entries.iter_mut().flatten() {
            if !entry.has_enough_repeats {
                continue;
            }
            let known = before.iter().position(|(work, _)| *work == entry.work);
            let index = known.unwrap_or_else(|| {
                before.push((entry.work.clone(), Before::default()));
                before.len() - 1
            });
            entry.mark = before[index].1.mark(&entry.seconds, Better::Lower);
        }
    }

    /// Whether the last record is a regression of what stands for the task.
    pub(super) fn ends_in_regression(&self) -> bool {
        let last = self.entries.last().and_then(Option::as_ref);
        let is_worse = |entry: &TaskEntry| matches!(entry.mark, Mark::Regression { .. });
        self.is_whole && last.is_some_and(is_worse)
    }
}
