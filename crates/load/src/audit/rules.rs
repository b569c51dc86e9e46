//! The rules of the audit: a saturated generator, consistency of counts and times (Little's law),
//! counters of the kernel, too few responses, and implausible times.

use vervet_report::{Ended, Finding, Mode, Run, Verdict};

use super::Evidence;

/// CPU use above which a thread of the generator counts as saturated, in thousandths of a core.
const BUSY_PERMILLE_MAX: u32 = 900;
/// Share of the window that a thread ran or waited for a CPU, in thousandths, above which it had no
/// idle time.
const OCCUPIED_PERMILLE_MAX: u32 = 900;
/// Minimum length of a window for this rule; shorter ones are bursts.
const WINDOW_US_MIN: u64 = 500_000;
/// Lag below this is not reported: one loop iteration over a few hundred ready connections takes as
/// long.
const LAG_NS_MAX: f64 = 1e6;
/// Minimum number of requests for rules on rates.
const REQUESTS_MIN: u64 = 100;
/// Retransmitted segments per request above which they are reported.
const RETRANSMITS_PER_REQUEST: f64 = 0.0001;
/// Minimum number of responses for a p99.
const ANSWERS_MIN: u64 = 100;
/// Minimum mean number of responses per connection; fewer are uneven by chance alone.
const EACH_MIN: f64 = 100.0;
/// Minimum number of times for rules on their distribution.
const TIMES_MIN: u64 = 100;
/// Lengths of a window below which it gets a warning, or fails.
const WINDOW_US_WARNING: u64 = 1_000_000;
const WINDOW_US_FAILED: u64 = 100_000;
/// A mean of more than this many medians is that of a few slow responses.
const MEAN_BY_MEDIAN_MAX: f64 = 2.0;
/// A p99 of fewer values is the greatest of them, or nearly: no reason to fail a run.
const LAGS_MIN: u64 = 1000;
/// Kernel counters are those of the whole machine: in a run of fewer connections or requests, a few
/// of others are a warning and no failure.
const CONNECTIONS_COUNTED_MIN: u64 = 200;
const REQUESTS_COUNTED_MIN: u64 = 1000;
/// Relative differences below this are ignored: the resolution of the histogram.
const SAME: f64 = 0.001;

pub(super) fn cpu(run: &Run, _: &Evidence) -> Option<Finding> {
    if run.achieved.window_us < WINDOW_US_MIN {
        return None;
    }
    let busy = run.generator.busiest_thread_permille;
    let occupied = run.generator.occupied_thread_permille;
    let text = RuleText {
        rule: "generator_cpu",
        bound: "busiest thread: at most 90 % of a core (else failed), and 90 % of the time including waits for a CPU (else warning)",
        meaning: "the generator was the bottleneck: the figures measure it, not the target",
        advice: "give the generator more threads and its own cores (--threads, --cores), or reduce the load",
    };
    // What others take of its core is missing in its CPU time, and all the same it has
    // nothing to spare.
    let verdict = if busy > BUSY_PERMILLE_MAX {
        Verdict::Failed
    } else if occupied > OCCUPIED_PERMILLE_MAX {
        Verdict::Warning
    } else {
        Verdict::Passed
    };
    let percent = |permille: u32| f64::from(permille) / 10.0;
    let measured = format!(
        "{:.1} % of a core, occupied {:.1} % of the time",
        percent(busy),
        percent(occupied.max(busy))
    );
    Some(text.finding(verdict, measured))
}

pub(super) fn threads(run: &Run, _: &Evidence) -> Option<Finding> {
    let errors = &run.generator.thread_errors;
    if errors.is_empty() {
        return None;
    }
    let text = RuleText {
        rule: "generator_threads",
        bound: "no thread ends before the run",
        meaning: "the load of the threads that ended is missing in the figures",
        advice: "remove the cause of the error, such as a limit on open files, and run again",
    };
    let errors: Vec<&str> = errors.iter().map(String::as_str).collect();
    Some(text.finding(Verdict::Failed, errors.join("; ")))
}

