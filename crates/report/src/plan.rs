//! The settings of a run.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunSettings {
    /// The target as given: a URL, or the name of a scenario or of a list of targets.
    pub target: String,
    /// Closed or open load.
    pub mode: Mode,
    /// Concurrent connections of all threads and agents together.
    pub connections: u64,
    /// How connections are reused.
    pub reuse: Reuse,
    /// Maximum number of outstanding requests per connection; 1 means no pipelining.
    pub pipelining: u32,
    /// End of the run.
    pub stop: Stop,
    /// Warm-up in milliseconds; its requests are not counted.
    pub warm_up_ms: u64,
    /// Timeout of a request in milliseconds.
    pub timeout_ms: u64,
    /// Threads of the generator, of all agents together.
    pub threads: u64,
    /// Checks of each response: "status 200 to 299", "the body has SHA-256 ...".
    pub checks: Vec<String>,
}

/// Closed or open load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Mode {
    /// Each connection sends its next request when it has the response to the last.
    Closed,
    /// Requests are sent on schedule, however slow the target is.
    Open {
        /// The schedule in words ("5,000/s, even"). Several if agents have different ones.
        pacers: BTreeSet<String>,
        /// The highest requested rate of all agents together, in thousandths of a request per
        /// second.
        rate_max_milli: u64,
    },
}

/// How connections are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reuse {
    /// As long as the target keeps the connection open.
    KeepAlive,
    /// A new connection per request.
    Close,
    /// A new connection after a number of requests.
    Requests {
        /// Number of requests per connection.
        requests: u64,
    },
}

/// End of a run: whichever comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stop {
    /// Duration in milliseconds, without warm-up.
    pub after_ms: Option<u64>,
    /// Number of requests of all agents together.
    pub after_requests: Option<u64>,
}

impl Mode {
    /// The name in documents.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open { .. } => "open",
        }
    }
}
