//! The comparison itself: the same subject under the same load in two records.

use crate::record::{LabRecord, LoadPoint};
use crate::statistics::{
    Analysis, Better, Curve, Figure, Panel, Point, Ratio, Unit, Unreadable, median,
};

use super::differences::differences;
use super::tasks::compare_tasks;

/// A change within this share of the base is not reported, however narrow the interval is: two labs
/// on one machine differ by so much if nothing was changed.
pub const TOLERANCE: f64 = 0.02;
/// Repeats of both that a difference needs: the interval of fewer covers the true median in less
/// than nine of ten cases.
pub(super) const REPEATS_MIN: usize = 5;

/// Two records compared with each other. The first is the base.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// What makes them hard to compare, one sentence each; empty if nothing does.
    pub cautions: Vec<String>,
    /// Subjects under loads that both have, in the order of the base.
    pub rows: Vec<Row>,
    /// Tasks that both have, in the order of the base; without a load.
    pub tasks: Vec<Row>,
    /// What only one of them has a figure of.
    pub unmatched: Vec<Unmatched>,
    /// The share of the base within which a change is not reported.
    pub tolerance: f64,
}

/// One subject under one load, or one task, in both.
#[derive(Debug, Clone)]
pub struct Row {
    /// The heading of the panel, or of the group of tasks.
    pub panel: String,
    /// The name of the subject or task; two names if each record has only one and they differ.
    pub subject: String,
    /// The load; none for a task.
    pub load: Option<LoadPoint>,
    /// The figures that both have; of a task, its phases and at the end all of them together.
    pub changes: Vec<Change>,
}

/// One figure in both.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The figure or phase that was measured.
    pub measure: Measure,
    /// The median in the base.
    pub base: f64,
    /// The median in the other.
    pub other: f64,
    /// Repeats of the base and of the other that the figures and their interval rest on.
    pub repeats: [usize; 2],
    /// The other divided by the base; none if the base is zero.
    pub ratio: Option<Ratio>,
    /// Whether the other is better or worse.
    pub verdict: ChangeVerdict,
}

/// What a change is measured in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Measure {
    /// A figure of a server.
    Figure(Figure),
    /// The time of a phase of a task, in seconds.
    Phase {
        /// The phase, or `all phases`.
        name: String,
        /// Whether it is the figure of the task: the total, or a probe.
        is_whole: bool,
    },
}

/// Whether the other record is better than the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeVerdict {
    /// The other is better, beyond the interval.
    Better,
    /// The other is worse, beyond the interval.
    Worse,
    /// There is no significant difference.
    NoDifference,
    /// They seem to differ, but have fewer repeats than [`REPEATS_MIN`]; or one of them has a
    /// single repeat, or too few valid ones.
    Unproven,
}

/// A figure that must not become worse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guarded {
    /// A figure of servers. Goodput includes the time of tasks: that of all phases together, and of
    /// each phase that is part of no whole.
    Figure(Figure),
    /// The time of a phase of tasks.
    Phase(String),
}

/// What only one of the records has a figure of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmatched {
    /// The heading of the panel or group.
    pub panel: String,
    /// The name of the subject or task.
    pub subject: String,
    /// The load, or the phase.
    pub load: String,
    /// Why the other lab has no figures, if known.
    pub reason: String,
    /// Whether the base has it: then it was lost.
    pub lost: bool,
}

/// The figures of a comparison, in its order.
pub const COMPARED: [Figure; 10] = [
    Figure::Goodput,
    Figure::ErrorShare,
    Figure::ResponseMean,
    Figure::ResponseP50,
    Figure::ResponseP90,
    Figure::ResponseP99,
    Figure::ResponseMax,
    Figure::CpuPerRequest,
    Figure::MemoryPeak,
    Figure::Apdex,
];

impl Comparison {
    /// Compares a record with the base.
    pub fn new(base: &LabRecord, other: &LabRecord, tolerance: f64) -> Result<Self, Unreadable> {
        let (first, second) = (Analysis::new(base)?, Analysis::new(other)?);
        let mut comparison = Self {
            cautions: differences(base, other),
            rows: Vec::new(),
            tasks: Vec::new(),
            unmatched: Vec::new(),
            tolerance,
        };
        compare_tasks(&mut comparison, &first.groups, &second.groups);
        for panel in &first.panels {
            let same = second.panels.iter().find(|other| other.title() == panel.title());
            comparison.compare_panel(panel, same);
        }
        let known =
            |panel: &Panel| first.panels.iter().find(|other| other.title() == panel.title());
        for panel in &second.panels {
            comparison.list_new(panel, known(panel));
        }
        Ok(comparison)
    }

