//! Whether the times look like times of independent requests.

use vervet_report::{Finding, Run, Verdict};

use super::{Evidence, Words, above, number};

/// Fewer times than this have no shape.
const TIMES_MIN: u64 = 100;
/// A difference below this share is none: as fine as the histogram tells values apart.
const SAME: f64 = 0.001;

pub(super) fn p99_and_mean(run: &Run, _: &Evidence) -> Option<Finding> {
    let times = &run.timings.response;
    if times.count() < TIMES_MIN {
        return None;
    }
    let (p99_ns, mean_ns) = (number(times.quantile_ns(0.99)), times.mean_ns());
    let words = Words {
        rule: "p99_and_mean",
        bound: "p99 above the mean by more than 0.1 %",
        meaning: "all took the same time, which no server does: a timer, a limit of rate, or a clock that stands",
        advice: "look for whatever holds answers back for a fixed time",
    };
    let verdict = if (p99_ns - mean_ns).abs() <= mean_ns * SAME {
        Verdict::Warning
    } else {
        Verdict::Passed
    };
    let measured = format!("p99 {:.3} ms, mean {:.3} ms", p99_ns / 1e6, mean_ns / 1e6);
    Some(words.finding(verdict, measured))
}

/// The rule of ab and weighttp. On a whole sample mean and median are at most one standard
/// deviation apart, which is a theorem; so a violation is not skew: the figures are not from
/// one sample.
pub(super) fn mean_and_median(run: &Run, _: &Evidence) -> Option<Finding> {
    let times = &run.timings.response;
    if times.count() < TIMES_MIN {
        return None;
    }
    let median_ns = number(times.quantile_ns(0.5));
    Some(apart(times.mean_ns(), median_ns, times.sd_ns()))
}

pub(super) fn apart(mean_ns: f64, median_ns: f64, sd_ns: f64) -> Finding {
    let words = Words {
        rule: "mean_and_median",
        bound: "at most one standard deviation apart; failed above two",
        meaning: "the mean stands for nobody: most answers are elsewhere",
        advice: "use quantiles, and look at the series for what changed during the run",
    };
    // Two slots of the histogram apart are as good as none.
    let apart_ns = ((mean_ns - median_ns).abs() - 2.0 * mean_ns * SAME).max(0.0);
    let measured = format!(
        "mean {:.3} ms, median {:.3} ms, standard deviation {:.3} ms",
        mean_ns / 1e6,
        median_ns / 1e6,
        sd_ns / 1e6
    );
    words.finding(above(apart_ns, sd_ns, 2.0 * sd_ns), measured)
}