pub(super) fn lag(run: &Run, _: &Evidence) -> Option<Finding> {
    if run.generator.lag.is_empty() {
        return None;
    }
    let lag_ns = number(run.generator.lag.quantile_ns(0.99));
    let p99_ns = number(run.timings.response.quantile_ns(0.99));
    let text = RuleText {
        rule: "generator_lag",
        bound: "p99 at most 1 ms, or a tenth of the p99 of response times; failed above 10 ms, or half of that p99, of at least 1,000 times",
        meaning: "response times include the time that due requests and responses waited for the generator; the wait \
                  for a free connection is the target's, and not part of it",
        advice: "run nothing else on the generator's cores, or pin it to idle ones (--cores)",
    };
    let failed = if run.generator.lag.count() < LAGS_MIN {
        f64::INFINITY
    } else {
        (10.0 * LAG_NS_MAX).max(p99_ns / 2.0)
    };
    let verdict = above(lag_ns, LAG_NS_MAX.max(p99_ns / 10.0), failed);
    Some(text.finding(verdict, format!("{:.3} ms at p99", lag_ns / 1e6)))
}

pub(super) fn rate_asked(run: &Run, _: &Evidence) -> Option<Finding> {
    let asked = run.achieved.asked.filter(|asked| *asked > 0)?;
    if !matches!(run.asked.mode, Mode::Open { .. }) {
        return None;
    }
    // One on each connection may be under way at the end without any fault.
    let under_way = run.censored.count.min(run.asked.connections);
    let missing = asked.saturating_sub(run.finished() + under_way);
    let text = RuleText {
        rule: "rate_asked",
        bound: "at most 1 % of the due requests missing; failed above 5 %",
        meaning: "the actual rate was lower than the requested one",
        advice: "lower the rate, or allow more connections (-c)",
    };
    let share = number(missing) / number(asked);
    let rate = run.achieved.rate_asked().unwrap_or_default();
    let finished = run.achieved.per_second(run.finished());
    let measured =
        format!("{finished:.1}/s of {rate:.1}/s requested, {:.2} % missing", share * 100.0);
    Some(text.finding(above(share, 0.01, 0.05), measured))
}

/// Little's law: requests under way, on average, are the rate at which they leave times the time
/// that each was under way. Failed ones and those cut off at the end are on both sides, which are
/// measured apart: one when counts change, one request by request.
pub(super) fn littles_law(run: &Run, evidence: &Evidence) -> Option<Finding> {
    let window_ns = run.achieved.window_us.saturating_mul(1000);
    if run.achieved.done < REQUESTS_MIN || window_ns == 0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "a comparison to a part in twenty")]
    let mean = |area_ns: u128| area_ns as f64 / window_ns as f64;
    let (under_way, accounted) = (mean(evidence.area_ns), mean(evidence.sojourns_ns));
    if under_way <= 0.0 {
        return None;
    }
    let text = RuleText {
        rule: "littles_law",
        bound: "at most 5 % apart",
        meaning: "by Little's law, outstanding requests are the rate times the mean time of each: the generator miscounted",
        advice: "this is a bug in vervet: please report it with the command line",
    };
    let apart = (under_way - accounted).abs() / under_way;
    let measured = format!(
        "{under_way:.3} outstanding requests on average, {accounted:.3} by rate and time ({:.1} % apart)",
        apart * 100.0
    );
    Some(text.finding(above(apart, 0.05, 0.05), measured))
}

pub(super) fn listen_overflows(run: &Run, _: &Evidence) -> Option<Finding> {
    let overflows = run.kernel.listen_overflows?;
    let drops = run.kernel.listen_drops.unwrap_or(0);
    let text = RuleText {
        rule: "listen_overflows",
        bound: "none; failed above 1 % of the connections opened, or of 200",
        meaning: "the accept queue of a listener was full: the kernel delayed connections by a second or more, which looks like a slow server",
        advice: "raise the listener's backlog and net.core.somaxconn, or connect more slowly (--connect-rate)",
    };
    let share = number(overflows.max(drops))
        / number(run.achieved.connections_opened.max(CONNECTIONS_COUNTED_MIN));
    let measured = format!("{overflows} overflows, {drops} drops on this machine");
    Some(text.finding(above(share, 0.0, 0.01), measured))
}

