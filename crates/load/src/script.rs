//! What one user does: the one interface between what is asked and who asks it. A fixed request, a
//! template, a list of targets, a log that is replayed and a scenario are scripts; the generator
//! knows no more of them than this.

use std::time::Duration;

/// What one user sends, one request after another. Each user has a value of its own.
pub trait Script: Send {
    /// Says what comes next. A request is appended to `out`, head and content, ready for the wire;
    /// a script that sends the same bytes each time allocates nothing.
    fn next(&mut self, turn: &Turn<'_>, out: &mut Vec<u8>) -> Step;

    /// Whether [`Turn::answer`] is needed: the generator keeps the content of answers only then.
    fn reads_answers(&self) -> bool {
        false
    }

    /// Judges an answer that came in full. The generator asks once for each, before
    /// [`Script::next`], and only where [`Script::reads_answers`] holds. An answer that fails
    /// counts as an error of its step, and in neither rate nor times.
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

/// What a script says of an answer.
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
    /// Time since the run began.
    pub elapsed: Duration,
    /// The answer to the user's last request, if it came in full and [`Script::reads_answers`]
    /// asked for it. Missing after a request was sent, it tells that the request failed.
    pub answer: Option<&'a Answer<'a>>,
}

/// An answer as a script sees it.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The status code of the answer.
    pub status: u16,
    /// The field lines, each with its CRLF, as they came.
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
    /// Nothing for this long: think time, or the pause of a log that is replayed. Then
    /// [`Script::next`] is asked again.
    Wait(Duration),
    /// This user has nothing more to do.
    End,
}

/// What the generator needs to know of a request that was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which of the plan's checks judges the answer; [`UNCHECKED`] where the script does it alone.
    pub check: u16,
    /// Which step of the script it belongs to, for figures by step; 0 where there is only one.
    pub step: u16,
    /// Whether an answer to it has no content whatever its fields say, as with HEAD.
    pub content: ContentOfAnswer,
    /// When it was due since the run began, where the script keeps the times itself, as a log that
    /// is replayed does: the response time counts from then. `None`: the pacer says.
    pub due: Option<Duration>,
}

/// [`Request::check`] of a request whose answer only [`Script::judge`] judges.
pub const UNCHECKED: u16 = u16::MAX;

/// Whether the answer to a request may have content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentOfAnswer {
    /// As its fields say, RFC 9112 §6.3.
    AsFramed,
    /// Never: the request was HEAD.
    Never,
}
