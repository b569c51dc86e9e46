//! The series themselves: for each panel and subject, what each record says.

use super::mark::{Before, Mark};
use super::tasks::{self, TaskLine};
use crate::record::LabRecord;
use crate::statistics::{Analysis, Apdex, Better, Estimate, Figure, Panel, Point, Unreadable};

/// How figures went.
#[derive(Debug, Clone)]
pub struct Trend {
    /// The records, oldest first: a label and when each began, in milliseconds of Unix time.
    pub labels: Vec<(String, u64)>,
    /// A line for each panel and subject.
    pub lines: Vec<Line>,
    /// A line for each phase of each task, in labs of those.
    pub tasks: Vec<TaskLine>,
}

/// One subject in one panel, over all records.
#[derive(Debug, Clone)]
pub struct Line {
    /// The panel's heading.
    pub panel: String,
    /// The subject.
    pub subject: String,
    /// What each record says; none where it does not have it.
    pub entries: Vec<Option<Entry>>,
}

/// What one record says of a subject, at its greatest goodput.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The load.
    pub load: String,
    /// The goodput.
    pub goodput: Estimate,
    /// The mean response time, in milliseconds.
    pub mean_ms: Option<f64>,
    /// Apdex under each load, ascending.
    pub apdex: Vec<(String, Apdex)>,
    /// Against the records before it.
    pub mark: Mark,
}

impl Trend {
    /// Looks at records with their labels. They are put in the order in which they began.
    pub fn of(mut records: Vec<(String, LabRecord)>) -> Result<Self, Unreadable> {
        records.sort_by_key(|(_, record)| record.head.began_unix_ms);
        let began =
            |(label, record): &(String, LabRecord)| (label.clone(), record.head.began_unix_ms);
        let mut trend = Self {
            labels: records.iter().map(began).collect(),
            lines: Vec::new(),
            tasks: Vec::new(),
        };
        for (number, (_, record)) in records.iter().enumerate() {
            let analysis = Analysis::of(record)?;
            for panel in &analysis.panels {
                trend.add(number, panel);
            }
            tasks::add(&mut trend.tasks, number, &analysis.groups);
        }
        for line in &mut trend.lines {
            line.entries.resize(records.len(), None);
            line.mark();
        }
        for line in &mut trend.tasks {
            line.entries.resize(records.len(), None);
            line.mark();
        }
        Ok(trend)
    }

    /// Whether the newest record is a regression of any subject or task. Of a task, its phases together count.
    pub fn ends_in_regression(&self) -> bool {
        let mut last = self
            .lines
            .iter()
            .filter_map(|line| line.entries.last()?.as_ref());
        last.any(|entry| matches!(entry.mark, Mark::Regression { .. }))
            || self.tasks.iter().any(TaskLine::ends_in_regression)
    }

    fn add(&mut self, number: usize, panel: &Panel) {
        let title = panel.title();
        for curve in panel.contestants() {
            let Some(point) = curve.sweep.peak.map(|index| &curve.points[index]) else {
                continue;
            };
            let Some(goodput) = point.estimate(Figure::Goodput) else {
                continue;
            };
            let line = self.line(&title, &curve.subject);
            line.entries.resize(number, None);
            line.entries.push(Some(Entry {
                load: point.load.to_string(),
                goodput,
                mean_ms: point.median(Figure::ResponseMean),
                apdex: curve.points.iter().filter_map(apdex).collect(),
                mark: Mark::TooFew,
            }));
        }
    }

    fn line(&mut self, panel: &str, subject: &str) -> &mut Line {
        let known = |line: &Line| line.panel == panel && line.subject == subject;
        let index = self.lines.iter().position(known).unwrap_or_else(|| {
            self.lines.push(Line {
                panel: panel.to_owned(),
                subject: subject.to_owned(),
                entries: Vec::new(),
            });
            self.lines.len() - 1
        });
        &mut self.lines[index]
    }
}

impl Line {
    fn mark(&mut self) {
        let mut before = Before::default();
        for entry in self.entries.iter_mut().flatten() {
            entry.mark = before.mark(&entry.goodput, Better::Higher);
        }
    }
}

fn apdex(point: &Point) -> Option<(String, Apdex)> {
    let score = point.median(Figure::Apdex)?;
    Some((point.load.to_string(), Apdex::new(score)))
}
