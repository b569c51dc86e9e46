//! A record, sorted: for each workload and kind of load a panel, in it a curve for each subject, on
//! it a point for each load, and in that the repeats.

use std::fmt;

use super::estimate::{Ratio, median};
use super::figure::Figure;
use super::figures::Figures;
use super::point::{Point, Repeat};
use super::ranking::Ranking;
use super::rules::{above_ceiling, at_ceiling, step_findings};
use super::sweep::{ANSWERED_SHARE_MIN, Sweep};
use super::tasks::{TaskGroup, task_groups};
use super::windows::joined;
use crate::record::{Connections, LabRecord, LoadPoint, LoadShape, Role, Step, Subject, Workload};

/// A record, sorted and judged.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// What is compared with each other, in the order of workloads.
    pub panels: Vec<Panel>,
    /// The tasks of a lab of those, by group.
    pub groups: Vec<TaskGroup>,
}

/// One workload under one kind of load: what is compared with each other.
#[derive(Debug, Clone)]
pub struct Panel {
    /// The workload of the panel.
    pub workload: Workload,
    /// Whether the load is closed or open.
    pub kind: LoadKind,
    /// Whether connections were kept.
    pub connections: Connections,
    /// One curve for each subject that has steps here, in the order of the lab file; the ceiling
    /// among them.
    pub curves: Vec<Curve>,
    /// The subjects ranked by goodput.
    pub ranking: Ranking,
}

/// Closed or open load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoadKind {
    /// Connections that wait for their responses.
    Closed,
    /// Requests at a rate.
    Open,
}

/// One subject over a sweep.
#[derive(Debug, Clone)]
pub struct Curve {
    /// The name of the subject.
    pub subject: String,
    /// What it is there for.
    pub role: Role,
    /// The points, by load.
    pub points: Vec<Point>,
    /// What they show together.
    pub sweep: Sweep,
}

/// A step whose run cannot be read.
#[derive(Debug)]
pub struct Unreadable {
    /// The step's place in the order.
    pub order: u32,
    /// Why: its form, or the workload that it names is missing.
    pub problem: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid step {} in the record: {}", self.order, self.problem)
    }
}

impl std::error::Error for Unreadable {}

impl Analysis {
    /// Analyzes all steps of a record.
    pub fn new(record: &LabRecord) -> Result<Self, Unreadable> {
        let mut panels: Vec<Panel> = Vec::new();
        for step in &record.steps {
            let unreadable = |problem: String| Unreadable { order: step.order, problem };
            let workload = record
                .workload(&step.workload)
                .ok_or_else(|| unreadable(format!("there is no workload `{}`", step.workload)))?;
            let subject = record
                .subject(&step.subject)
                .ok_or_else(|| unreadable(format!("there is no subject `{}`", step.subject)))?;
            let taken = take(step, workload).map_err(|error| unreadable(error.to_string()))?;
            let panel = panel_of(&mut panels, workload, step.load);
            curve_of(panel, subject).point_of(step.load, record.head.repeats).repeats.push(taken);
        }
        let place = |name: &str| record.head.workloads.iter().position(|known| known.name == name);
        panels.sort_by_key(|panel| (place(&panel.workload.name), panel.kind, panel.connections));
        for panel in &mut panels {
            panel.finish(&record.head.subjects);
        }
        Ok(Self { panels, groups: task_groups(record) })
    }
}

impl Panel {
    /// The curves of the contestants.
    pub fn contestants(&self) -> impl Iterator<Item = &Curve> {
        self.curves.iter().filter(|curve| curve.role == Role::Contestant)
    }

    /// The curve of the ceiling; `None` if not measured.
    pub fn ceiling(&self) -> Option<&Curve> {
        self.curves.iter().find(|curve| curve.role == Role::Ceiling)
    }

    /// The curve of a subject.
    pub fn curve(&self, subject: &str) -> Option<&Curve> {
        self.curves.iter().find(|curve| curve.subject == subject)
    }

    /// All loads of this panel, ascending.
    pub fn loads(&self) -> Vec<LoadPoint> {
        let mut loads: Vec<LoadPoint> = Vec::new();
        for point in self.curves.iter().flat_map(|curve| &curve.points) {
            if !loads.contains(&point.load) {
                loads.push(point.load);
            }
        }
        loads.sort_by(|a, b| a.amount().total_cmp(&b.amount()));
        loads
    }

    /// A heading: the workload, and the kind of load.
    pub fn title(&self) -> String {
        let kind = match self.kind {
            LoadKind::Closed => "closed load",
            LoadKind::Open => "open load",
        };
        let connections = match self.connections {
            Connections::KeepAlive => "keep-alive",
            Connections::Close => "a new connection per request",
        };
        format!("{}: {kind}, {connections}", self.workload.name)
    }

