//! One user: its script, its state, and its last response.

use rustix::io::Errno;
use vervet_engine::reactor::{ConnectFailure, Token};
use vervet_report::ErrorClass;

use super::connection::AnswerBuffer;
use crate::script::{Answer, Script};

/// Where a user is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UserState {
    /// Has no connection, and asks for none yet.
    Disconnected,
    /// Waits for its connection.
    Connecting,
    /// Has a connection and nothing to do: its next request is not yet due.
    Free,
    /// Requests of its are under way.
    Busy,
    /// Has said that it waits, with or without a connection.
    Thinking,
    /// Has nothing more to do.
    Ended,
}

pub(crate) struct User {
    pub(crate) script: Box<dyn Script>,
    pub(crate) state: UserState,
    pub(crate) connection: Option<Token>,
    /// When what it does next is due.
    pub(crate) due_ns: Option<u64>,
    /// Attempts to connect that failed, one after another.
    pub(crate) failures: u32,
    /// Successful responses.
    pub(crate) answers: u64,
    /// Stands in the queue of users that a due request may be given to.
    pub(crate) queued: bool,
    /// Since when it stands there, on the clock: before, a due request waits for the target and not
    /// for the generator.
    pub(crate) free_since_ns: u64,
    pub(crate) kept: Option<Box<AnswerBuffer>>,
    last: Option<Last>,
}

/// The last response, without its headers and body.
#[derive(Clone, Copy)]
struct Last {
    status: u16,
    content_bytes: u64,
}

impl User {
    pub(crate) fn new(script: Box<dyn Script>) -> Self {
        let kept = script.reads_answers().then(Box::default);
        Self {
            script,
            state: UserState::Disconnected,
            connection: None,
            due_ns: None,
            failures: 0,
            answers: 0,
            queued: false,
            free_since_ns: 0,
            kept,
            last: None,
        }
    }

    /// Remembers a complete response.
    pub(crate) fn remember(&mut self, status: u16, content_bytes: u64) {
        self.last = Some(Last { status, content_bytes });
    }

    /// What was kept belongs to a request that failed, or has been looked at.
    pub(crate) fn forget(&mut self) {
        self.last = None;
        if let Some(kept) = &mut self.kept {
            kept.fields.clear();
            kept.content.clear();
        }
    }

    /// The script, and the response that it may read.
    pub(crate) fn script_and_answer(&mut self) -> (&mut Box<dyn Script>, Option<Answer<'_>>) {
        let answer = match (&self.kept, self.last) {
            (Some(kept), Some(last)) => Some(Answer {
                status: last.status,
                fields: &kept.fields,
                content: &kept.content,
                content_bytes: last.content_bytes,
            }),
            _ => None,
        };
        (&mut self.script, answer)
    }
}

/// The error class of a failed connection attempt.
pub(super) fn class_of(errno: Errno) -> ErrorClass {
    match ConnectFailure::from_errno(errno) {
        // A unix socket whose queue is full says at once what TCP says after seconds.
        ConnectFailure::Refused | ConnectFailure::QueueFull => ErrorClass::Refused,
        ConnectFailure::Timeout => ErrorClass::Timeout,
        ConnectFailure::Unreachable | ConnectFailure::Other => ErrorClass::Unreachable,
        ConnectFailure::Exhausted => ErrorClass::Local,
    }
}
