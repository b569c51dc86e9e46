//! Who is ahead of whom, by goodput; and who is not told apart.

use super::analysis::Curve;
use super::estimate::Estimate;
use super::figure::Figure;
use super::point::Standing;
use crate::record::LoadPoint;

/// The order of subjects.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranking {
    /// Those that have a place, by goodput, greatest first.
    pub places: Vec<Place>,
    /// Those that have none.
    pub unranked: Vec<Unranked>,
}

/// A subject with a place.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// From 1. Who is not told apart from the first of a place has the same place.
    pub place: usize,
    /// Whether others have the same place.
    pub tied: bool,
    /// The subject.
    pub subject: String,
    /// The load under which it had its goodput.
    pub load: LoadPoint,
    /// Its goodput.
    pub goodput: Estimate,
}

/// A subject without a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unranked {
    /// The subject.
    pub subject: String,
    /// Why.
    pub reason: String,
}

impl Ranking {
    /// Ranks subjects by the greatest goodput of their sweeps.
    pub(super) fn of_peaks<'a>(curves: impl Iterator<Item = &'a Curve>) -> Self {
        let mut ranking = Self::default();
        for curve in curves {
            let peak = curve.sweep.peak.map(|index| &curve.points[index]);
            let goodput = peak.and_then(|point| Some((point, point.estimate(Figure::Goodput)?)));
            match goodput {
                Some((point, goodput)) => ranking.places.push(Place {
                    place: 0,
                    tied: false,
                    subject: curve.subject.clone(),
                    load: point.load,
                    goodput,
                }),
                None => ranking.unranked.push(Unranked {
                    subject: curve.subject.clone(),
                    reason: reason(curve),
                }),
            }
        }
        ranking.number();
        ranking
    }

    /// Whether at least two subjects are told apart.
    pub fn tells_apart(&self) -> bool {
        self.places.iter().any(|place| place.place > 1)
    }

    fn number(&mut self) {
        let by_goodput = |a: &Place, b: &Place| b.goodput.median.total_cmp(&a.goodput.median);
        self.places.sort_by(by_goodput);
        let mut first = 0;
        for index in 0..self.places.len() {
            if !self.places[first]
                .goodput
                .ties_with(&self.places[index].goodput)
            {
                first = index;
            }
            self.places[index].place = first + 1;
        }
        let numbers: Vec<usize> = self.places.iter().map(|place| place.place).collect();
        for place in &mut self.places {
            place.tied = numbers
                .iter()
                .filter(|number| **number == place.place)
                .count()
                > 1;
        }
    }
}

fn reason(curve: &Curve) -> String {
    let standings = curve.points.iter().map(super::point::Point::standing);
    let mut reasons = standings.filter_map(|standing| match standing {
        Standing::Unranked { reason } => Some(reason),
        _ => None,
    });
    reasons
        .next()
        .unwrap_or_else(|| "no good answer".to_owned())
}
