//! What one user does: the interface between requests and the generator. A fixed request, a
//! template, a list of targets, a replayed log and a scenario are scripts.

use std::time::Duration;

/// What one user sends, one request after another. Each user has a value of its own.
pub trait Script: Send {
    /// Returns the next step. A request is appended to `out`, head and body, ready for the wire; a
    /// script that sends the same bytes each time does not allocate.
    fn next(&mut self, turn: &Turn<'_>, out: &mut Vec<u8>) -> Step;

    /// Whether [`Turn::answer`] is needed: the generator keeps the bodies of responses only then.
    fn reads_answers(&self) -> bool {
        false
    }

    /// Judges a complete response. Called once for each, before [`Script::next`], and only if
    /// [`Script::reads_answers`] is true. A failed response counts as an error of its step, and
    /// neither in rate nor in times.
    fn judge(&mut self, _answer: &Answer<'_>) -> Verdict {
        Verdict::Passed
    }
}

/// What all users of a run do: creates the script of each user, and names the steps and
/// assertions of the report.
pub trait Scripts: Send + Sync {
    /// The script of user `number`, counted from 0 over all threads. Users may be made in any
    /// order, on any thread.
    fn user(&self, number: u32) -> Box<dyn Script>;

    /// Names of the steps, at the numbers that [`Request::step`] has; one at least.
    fn steps(&self) -> &[String];

    /// Names of the assertions, at the numbers that [`Verdict::Failed`] has.
    fn assertions(&self) -> &[String] {
        &[]
    }
}

/// The verdict of a script on a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As it should be.
    Passed,
    /// The first assertion that does not hold, by its number in [`Scripts::assertions`].
    Failed(u16),
}

/// What a script may look at when it decides.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// Time since the start of the run.
    pub elapsed: Duration,
    /// The response to the user's last request, if it is complete and [`Script::reads_answers`] is
    /// true. `None` after a request means that it failed.
    pub answer: Option<&'a Answer<'a>>,
}

/// A response as a script sees it.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The status code of the response.
    pub status: u16,
    /// The header lines as received, each with its CRLF.
    pub fields: &'a [u8],
    /// The content, decoded from chunks; cut at the limit that the generator names.
    pub content: &'a [u8],
    /// Bytes of the whole content, also of what was cut.
    pub content_bytes: u64,
}

/// What a user does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The request that was appended is to be sent.
    Send(Request),
    /// Wait for this long (think time, or a pause in a replayed log), then call [`Script::next`]
    /// again.
    Wait(Duration),
    /// This user has nothing more to do.
    End,
}

/// What the generator needs to know of a request that was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Index of the check in the plan; [`UNCHECKED`] if only the script judges the response.
    pub check: u16,
    /// Index of the step, for figures by step; 0 if there is only one.
    pub step: u16,
    /// Whether a response to it has no body whatever its headers say, as with HEAD.
    pub content: ContentOfAnswer,
    /// Due time since the start of the run, if the script sets it, as for a replayed log; the
    /// response time counts from then. `None`: set by the pacer.
    pub due: Option<Duration>,
}

/// [`Request::check`] of a request whose response only [`Script::judge`] judges.
pub const UNCHECKED: u16 = u16::MAX;

/// Whether the response to a request may have a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentOfAnswer {
    /// As its headers say, RFC 9112 §6.3.
    AsFramed,
    /// Never: the request was HEAD.
    Never,
}
