//! The slowest requests of a run, so that somebody can look for them in the log of the server.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many of the slowest requests are kept.
pub const SLOWEST_MAX: usize = 5;

/// One request that took long. The order of fields is the order of requests: by response time
/// first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct SlowRequest {
    /// From the due time to the end of the answer, in nanoseconds.
    pub response_ns: u64,
    /// From the sent time to the end of the answer, in nanoseconds.
    pub service_ns: u64,
    /// When it was due, in milliseconds since the window began.
    pub due_ms: u64,
    /// The status of the answer.
    pub status: u16,
    /// What was asked: the request target, or the name of the step.
    pub request: String,
}

/// The slowest requests, slowest first, at most [`SLOWEST_MAX`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Vec<SlowRequest>", into = "Vec<SlowRequest>")]
pub struct Slowest {
    requests: Vec<SlowRequest>,
}

impl Slowest {
    /// Whether a request that took so long would be kept: asked before one is described.
    pub fn wants(&self, response_ns: u64) -> bool {
        let last = self.requests.get(SLOWEST_MAX - 1);
        last.is_none_or(|last| response_ns >= last.response_ns)
    }

    /// Keeps a request if it is one of the slowest.
    pub fn add(&mut self, request: SlowRequest) {
        self.requests.push(request);
        self.requests.sort_by(|a, b| Reverse(a).cmp(&Reverse(b)));
        self.requests.truncate(SLOWEST_MAX);
    }

    /// The requests, slowest first.
    pub fn requests(&self) -> &[SlowRequest] {
        &self.requests
    }
}

impl From<Vec<SlowRequest>> for Slowest {
    fn from(requests: Vec<SlowRequest>) -> Self {
        let mut slowest = Self::default();
        for request in requests {
            slowest.add(request);
        }
        slowest
    }
}

impl From<Slowest> for Vec<SlowRequest> {
    fn from(slowest: Slowest) -> Self {
        slowest.requests
    }
}
