//! The same task in two records: how long each of its phases takes, and all of them together.

use super::comparison::{Comparison, Gone, Guarded, Tell, tell};
use crate::present::outcome_text;
use crate::statistics::{
    ALL_PHASES, Better, Figure, PhaseFigures, Ratio, TaskFigures, TaskGroup, group_title, median,
};

/// A task in both.
#[derive(Debug, Clone)]
pub struct TaskRow {
    /// A heading: its group.
    pub group: String,
    /// The task; two names where each record has one task only and they are not called alike.
    pub task: String,
    /// Its phases that both have, in the order of the base; at the end all of them together.
    pub phases: Vec<PhaseChange>,
}

/// The time of a phase in both.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseChange {
    /// The phase, or `all phases`.
    pub phase: String,
    /// Whether it stands for the task: all phases together, or one that is part of no whole.
    pub is_whole: bool,
    /// The median in the base, in seconds.
    pub base: f64,
    /// The median in the other, in seconds.
    pub other: f64,
    /// The other divided by the base; none where the base is zero.
    pub ratio: Option<Ratio>,
    /// What is to be told.
    pub tell: Tell,
}

impl TaskRow {
    /// Whether a phase that is guarded became worse.
    pub(super) fn has_regressed(&self, guarded: &[Guarded]) -> bool {
        let is_guarded = |change: &PhaseChange| {
            let by_name = guarded.contains(&Guarded::Phase(change.phase.clone()));
            by_name || (change.is_whole && guarded.contains(&Guarded::Figure(Figure::Goodput)))
        };
        let mut worse = self
            .phases
            .iter()
            .filter(|change| change.tell == Tell::Worse);
        worse.any(is_guarded)
    }
}

/// Each task with its group.
type Tasks<'a> = Vec<(&'a str, &'a TaskFigures)>;

/// Holds the tasks of one record against those of another, which is the base.
pub(super) fn hold_tasks(comparison: &mut Comparison, base: &[TaskGroup], other: &[TaskGroup]) {
    let (base, other) = (tasks(base), tasks(other));
    for (group, task) in &base {
        let found = counterpart(task, &base, &other);
        if let Some(found) = found.filter(|found| found.measured > 0 && task.measured > 0) {
            let row = row(group, task, found, comparison);
            comparison.tasks.push(row);
        }
        // What failed in the base as well was not lost since.
        let failed = found.filter(|found| task.failures.is_empty() && !found.failures.is_empty());
        let is_gone = found.is_none() && task.measured > 0;
        if is_gone || failed.is_some() {
            comparison.gone.push(gone(group, task, failed));
        }
    }
    for (group, task) in &other {
        if counterpart(task, &other, &base).is_none() && task.measured > 0 {
            comparison.gone.push(gone(group, task, None));
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

fn row(
    group: &str,
    base: &TaskFigures,
    other: &TaskFigures,
    comparison: &mut Comparison,
) -> TaskRow {
    let rule = Rule {
        are_enough: base.has_enough_repeats() && other.has_enough_repeats(),
        tolerance: comparison.tolerance,
    };
    let mut phases = Vec::new();
    let mut are_same = true;
    for phase in &base.phases {
        match same_work(phase, other) {
            Ok(found) => phases.extend(rule.change(&phase.name, &phase.times, &found.times)),
            Err(reason) => {
                are_same = false;
                comparison.gone.push(Gone {
                    panel: group_title(group).to_owned(),
                    subject: base.name.clone(),
                    load: phase.name.clone(),
                    reason,
                    lost: false,
                });
            }
        }
    }
    let is_part = |name: &str| base.phase(name).is_some_and(|phase| phase.share.is_some());
    for change in &mut phases {
        change.is_whole = !is_part(&change.phase);
    }
    if are_same && base.total.is_some() && other.total.is_some() {
        phases.extend(rule.change(ALL_PHASES, &base.totals, &other.totals));
    }
    TaskRow {
        group: group_title(group).to_owned(),
        task: if base.name == other.name {
            base.name.clone()
        } else {
            format!("{} against {}", other.name, base.name)
        },
        phases,
    }
}

/// When a change is told.
struct Rule {
    are_enough: bool,
    tolerance: f64,
}

impl Rule {
    /// What became of a time; none where a record has none.
    fn change(&self, phase: &str, before: &[f64], after: &[f64]) -> Option<PhaseChange> {
        Some(PhaseChange {
            phase: phase.to_owned(),
            is_whole: true,
            base: median(before)?,
            other: median(after)?,
            ratio: Ratio::of(before, after),
            tell: if self.are_enough {
                tell(Better::Lower, before, after, self.tolerance)
            } else {
                Tell::Unproven
            },
        })
    }
}

/// The phase of the other with as many operations; why there is none.
fn same_work<'a>(phase: &PhaseFigures, other: &'a TaskFigures) -> Result<&'a PhaseFigures, String> {
    let found = other
        .phase(&phase.name)
        .ok_or_else(|| "there is no such phase".to_owned())?;
    if found.operations == phase.operations {
        return Ok(found);
    }
    Err(format!(
        "{} operations in the base, {} in the other",
        phase.operations, found.operations
    ))
}

/// A task that one record has alone, or that failed in the other.
fn gone(group: &str, task: &TaskFigures, failed: Option<&TaskFigures>) -> Gone {
    let outcome = failed.and_then(|failed| failed.failures.first());
    Gone {
        panel: group_title(group).to_owned(),
        subject: task.name.clone(),
        load: ALL_PHASES.to_owned(),
        reason: outcome
            .and_then(outcome_text)
            .unwrap_or_else(|| "it was not run".to_owned()),
        lost: failed.is_some(),
    }
}
