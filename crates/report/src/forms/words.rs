//! What a run was and how it went, in sentences: the same in a terminal and on a page.

use crate::audit::Verdict;
use crate::condition::Answer;
use crate::plan::{Asked, Mode, Reuse, Stop};
use crate::run::{Ended, Run};
use crate::search::TryOutcome;
use crate::units::{count, percent, rate, time};

/// What closed and open load mean, in half a line.
pub(super) fn mode(mode: &Mode) -> &'static str {
    match mode {
        Mode::Closed => {
            "closed: each connection asks again when its answer has come, so a slow target is asked less"
        }
        Mode::Open { .. } => {
            "open: each request has a due time, whether or not the target keeps up"
        }
    }
}

/// What the response time is measured from.
pub(super) const RESPONSE: &str =
    "response time: from the moment a request was due to the end of its answer, what a user waits";
/// What the service time is measured from.
pub(super) const SERVICE: &str = "service time: from the moment it was sent to the end of its answer, what the target took once asked";

/// How connections are used.
pub(super) fn connections(asked: &Asked) -> String {
    let reuse = match asked.reuse {
        Reuse::KeepAlive => "kept alive".to_owned(),
        Reuse::Close => "a new one for each request".to_owned(),
        Reuse::Requests { requests } => format!("a new one after {} requests", count(requests)),
    };
    match asked.pipelining {
        0 | 1 => format!("{}, {reuse}", count(asked.connections)),
        many => format!(
            "{}, {reuse}, up to {many} requests under way on each",
            count(asked.connections)
        ),
    }
}

/// When the run was to end.
pub(super) fn stop(asked: &Asked) -> String {
    let text = match asked.stop {
        Stop { after_ms: Some(after_ms), after_requests: None } => of_ms(after_ms),
        Stop { after_ms: None, after_requests: Some(requests) } => {
            format!("{} requests", count(requests))
        }
        Stop { after_ms: Some(after_ms), after_requests: Some(requests) } => {
            format!("{} or {} requests, whichever comes first", of_ms(after_ms), count(requests))
        }
        Stop { after_ms: None, after_requests: None } => "until stopped".to_owned(),
    };
    match asked.warm_up_ms {
        0 => text,
        warm_up_ms => {
            format!("{text}, after a warm-up of {} that is not counted", of_ms(warm_up_ms))
        }
    }
}

/// Milliseconds for people.
#[expect(clippy::cast_precision_loss, reason = "times below 2^53")]
pub(super) fn of_ms(time_ms: u64) -> String {
    time(time_ms as f64 * 1e6)
}

/// Nanoseconds for people.
#[expect(clippy::cast_precision_loss, reason = "times below 2^53")]
pub(super) fn of_ns(time_ns: u64) -> String {
    time(time_ns as f64)
}

/// Thousandths of a core for people.
pub(super) fn of_core(permille: u32) -> String {
    format!("{} of a core", percent(f64::from(permille) / 1000.0))
}

/// The rate achieved, and what of the rate asked that is.
pub(super) fn rate_achieved(run: &Run) -> String {
    let achieved = run.achieved.rate();
    match run.achieved.rate_asked() {
        Some(asked) if asked > 0.0 => {
            format!("{} of {} asked ({})", rate(achieved), rate(asked), percent(achieved / asked))
        }
        _ => format!("{} (no rate was asked: closed load takes what it gets)", rate(achieved)),
    }
}

/// How the run ended, where there is something to say.
pub(super) fn ended(ended: Ended) -> &'static str {
    match ended {
        Ended::AsAsked => "as asked",
        Ended::Exhausted => "early: the script had nothing more to ask",
        Ended::Interrupted => "early: it was interrupted",
        Ended::TargetFailed => "early: the target could not be asked",
    }
}

/// What the audit says of the whole run.
pub(super) fn verdict(run: &Run) -> &'static str {
    match run.verdict() {
        _ if run.findings.is_empty() => {
            "No audit was made of this run: do not compare servers by it."
        }
        Verdict::Passed => "The audit has nothing against these figures.",
        Verdict::Warning => {
            "These figures hold with a reservation: read the warnings of the audit."
        }
        Verdict::Failed => {
            "Do not compare servers by these figures: read what failed in the audit."
        }
    }
}

/// The word for an answer to a condition.
pub(super) fn answer(answer: Answer) -> &'static str {
    match answer {
        Answer::Holds => "true",
        Answer::DoesNotHold => "false",
        Answer::NotMeasured => "not measured",
    }
}

/// What a try of a search came to.
pub(super) fn tried(outcome: TryOutcome) -> &'static str {
    match outcome {
        TryOutcome::Holds => "holds",
        TryOutcome::DoesNotHold => "does not hold",
        TryOutcome::NotMeasured => "was not measured",
        TryOutcome::RequestsFailed => "too many failed",
        TryOutcome::RateNotReached => "rate not reached",
    }
}

/// A phrase as a sentence: a capital at its beginning, a stop at its end.
pub(super) fn sentence(phrase: &str) -> String {
    let mut letters = phrase.chars();
    let Some(first) = letters.next() else {
        return String::new();
    };
    let stop = if phrase.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{}{stop}", first.to_uppercase(), letters.as_str())
}
