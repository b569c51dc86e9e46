//! One step: a subject under one load for one repeat, and what came of it.

use std::fmt;

use serde::{Deserialize, Serialize};
use vervet_report::Finding;

use super::{StoredRun, Watched};

/// One run of one subject under one load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its place in the order in which the lab ran, from 0; unique.
    pub order: u32,
    /// The subject's name.
    pub subject: String,
    /// The workload's name.
    pub workload: String,
    /// What was asked.
    pub load: LoadPoint,
    /// Which repeat, from 1.
    pub repeat: u32,
    /// Which window of the repeat, from 0, where subjects were loaded in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// How often the window was measured again because others had a core.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub measured_again: u32,
    /// When it began, in milliseconds of Unix time.
    pub began_unix_ms: u64,
    /// What came of it.
    pub outcome: Outcome,
    /// What the generator saw; none where no request was sent.
    pub run: Option<StoredRun>,
    /// What the server spent.
    pub server: Watched,
    /// What the lab's own audit found, beside what the generator found of itself.
    #[serde(default)]
    pub audit: Vec<Finding>,
}

/// How much is asked of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LoadPoint {
    /// Closed or open, and how much.
    pub shape: LoadShape,
    /// Whether connections carry more than one exchange.
    pub connections: Connections,
    /// Further connections that stay idle during the load.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub idle_connections: u32,
    /// The most requests outstanding on a connection; 1 without pipelining.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub pipelining: u32,
}

fn one() -> u32 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_one(count: &u32) -> bool {
    *count == 1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// How much load, and what waits for what.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadShape {
    /// So many connections, each of which asks again once it is answered.
    Closed {
        /// Connections.
        concurrency: u32,
    },
    /// So many requests a second, whether they are answered or not.
    Open {
        /// Requests per second.
        rate: f64,
    },
}

/// Whether connections carry more than one exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Connections {
    /// Kept for the next exchange.
    KeepAlive,
    /// Closed after each exchange.
    Close,
}

impl LoadPoint {
    /// What stands on the axis of a chart: connections, or requests per second.
    pub fn amount(&self) -> f64 {
        match self.shape {
            LoadShape::Closed { concurrency } => f64::from(concurrency),
            LoadShape::Open { rate } => rate,
        }
    }

    /// Connections of a closed load.
    pub fn concurrency(&self) -> Option<u32> {
        match self.shape {
            LoadShape::Closed { concurrency } => Some(concurrency),
            LoadShape::Open { .. } => None,
        }
    }
}

impl fmt::Display for LoadShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed { concurrency: 1 } => f.write_str("1 connection"),
            Self::Closed { concurrency } => write!(f, "{concurrency} connections"),
            Self::Open { rate } => write!(f, "{rate}/s"),
        }
    }
}

impl fmt::Display for LoadPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shape.fmt(f)?;
        if self.idle_connections > 0 {
            write!(f, " and {} idle ones", self.idle_connections)?;
        }
        if self.pipelining > 1 {
            write!(f, ", {} requests at once on each", self.pipelining)?;
        }
        match self.connections {
            Connections::KeepAlive => Ok(()),
            Connections::Close => f.write_str(", closed after each answer"),
        }
    }
}

/// What came of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The load was applied to its end.
    Measured,
    /// The subject ended by itself.
    Crashed {
        /// Its status, and the end of what it said.
        reason: String,
    },
    /// The subject did not become ready.
    NotReady {
        /// What was waited for, and how long.
        reason: String,
    },
    /// The subject answered something else than the workload expects.
    WrongAnswers {
        /// What was expected and what came.
        reason: String,
    },
}
