//! The slowest requests of a run, to find them in the log of the server.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many of the slowest requests are kept.
pub const SLOWEST_MAX: usize = 5;

/// One slow request. Requests are ordered by their fields: by response time first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct SlowRequest {
    /// From when the request was due to the end of its response, in nanoseconds.
    pub response_ns: u64,
    /// From sending the request to the end of its response, in nanoseconds.
    pub service_ns: u64,
    /// When the request was due, in milliseconds since the start of the measurement.
    pub due_ms: u64,
    /// Status code of the response.
    pub status: u16,
    /// The request target, or the name of the step.
    pub request: String,
}

/// The slowest requests, slowest first, at most [`SLOWEST_MAX`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Vec<SlowRequest>", into = "Vec<SlowRequest>")]
pub struct Slowest {
    requests: Vec<SlowRequest>,
}

impl Slowest {
    /// Whether a request with this response time would be kept, to avoid describing others.
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
