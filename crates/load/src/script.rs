//! What one user does: the one interface between what is asked and who asks it. A fixed request, a template, a list of
//! targets, a log that is replayed and a scenario are scripts; the generator knows no more of them than this.

use std::time::Duration;

/// What one user sends, one request after another. Each user has a value of its own.
pub trait Script: Send {
    /// Says what comes next. A request is appended to `out`, head and content, ready for the wire; a script that sends
    /// the same bytes each time allocates nothing.
    fn next(&mut self, turn: &Turn<'_>, out: &mut Vec<u8>) -> Step;

    /// Whether [`Turn::answer`] is needed: the generator keeps the content of answers only then.
    fn reads_answers(&self) -> bool {
        false
    }
}

/// What a script may look at when it decides.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// Time since the run began.
    pub elapsed: Duration,
    /// The answer to the user's last request, if it came in full and [`Script::reads_answers`] asked for it.
    pub answer: Option<&'a Answer<'a>>,
}

/// An answer as a script sees it.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The status code.
    pub status: u16,
    /// The field lines, each with its CRLF, as they came.
    pub fields: &'a [u8],
    /// The content, decoded from chunks; cut at the limit that the generator names.
    pub content: &'a [u8],
}

/// What a user does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The request that was appended is to be sent.
    Send(Request),
    /// Nothing for this long: think time, or the pause of a log that is replayed. Then [`Script::next`] is asked again.
    Wait(Duration),
    /// This user has nothing more to do.
    End,
}

/// What the generator needs to know of a request that was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which of the plan's checks judges the answer.
    pub check: u16,
    /// Which step of the script it belongs to, for figures by step; 0 where there is only one.
    pub step: u16,
    /// Whether an answer to it has no content whatever its fields say, as with HEAD.
    pub content: ContentOfAnswer,
}

/// Whether the answer to a request may have content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentOfAnswer {
    /// As its fields say, RFC 9112 §6.3.
    AsFramed,
    /// Never: the request was HEAD.
    Never,
}
