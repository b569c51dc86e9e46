//! The series themselves: for each panel and subject, what each record says.

use crate::record::LabRecord;
use crate::statistics::{Analysis, Apdex, Estimate, Figure, Panel, Point, Unreadable, median};

/// A record is a regression when the upper end of its interval lies further below the median of the records before it
/// than this share of it.
pub const TREND_TOLERANCE: f64 = 0.05;
/// So many records before it are looked at.
const BEFORE_MAX: usize = 5;
/// So many there must be.
const BEFORE_MIN: usize = 2;

/// How figures went.
#[derive(Debug, Clone)]
pub struct Trend {
    /// The records, oldest first: a label and when each began, in milliseconds of Unix time.
    pub labels: Vec<(String, u64)>,
    /// A line for each panel and subject.
    pub lines: Vec<Line>,
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

/// How an entry stands to those before it.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// There are not enough before it.
    TooFew,
    /// Not told apart from them, or better.
    Usual,
    /// Worse than them beyond its interval.
    Regression {
        /// Their median.
        before: f64,
        /// By how much of it, as a negative share.
        change: f64,
    },
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
        };
        for (number, (_, record)) in records.iter().enumerate() {
            for panel in &Analysis::of(record)?.panels {
                trend.add(number, panel);
            }
        }
        for line in &mut trend.lines {
            line.entries.resize(records.len(), None);
            line.mark();
        }
        Ok(trend)
    }

    /// Whether the newest record is a regression of any subject.
    pub fn ends_in_regression(&self) -> bool {
        let last = self
            .lines
            .iter()
            .filter_map(|line| line.entries.last()?.as_ref());
        last.into_iter()
            .any(|entry| matches!(entry.mark, Mark::Regression { .. }))
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
        let mut before: Vec<f64> = Vec::new();
        for entry in self.entries.iter_mut().flatten() {
            let recent = &before[before.len().saturating_sub(BEFORE_MAX)..];
            entry.mark = mark(recent, &entry.goodput);
            before.push(entry.goodput.median);
        }
    }
}

fn mark(before: &[f64], goodput: &Estimate) -> Mark {
    let Some(usual) = median(before).filter(|_| before.len() >= BEFORE_MIN) else {
        return Mark::TooFew;
    };
    if goodput.high < usual * (1.0 - TREND_TOLERANCE) {
        return Mark::Regression {
            before: usual,
            change: goodput.median / usual - 1.0,
        };
    }
    Mark::Usual
}

fn apdex(point: &Point) -> Option<(String, Apdex)> {
    let score = point.median(Figure::Apdex)?;
    Some((point.load.to_string(), Apdex::new(score)))
}
