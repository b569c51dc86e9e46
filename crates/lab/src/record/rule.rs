//! What a figure of a subject must reach, as the lab file asked for it.

use serde::{Deserialize, Serialize};

/// A rule of the lab file for one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// The workload's name.
    pub workload: String,
    /// The subject's name.
    pub subject: String,
    /// The figure's name.
    pub figure: String,
    /// What the ratio must be.
    pub bound: Bound,
    /// What the figure is divided by.
    pub against: Against,
}

/// What a ratio must be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
}

/// What a figure is compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// The same figure of one of these subjects: the one with the most requests per CPU-second.
    Subjects(Vec<String>),
    /// The same figure of the same subject under this workload.
    Workload(String),
    /// A number of bytes.
    Bytes(u64),
}

impl Bound {
    /// Whether a ratio is what it must be.
    pub fn holds(self, ratio: f64) -> bool {
        match self {
            Self::AtLeast(least) => ratio >= least,
            Self::AtMost(most) => ratio <= most,
        }
    }
}
