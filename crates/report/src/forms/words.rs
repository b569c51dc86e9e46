//! Settings and results of a run in words, for the text and the HTML report.

use crate::audit::Verdict;
use crate::condition::Answer;
use crate::plan::{Mode, Reuse, RunSettings, Stop};
use crate::run::{Ended, Run};
use crate::search::TryOutcome;
use crate::units::{count, percent, rate, time};

/// Explains closed or open load.
pub(super) fn mode(mode: &Mode) -> &'static str {
    match mode {
        Mode::Closed => "closed: each connection sends its next request when it has the response",
        Mode::Open { .. } => {
            "open: requests are sent when they are due, whether or not the target keeps up"
        }
    }
}

/// Definition of the response time.
pub(super) const RESPONSE: &str =
    "response time: from the time that a request was due to the end of its response";
/// Definition of the service time.
pub(super) const SERVICE: &str =
    "service time: from sending the request to the end of its response";

/// How connections are used.
pub(super) fn connections(asked: &RunSettings) -> String {
    let reuse = match asked.reuse {
        Reuse::KeepAlive => "kept alive".to_owned(),
        Reuse::Close => "a new one per request".to_owned(),
        Reuse::Requests { requests } => format!("a new one after {} requests", count(requests)),
    };
    match asked.pipelining {
        0 | 1 => format!("{}, {reuse}", count(asked.connections)),
        many => format!(
            "{}, {reuse}, up to {many} outstanding requests on each",
            count(asked.connections)
        ),
    }
}

/// When the run was to end.
pub(super) fn stop(asked: &RunSettings) -> String {
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
            format!("{text}, after a warm-up of {}, not counted", of_ms(warm_up_ms))
        }
    }
}

/// Formats milliseconds.
#[expect(clippy::cast_precision_loss, reason = "times below 2^53")]
pub(super) fn of_ms(time_ms: u64) -> String {
    time(time_ms as f64 * 1e6)
}

/// Formats nanoseconds.
#[expect(clippy::cast_precision_loss, reason = "times below 2^53")]
pub(super) fn of_ns(time_ns: u64) -> String {
    time(time_ns as f64)
}

/// Formats nanoseconds, or a dash for nothing.
pub(super) fn of_ns_if_known(time_ns: Option<u64>) -> String {
    time_ns.map_or_else(|| "–".to_owned(), of_ns)
}

/// Formats thousandths of a core.
pub(super) fn of_core(permille: u32) -> String {
    format!("{} of a core", percent(f64::from(permille) / 1000.0))
}

/// The achieved rate, and its share of the requested one.
pub(super) fn rate_achieved(run: &Run) -> String {
    let achieved = run.achieved.rate();
    match run.achieved.rate_asked() {
        Some(asked) if asked > 0.0 => {
            format!(
                "{} of {} requested ({})",
                rate(achieved),
                rate(asked),
                percent(achieved / asked)
            )
        }
        _ => format!("{} (closed load: no rate requested)", rate(achieved)),
    }
}

/// How the run ended.
pub(super) fn ended(ended: Ended) -> &'static str {
    match ended {
        Ended::AsAsked => "as planned",
        Ended::Exhausted => "early: no more requests to send",
        Ended::Interrupted => "early: interrupted",
        Ended::TargetFailed => "early: the target was not reachable",
    }
}

/// Verdict of the audit on the whole run.
pub(super) fn verdict(run: &Run) -> &'static str {
    match run.verdict() {
        _ if run.findings.is_empty() => {
            "This run was not audited: do not compare servers by these figures."
        }
        Verdict::Passed => "The audit passed: these figures are reliable.",
        Verdict::Warning => "The audit has warnings: read them before using these figures.",
        Verdict::Failed => "The audit failed: do not compare servers by these figures.",
    }
}

/// Outcome of a condition.
pub(super) fn answer(answer: Answer) -> &'static str {
    match answer {
        Answer::Holds => "true",
        Answer::DoesNotHold => "false",
        Answer::NotMeasured => "not measured",
    }
}

/// Outcome of a try of a search.
pub(super) fn tried(outcome: TryOutcome) -> &'static str {
    match outcome {
        TryOutcome::Holds => "true",
        TryOutcome::DoesNotHold => "false",
        TryOutcome::NotMeasured => "not measured",
        TryOutcome::RequestsFailed => "too many failed requests",
        TryOutcome::RateNotReached => "rate not reached",
    }
}

/// Formats a phrase as a sentence: with a capital and a full stop; empty for an empty phrase.
pub fn sentence(phrase: &str) -> String {
    let mut letters = phrase.chars();
    let Some(first) = letters.next() else {
        return String::new();
    };
    let stop = if phrase.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{}{stop}", first.to_uppercase(), letters.as_str())
}
