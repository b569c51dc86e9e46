//! `--find-max`: the highest rate at which a condition holds, by search, with the evidence of each
//! try.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use vervet_load::pacer::{Arrival, Pacer};
use vervet_load::{Load, Plan};
use vervet_report::units::rate;
use vervet_report::{Answer, Condition, Ended, Run, Try, TryOutcome};

use super::command::{reach, run};
use super::live::ProgressMode;
use super::outcome::{Status, judge_audit};
use super::outputs::Outputs;
use crate::console;
use crate::failure::Failure;

/// The first rate of a search, if not set.
const FIRST_RATE: f64 = 1000.0;
/// Tries at most.
const TRIES_MAX: usize = 24;
/// The search ends if the highest passing and the lowest failing rate are this close.
const CLOSE_ENOUGH: f64 = 0.02;
/// A try with fewer requests missing than this share has reached its rate.
const MISSING_MAX: f64 = 0.01;
/// A try with a greater share of failed requests does not count for its rate.
const FAILED_MAX: f64 = 0.01;
/// Default duration of a try.
const TRY_LENGTH: Duration = Duration::from_secs(5);

/// Where the search is: doubling until something fails, then halving the distance.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Search {
    holds: Option<f64>,
    fails: Option<f64>,
    next: f64,
}

impl Search {
    fn new(first: f64) -> Self {
        Self { holds: None, fails: None, next: first }
    }

