//! `--find-max`: the highest rate at which a condition holds, by search, with the evidence of each
//! try.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use vervet_load::pacer::{Arrival, Pacer, RATE_MAX};
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
const TRIES_MAX: usize = 40;
/// The search ends if the highest passing and the lowest failing rate are this close.
const CLOSE_ENOUGH: f64 = 0.02;
/// A try with fewer requests missing than this share has reached its rate.
const MISSING_MAX: f64 = 0.01;
/// A try with a greater share of failed requests does not count for its rate.
const FAILED_MAX: f64 = 0.01;
/// Default duration of a try.
const TRY_LENGTH: Duration = Duration::from_secs(5);

/// Where the search is: doubling until something fails, then halving the distance, at the end once
/// more the highest rate that has held. A rate fails if it does so twice in a row: one bad moment
/// of the machine decides nothing.
#[derive(Clone, Debug, PartialEq)]
struct Search {
    /// Rates that have held, ascending.
    held: Vec<f64>,
    /// The lowest that has failed.
    fails: Option<f64>,
    next: f64,
    stage: Stage,
    has_failed_once: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Search,
    Confirm,
}

/// What a search does after a try.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Then {
    Try,
    Confirmed,
    NothingHolds,
}

impl Search {
    fn new(first: f64) -> Self {
        let stage = Stage::Search;
        Self { held: Vec::new(), fails: None, next: first, stage, has_failed_once: false }
    }

    /// Takes the result of a try at the next rate.
    fn take(&mut self, outcome: TryOutcome) -> Then {
        let holds = outcome == TryOutcome::Holds;
        if !holds && !self.has_failed_once {
            self.has_failed_once = true;
            return Then::Try;
        }
        self.has_failed_once = false;
        match (holds, self.stage) {
            (true, Stage::Confirm) => return Then::Confirmed,
            (true, Stage::Search) => self.held.push(self.next),
            (false, stage) => {
                self.fails = Some(self.next);
                if stage == Stage::Confirm {
                    self.held.pop();
                }
            }
        }
        (self.stage, self.next) = match (self.following(), self.held.last()) {
            (Some(rate), _) => (Stage::Search, rate),
            (None, Some(rate)) => (Stage::Confirm, *rate),
            (None, None) => return Then::NothingHolds,
        };
        Then::Try
    }

    /// The next rate of the search; none where it is close enough, or at an end.
    fn following(&self) -> Option<f64> {
        let next = match (self.held.last(), self.fails) {
            (Some(holds), None) => (holds * 2.0).min(RATE_MAX.into()),
            (None, Some(fails)) => fails / 4.0,
            (Some(holds), Some(fails)) if fails - holds > fails * CLOSE_ENOUGH => {
                f64::midpoint(*holds, fails)
            }
            _ => return None,
        };
        (next >= 1.0 && self.held.last() != Some(&next)).then_some(next)
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
            result.last.get_or_insert(run);
            break;
        }
        let attempt = judge(&run, goal, search.next);
        print_try(&attempt);
        let outcome = attempt.outcome;
        result.take(run, attempt, &search);
        let then = search.take(outcome);
        result.is_confirmed = then == Then::Confirmed;
        if then != Then::Try {
            break;
        }
    }
    result.report(&search, goal, outputs)
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

/// What a search has found so far.
#[derive(Default)]
struct SearchResult {
    /// The last try of each rate that has held, ascending.
    held: Vec<(f64, Run)>,
    /// The last try.
    last: Option<Run>,
    /// Whether the generator was the bottleneck at the lowest rate that has failed.
    is_of_generator: bool,
    is_interrupted: bool,
    is_confirmed: bool,
    tries: Vec<Try>,
}

impl SearchResult {
    /// Takes a try at the next rate of a search.
    fn take(&mut self, run: Run, attempt: Try, search: &Search) {
        if attempt.outcome == TryOutcome::Holds {
            self.held.retain(|(rate, _)| *rate < search.next);
            self.held.push((search.next, run));
        } else {
            self.is_of_generator = run.failed_rules().any(|rule| rule == "generator_cpu");
            self.last = Some(run);
        }
        self.tries.push(attempt);
    }

