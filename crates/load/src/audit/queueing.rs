//! What queueing theory says of a run: that what was asked was done, and that counts and times
//! agree.

use vervet_report::{Finding, Mode, Run};

use super::{Evidence, Words, above, number};

/// Fewer requests than this say nothing about rates.
const REQUESTS_MIN: u64 = 100;

pub(super) fn rate_asked(run: &Run, _: &Evidence) -> Option<Finding> {
    let asked = run.achieved.asked.filter(|asked| *asked > 0)?;
    if !matches!(run.asked.mode, Mode::Open { .. }) {
        return None;
    }
    // One on each connection may be under way at the end without any fault.
    let under_way = run.censored.count.min(run.asked.connections);
    let missing = asked.saturating_sub(run.finished() + under_way);
    let words = Words {
        rule: "rate_asked",
        bound: "at most 1 % of the requests that were due not made; failed above 5 %",
        meaning: "the run is one at a lower rate than it says",
        advice: "the target or the number of connections (-c) does not carry this rate: ask for less, or allow more",
    };
    let share = number(missing) / number(asked);
    let rate = run.achieved.rate_asked().unwrap_or_default();
    let finished = run.achieved.per_second(run.finished());
    let measured = format!(
        "{finished:.1}/s of {rate:.1}/s asked, {:.2} % missing",
        share * 100.0
    );
    Some(words.finding(above(share, 0.01, 0.05), measured))
}

/// Little's law: requests under way, on average, are the rate at which they leave times the time
/// that each was under way. Failed ones and those cut off at the end are on both sides, which are
/// measured apart: one when counts change, one request by request.
pub(super) fn littles_law(run: &Run, evidence: &Evidence) -> Option<Finding> {
    let window_ns = run.achieved.window_us.saturating_mul(1000);
    if run.achieved.done < REQUESTS_MIN || window_ns == 0 {
        return None;
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "a comparison to a part in twenty"
    )]
    let mean = |area_ns: u128| area_ns as f64 / window_ns as f64;
    let (under_way, accounted) = (mean(evidence.area_ns), mean(evidence.sojourns_ns));
    if under_way <= 0.0 {
        return None;
    }
    let words = Words {
        rule: "littles_law",
        bound: "at most 5 % apart",
        meaning: "requests under way are the rate at which they leave times the mean time of each; where not, the generator lost count",
        advice: "this is a mistake of this program: tell its authors how the run was made",
    };
    let apart = (under_way - accounted).abs() / under_way;
    let measured = format!(
        "{under_way:.3} requests under way on average, {accounted:.3} by the time that each took ({:.1} % apart)",
        apart * 100.0
    );
    Some(words.finding(above(apart, 0.05, 0.05), measured))
}