    /// Takes the result of an attempt, and returns whether the search continues.
    fn take(&mut self, attempt: TryOutcome) -> bool {
        match attempt {
            TryOutcome::Holds => self.holds = Some(self.next),
            _ => self.fails = Some(self.next),
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

/// Searches, and reports the best try with the evidence of all.
pub(crate) fn find(
    plan: &Plan,
    goal: &Condition,
    live: ProgressMode,
    outputs: &Outputs,
) -> Result<ExitCode, Failure> {
    reach(plan)?;
    let first = match &plan.load {
        Load::Open { pacer, .. } => pacer.rate_max(),
        Load::Closed => FIRST_RATE,
    };
    let mut search = Search::new(first);
    let mut result = SearchResult::default();
    for _ in 0..TRIES_MAX {
        let run = run(attempt(plan, search.next), live, &Outputs::default())?;
        if run.achieved.ended == Ended::Interrupted {
            result.is_interrupted = true;
            result.shown.get_or_insert(run);
            break;
        }
        let attempt = judge(&run, goal, search.next);
        print_try(&attempt);
        let outcome = attempt.outcome;
        result.take(run, attempt);
        if !search.take(outcome) {
            break;
        }
    }
    result.report(goal, outputs)
}

/// The plan of a try.
fn attempt(plan: &Plan, rate: f64) -> Plan {
    let arrival = match &plan.load {
        Load::Open { arrival, .. } => *arrival,
        Load::Closed => Arrival::Even,
    };
    let mut attempt = plan.clone();
    attempt.load = Load::Open { pacer: Arc::new(Pacer::constant(rate)), arrival };
    let length = plan.duration.map_or(TRY_LENGTH, |it| it.min(TRY_LENGTH));
    attempt.duration = Some(length);
    attempt
}

/// What a search has result so far.
#[derive(Default)]
struct SearchResult {
    /// The best try, or the last if none has passed.
    shown: Option<Run>,
    has_held: bool,
    is_interrupted: bool,
    tries: Vec<Try>,
}

impl SearchResult {
    fn take(&mut self, run: Run, attempt: Try) {
        let holds = attempt.outcome == TryOutcome::Holds;
        if holds || !self.has_held {
            self.shown = Some(run);
        }
        self.has_held |= holds;
        self.tries.push(attempt);
    }

    fn report(self, goal: &Condition, outputs: &Outputs) -> Result<ExitCode, Failure> {
        let Some(mut shown) = self.shown else {
            return Ok(Status::Interrupted.into());
        };
        let condition = goal.to_string();
        match (self.has_held, self.is_interrupted) {
            (true, _) => console::message(format_args!(
                "highest rate with {condition}: {}",
                rate(shown.achieved.rate())
            )),
            (false, true) => {}
            (false, false) => console::message(format_args!(
                "{condition} is false at all tried rates; the last try is reported"
            )),
        }
        shown.search = Some(vervet_report::Search { condition, tries: self.tries });
        outputs.run(&shown)?;
        let status = match (self.is_interrupted, self.has_held) {
            (true, _) => Status::Interrupted,
            (_, false) => Status::Threshold,
            _ => judge_audit(&shown),
        };
        Ok(status.into())
    }
}

#[expect(clippy::cast_precision_loss, reason = "rates below 2^53")]
fn print_try(attempt: &Try) {
    let asked = rate(attempt.rate_asked_milli as f64 / 1000.0);
    let measured = &attempt.measured;
    match attempt.outcome {
        TryOutcome::Holds => console::message(format_args!("{asked}: yes ({measured})")),
        TryOutcome::DoesNotHold => console::message(format_args!("{asked}: no ({measured})")),
        TryOutcome::NotMeasured => {
            console::message(format_args!("{asked}: no (nothing was measured)"));
        }
        TryOutcome::RequestsFailed => {
            let failed = attempt.errors.total();
            console::message(format_args!("{asked}: no ({failed} requests failed)"));
        }
        TryOutcome::RateNotReached => {
            let reached = rate(attempt.rate_milli as f64 / 1000.0);
            console::message(format_args!("{asked}: no (only {reached} reached)"));
        }
    }
}

/// A rate holds when the condition does, the rate was reached, and no more than one request in a
/// hundred failed.
#[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
fn judge(run: &Run, goal: &Condition, rate_asked: f64) -> Try {
    let evaluated = goal.evaluate(run);
    let times = &run.timings.response;
    let asked = run.achieved.asked.unwrap_or(0);
    let missing = asked.saturating_sub(run.finished()) as f64 / asked.max(1) as f64;
    let outcome = match evaluated.answer {
        _ if run.error_share() > FAILED_MAX => TryOutcome::RequestsFailed,
        _ if missing > MISSING_MAX => TryOutcome::RateNotReached,
        Answer::Holds => TryOutcome::Holds,
        Answer::DoesNotHold => TryOutcome::DoesNotHold,
        Answer::NotMeasured => TryOutcome::NotMeasured,
    };
    Try {
        rate_asked_milli: milli(rate_asked),
        rate_milli: milli(run.achieved.rate()),
        outcome,
        measured: evaluated.measured,
        window_us: run.achieved.window_us,
        asked,
        done: run.achieved.done,
        errors: run.errors,
        p50_ns: times.known(times.quantile_ns(0.5)),
        p99_ns: times.known(times.quantile_ns(0.99)),
        generator_cpu_permille: run.generator.busiest_thread_permille,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is at least 0, and a float beyond the range becomes its end"
)]
fn milli(rate: f64) -> u64 {
    (rate * 1000.0).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The highest rate below a limit is result, from wherever the search begins.
    #[test]
    fn closes_in_on_the_limit() {
        for (first, limit) in [(1000.0, 33_000.0), (1000.0, 7.0), (500.0, 499.0), (1.0, 1e6)] {
            let mut search = Search::new(first);
            let mut rounds = 0;
            loop {
                rounds += 1;
                let attempt =
                    if search.next <= limit { TryOutcome::Holds } else { TryOutcome::DoesNotHold };
                if !search.take(attempt) {
                    break;
                }
            }
            let result = search.holds.unwrap();
            assert!(result <= limit && result >= limit * 0.97, "{result} of {limit}");
            assert!(rounds <= TRIES_MAX + 6, "{rounds}");
        }
    }

    #[test]
    fn gives_up_where_nothing_holds() {
        let mut search = Search::new(1000.0);
        let mut tries = 1;
        while search.take(TryOutcome::DoesNotHold) {
            tries += 1;
        }
        assert_eq!(search.holds, None);
        assert!(tries < 10, "{tries}");
    }
}