    fn report(
        mut self,
        search: &Search,
        goal: &Condition,
        outputs: &Outputs,
    ) -> Result<ExitCode, Failure> {
        let (holds, fails) = (search.held.last().copied(), search.fails);
        self.held.retain(|(rate, _)| holds.is_some_and(|holds| *rate <= holds));
        let Some(mut shown) = self.held.pop().map(|(_, run)| run).or(self.last) else {
            return Ok(Status::Interrupted.into());
        };
        let condition = goal.to_string();
        match holds {
            Some(holds) => {
                let fails = fails
                    .map_or("no rate failed".to_owned(), |fails| format!("{} fails", rate(fails)));
                let confirmed = if self.is_confirmed { "twice" } else { "once, not confirmed" };
                console::message(format_args!(
                    "highest rate with {condition}: {} ({} holds {confirmed}, {fails})",
                    rate(shown.achieved.rate()),
                    rate(holds)
                ));
            }
            None if self.is_interrupted => {}
            None => console::message(format_args!(
                "{condition} is false at all tried rates; the last try is reported"
            )),
        }
        shown.search = Some(vervet_report::Search {
            condition,
            holds_milli: holds.map(milli),
            fails_milli: fails.map(milli),
            tries: self.tries,
        });
        outputs.run(&shown)?;
        let status = match holds {
            _ if self.is_interrupted => Status::Interrupted,
            None => Status::Threshold,
            Some(_) if self.is_of_generator => {
                console::message(format_args!(
                    "the load generator was the bottleneck above this rate: the target may be capable of more"
                ));
                Status::GeneratorLimit
            }
            Some(_) => judge_audit(&shown),
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

    /// Searches where `holds` decides on each try; the highest rate that holds, and the tries.
    fn search(first: f64, mut holds: impl FnMut(f64) -> bool) -> (Option<f64>, usize) {
        let mut search = Search::new(first);
        for tries in 1..=TRIES_MAX {
            let outcome =
                if holds(search.next) { TryOutcome::Holds } else { TryOutcome::DoesNotHold };
            if search.take(outcome) != Then::Try {
                return (search.held.last().copied(), tries);
            }
        }
        panic!("not at an end: {search:?}");
    }

    /// The highest rate below a limit is found, from wherever the search begins.
    #[test]
    fn closes_in_on_the_limit() {
        for (first, limit) in [(1000.0, 33_000.0), (1000.0, 7.0), (500.0, 499.0), (1.0, 1e6)] {
            let (found, _) = search(first, |rate| rate <= limit);
            let found = found.unwrap();
            assert!(found <= limit && found >= limit * 0.97, "{found} of {limit}");
        }
    }

    #[test]
    fn gives_up_where_nothing_holds() {
        let (found, tries) = search(1000.0, |_| false);
        assert_eq!(found, None);
        assert!(tries <= 10, "{tries}");
    }

    /// The first try meets a bad moment, as any other may.
    #[test]
    fn one_bad_moment_decides_nothing() {
        for bad in 0..12 {
            let mut tries = 0;
            let (found, _) = search(1000.0, |rate| {
                tries += 1;
                tries - 1 != bad && rate <= 33_000.0
            });
            assert!(found.is_some_and(|found| found >= 32_000.0), "{found:?} with {bad}");
        }
    }

    /// What held by luck does not hold again: the rate below it is searched for.
    #[test]
    fn the_result_is_confirmed() {
        let mut lucky = true;
        let (found, _) = search(1000.0, |rate| {
            if rate > 3000.0 {
                return std::mem::take(&mut lucky);
            }
            true
        });
        let found = found.unwrap();
        assert!((2900.0..=3000.0).contains(&found), "{found}");
    }

    #[test]
    fn the_highest_rate_of_all_ends_a_search() {
        let (found, _) = search(1e6, |_| true);
        assert_eq!(found, Some(RATE_MAX.into()));
    }
}