    fn finish(&mut self, subjects: &[Subject]) {
        let place = |name: &str| subjects.iter().position(|subject| subject.name == name);
        self.curves.sort_by_key(|curve| place(&curve.subject));
        for curve in &mut self.curves {
            curve.points.sort_by(|a, b| a.load.amount().total_cmp(&b.load.amount()));
        }
        for point in self.curves.iter_mut().flat_map(|curve| &mut curve.points) {
            point.repeats.sort_by_key(|taken| (taken.repeat, taken.order));
            point.repeats = joined(&point.repeats);
        }
        self.hold_against_ceiling();
        for point in self.curves.iter_mut().flat_map(|curve| &mut curve.points) {
            point.judge();
        }
        for curve in &mut self.curves {
            curve.sweep = Sweep::new(&curve.points);
        }
        self.ranking = Ranking::of_peaks(self.contestants());
    }

    /// Computes goodput as a share of the ceiling's under the same load, or of its maximum if it
    /// was not measured there. A ceiling that failed its own audit is not a base, and one that a
    /// subject exceeds is none for that subject. Under open load the ceiling is known only if it
    /// could not keep up.
    fn hold_against_ceiling(&mut self) {
        let Some(ceiling) = self.ceiling().cloned() else {
            return;
        };
        let bounds = ceiling.points.iter().filter_map(|point| point.bounds().ok());
        let height = |rates: &Vec<f64>| median(rates).unwrap_or_default();
        let greatest = bounds.max_by(|one, other| height(one).total_cmp(&height(other)));
        let is_open = self.kind == LoadKind::Open;
        let keeps_up = |point: &Point| {
            let answered = point.median(Figure::Goodput);
            answered.is_none_or(|rate| rate >= point.load.amount() * ANSWERED_SHARE_MIN)
        };
        if is_open && ceiling.points.iter().all(keeps_up) {
            return;
        }
        let contestants = self.curves.iter_mut().filter(|curve| curve.role == Role::Contestant);
        for point in contestants.flat_map(|curve| &mut curve.points) {
            let mut same = ceiling.points.iter();
            let same = same.find(|other| other.load == point.load && !is_open);
            let limit = match same {
                Some(same) => same.bounds().ok(),
                None => greatest.clone(),
            };
            let goodput = point.values(Figure::Goodput);
            let share = limit.and_then(|limit| Ratio::from_repeats(&limit, &goodput));
            let Some(share) = share else {
                continue;
            };
            let exceeded = above_ceiling(&share);
            point.share_of_ceiling = exceeded.is_none().then_some(share.ratio);
            let found = exceeded.or_else(|| at_ceiling(share.ratio));
            point.findings.extend(found);
        }
    }
}

impl Curve {
    fn point_of(&mut self, load: LoadPoint, repeats: u32) -> &mut Point {
        let index = self.points.iter().position(|point| point.load == load).unwrap_or_else(|| {
            self.points.push(Point {
                load,
                asked: usize::try_from(repeats).unwrap_or(usize::MAX),
                repeats: Vec::new(),
                share_of_ceiling: None,
                findings: Vec::new(),
            });
            self.points.len() - 1
        });
        &mut self.points[index]
    }
}

fn take(step: &Step, workload: &Workload) -> serde_json::Result<Repeat> {
    let run = step.run.as_ref().map(crate::record::StoredRun::read).transpose()?;
    let figures = run.as_ref().map(|run| Figures::new(step, run, workload));
    let findings = match (&run, &figures) {
        (Some(run), Some(figures)) => step_findings(step, run, figures),
        _ => step.audit.clone(),
    };
    Ok(Repeat {
        order: step.order,
        repeat: step.repeat,
        outcome: step.outcome.clone(),
        figures,
        findings,
    })
}

fn panel_of<'a>(panels: &'a mut Vec<Panel>, workload: &Workload, load: LoadPoint) -> &'a mut Panel {
    let kind = match load.shape {
        LoadShape::Closed { .. } => LoadKind::Closed,
        LoadShape::Open { .. } => LoadKind::Open,
    };
    let is_it = |panel: &Panel| {
        panel.workload.name == workload.name
            && panel.kind == kind
            && panel.connections == load.connections
    };
    let index = panels.iter().position(is_it).unwrap_or_else(|| {
        panels.push(Panel {
            workload: workload.clone(),
            kind,
            connections: load.connections,
            curves: Vec::new(),
            ranking: Ranking::default(),
        });
        panels.len() - 1
    });
    &mut panels[index]
}

fn curve_of<'a>(panel: &'a mut Panel, subject: &Subject) -> &'a mut Curve {
    let known = panel.curves.iter().position(|curve| curve.subject == subject.name);
    let index = known.unwrap_or_else(|| {
        panel.curves.push(Curve {
            subject: subject.name.clone(),
            role: subject.role,
            points: Vec::new(),
            sweep: Sweep::default(),
        });
        panel.curves.len() - 1
    });
    &mut panel.curves[index]
}
