//! The same task in two records: how long each of its phases takes, and all of them together.

use super::comparison::{Comparison, Measure, Row, Unmatched, names};
use crate::record::Outcome;
use crate::statistics::{ALL_PHASES, PhaseFigures, TaskFigures, TaskGroup, group_title};

/// Each task with its group.
type Tasks<'a> = Vec<(&'a str, &'a TaskFigures)>;

/// Compares the tasks of one record with those of another, which is the base.
pub(super) fn compare_tasks(comparison: &mut Comparison, base: &[TaskGroup], other: &[TaskGroup]) {
    let (base, other) = (tasks(base), tasks(other));
    for (group, task) in &base {
        let found = counterpart(task, &base, &other);
        if let Some(found) = found.filter(|found| found.measured > 0 && task.measured > 0) {
            let row = row(comparison, group, task, found);
            comparison.tasks.push(row);
        }
        // What failed in the base as well was not lost since.
        let failed = found.filter(|found| task.failures.is_empty() && !found.failures.is_empty());
        let is_gone = found.is_none() && task.measured > 0;
        if is_gone || failed.is_some() {
            comparison.unmatched.push(unmatched(group, task, failed));
        }
    }
    for (group, task) in &other {
        if counterpart(task, &other, &base).is_none() && task.measured > 0 {
            comparison.unmatched.push(unmatched(group, task, None));
        }
    }
}

fn tasks(groups: &[TaskGroup]) -> Tasks<'_> {
    let each = groups.iter().flat_map(|group| {
        let tasks = group.tasks.iter();
        tasks.map(|task| (group.name.as_str(), task))
    });
    each.collect()
}

/// The task of the same name; where both records have one task only, that one.
fn counterpart<'a>(
    task: &TaskFigures,
    tasks: &Tasks<'_>,
    others: &Tasks<'a>,
) -> Option<&'a TaskFigures> {
    let mut same = others.iter().filter(|(_, other)| other.name == task.name);
    let found = same.next().or_else(|| {
        let are_alone = tasks.len() == 1 && others.len() == 1;
        others.first().filter(|_| are_alone)
    });
    found.map(|(_, other)| *other)
}

fn row(comparison: &mut Comparison, group: &str, base: &TaskFigures, other: &TaskFigures) -> Row {
    let are_enough = base.has_enough_repeats() && other.has_enough_repeats();
    let tolerance = are_enough.then_some(comparison.tolerance);
    let mut changes = Vec::new();
    let mut are_same = true;
    for phase in &base.phases {
        match same_work(phase, other) {
            Ok(found) => {
                let measure =
                    Measure::Phase { name: phase.name.clone(), is_whole: phase.share.is_none() };
                let times = [phase.times.clone(), found.times.clone()];
                changes.extend(Comparison::change(measure, &times, tolerance));
            }
            Err(reason) => {
                are_same = false;
                comparison.unmatched.push(Unmatched {
                    panel: group_title(group).to_owned(),
                    subject: base.name.clone(),
                    load: phase.name.clone(),
                    reason,
                    lost: false,
                });
            }
        }
    }
    if are_same && base.total.is_some() && other.total.is_some() {
        let measure = Measure::Phase { name: ALL_PHASES.to_owned(), is_whole: true };
        let totals = [base.totals.clone(), other.totals.clone()];
        changes.extend(Comparison::change(measure, &totals, tolerance));
    }
    Row {
        panel: group_title(group).to_owned(),
        subject: names(&base.name, &other.name),
        load: None,
        changes,
    }
}

/// The same phase of the other lab with as many operations, or why there is none.
fn same_work<'a>(phase: &PhaseFigures, other: &'a TaskFigures) -> Result<&'a PhaseFigures, String> {
    let found = other.phase(&phase.name).ok_or_else(|| "no such phase".to_owned())?;
    if found.operations == phase.operations {
        return Ok(found);
    }
    Err(format!("{} operations in the base, {} in the other", phase.operations, found.operations))
}

/// A task that one record has alone, or that failed in the other.
fn unmatched(group: &str, task: &TaskFigures, failed: Option<&TaskFigures>) -> Unmatched {
    let outcome = failed.and_then(|failed| failed.failures.first());
    Unmatched {
        panel: group_title(group).to_owned(),
        subject: task.name.clone(),
        load: ALL_PHASES.to_owned(),
        reason: outcome.and_then(Outcome::failure).unwrap_or_else(|| "not run".to_owned()),
        lost: failed.is_some(),
    }
}
