//! Analysis of tasks over repeats: time and share of each phase, and ranks within a group.

use super::estimate::Estimate;
use super::number::{milliseconds, number, share};
use super::point::RANKED_REPEATS_MIN;
use crate::record::{LabRecord, Outcome, Phase, TaskStep};

/// Name of the total of all phases. Names of phases have no spaces.
pub(crate) const ALL_PHASES: &str = "all phases";

/// Tasks that promise the same, and are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskGroup {
    /// Its name; empty where the lab has one group only.
    pub name: String,
    /// Its tasks, by the time that all phases take together, least first; those without one at the
    /// end.
    pub tasks: Vec<TaskFigures>,
}

/// A heading for a group of this name.
pub(crate) fn group_title(name: &str) -> &str {
    match name {
        "" => "Time by phase",
        name => name,
    }
}

/// The figures of a task over its repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskFigures {
    /// The name in the lab file or output.
    pub name: String,
    /// Rank from 1; `None` if too few repeats were completed or there is no total. Tasks without a
    /// significant difference from the first of a rank share it.
    pub place: Option<usize>,
    /// Its phases, in their order.
    pub phases: Vec<PhaseFigures>,
    /// How long those phases that are parts of the whole took together, in seconds.
    pub total: Option<Estimate>,
    /// The total in each completed repeat.
    pub totals: Vec<f64>,
    /// Number of requested repeats.
    pub asked: usize,
    /// Number of completed repeats.
    pub measured: usize,
    /// The outcomes of repeats that did not.
    pub failures: Vec<Outcome>,
}

/// The figures of a phase over the repeats of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseFigures {
    /// The name in the lab file or output.
    pub name: String,
    /// Its operations, each time.
    pub operations: u64,
    /// How long it took, in seconds.
    pub seconds: Estimate,
    /// The same in each repeat that has it.
    pub times: Vec<f64>,
    /// Which share it had of the whole of the same repeat; none of a phase that is part of none.
    pub share: Option<Estimate>,
}

impl PhaseFigures {
    /// Operations per second, with their interval.
    pub fn per_second(&self) -> Estimate {
        let of = |seconds: f64| number(self.operations) / seconds;
        Estimate {
            median: of(self.seconds.median),
            low: of(self.seconds.high),
            high: of(self.seconds.low),
            least: of(self.seconds.greatest),
            greatest: of(self.seconds.least),
            repeats: self.seconds.repeats,
            below: self.seconds.above,
            above: self.seconds.below,
        }
    }

    /// Seconds for one operation: the median.
    pub fn seconds_each(&self) -> f64 {
        1.0 / self.per_second().median
    }
}

impl TaskFigures {
    /// A phase by its name.
    pub fn phase(&self, name: &str) -> Option<&PhaseFigures> {
        self.phases.iter().find(|phase| phase.name == name)
    }

    /// Whether enough repeats were completed for a comparison ([`RANKED_REPEATS_MIN`]).
    pub fn has_enough_repeats(&self) -> bool {
        self.measured >= self.asked.min(RANKED_REPEATS_MIN)
    }
}

/// All groups of a record, in the order of the lab file.
pub(super) fn task_groups(record: &LabRecord) -> Vec<TaskGroup> {
    let mut groups: Vec<TaskGroup> = Vec::new();
    for subject in &record.head.subjects {
        let steps: Vec<&TaskStep> =
            record.tasks.iter().filter(|step| step.task == subject.name).collect();
        let Some(first) = steps.first() else {
            continue;
        };
        let task = figures(&subject.name, &steps, record.head.repeats);
        match groups.iter_mut().find(|group| group.name == first.group) {
            Some(group) => group.tasks.push(task),
            None => groups.push(TaskGroup { name: first.group.clone(), tasks: vec![task] }),
        }
    }
    for group in &mut groups {
        rank(&mut group.tasks);
    }
    groups
}

fn figures(name: &str, steps: &[&TaskStep], repeats: u32) -> TaskFigures {
    let is_measured = |step: &&&TaskStep| step.outcome == Outcome::Measured;
    let measured: Vec<&TaskStep> = steps.iter().filter(is_measured).copied().collect();
    let failed = steps.iter().filter(|step| !is_measured(step));
    let names = measured.first().map_or(&[][..], |step| &step.phases);
    let totals: Vec<f64> = measured.iter().map(|step| seconds(whole(step))).collect();
    let has_whole = totals.iter().all(|total| *total > 0.0);
    TaskFigures {
        name: name.to_owned(),
        place: None,
        phases: names.iter().filter_map(|phase| phase_figures(phase, &measured)).collect(),
        total: Estimate::from_repeats(&totals).filter(|_| has_whole),
        totals,
        asked: usize::try_from(repeats).unwrap_or(usize::MAX),
        measured: measured.len(),
        failures: failed.map(|step| step.outcome.clone()).collect(),
    }
}

/// The figures of a phase over all repeats that have it.
fn phase_figures(phase: &Phase, measured: &[&TaskStep]) -> Option<PhaseFigures> {
    let found: Vec<(u64, u64)> = measured
        .iter()
        .filter_map(|step| {
            let same = |one: &&Phase| one.name == phase.name;
            Some((step.phases.iter().find(same)?.time_ns, whole(step)))
        })
        .collect();
    let times: Vec<f64> = found.iter().map(|(time, _)| seconds(*time)).collect();
    let shares: Vec<f64> = found.iter().map(|(time, of)| share(*time, *of)).collect();
    Some(PhaseFigures {
        name: phase.name.clone(),
        operations: phase.operations,
        seconds: Estimate::from_repeats(&times)?,
        share: Estimate::from_repeats(&shares).filter(|_| phase.is_part),
        times,
    })
}

/// How long the parts of the whole took together, in nanoseconds.
fn whole(step: &TaskStep) -> u64 {
    let parts = step.phases.iter().filter(|phase| phase.is_part);
    parts.map(|phase| phase.time_ns).sum()
}

fn seconds(time_ns: u64) -> f64 {
    milliseconds(time_ns) / 1e3
}

/// Ranks tasks by their total, lowest first.
fn rank(tasks: &mut [TaskFigures]) {
    let total = |task: &TaskFigures| task.total.map_or(f64::INFINITY, |total| total.median);
    tasks.sort_by(|one, other| total(one).total_cmp(&total(other)));
    let mut first: Option<(usize, Estimate)> = None;
    let mut placed = 0;
    for task in tasks {
        let Some(total) = task.total.filter(|_| task.has_enough_repeats()) else {
            continue;
        };
        placed += 1;
        let place = match first {
            Some((place, of)) if of.ties_with(&total) => place,
            _ => placed,
        };
        if first.is_none_or(|(of, _)| of != place) {
            first = Some((place, total));
        }
        task.place = Some(place);
    }
}
