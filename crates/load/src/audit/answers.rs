//! Whether there are enough answers, and whether all connections got theirs.

use vervet_report::{Finding, Run, Verdict};

use super::{Evidence, Words, number};

/// Fewer answers than this have no p99.
const ANSWERS_MIN: u64 = 100;
/// Below so many answers for each connection chance alone makes them uneven.
const EACH_MIN: f64 = 100.0;

#[allow(clippy::unnecessary_wraps, reason = "the shape of every rule")]
pub(super) fn enough(run: &Run, _: &Evidence) -> Option<Finding> {
    let done = run.achieved.done;
    let words = Words {
        rule: "enough_answers",
        bound: "at least 100 good answers",
        meaning: "a quantile is only as good as the number of answers above it",
        advice: "let the run be longer (-d), and look at why answers failed",
    };
    let verdict = match done {
        0 => Verdict::Failed,
        1..ANSWERS_MIN => Verdict::Warning,
        _ => Verdict::Passed,
    };
    Some(words.finding(verdict, format!("{done} good answers")))
}

pub(super) fn even(_: &Run, evidence: &Evidence) -> Option<Finding> {
    let answers = &evidence.answers;
    let (least, most) = (answers.iter().min()?, answers.iter().max()?);
    let mean = number(answers.iter().sum()) / number(answers.len() as u64);
    if answers.len() < 2 || mean < EACH_MIN {
        return None;
    }
    let words = Words {
        rule: "even_answers",
        bound: "each connection between half and twice the mean; failed where one got none",
        meaning: "some connections were preferred: those times are theirs, and users of the others wait",
        advice: "look at how the target shares connections among its workers",
    };
    let is_even = number(*least) >= mean / 2.0 && number(*most) <= mean * 2.0;
    let verdict = match (*least, is_even) {
        (0, _) => Verdict::Failed,
        (_, false) => Verdict::Warning,
        (_, true) => Verdict::Passed,
    };
    let connections = answers.len();
    let measured = format!(
        "{least} to {most} answers on each of {connections} connections, {mean:.1} on average"
    );
    Some(words.finding(verdict, measured))
}
