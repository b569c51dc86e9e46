//! What was asked of a run: the load and how it was made.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was asked of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Asked {
    /// What was loaded, as it was given: a URL, or the name of a scenario or of a list of targets.
    pub target: String,
    /// Closed or open load.
    pub mode: Mode,
    /// Connections at once, of all threads and agents together.
    pub connections: u64,
    /// How long a connection is used.
    pub reuse: Reuse,
    /// Maximum number of outstanding requests per connection; 1 means no pipelining.
    pub pipelining: u32,
    /// When the run is over.
    pub stop: Stop,
    /// Time before the window whose requests are not counted, in milliseconds.
    pub warm_up_ms: u64,
    /// How long a request may take before it counts as failed, in milliseconds.
    pub timeout_ms: u64,
    /// Threads of the generator, of all agents together.
    pub threads: u64,
    /// What each answer had to be, one sentence each: "status 200 to 299", "sha256 of the content
    /// is ...".
    pub checks: Vec<String>,
}

/// Who decides when a request is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Mode {
    /// Each connection sends its next request when the answer to the last has come: a slow target
    /// is asked less.
    Closed,
    /// A pacer says when each request is due, however slow the target is.
    Open {
        /// What the pacer does, for people ("5,000/s, even"). Several, where agents had different
        /// ones.
        pacers: BTreeSet<String>,
        /// The highest rate asked for, in thousandths of a request per second, of all agents
        /// together.
        rate_max_milli: u64,
    },
}

/// How long a connection is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reuse {
    /// As long as the target keeps it.
    KeepAlive,
    /// A new connection for each request.
    Close,
    /// A new connection after so many requests.
    Requests {
        /// Requests on one connection.
        requests: u64,
    },
}

/// When a run is over: at whichever comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stop {
    /// After so many milliseconds, warm-up not counted.
    pub after_ms: Option<u64>,
    /// After so many requests, of all agents together.
    pub after_requests: Option<u64>,
}

impl Mode {
    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open { .. } => "open",
        }
    }
}
