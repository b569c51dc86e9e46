//! Findings of a step: what its figures may hide, such as a full accept queue, refused connections
//! or a saturated generator.

use vervet_report::{Finding, Run, Verdict};

use super::estimate::{Ratio, SPREAD_MAX};
use super::figures::{Figures, Waits};
use super::number::number;
use crate::record::{LoadShape, Step, Watched};

/// The share of failed requests above which a step gets a warning.
pub const ERROR_SHARE_MAX: f64 = 0.01;
/// The share of requests without a response at the end above which percentiles are unreliable.
pub const CENSORED_SHARE_MAX: f64 = 0.01;
/// Maximum CPU use of the busiest thread of the generator, as a share of a core.
pub const CLIENT_BUSY_MAX: f64 = 0.90;
/// The share of the ceiling above which the generator and the kernel were measured.
pub const CEILING_SHARE_MAX: f64 = 0.95;
/// The rule of subjects that are faster than the ceiling.
pub const CEILING_EXCEEDED: &str = "ceiling_exceeded";
/// Rules that fail if the generator was the bottleneck: the server may be capable of more.
pub const GENERATOR_RULES: [&str; 3] = ["generator_cpu", "generator_lag", "generator_starved"];
/// Maximum relative difference between rate times time and connections (Little's law).
const LITTLE_OFF_MAX: f64 = 0.10;
/// Above this median, in milliseconds, a wait of a second is not an exception.
const QUEUE_MEDIAN_MS_MAX: f64 = 500.0;
/// Waits near a second that are reported even if the kernel counted no full queue.
const WAITS_ALONE_MIN: u64 = 10;

/// The findings of a step, without passed ones. Those of the generator come first.
pub fn step_findings(step: &Step, run: &Run, figures: &Figures) -> Vec<Finding> {
    let own = run.findings.iter().chain(&step.audit);
    let mut findings: Vec<Finding> = own
        .filter(|finding| finding.verdict != Verdict::Passed && !is_of_window(step, finding))
        .cloned()
        .collect();
    let checked = |rule: &str| run.findings.iter().any(|finding| finding.rule == rule);
    findings.extend(queue_overflow(run, figures));
    findings.extend(refused_is_fast(figures));
    if !checked("failed_requests") {
        findings.extend(errors(figures));
    }
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

/// Whether a run is short because it is one window of several: together they are as long as asked.
fn is_of_window(step: &Step, finding: &Finding) -> bool {
    step.window.is_some() && finding.rule == "window_length"
}

/// Whether a finding excludes a step because the generator was the bottleneck.
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
        meaning: "the canned-response server is hardly faster: generator and kernel were measured, and servers this \
                  close to the ceiling do not differ significantly in goodput"
            .to_owned(),
        advice: "compare the CPU time per request instead".to_owned(),
    })
}

/// More than the upper bound, by more than the noise of both: it is none.
pub(super) fn above_ceiling(share: &Ratio) -> Option<Finding> {
    let (low, noise) =
        if share.has_interval { (share.low, 0.0) } else { (share.ratio, SPREAD_MAX) };
    (low > 1.0 + noise).then(|| Finding {
        rule: CEILING_EXCEEDED.to_owned(),
        verdict: Verdict::Warning,
        measured: format!(
            "{:.1} % of the ceiling (interval {:.1} % to {:.1} %)",
            share.ratio * 100.0,
            share.low * 100.0,
            share.high * 100.0
        ),
        bound: "not above 100 % by more than the interval".to_owned(),
        meaning: "the canned-response server is not an upper bound for this workload: it was slowed down, or the \
                  subject does less work"
            .to_owned(),
        advice: "measure the ceiling again with nothing else on its cores, and compare the responses; this share says \
                 nothing"
            .to_owned(),
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
        "the accept queue of the server was full: the kernel dropped SYN segments, and TCP sent them again after one \
         second, and after two more. These times are not the server's"
    } else {
        "many waits are as long as a SYN retransmission takes, but the kernel counted no full queue: something else drops \
         segments, or the server itself waits so long"
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
        bound: "not more waits near 1 s and 3 s than just below 1 s".to_owned(),
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
            "refusals are fast: counted as responses, they would give {:.1}/s instead of {:.1}/s, and lower times; here they \
             are failures, and the times are those of successful responses",
            figures.finished_per_second(),
            figures.goodput
        ),
        advice: "compare goodput together with the share of failures".to_owned(),
    })
}

fn errors(figures: &Figures) -> Option<Finding> {
    (figures.error_share > ERROR_SHARE_MAX).then(|| Finding {
        rule: "errors".to_owned(),
        verdict: Verdict::Warning,
        measured: format!("{:.1} % of requests failed", figures.error_share * 100.0),
        bound: format!("at most {:.0} %", ERROR_SHARE_MAX * 100.0),
        meaning: "rate and times only cover successful responses".to_owned(),
        advice: "check the classes of failures, and the log of the server".to_owned(),
    })
}

fn censored(figures: &Figures) -> Option<Finding> {
    (figures.censored_share > CENSORED_SHARE_MAX).then(|| Finding {
        rule: "censored".to_owned(),
        verdict: Verdict::Warning,
        measured: format!(
            "{:.1} % of requests had no response when the step ended, the oldest for {:.0} ms",
            figures.censored_share * 100.0,
            figures.censored_longest_ms
        ),
        bound: format!("at most {:.0} %", CENSORED_SHARE_MAX * 100.0),
        meaning: "the slowest requests are missing: high percentiles are too low".to_owned(),
        advice: "make the steps many times longer than the longest response time".to_owned(),
    })
}

fn client_limited(figures: &Figures) -> Option<Finding> {
    (figures.generator_busy > CLIENT_BUSY_MAX).then(|| Finding {
        rule: "client_limited".to_owned(),
        verdict: Verdict::Warning,
        measured: format!(
            "a thread of the generator used {:.0} % of a core",
            figures.generator_busy * 100.0
        ),
        bound: format!("at most {:.0} %", CLIENT_BUSY_MAX * 100.0),
        meaning: "the generator was the bottleneck: the server may be capable of more".to_owned(),
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
            "{:.1}/s times {:.2} ms is {waiting:.1} connections, of {concurrency}",
            figures.goodput,
            mean_seconds * 1e3
        ),
        bound: format!("within {:.0} %", LITTLE_OFF_MAX * 100.0),
        meaning: "rate, time and connections are inconsistent: connections were idle, or times were cut off".to_owned(),
        advice: "check whether the generator kept up, and whether connections were opened all the time".to_owned(),
    })
}

fn unwatched(reason: &str) -> Finding {
    Finding {
        rule: "server_unwatched".to_owned(),
        verdict: Verdict::Warning,
        measured: reason.to_owned(),
        bound: "the same processes from the first request to the last".to_owned(),
        meaning: "CPU time and memory of the server are unknown for this step".to_owned(),
        advice: String::new(),
    }
}
