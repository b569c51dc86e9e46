//! The series of a trend: the figures of each subject and phase per record, and regressions.

use crate::record::LabRecord;
use crate::statistics::{
    ALL_PHASES, Analysis, Apdex, Better, Curve, Estimate, Figure, Point, TaskFigures, Unreadable,
    group_title, median,
};

/// A record is a regression if the whole interval of a figure is worse than the median of the
/// records before it by more than this share of it.
pub const TREND_TOLERANCE: f64 = 0.05;
/// The most earlier records that a record is compared with.
const BEFORE_MAX: usize = 5;
/// The fewest earlier records that a record is compared with.
const BEFORE_MIN: usize = 2;

/// The figures of several records over time.
#[derive(Debug, Clone)]
pub struct Trend {
    /// The records, oldest first: label and start, in milliseconds of Unix time.
    pub labels: Vec<(String, u64)>,
    /// A line for each subject of each panel.
    pub lines: Vec<Line>,
    /// A line for each phase of each task.
    pub tasks: Vec<Line>,
}

/// One subject of a panel, or one phase of a task, over all records.
#[derive(Debug, Clone)]
pub struct Line {
    /// The heading of the panel, or of the group of tasks.
    pub panel: String,
    /// The name of the subject, or of the task.
    pub subject: String,
    /// The phase, or `all phases`; empty for the goodput of a subject.
    pub phase: String,
    /// Whether it decides if a trend ends in a regression: not if it is part of a whole.
    pub is_whole: bool,
    /// The point of each record; `None` if it does not have the line.
    pub points: Vec<Option<TrendPoint>>,
}

/// The figures of a subject at its highest goodput, or of a phase, in one record.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendPoint {
    /// Goodput in successful responses per second, or the time of the phase in seconds.
    pub value: Estimate,
    /// The load of the goodput; empty for a phase.
    pub load: String,
    /// The mean response time in milliseconds.
    pub mean_ms: Option<f64>,
    /// Apdex under each load, ascending.
    pub apdex: Vec<(String, Apdex)>,
    /// Each phase with its operations: only the same work is compared.
    pub work: Work,
    /// Whether enough repeats ended for a comparison with other records.
    pub has_enough_repeats: bool,
    /// The comparison with the records before it.
    pub mark: Mark,
}

/// Phases with their operations.
pub type Work = Vec<(String, u64)>;

/// How a point compares with those before it.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// Too few records before it, or too few valid repeats of its own.
    TooFew,
    /// No significant difference, or better.
    Usual,
    /// Worse than the records before it, beyond its interval.
    Regression {
        /// The median of the records before it.
        before: f64,
        /// The change as a share of it: negative for a lower rate, positive for a longer time.
        change: f64,
    },
}

impl Trend {
    /// Computes the trend of labeled records, in the order of their start.
    pub fn new(mut records: Vec<(String, LabRecord)>) -> Result<Self, Unreadable> {
        records.sort_by_key(|(_, record)| record.head.began_unix_ms);
        let began =
            |(label, record): &(String, LabRecord)| (label.clone(), record.head.began_unix_ms);
        let mut trend = Self {
            labels: records.iter().map(began).collect(),
            lines: Vec::new(),
            tasks: Vec::new(),
        };
        for (number, (_, record)) in records.iter().enumerate() {
            let analysis = Analysis::new(record)?;
            for panel in &analysis.panels {
                for curve in panel.contestants() {
                    if let Some(point) = goodput(curve) {
                        let line = Line::new(&panel.title(), &curve.subject, "");
                        line.add(&mut trend.lines, number, point);
                    }
                }
            }
            for group in &analysis.groups {
                for task in &group.tasks {
                    for (phase, is_whole, point) in phases(task) {
                        let title = group_title(&group.name);
                        let mut line = Line::new(title, &task.name, &phase);
                        line.is_whole = is_whole;
                        line.add(&mut trend.tasks, number, point);
                    }
                }
            }
        }
        for line in trend.lines.iter_mut().chain(&mut trend.tasks) {
            line.points.resize(records.len(), None);
            line.mark();
        }
        Ok(trend)
    }

