//! Rules that keep one step from being taken for what it is not: a full queue for a slow server, a
//! refusal for a fast answer, the client for the server. The findings of the generator come first.

use vervet_report::{Finding, Run, Verdict};

use super::figures::{Figures, Waits};
use super::number::number;
use crate::record::{LoadShape, Step, Watched};

/// The share of failed requests above which a step gets a warning.
pub const ERROR_SHARE_MAX: f64 = 0.01;
/// The share of requests without an answer at the end above which quantiles count as cut off.
pub const CENSORED_SHARE_MAX: f64 = 0.01;
/// How busy the busiest thread of the generator may be, as a share of a core.
pub const CLIENT_BUSY_MAX: f64 = 0.90;
/// The share of the ceiling above which the ceiling is what was measured.
pub const CEILING_SHARE_MAX: f64 = 0.95;
/// Rules that say, where they failed, that the generator was the limit: the server may be able to
/// do more than was seen.
pub const GENERATOR_RULES: [&str; 3] = ["generator_cpu", "generator_lag", "generator_starved"];
/// How far connections times time may be from what was asked, as a share of it (Little's law).
const LITTLE_OFF_MAX: f64 = 0.10;
/// Above this median, in milliseconds, a wait of a second is not an exception.
const QUEUE_MEDIAN_MS_MAX: f64 = 500.0;
/// So many waits near a second are reported even if the kernel counted no full queue.
const WAITS_ALONE_MIN: u64 = 10;

/// What is to be said of a step, apart from what passed. The generator's own findings come first.
pub fn step_findings(step: &Step, run: &Run, figures: &Figures) -> Vec<Finding> {
    let own = run.findings.iter().chain(&step.audit);
    let mut findings: Vec<Finding> =
        own.filter(|finding| finding.verdict != Verdict::Passed).cloned().collect();
    let checked = |rule: &str| run.findings.iter().any(|finding| finding.rule == rule);
    findings.extend(queue_overflow(run, figures));
    findings.extend(refused_is_fast(figures));
    findings.extend(errors(figures));
    findings.extend(censored(figures));
    if !checked("generator_cpu") {
        findings.extend(client_limited(figures));
    }
    if !checked("littles_law") {
        findings.extend(littles_law(step, figures));
    }
    if let Watched::Invalid { reason } = &step.server {
        findings.push(unwatched(reason));
    }
    findings
}

/// Whether a finding takes a step out because the generator was the limit.
pub(crate) fn is_of_generator(finding: &Finding) -> bool {
    finding.verdict == Verdict::Failed && GENERATOR_RULES.contains(&finding.rule.as_str())
}

/// A subject that reaches the ceiling was not measured: the kernel and the generator were.
pub(super) fn at_ceiling(share: f64) -> Option<Finding> {
    (share > CEILING_SHARE_MAX).then(|| Finding {
        rule: "client_limited".to_owned(),
        verdict: Verdict::Warning,
        measured: format!("{:.1} % of the ceiling", share * 100.0),
        bound: format!("at most {:.0} %", CEILING_SHARE_MAX * 100.0),
        meaning: "a server of canned answers is hardly faster: the generator and the kernel were measured, and servers \
                  that come this close do not differ significantly by their goodput"
            .to_owned(),
        advice: "compare the processor time per request instead".to_owned(),
    })
}

fn queue_overflow(run: &Run, figures: &Figures) -> Option<Finding> {
    let Waits { near_1_s, near_3_s, before_1_s } = figures.waits;
    let near = near_1_s + near_3_s;
    let median = figures.response.map_or(0.0, |times| times.p50_ms);
    let overflows = run.kernel.listen_overflows;
    let syns = run.kernel.retransmitted_syns;
    let proven = overflows.unwrap_or(0) + syns.unwrap_or(0) > 0;
    let enough = if proven { 1 } else { WAITS_ALONE_MIN };
    if near < enough || near <= before_1_s || median > QUEUE_MEDIAN_MS_MAX {
        return None;
    }
    let counted =
        |count: Option<u64>| count.map_or("unknown".to_owned(), |count| count.to_string());
    let meaning = if proven {
        "the queue of the listener was full: the kernel dropped requests for connections, and TCP asked again after one \
         second, and after two more. The step in the times is the queue's, not the server's"
    } else {
        "waits gather where TCP asks for a connection again, but the kernel counted no full queue: something else drops \
         requests, or the server waits so long itself"
    };
    Some(Finding {
        rule: "queue_overflow".to_owned(),
        verdict: Verdict::Warning,
        measured: format!(
            "{near_1_s} waits of 1.0 to 1.3 s and {near_3_s} of 3.0 to 3.4 s, {before_1_s} of 0.5 to 0.95 s; the kernel's \
             counters: ListenOverflows {}, TCPSynRetrans {}",
            counted(overflows),
            counted(syns)
        ),
        bound: "no more waits near 1 s and 3 s than just below 1 s".to_owned(),
        meaning: meaning.to_owned(),
        advice: "raise the backlog of the server and net.core.somaxconn, or keep connections alive"
            .to_owned(),
    })
}