    /// Whether nothing is in both.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.tasks.is_empty()
    }

    /// Whether something that is guarded became worse, or a subject has no figures any more.
    pub fn has_regressed(&self, guarded: &[Guarded]) -> bool {
        let rows = self.rows.iter().chain(&self.tasks);
        let mut changes = rows.flat_map(|row| &row.changes);
        changes
            .any(|change| change.verdict == ChangeVerdict::Worse && change.measure.is_in(guarded))
            || self.unmatched.iter().any(|one| one.lost)
    }

    fn compare_panel(&mut self, panel: &Panel, other: Option<&Panel>) {
        for curve in panel.contestants() {
            let same = other.and_then(|other| counterpart(panel, curve, other));
            for point in curve.points.iter().filter(|point| point.has_figures()) {
                let found = same.and_then(|same| at(same, point.load));
                match found {
                    Some(found) if found.has_figures() => self.rows.push(Row {
                        panel: panel.title(),
                        subject: names(
                            &curve.subject,
                            same.map_or(&curve.subject, |same| &same.subject),
                        ),
                        load: Some(point.load),
                        changes: self.changes(point, found),
                    }),
                    _ => self.unmatched.push(unmatched(panel, curve, point, found, Side::Base)),
                }
            }
        }
    }

    fn list_new(&mut self, panel: &Panel, base: Option<&Panel>) {
        for curve in panel.contestants() {
            let same = base.and_then(|base| counterpart(panel, curve, base));
            for point in curve.points.iter().filter(|point| point.has_figures()) {
                let found = same.and_then(|same| at(same, point.load));
                if found.is_none_or(|found| !found.has_figures()) {
                    self.unmatched.push(unmatched(panel, curve, point, found, Side::Other));
                }
            }
        }
    }

    fn changes(&self, base: &Point, other: &Point) -> Vec<Change> {
        let are_enough = base.is_ranked() && other.is_ranked();
        let tolerance = are_enough.then_some(self.tolerance);
        let change = |figure: Figure| {
            let values = [base.values(figure), other.values(figure)];
            Self::change(Measure::Figure(figure), &values, tolerance)
        };
        COMPARED.into_iter().filter_map(change).collect()
    }

    /// The change of what was measured `[before, after]`; none if a record has no value. Without a
    /// tolerance there are too few valid repeats for a verdict.
    pub(super) fn change(
        measure: Measure,
        [before, after]: &[Vec<f64>; 2],
        tolerance: Option<f64>,
    ) -> Option<Change> {
        let verdict = tolerance.map_or(ChangeVerdict::Unproven, |tolerance| {
            verdict(measure.better(), before, after, tolerance)
        });
        Some(Change {
            measure,
            base: median(before)?,
            other: median(after)?,
            repeats: [before.len(), after.len()],
            ratio: Ratio::from_repeats(before, after),
            verdict,
        })
    }
}

impl Measure {
    /// The label in reports.
    pub fn label(&self) -> &str {
        match self {
            Self::Figure(figure) => figure.label(),
            Self::Phase { name, .. } => name,
        }
    }

    /// Formats a value with its unit.
    pub fn text(&self, value: f64) -> String {
        match self {
            Self::Figure(figure) => figure.unit().text(value),
            Self::Phase { .. } => Unit::Milliseconds.text(value * 1e3),
        }
    }

    fn better(&self) -> Better {
        match self {
            Self::Figure(figure) => figure.better(),
            Self::Phase { .. } => Better::Lower,
        }
    }

    fn is_in(&self, guarded: &[Guarded]) -> bool {
        match self {
            Self::Figure(figure) => guarded.contains(&Guarded::Figure(*figure)),
            Self::Phase { name, is_whole } => {
                guarded.contains(&Guarded::Phase(name.clone()))
                    || *is_whole && guarded.contains(&Guarded::Figure(Figure::Goodput))
            }
        }
    }
}

/// Compares the repeats `before` and `after`: there is a difference if the whole interval of their
/// ratio is further from 1 than the tolerance, and both have enough repeats.
fn verdict(better: Better, before: &[f64], after: &[f64], tolerance: f64) -> ChangeVerdict {
    if before.len() < 2 || after.len() < 2 {
        return ChangeVerdict::Unproven;
    }
    let (up, down) = match Ratio::from_repeats(before, after) {
        Some(ratio) => (ratio.low > 1.0 + tolerance, ratio.high < 1.0 - tolerance),
        // No ratio to a median of nothing: the repeats must not even touch.
        None => (is_above(after, before), is_above(before, after)),
    };
    let are_enough = before.len().min(after.len()) >= REPEATS_MIN;
    match (better, up, down) {
        (_, false, false) => ChangeVerdict::NoDifference,
        _ if !are_enough => ChangeVerdict::Unproven,
        (Better::Higher, true, _) | (Better::Lower, false, _) => ChangeVerdict::Better,
        (Better::Higher, false, _) | (Better::Lower, true, _) => ChangeVerdict::Worse,
    }
}

/// Whether each of some values is above each of others.
fn is_above(values: &[f64], others: &[f64]) -> bool {
    values.iter().all(|value| others.iter().all(|other| value > other))
}

/// The curve of the same name; where both panels have one contestant only, that one.
fn counterpart<'a>(panel: &Panel, curve: &Curve, other: &'a Panel) -> Option<&'a Curve> {
    let same = other.contestants().find(|candidate| candidate.subject == curve.subject);
    let alone = panel.contestants().count() == 1 && other.contestants().count() == 1;
    same.or_else(|| other.contestants().next().filter(|_| alone))
}

/// The name of a subject, or both names if they differ.
pub(super) fn names(base: &str, other: &str) -> String {
    if base == other { base.to_owned() } else { format!("{other} against {base}") }
}

fn at(curve: &Curve, load: LoadPoint) -> Option<&Point> {
    curve.points.iter().find(|point| point.load == load)
}

#[derive(Clone, Copy)]
enum Side {
    Base,
    Other,
}

fn unmatched(
    panel: &Panel,
    curve: &Curve,
    point: &Point,
    found: Option<&Point>,
    side: Side,
) -> Unmatched {
    let reason = found.and_then(|found| found.standing().reason());
    let reason = reason.unwrap_or_else(|| "not run".to_owned());
    Unmatched {
        panel: panel.title(),
        subject: curve.subject.clone(),
        load: point.load.to_string(),
        reason,
        // What was not run was left out by somebody; what was run and failed was lost.
        lost: matches!(side, Side::Base) && found.is_some(),
    }
}
