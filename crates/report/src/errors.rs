//! Failed requests by class. A failed request counts here only, neither in rates nor in times.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The class of a failed request: the first that applies.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The name of the target has no address, or there is no route to it.
    Unreachable,
    /// The target refused the connection.
    Refused,
    /// The target reset the connection.
    Reset,
    /// No response, or no connection, within the timeout.
    Timeout,
    /// The connection was closed before the end of the response.
    ClosedEarly,
    /// The response is not valid HTTP (RFC 9112).
    Malformed,
    /// The status is not an expected one.
    WrongStatus,
    /// The body is not as expected: its length, hash or text, or an assertion of a scenario failed.
    WrongContent,
    /// The generator had no free port or file descriptor; not a fault of the target.
    Local,
}

/// Failed requests by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Errors {
    /// Requests without an address of or a route to the target.
    pub unreachable: u64,
    /// Connections that were refused.
    pub refused: u64,
    /// Connections that were reset.
    pub reset: u64,
    /// Requests without a response, or a connection, within the timeout.
    pub timeout: u64,
    /// Connections that were closed before the end of the response.
    pub closed_early: u64,
    /// Responses that are not HTTP.
    pub malformed: u64,
    /// Responses with an unexpected status.
    pub wrong_status: u64,
    /// Responses with an unexpected body.
    pub wrong_content: u64,
    /// Requests for which the generator had no free port or file descriptor.
    pub local: u64,
}

impl ErrorClass {
    /// All classes, in the order in which a request passes them.
    pub const ALL: [Self; 9] = [
        Self::Unreachable,
        Self::Refused,
        Self::Reset,
        Self::Timeout,
        Self::ClosedEarly,
        Self::Malformed,
        Self::WrongStatus,
        Self::WrongContent,
        Self::Local,
    ];

    /// The name in documents and conditions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Timeout => "timeout",
            Self::ClosedEarly => "closed_early",
            Self::Malformed => "malformed",
            Self::WrongStatus => "wrong_status",
            Self::WrongContent => "wrong_content",
            Self::Local => "local",
        }
    }

    /// What happened, for people.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Unreachable => "no address or no route to the target",
            Self::Refused => "the target refused the connection",
            Self::Reset => "the target reset the connection",
            Self::Timeout => "no response or no connection within the timeout",
            Self::ClosedEarly => "the connection was closed before the end of the response",
            Self::Malformed => "the response is not valid HTTP",
            Self::WrongStatus => "unexpected status",
            Self::WrongContent => "unexpected body",
            Self::Local => "the generator had no free port or file descriptor",
        }
    }
}

impl Errors {
    /// Counts a request of this class.
    pub fn add(&mut self, class: ErrorClass) {
        let count = self.count_mut(class);
        *count = count.saturating_add(1);
    }

    /// The number of requests that failed in this way.
    pub fn count(&self, class: ErrorClass) -> u64 {
        let mut errors = *self;
        *errors.count_mut(class)
    }

    /// Mutable count of one class.
    pub fn count_mut(&mut self, class: ErrorClass) -> &mut u64 {
        match class {
            ErrorClass::Unreachable => &mut self.unreachable,
            ErrorClass::Refused => &mut self.refused,
            ErrorClass::Reset => &mut self.reset,
            ErrorClass::Timeout => &mut self.timeout,
            ErrorClass::ClosedEarly => &mut self.closed_early,
            ErrorClass::Malformed => &mut self.malformed,
            ErrorClass::WrongStatus => &mut self.wrong_status,
            ErrorClass::WrongContent => &mut self.wrong_content,
            ErrorClass::Local => &mut self.local,
        }
    }

    /// The number of all failed requests.
    pub fn total(&self) -> u64 {
        ErrorClass::ALL.iter().fold(0, |sum, class| sum.saturating_add(self.count(*class)))
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        for class in ErrorClass::ALL {
            let count = self.count_mut(class);
            *count = count.saturating_add(other.count(class));
        }
    }

    /// The classes that occurred, with their counts.
    pub fn occurred(&self) -> impl Iterator<Item = (ErrorClass, u64)> {
        let counts = ErrorClass::ALL.map(|class| (class, self.count(class)));
        counts.into_iter().filter(|(_, count)| *count > 0)
    }
}
