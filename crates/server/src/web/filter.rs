//! The trait of filters, which check a request before its handler runs.

use std::fmt;
use std::net::IpAddr;

use vervet_engine::Response;
use vervet_engine::reactor::Now;

use super::edits::Edits;
use super::request::Request;

/// A filter of a plan, shared by all reactors. It runs in the phase of its kind.
pub trait RequestFilter: Send + Sync + fmt::Debug {
    /// The directive that it obeys, for traces.
    fn name(&self) -> &'static str;

    /// Lets the request pass, or answers it. Called on the reactor's thread: it must not block.
    fn check(&self, request: &mut Request<'_>, edits: &mut Edits) -> Verdict;

    /// Whether a connection from this address is accepted, for filters of a listener. Called before
    /// a byte is read.
    fn accepts(&self, _address: Option<IpAddr>, _now: Now) -> bool {
        true
    }

    /// Number of rejected requests by a short reason, such as `rate`, for status and metrics.
    fn refused(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// The decision of a filter.
pub enum Verdict {
    /// The next filter runs, or the handler.
    Pass,
    /// Sends this response, with the edits so far.
    Answer(Response),
    /// The connection is closed without an answer.
    Close,
    /// The request waits; once the job has told the [`Resume`](vervet_engine::Resume) its result,
    /// all filters are asked again and find it in [`Request::resumed`].
    Suspend(Box<dyn FnOnce(vervet_engine::Resume) + Send>),
}

/// The text in traces.
impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => formatter.write_str("passes"),
            Self::Answer(response) => write!(formatter, "answers {}", response.status().code()),
            Self::Close => formatter.write_str("closes the connection"),
            Self::Suspend(_) => formatter.write_str("waits for another thread"),
        }
    }
}

impl fmt::Debug for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => formatter.write_str("Pass"),
            Self::Answer(response) => write!(formatter, "Answer({:?})", response.status()),
            Self::Close => formatter.write_str("Close"),
            Self::Suspend(_) => formatter.write_str("Suspend"),
        }
    }
}
