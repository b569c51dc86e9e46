//! The ranking by goodput. Subjects without a significant difference share a rank.

use super::analysis::Curve;
use super::estimate::Estimate;
use super::figure::Figure;
use super::point::{Point, Standing};
use crate::record::LoadPoint;

/// The order of subjects.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranking {
    /// Those that have a place, by goodput, greatest first.
    pub places: Vec<RankedSubject>,
    /// Those that have none.
    pub unranked: Vec<Unranked>,
}

/// A subject with a place.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedSubject {
    /// From 1. Subjects without a significant difference from the first of a place share it.
    pub place: usize,
    /// Whether others have the same place.
    pub tied: bool,
    /// The name of the subject.
    pub subject: String,
    /// The load under which it had its goodput.
    pub load: LoadPoint,
    /// The goodput with its interval.
    pub goodput: Estimate,
    /// Loads under which the generator was the bottleneck. If there are any, goodput and rank are
    /// lower bounds.
    pub limited: Vec<LoadPoint>,
}

impl RankedSubject {
    /// Whether there are enough repeats to compare it with others: one has no interval.
    pub fn is_proven(&self) -> bool {
        self.goodput.has_interval()
    }

    /// Whether the subject may be able to do more than this.
    pub fn is_lower_bound(&self) -> bool {
        !self.limited.is_empty()
    }
}

/// A subject without a place.
#[derive(Debug, Clone, PartialEq)]
pub struct Unranked {
    /// The name of the subject.
    pub subject: String,
    /// Why it is not ranked.
    pub reason: String,
    /// The loads under which the generator was the limit.
    pub limited: Vec<LoadPoint>,
}

impl Ranking {
    /// Ranks subjects by the highest goodput of their sweeps.
    pub(super) fn of_peaks<'a>(curves: impl Iterator<Item = &'a Curve>) -> Self {
        let mut ranking = Self::default();
        for curve in curves {
            let peak = curve.sweep.peak.map(|index| &curve.points[index]);
            let goodput = peak.and_then(|point| Some((point, point.estimate(Figure::Goodput)?)));
            match goodput {
                Some((point, goodput)) => ranking.places.push(RankedSubject {
                    place: 0,
                    tied: false,
                    subject: curve.subject.clone(),
                    load: point.load,
                    goodput,
                    limited: limited(curve),
                }),
                None => ranking.unranked.push(Unranked {
                    subject: curve.subject.clone(),
                    reason: reason(curve),
                    limited: limited(curve),
                }),
            }
        }
        ranking.number();
        ranking
    }

    fn number(&mut self) {
        let by_goodput =
            |a: &RankedSubject, b: &RankedSubject| b.goodput.median.total_cmp(&a.goodput.median);
        self.places.sort_by(by_goodput);
        let mut first = 0;
        for index in 0..self.places.len() {
            if !self.places[first].goodput.ties_with(&self.places[index].goodput) {
                first = index;
            }
            self.places[index].place = first + 1;
        }
        let numbers: Vec<usize> = self.places.iter().map(|place| place.place).collect();
        for place in &mut self.places {
            place.tied = numbers.iter().filter(|number| **number == place.place).count() > 1;
        }
    }
}

/// The loads whose repeats, all or too many of them, do not count because the generator was the
/// limit; and the one that ranks, where only the slower of its repeats count.
fn limited(curve: &Curve) -> Vec<LoadPoint> {
    let points = curve.points.iter().enumerate();
    let says_too_little = |(index, point): &(usize, &Point)| {
        let decides = curve.sweep.peak == Some(*index) || !point.is_ranked();
        decides && point.is_of_generator()
    };
    points.filter(says_too_little).map(|(_, point)| point.load).collect()
}

/// Why no load of a subject ranks: where repeats count somewhere, that they are too few; else what
/// is wrong with the first.
fn reason(curve: &Curve) -> String {
    let standings: Vec<Standing> = curve.points.iter().map(Point::standing).collect();
    let counted = |standing: &Standing| match standing {
        Standing::TooFew { counted, .. } => *counted,
        _ => 0,
    };
    let most = standings.iter().map(counted).max().unwrap_or_default();
    let first =
        standings.iter().find(|standing| !standing.is_ranked() && counted(standing) == most);
    first.and_then(Standing::reason).unwrap_or_else(|| "no successful response".to_owned())
}
