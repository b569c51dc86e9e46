//! Apdex: satisfaction of users, from 0 to 1. Responses within T count 1 (satisfied), within 4 T
//! one half (tolerating), all others and failures 0.

use std::fmt;

/// How many T a user tolerates.
pub const TOLERATED_T: f64 = 4.0;
/// From which score a step is good enough to be the best one.
pub const BEST_SCORE_MIN: f64 = 0.85;

/// A score from 0 to 1, in hundredths: what is shown is what is rated.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Apdex(f64);

/// The word for a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rating {
    /// A score below 0.5.
    Unacceptable,
    /// A score from 0.5.
    Poor,
    /// A score from 0.7.
    Fair,
    /// A score from 0.85.
    Good,
    /// A score from 0.94.
    Excellent,
}

/// Each rating with the least score that has it.
pub const RATINGS: [(Rating, f64); 5] = [
    (Rating::Excellent, 0.94),
    (Rating::Good, 0.85),
    (Rating::Fair, 0.7),
    (Rating::Poor, 0.5),
    (Rating::Unacceptable, 0.0),
];

impl Apdex {
    /// The score of numbers of satisfied, tolerating and all users; `None` if there were none.
    pub fn from_counts(satisfied: f64, tolerating: f64, all: f64) -> Option<Self> {
        (all > 0.0).then(|| Self::new((satisfied + tolerating / 2.0) / all))
    }

    /// A score from 0 to 1.
    pub fn new(score: f64) -> Self {
        Self((score.clamp(0.0, 1.0) * 100.0).round() / 100.0)
    }

    /// The score from 0 to 1.
    pub fn score(self) -> f64 {
        self.0
    }

    /// The word for it.
    pub fn rating(self) -> Rating {
        let rating = RATINGS.iter().find(|(_, least)| self.0 >= *least);
        rating.map_or(Rating::Unacceptable, |(rating, _)| *rating)
    }
}

impl Rating {
    /// The word for the rating.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unacceptable => "unacceptable",
            Self::Poor => "poor",
            Self::Fair => "fair",
            Self::Good => "good",
            Self::Excellent => "excellent",
        }
    }
}

impl fmt::Display for Rating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
