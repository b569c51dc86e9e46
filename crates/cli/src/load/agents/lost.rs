//! An agent that could not be had, or was lost: why, whose word that is, and what to do.

use std::fmt;
use std::io;

use vervet_report::{Finding, Verdict};

use super::lines::NoLine;

/// The name of the finding on a run of which agents are missing.
pub(crate) const RULE: &str = "agents";

/// What of a line that is none is shown, in characters.
const SHOWN_CHARS_MAX: usize = 60;
/// The most bytes of a character.
const CHAR_BYTES_MAX: usize = 4;

/// Why an agent gives no run.
#[derive(Debug)]
pub(super) enum Lost {
    /// Nobody is there, or nobody lets us in.
    Unreachable(io::Error),
    /// It has not taken the plan.
    NotReady(NoLine),
    /// It says that the plan cannot be.
    Refused(Vec<String>),
    /// What it says is none of what agents say, or not at its time.
    NoNews(String),
    /// It was silent, or went, while it made the run.
    InTheMiddle(NoLine),
    /// Its run was over, and the result did not come.
    NoResult,
    /// Its run is no part of what the others made.
    Unlike(String),
    /// The coordinator has given up for another's sake.
    GivenUp,
}

impl Lost {
    /// It said this instead of news.
    pub(super) fn no_news(line: &[u8]) -> Self {
        let begin = line.len().min(SHOWN_CHARS_MAX * CHAR_BYTES_MAX);
        let text = String::from_utf8_lossy(&line[..begin]);
        let shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
        Self::NoNews(shown.escape_debug().to_string())
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(error) => write!(
                f,
                "cannot connect: {error} (start it with: vervet load --agent ADDRESS)"
            ),
            Self::NotReady(why) => write!(
                f,
                "{why} before it accepted the plan (it may be busy with another run, or not be a vervet agent)"
            ),
            Self::Refused(why) => f.write_str(&why.join("; ")),
            Self::NoNews(line) => write!(
                f,
                "unexpected message from the agent: \"{line}\" (is it an agent of the same version?)"
            ),
            Self::InTheMiddle(why) => write!(
                f,
                "{why} during the run (check its machine and the network, then run again)"
            ),
            Self::NoResult => {
                f.write_str("sent no result after its run (check its machine, then run again)")
            }
            Self::Unlike(why) => f.write_str(why),
            Self::GivenUp => f.write_str("was abandoned because another agent was not available"),
        }
    }
}

/// What the report says of a run whose agents were so many, and these of them are missing.
pub(super) fn finding(agents: usize, lost: &[String]) -> Finding {
    Finding {
        rule: RULE.to_owned(),
        verdict: Verdict::Failed,
        measured: format!(
            "{} of {agents} sent no result: {}",
            lost.len(),
            lost.join("; ")
        ),
        bound: "a result from each agent".to_owned(),
        meaning:
            "The figures are those of the other agents: fewer requests were sent than planned, and \
                  the load of the missing agents shows only in the response times."
                .to_owned(),
        advice: "Restart them, or remove them from --agents, and run again.".to_owned(),
    }
}