pub(super) fn retransmits(run: &Run, _: &Evidence) -> Option<Finding> {
    let again = run.kernel.retransmitted_segments?;
    // On a busy machine nearly all are probes: on loopback 122 thousand of 129 thousand were.
    let probes = run.kernel.loss_probes.unwrap_or(0);
    let lost = again.saturating_sub(probes);
    let syns = run.kernel.retransmitted_syns.unwrap_or(0);
    let text = RuleText {
        rule: "retransmits",
        bound: "at most one segment per 10,000 requests; failed above one per 100, or above 10",
        meaning: "lost segments were retransmitted, which takes 200 ms or more",
        advice: "look for full queues, a slow network, or other traffic on this machine",
    };
    let share = number(lost) / number(run.finished().max(REQUESTS_COUNTED_MIN));
    let measured =
        format!("{lost} segments, of which {syns} SYN, and {probes} loss probes on this machine");
    let verdict = above(share, RETRANSMITS_PER_REQUEST, 0.01);
    Some(text.finding(verdict, measured))
}

#[allow(clippy::unnecessary_wraps, reason = "the shape of every rule")]
pub(super) fn enough(run: &Run, _: &Evidence) -> Option<Finding> {
    let done = run.achieved.done;
    let text = RuleText {
        rule: "enough_answers",
        bound: "at least 100 successful responses",
        meaning: "too few responses for reliable percentiles",
        advice: "run longer (-d), and find out why requests failed",
    };
    let verdict = match done {
        0 => Verdict::Failed,
        1..ANSWERS_MIN => Verdict::Warning,
        _ => Verdict::Passed,
    };
    Some(text.finding(verdict, format!("{done} successful responses")))
}

pub(super) fn even(_: &Run, evidence: &Evidence) -> Option<Finding> {
    let answers = &evidence.answers;
    let (least, most) = (answers.iter().min()?, answers.iter().max()?);
    let mean = number(answers.iter().sum()) / number(answers.len() as u64);
    if answers.len() < 2 || mean < EACH_MIN {
        return None;
    }
    let text = RuleText {
        rule: "even_answers",
        bound: "each connection between half and twice the mean; failed if one got none",
        meaning: "the target preferred some connections: the times are mostly theirs, and users of the others wait",
        advice: "check how the target distributes connections among its workers",
    };
    let is_even = number(*least) >= mean / 2.0 && number(*most) <= mean * 2.0;
    let verdict = match (*least, is_even) {
        (0, _) => Verdict::Failed,
        (_, false) => Verdict::Warning,
        (_, true) => Verdict::Passed,
    };
    let connections = answers.len();
    let measured = format!(
        "{least} to {most} responses on each of {connections} connections, {mean:.1} on average"
    );
    Some(text.finding(verdict, measured))
}

pub(super) fn p99_and_mean(run: &Run, _: &Evidence) -> Option<Finding> {
    let times = &run.timings.response;
    if times.count() < TIMES_MIN {
        return None;
    }
    let (p99_ns, mean_ns) = (number(times.quantile_ns(0.99)), times.mean_ns());
    let text = RuleText {
        rule: "p99_and_mean",
        bound: "p99 differs from the mean by more than 0.1 %",
        meaning: "all responses took the same time: a timer, a rate limit, or a stopped clock",
        advice: "look for what delays responses by a fixed time",
    };
    let verdict =
        if (p99_ns - mean_ns).abs() <= mean_ns * SAME { Verdict::Warning } else { Verdict::Passed };
    let measured = format!("p99 {:.3} ms, mean {:.3} ms", p99_ns / 1e6, mean_ns / 1e6);
    Some(text.finding(verdict, measured))
}