fn refused_is_fast(figures: &Figures) -> Option<Finding> {
    let refused = figures.errors.refused.saturating_add(figures.errors.reset);
    let finished = figures.done.saturating_add(figures.errors.total());
    let share = if finished > 0 { number(refused) / number(finished) } else { 0.0 };
    (share > ERROR_SHARE_MAX).then(|| Finding {
        rule: "refused_is_fast".to_owned(),
        verdict: Verdict::Warning,
        measured: format!("{refused} of {finished} requests refused or reset ({:.1} %)", share * 100.0),
        bound: format!("at most {:.0} %", ERROR_SHARE_MAX * 100.0),
        meaning: format!(
            "a refusal comes at once. Counted as an answer it would make {:.1}/s of {:.1}/s and shorten every time; here \
             it is a failure, and the times are those of who was served",
            figures.finished_per_second(),
            figures.goodput
        ),
        advice: "compare goodput, and the share of failures with it".to_owned(),
    })
}

fn errors(figures: &Figures) -> Option<Finding> {
    (figures.error_share > ERROR_SHARE_MAX).then(|| Finding {
        rule: "errors".to_owned(),
        verdict: Verdict::Warning,
        measured: format!("{:.1} % of requests failed", figures.error_share * 100.0),
        bound: format!("at most {:.0} %", ERROR_SHARE_MAX * 100.0),
        meaning: "the rate counts good answers only; the times say nothing of who got none"
            .to_owned(),
        advice: "look at the classes of failures, and at the log of the server".to_owned(),
    })
}

fn censored(figures: &Figures) -> Option<Finding> {
    (figures.censored_share > CENSORED_SHARE_MAX).then(|| Finding {
        rule: "censored".to_owned(),
        verdict: Verdict::Warning,
        measured: format!(
            "{:.1} % of requests had no answer when the step ended, the oldest for {:.0} ms",
            figures.censored_share * 100.0,
            figures.censored_longest_ms
        ),
        bound: format!("at most {:.0} %", CENSORED_SHARE_MAX * 100.0),
        meaning: "the slowest requests are those that are missing: the high quantiles are too low"
            .to_owned(),
        advice: "make the steps longer: many times the longest response time".to_owned(),
    })
}

fn client_limited(figures: &Figures) -> Option<Finding> {
    (figures.generator_busy > CLIENT_BUSY_MAX).then(|| Finding {
        rule: "client_limited".to_owned(),
        verdict: Verdict::Warning,
        measured: format!(
            "a thread of the generator kept {:.0} % of a core busy",
            figures.generator_busy * 100.0
        ),
        bound: format!("at most {:.0} %", CLIENT_BUSY_MAX * 100.0),
        meaning: "the generator was at its limit: the server may be able to do more than this"
            .to_owned(),
        advice: "give the generator more threads or cores, and the server fewer".to_owned(),
    })
}

/// In closed load, goodput times mean response time is the number of connections that were waiting.
fn littles_law(step: &Step, figures: &Figures) -> Option<Finding> {
    let LoadShape::Closed { concurrency } = step.load.shape else {
        return None;
    };
    let mean_seconds = figures.response?.mean_ms / 1e3;
    let waiting = figures.goodput * mean_seconds;
    let share = waiting / f64::from(concurrency);
    let clean =
        figures.error_share <= ERROR_SHARE_MAX && figures.censored_share <= CENSORED_SHARE_MAX;
    (clean && (share - 1.0).abs() > LITTLE_OFF_MAX).then(|| Finding {
        rule: "littles_law".to_owned(),
        verdict: Verdict::Warning,
        measured: format!(
            "{:.1}/s times {:.2} ms is {waiting:.1} connections, {concurrency} were asked for",
            figures.goodput,
            mean_seconds * 1e3
        ),
        bound: format!("within {:.0} %", LITTLE_OFF_MAX * 100.0),
        meaning: "rate, time and connections do not fit together: connections stood idle, or times were cut".to_owned(),
        advice: "look at whether the generator kept up, and whether connections were being opened all the time".to_owned(),
    })
}

fn unwatched(reason: &str) -> Finding {
    Finding {
        rule: "server_unwatched".to_owned(),
        verdict: Verdict::Warning,
        measured: reason.to_owned(),
        bound: "the same processes from the first request to the last".to_owned(),
        meaning: "processor time and memory of the server are not known for this step".to_owned(),
        advice: String::new(),
    }
}
