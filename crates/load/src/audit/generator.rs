//! Whether the generator itself was the limit.

use vervet_report::{Finding, Run, Verdict};

use super::{Evidence, Words, above, number};

/// Above this share of a core a thread of the generator is taken for busy all the time, in thousandths.
const BUSY_PERMILLE_MAX: u32 = 900;
/// A shorter window is a burst, and says nothing of what the generator could keep up.
const WINDOW_US_MIN: u64 = 500_000;
/// Lag below this is never told: a turn over a few hundred ready connections takes as long.
const LAG_NS_MAX: f64 = 1e6;

pub(super) fn cpu(run: &Run, _: &Evidence) -> Option<Finding> {
    if run.achieved.window_us < WINDOW_US_MIN {
        return None;
    }
    let busy = run.generator.busiest_thread_permille;
    let words = Words {
        rule: "generator_cpu",
        bound: "at most 90 % of a core in the busiest thread",
        meaning: "a generator without time to spare measures itself, not the target",
        advice: "the client was the limit: give it more threads and cores (--threads), or ask for less",
    };
    let verdict = if busy > BUSY_PERMILLE_MAX {
        Verdict::Failed
    } else {
        Verdict::Passed
    };
    let percent = f64::from(busy) / 10.0;
    Some(words.finding(verdict, format!("{percent:.1} % of a core")))
}

pub(super) fn lag(run: &Run, _: &Evidence) -> Option<Finding> {
    if run.generator.lag.is_empty() {
        return None;
    }
    let lag_ns = number(run.generator.lag.quantile_ns(0.99));
    let p99_ns = number(run.timings.response.quantile_ns(0.99));
    let words = Words {
        rule: "generator_lag",
        bound: "p99 at most 1 ms, or a tenth of the p99 of response times; failed above half of that",
        meaning: "what lay ready while the generator did something else is in the response times",
        advice: "let nothing else run on the generator's cores, or bind it to some (--cores)",
    };
    let verdict = above(
        lag_ns,
        LAG_NS_MAX.max(p99_ns / 10.0),
        (10.0 * LAG_NS_MAX).max(p99_ns / 2.0),
    );
    Some(words.finding(verdict, format!("{:.3} ms at p99", lag_ns / 1e6)))
}
