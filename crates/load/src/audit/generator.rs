//! Whether the generator itself was the limit.

use vervet_report::{Finding, Run, Verdict};

use super::{Evidence, Words, above, number};

/// Above this share of a core a thread of the generator is taken for busy all the time, in
/// thousandths.
const BUSY_PERMILLE_MAX: u32 = 900;
/// Above this share of the window in which it ran or waited for a processor a thread had none to
/// spare, in thousandths.
const OCCUPIED_PERMILLE_MAX: u32 = 900;
/// A shorter window is a burst, and says nothing of what the generator could keep up.
const WINDOW_US_MIN: u64 = 500_000;
/// Lag below this is never told: a turn over a few hundred ready connections takes as long.
const LAG_NS_MAX: f64 = 1e6;

pub(super) fn cpu(run: &Run, _: &Evidence) -> Option<Finding> {
    if run.achieved.window_us < WINDOW_US_MIN {
        return None;
    }
    let busy = run.generator.busiest_thread_permille;
    let occupied = run.generator.occupied_thread_permille;
    let words = Words {
        rule: "generator_cpu",
        bound: "at most 90 % of a core in the busiest thread, and of the time with waits for a processor; failed above the first",
        meaning: "a generator without time to spare measures itself, not the target",
        advice: "the client was the bottleneck: give it more threads and cores of its own (--threads, --cores), or reduce the load",
    };
    // What others take of its core is missing in its processor time, and all the same it has
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
    Some(words.finding(verdict, measured))
}

pub(super) fn threads(run: &Run, _: &Evidence) -> Option<Finding> {
    let errors = &run.generator.thread_errors;
    if errors.is_empty() {
        return None;
    }
    let words = Words {
        rule: "generator_threads",
        bound: "no thread ends before the run",
        meaning: "the load of the threads that ended is missing in the figures",
        advice: "remove the cause of the error, such as a limit on open files, and run again",
    };
    let errors: Vec<&str> = errors.iter().map(String::as_str).collect();
    Some(words.finding(Verdict::Failed, errors.join("; ")))
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
        meaning: "time that responses waited for the generator is included in the response times",
        advice: "run nothing else on the generator's cores, or bind it to some (--cores)",
    };
    let verdict = above(
        lag_ns,
        LAG_NS_MAX.max(p99_ns / 10.0),
        (10.0 * LAG_NS_MAX).max(p99_ns / 2.0),
    );
    Some(words.finding(verdict, format!("{:.3} ms at p99", lag_ns / 1e6)))
}