    /// Whether the newest record is a regression of a subject, or of all phases of a task together.
    pub fn ends_in_regression(&self) -> bool {
        let all = self.lines.iter().chain(&self.tasks);
        let mut last =
            all.filter_map(|line| line.points.last()?.as_ref().filter(|_| line.is_whole));
        last.any(|point| matches!(point.mark, Mark::Regression { .. }))
    }
}

impl Line {
    fn new(panel: &str, subject: &str, phase: &str) -> Self {
        Self {
            panel: panel.to_owned(),
            subject: subject.to_owned(),
            phase: phase.to_owned(),
            is_whole: true,
            points: Vec::new(),
        }
    }

    /// Adds the point of a record to the line of these names, which may be new.
    fn add(self, lines: &mut Vec<Self>, number: usize, point: TrendPoint) {
        let names = |line: &Self| (line.panel.clone(), line.subject.clone(), line.phase.clone());
        let known = lines.iter().position(|line| names(line) == names(&self));
        let index = known.unwrap_or(lines.len());
        if known.is_none() {
            lines.push(self);
        }
        lines[index].points.resize(number, None);
        lines[index].points.push(Some(point));
    }

    /// Compares each point with those before it that did the same work.
    fn mark(&mut self) {
        let better = if self.phase.is_empty() { Better::Higher } else { Better::Lower };
        let mut before: Vec<(Work, Vec<f64>)> = Vec::new();
        let enough = |point: &&mut TrendPoint| point.has_enough_repeats;
        for point in self.points.iter_mut().flatten().filter(enough) {
            let known = before.iter().position(|(work, _)| *work == point.work);
            let index = known.unwrap_or(before.len());
            if known.is_none() {
                before.push((point.work.clone(), Vec::new()));
            }
            let medians = &mut before[index].1;
            point.mark = mark(medians, &point.value, better);
            medians.push(point.value.median);
        }
    }
}

/// Compares a figure with the medians of the records before it.
fn mark(before: &[f64], figure: &Estimate, better: Better) -> Mark {
    let recent = &before[before.len().saturating_sub(BEFORE_MAX)..];
    let are_enough = recent.len() >= BEFORE_MIN && figure.has_interval();
    let Some(before) = median(recent).filter(|_| are_enough) else {
        return Mark::TooFew;
    };
    let is_worse = match better {
        Better::Higher => figure.high < before * (1.0 - TREND_TOLERANCE),
        Better::Lower => figure.low > before * (1.0 + TREND_TOLERANCE),
    };
    if !is_worse {
        return Mark::Usual;
    }
    Mark::Regression { before, change: figure.median / before - 1.0 }
}

/// The highest goodput of a subject.
fn goodput(curve: &Curve) -> Option<TrendPoint> {
    let point = &curve.points[curve.sweep.peak?];
    let apdex = |point: &Point| {
        let score = point.median(Figure::Apdex)?;
        Some((point.load.to_string(), Apdex::new(score)))
    };
    Some(TrendPoint {
        value: point.estimate(Figure::Goodput)?,
        load: point.load.to_string(),
        mean_ms: point.median(Figure::ResponseMean),
        apdex: curve.points.iter().filter_map(apdex).collect(),
        work: Vec::new(),
        has_enough_repeats: true,
        mark: Mark::TooFew,
    })
}

/// Each phase of a task, and whether it is a whole of its own; at the end all phases together.
fn phases(task: &TaskFigures) -> Vec<(String, bool, TrendPoint)> {
    let point = |value: Estimate, work: Work| TrendPoint {
        value,
        load: String::new(),
        mean_ms: None,
        apdex: Vec::new(),
        work,
        has_enough_repeats: task.has_enough_repeats(),
        mark: Mark::TooFew,
    };
    let mut phases = Vec::new();
    let mut whole = Vec::new();
    for phase in &task.phases {
        let work = (phase.name.clone(), phase.operations);
        let is_part = phase.share.is_some();
        if is_part {
            whole.push(work.clone());
        }
        let point = point(phase.seconds, vec![work]);
        phases.push((phase.name.clone(), !is_part, point));
    }
    if let Some(total) = task.total {
        phases.push((ALL_PHASES.to_owned(), true, point(total, whole)));
    }
    phases
}
