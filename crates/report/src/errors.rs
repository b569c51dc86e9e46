//! What went wrong with requests, by class. A request that failed is counted here and nowhere else:
//! not in the rate, not in the times.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a request failed. Each failed request has one class, the first that applies.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// There is no way to the target: its name has no address, or no route leads there.
    Unreachable,
    /// The target refused the connection.
    Refused,
    /// The target reset the connection.
    Reset,
    /// No answer, or no connection, within the time limit.
    Timeout,
    /// The connection ended before the answer did.
    ClosedEarly,
    /// What came is not HTTP as RFC 9112 has it.
    Malformed,
    /// The status is not an expected one.
    WrongStatus,
    /// The content is not what was asked for: length, hash, text, or an assertion of a scenario.
    WrongContent,
    /// The machine of the generator had no port or descriptor left; the target is not to blame.
    Local,
}

/// Failed requests by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Errors {
    /// No address of the name, or no route to it.
    pub unreachable: u64,
    /// Connections that were refused.
    pub refused: u64,
    /// Connections that were reset.
    pub reset: u64,
    /// No answer, or no connection, in time.
    pub timeout: u64,
    /// The connection ended before the answer did.
    pub closed_early: u64,
    /// Responses that are not HTTP.
    pub malformed: u64,
    /// A status that was not asked for.
    pub wrong_status: u64,
    /// Content that was not asked for.
    pub wrong_content: u64,
    /// The machine of the generator had no port or descriptor left.
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
            Self::Timeout => "no answer, or no connection, within the time limit",
            Self::ClosedEarly => "the connection ended before the answer did",
            Self::Malformed => "what came is not HTTP",
            Self::WrongStatus => "a status that was not asked for",
            Self::WrongContent => "content that was not asked for",
            Self::Local => "this machine had no port or descriptor left",
        }
    }
}

impl Errors {
    /// Counts a request of this class.
    pub fn add(&mut self, class: ErrorClass) {
        let count = self.of_mut(class);
        *count = count.saturating_add(1);
    }

    /// The number of requests that failed in this way.
    pub fn of(&self, class: ErrorClass) -> u64 {
        let mut errors = *self;
        *errors.of_mut(class)
    }

    /// The count of one class, to be changed.
    pub fn of_mut(&mut self, class: ErrorClass) -> &mut u64 {
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
        ErrorClass::ALL.iter().fold(0, |sum, class| sum.saturating_add(self.of(*class)))
    }

    /// Adds what another counted.
    pub fn merge(&mut self, other: &Self) {
        for class in ErrorClass::ALL {
            let count = self.of_mut(class);
            *count = count.saturating_add(other.of(class));
        }
    }

    /// The classes that occurred, with their counts.
    pub fn occurred(&self) -> impl Iterator<Item = (ErrorClass, u64)> {
        let counts = ErrorClass::ALL.map(|class| (class, self.of(class)));
        counts.into_iter().filter(|(_, count)| *count > 0)
    }
}