/// What a slow few do to the mean. By at most one standard deviation, as ab has it, mean and median
/// lie apart in any sample; so the bound is a ratio.
pub(super) fn mean_and_median(run: &Run, _: &Evidence) -> Option<Finding> {
    let times = &run.timings.response;
    if times.count() < TIMES_MIN {
        return None;
    }
    let text = RuleText {
        rule: "mean_and_median",
        bound: "mean at most twice the median",
        meaning: "a few slow responses make up most of the mean: no response is typical of it",
        advice: "use percentiles, and look at the intervals for what changed during the run",
    };
    let (mean_ns, median_ns) = (times.mean_ns(), number(times.quantile_ns(0.5)));
    let verdict = above(mean_ns, median_ns * MEAN_BY_MEDIAN_MAX, f64::INFINITY);
    let measured = format!("mean {:.3} ms, median {:.3} ms", mean_ns / 1e6, median_ns / 1e6);
    Some(text.finding(verdict, measured))
}

/// Times are those of successful responses alone: the more fail, the less they say.
pub(super) fn failed_requests(run: &Run, _: &Evidence) -> Option<Finding> {
    if run.finished() == 0 {
        return None;
    }
    let text = RuleText {
        rule: "failed_requests",
        bound: "at most 1 % of the finished requests; failed above 10 %",
        meaning: "rate and times cover only the responses that succeeded, not the work that was requested",
        advice: "find out why requests failed: the report has them by class",
    };
    let share = run.error_share();
    let measured = format!(
        "{} of {} finished requests failed ({:.2} %)",
        run.errors.total(),
        run.finished(),
        share * 100.0
    );
    Some(text.finding(above(share, 0.01, 0.1), measured))
}

#[allow(clippy::unnecessary_wraps, reason = "the shape of every rule")]
pub(super) fn window_length(run: &Run, _: &Evidence) -> Option<Finding> {
    let text = RuleText {
        rule: "window_length",
        bound: "at least 1 s; failed below 100 ms, unless the number of requests ended the run",
        meaning: "too short: connections, caches and clocks of CPUs had no time to settle, and one pause of the machine decides the figures",
        advice: "run longer (-d), after a warm-up (--warm-up)",
    };
    let window_us = run.achieved.window_us;
    // Who names a number asks for these requests, and may not ask for figures at all.
    let is_counted =
        run.asked.stop.after_requests.is_some() || run.achieved.ended == Ended::Exhausted;
    let verdict = match window_us {
        ..WINDOW_US_FAILED if !is_counted => Verdict::Failed,
        ..WINDOW_US_WARNING => Verdict::Warning,
        _ => Verdict::Passed,
    };
    Some(text.finding(verdict, format!("{:.3} s", number(window_us) / 1e6)))
}

/// The fixed texts of a rule; the rest of a [`Finding`] is what it measured.
struct RuleText {
    rule: &'static str,
    bound: &'static str,
    meaning: &'static str,
    advice: &'static str,
}

impl RuleText {
    fn finding(&self, verdict: Verdict, measured: String) -> Finding {
        let advice = match verdict {
            Verdict::Passed => "",
            Verdict::Warning | Verdict::Failed => self.advice,
        };
        Finding {
            rule: self.rule.to_owned(),
            verdict,
            measured,
            bound: self.bound.to_owned(),
            meaning: self.meaning.to_owned(),
            advice: advice.to_owned(),
        }
    }
}

/// Failed above one bound, a warning above another.
fn above(value: f64, warning: f64, failed: f64) -> Verdict {
    match value {
        _ if value > failed => Verdict::Failed,
        _ if value > warning => Verdict::Warning,
        _ => Verdict::Passed,
    }
}

/// A count as a number to calculate with.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts below 2^53; above, the last digits do not matter"
)]
fn number(count: u64) -> f64 {
    count as f64
}
