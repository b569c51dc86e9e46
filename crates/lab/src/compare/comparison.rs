//! The comparison itself: the same subject under the same load in two records.

use crate::record::{LabRecord, LoadPoint};
use crate::statistics::{Analysis, Better, Curve, Figure, Panel, Point, Ratio, Unreadable};

use super::differences::differences;
use super::tasks::{TaskRow, hold_tasks};

/// A change within this share of the base is no difference, however narrow the interval is: two labs on one machine
/// differ by so much when nothing was changed.
pub const TOLERANCE: f64 = 0.02;

/// Two records held against each other. The first is the base.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// What makes them hard to compare, one sentence each; empty where nothing does.
    pub cautions: Vec<String>,
    /// Subjects under loads that both have, in the order of the base.
    pub rows: Vec<Row>,
    /// Tasks that both have, in the order of the base.
    pub tasks: Vec<TaskRow>,
    /// What one of them has a figure of, and the other not.
    pub gone: Vec<Gone>,
    /// The share of the base within which a change is no difference.
    pub tolerance: f64,
}

/// One subject under one load in both.
#[derive(Debug, Clone)]
pub struct Row {
    /// The panel's heading.
    pub panel: String,
    /// The subject; two names where each record has one subject only and they are not called alike.
    pub subject: String,
    /// The load.
    pub load: LoadPoint,
    /// Figure by figure.
    pub changes: Vec<Change>,
}

/// One figure in both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Which.
    pub figure: Figure,
    /// The median in the base.
    pub base: f64,
    /// The median in the other.
    pub other: f64,
    /// The other divided by the base; none where the base is zero.
    pub ratio: Option<Ratio>,
    /// What is to be told.
    pub tell: Tell,
}

/// What is to be told of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tell {
    /// The other is better, beyond the interval.
    Better,
    /// The other is worse, beyond the interval.
    Worse,
    /// There is no significant difference.
    NoDifference,
    /// One of them has a single repeat, or too few that count, so nothing is told.
    Unproven,
}

/// What may not become worse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guarded {
    /// A figure of servers. Goodput stands for the time of tasks, too: that of all phases together, and of each phase that
    /// is part of no whole.
    Figure(Figure),
    /// The time of a phase of tasks.
    Phase(String),
}

/// What only one of the records has a figure of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gone {
    /// The panel's heading.
    pub panel: String,
    /// The subject.
    pub subject: String,
    /// The load, or the phase.
    pub load: String,
    /// Why the other has none, where it says.
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
    /// Holds a record against another, which is the base.
    pub fn of(base: &LabRecord, other: &LabRecord, tolerance: f64) -> Result<Self, Unreadable> {
        let (first, second) = (Analysis::of(base)?, Analysis::of(other)?);
        let mut comparison = Self {
            cautions: differences(base, other),
            rows: Vec::new(),
            tasks: Vec::new(),
            gone: Vec::new(),
            tolerance,
        };
        hold_tasks(&mut comparison, &first.groups, &second.groups);
        for panel in &first.panels {
            let same = second
                .panels
                .iter()
                .find(|other| other.title() == panel.title());
            comparison.hold_panel(panel, same);
        }
        let known = |panel: &Panel| {
            first
                .panels
                .iter()
                .find(|other| other.title() == panel.title())
        };
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
        let is_guarded = |figure: Figure| guarded.contains(&Guarded::Figure(figure));
        let changes = self.rows.iter().flat_map(|row| &row.changes);
        let mut worse = changes.filter(|change| change.tell == Tell::Worse);
        worse.any(|change| is_guarded(change.figure))
            || self.tasks.iter().any(|row| row.has_regressed(guarded))
            || self.gone.iter().any(|gone| gone.lost)
    }

    fn hold_panel(&mut self, panel: &Panel, other: Option<&Panel>) {
        for curve in panel.contestants() {
            let same = other.and_then(|other| counterpart(panel, curve, other));
            for point in curve.points.iter().filter(|point| point.has_figures()) {
                let found = same.and_then(|same| at(same, point.load));
                match found {
                    Some(found) if found.has_figures() => self.rows.push(Row {
                        panel: panel.title(),
                        subject: names(curve, same),
                        load: point.load,
                        changes: self.changes(point, found),
                    }),
                    _ => self.gone.push(gone(panel, curve, point, found, Side::Base)),
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
                    self.gone
                        .push(gone(panel, curve, point, found, Side::Other));
                }
            }
        }
    }

    fn changes(&self, base: &Point, other: &Point) -> Vec<Change> {
        let are_enough = base.is_ranked() && other.is_ranked();
        let change = |figure: Figure| {
            let (before, after) = (base.values(figure), other.values(figure));
            Some(Change {
                figure,
                base: base.median(figure)?,
                other: other.median(figure)?,
                ratio: Ratio::of(&before, &after),
                tell: if are_enough {
                    tell(figure.better(), &before, &after, self.tolerance)
                } else {
                    Tell::Unproven
                },
            })
        };
        COMPARED.into_iter().filter_map(change).collect()
    }
}

/// What is to be told of a figure whose repeats were `before` and are `after`: a difference is one when even the kinder
/// end of the interval of their ratio is further from 1 than the tolerance.
pub(super) fn tell(better: Better, before: &[f64], after: &[f64], tolerance: f64) -> Tell {
    if before.len() < 2 || after.len() < 2 {
        return Tell::Unproven;
    }
    let (up, down) = match Ratio::of(before, after) {
        Some(ratio) => (ratio.low > 1.0 + tolerance, ratio.high < 1.0 - tolerance),
        // No ratio to a median of nothing: the repeats must not even touch.
        None => (is_above(after, before), is_above(before, after)),
    };
    match (better, up, down) {
        (_, false, false) => Tell::NoDifference,
        (Better::Higher, up, _) => {
            if up {
                Tell::Better
            } else {
                Tell::Worse
            }
        }
        (Better::Lower, up, _) => {
            if up {
                Tell::Worse
            } else {
                Tell::Better
            }
        }
    }
}

/// Whether each of some values is above each of others.
fn is_above(values: &[f64], others: &[f64]) -> bool {
    values
        .iter()
        .all(|value| others.iter().all(|other| value > other))
}

/// The curve of the same name; where both panels have one contestant only, that one.
fn counterpart<'a>(panel: &Panel, curve: &Curve, other: &'a Panel) -> Option<&'a Curve> {
    let same = other
        .contestants()
        .find(|candidate| candidate.subject == curve.subject);
    let alone = panel.contestants().count() == 1 && other.contestants().count() == 1;
    same.or_else(|| other.contestants().next().filter(|_| alone))
}

fn names(curve: &Curve, same: Option<&Curve>) -> String {
    match same.filter(|same| same.subject != curve.subject) {
        Some(other) => format!("{} against {}", other.subject, curve.subject),
        None => curve.subject.clone(),
    }
}

fn at(curve: &Curve, load: LoadPoint) -> Option<&Point> {
    curve.points.iter().find(|point| point.load == load)
}

#[derive(Clone, Copy)]
enum Side {
    Base,
    Other,
}

fn gone(panel: &Panel, curve: &Curve, point: &Point, found: Option<&Point>, side: Side) -> Gone {
    let reason = found.and_then(|found| found.standing().reason());
    let reason = reason.unwrap_or_else(|| "it was not run".to_owned());
    Gone {
        panel: panel.title(),
        subject: curve.subject.clone(),
        load: point.load.to_string(),
        reason,
        // What was not run was left out by somebody; what was run and failed was lost.
        lost: matches!(side, Side::Base) && found.is_some(),
    }
}
