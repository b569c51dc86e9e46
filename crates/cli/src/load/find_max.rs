//! `--find-max`: the highest rate at which a condition holds, by search, with the evidence of each try.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use vervet_load::pacer::{Arrival, Constant};
use vervet_load::{Load, Plan};
use vervet_report::units::rate;
use vervet_report::{Answer, Condition, Ended, Run, Verdict};

use super::command::{reach, run};
use super::live::Live;
use super::outcome::{Refused, Status};
use super::outputs::Outputs;
use crate::failure::Failure;
use crate::talk;

/// The first rate that is tried, where none is given.
const FIRST_RATE: f64 = 1000.0;
/// Tries at most.
const TRIES_MAX: usize = 24;
/// The search ends when the highest rate that held and the lowest that did not are this close.
const CLOSE_ENOUGH: f64 = 0.02;
/// A try with fewer requests missing than this share has reached its rate.
const MISSING_MAX: f64 = 0.01;
/// How long a try is, where nothing is said: several are made.
const TRY_LENGTH: Duration = Duration::from_secs(5);

/// What a try says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    Holds,
    Fails,
}

/// Where the search is: doubling until something fails, then halving the distance.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Search {
    holds: Option<f64>,
    fails: Option<f64>,
    next: f64,
}

impl Search {
    fn new(first: f64) -> Self {
        Self {
            holds: None,
            fails: None,
            next: first,
        }
    }

    /// Takes the result at the rate that was tried, and says whether the search goes on.
    fn take(&mut self, tried: Tried) -> bool {
        match tried {
            Tried::Holds => self.holds = Some(self.next),
            Tried::Fails => self.fails = Some(self.next),
        }
        self.next = match (self.holds, self.fails) {
            (Some(holds), None) => holds * 2.0,
            (None, Some(fails)) => fails / 4.0,
            (Some(holds), Some(fails)) if fails - holds > fails * CLOSE_ENOUGH => {
                f64::midpoint(holds, fails)
            }
            _ => return false,
        };
        self.next >= 1.0
    }
}

/// Searches, and reports the best try.
pub(crate) fn find(
    plan: &Plan,
    goal: &Condition,
    live: Live,
    outputs: &Outputs,
) -> Result<Result<ExitCode, Failure>, Refused> {
    reach(plan)?;
    let (first, arrival) = match &plan.load {
        Load::Open { pacer, arrival } => (pacer.rate_max(), *arrival),
        Load::Closed => (FIRST_RATE, Arrival::Even),
    };
    let mut search = Search::new(first);
    let mut best: Option<Run> = None;
    let mut evidence = String::from("rate asked   rate reached  holds  measured\n");
    for _ in 0..TRIES_MAX {
        let asked = search.next;
        let mut attempt = plan.clone();
        attempt.load = Load::Open {
            pacer: Arc::new(Constant::per_second(asked)),
            arrival,
        };
        attempt.duration = plan
            .duration
            .map(|it| it.min(TRY_LENGTH))
            .or(Some(TRY_LENGTH));
        let run = run(attempt, live, &Outputs::silent())?;
        if run.achieved.ended == Ended::Interrupted {
            return Ok(Ok(Status::Interrupted.into()));
        }
        let (tried, measured) = judge(&run, goal);
        let holds = if tried == Tried::Holds { "yes" } else { "no" };
        let reached = rate(run.achieved.rate());
        let row = format!("{:<12} {reached:<13} {holds:<6} {measured}\n", rate(asked));
        evidence.push_str(&row);
        talk::say(format_args!("{}: {holds} ({measured})", rate(asked)));
        if tried == Tried::Holds {
            best = Some(run);
        }
        if !search.take(tried) {
            break;
        }
    }
    let Some(mut best) = best else {
        return Ok(talk::print(&evidence)
            .map(|()| Status::Threshold.into())
            .map_err(Failure::Output));
    };
    let tries = best.environment.entry("tries of --find-max".to_owned());
    tries
        .or_default()
        .extend(evidence.lines().skip(1).map(str::to_owned));
    Ok(report(&best, goal, &evidence, outputs))
}

fn report(
    best: &Run,
    goal: &Condition,
    evidence: &str,
    outputs: &Outputs,
) -> Result<ExitCode, Failure> {
    talk::say_block(evidence);
    talk::say(format_args!(
        "highest rate with {goal}: {}",
        rate(best.achieved.rate())
    ));
    outputs.run(best)?;
    let limited = best
        .findings
        .iter()
        .any(|finding| finding.rule == "generator_cpu" && finding.verdict == Verdict::Failed);
    Ok(if limited {
        Status::GeneratorLimit
    } else {
        Status::AsAsked
    }
    .into())
}

/// A rate holds when the condition does, the rate was reached, and no more than one request in a hundred failed.
#[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
fn judge(run: &Run, goal: &Condition) -> (Tried, String) {
    let outcome = goal.evaluate(run);
    let asked = run.achieved.asked.unwrap_or(0).max(1);
    let missing = asked.saturating_sub(run.finished()) as f64 / asked as f64;
    let measured = outcome.measured.clone();
    if run.error_share() > 0.01 {
        return (
            Tried::Fails,
            format!("{measured}, {:.1} % failed", run.error_share() * 100.0),
        );
    }
    if missing > MISSING_MAX {
        return (
            Tried::Fails,
            format!("{measured}, {:.1} % not made", missing * 100.0),
        );
    }
    match outcome.answer {
        Answer::Holds => (Tried::Holds, measured),
        Answer::DoesNotHold | Answer::NotMeasured => (Tried::Fails, measured),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The highest rate below a limit is found, from wherever the search begins.
    #[test]
    fn closes_in_on_the_limit() {
        for (first, limit) in [
            (1000.0, 33_000.0),
            (1000.0, 7.0),
            (500.0, 499.0),
            (1.0, 1e6),
        ] {
            let mut search = Search::new(first);
            let mut rounds = 0;
            loop {
                rounds += 1;
                let tried = if search.next <= limit {
                    Tried::Holds
                } else {
                    Tried::Fails
                };
                if !search.take(tried) {
                    break;
                }
            }
            let found = search.holds.unwrap();
            assert!(
                found <= limit && found >= limit * 0.97,
                "{found} of {limit}"
            );
            assert!(rounds <= TRIES_MAX + 6, "{rounds}");
        }
    }

    #[test]
    fn gives_up_where_nothing_holds() {
        let mut search = Search::new(1000.0);
        let mut tries = 1;
        while search.take(Tried::Fails) {
            tries += 1;
        }
        assert_eq!(search.holds, None);
        assert!(tries < 10, "{tries}");
    }
}
