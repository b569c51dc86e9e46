//! What a coordinator and its agents say to each other: one JSON value a line, in this order. Forms
//! only; who says what when is in the files of either.
//!
//! | coordinator | agent |
//! |---|---|
//! | `plan` | `ready`, or `refused` and the end |
//! | `begin`, to all agents at once | `interval` by `interval`, `alive` where nothing else was said |
//! | perhaps `stop` | `run`, and the end |

use serde::{Deserialize, Serialize};
use vervet_report::{Asked, Interval, Run};

/// What a coordinator says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    /// Make ready what was typed: the words of the command line, with the part of this agent.
    Plan(Vec<String>),
    /// Begin the run.
    Begin {
        /// So many microseconds after this is read.
        within_us: u64,
    },
    /// End it now, and give what there is.
    Stop,
}

/// What an agent says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum News {
    /// Everything is resolved, read and made; only the beginning is missing.
    Ready(Box<Ready>),
    /// The plan cannot be; why, a sentence each.
    Refused(Vec<String>),
    /// The run goes on, and nothing else is to be told.
    Alive,
    /// An interval is over.
    Interval(Box<Interval>),
    /// The run is over. It is the last line, and without the intervals: they have been told.
    Run(Box<Run>),
}

/// An agent that waits for the beginning.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ready {
    /// The program, with its version.
    pub(super) tool: String,
    /// What its part of the run is.
    pub(super) asked: Asked,
}

/// It as a line with its end.
pub(super) fn line(message: &impl Serialize) -> Vec<u8> {
    let mut line =
        serde_json::to_vec(message).unwrap_or_else(|_| unreachable!("all keys are text"));
    line.push(b'\n');
    line
}
