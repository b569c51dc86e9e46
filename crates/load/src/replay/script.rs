//! The script of a replay: each request is sent by the next free user, at its original time.

use std::sync::Arc;
use std::time::Duration;

use super::log::{Due, Log, Tally};
use crate::script::{Request, Script, Scripts, Step, Turn};
use crate::share::{Share, Turns};

/// A log to replay.
#[derive(Debug)]
pub struct Replay {
    plan: Arc<Plan>,
    tally: Tally,
    steps: [String; 1],
}

#[derive(Debug)]
struct Plan {
    requests: Vec<(Vec<u8>, Request)>,
    dues: Vec<Due>,
    turns: Turns,
}

impl Replay {
    /// The speeds that a log can be replayed at; 1 is its own.
    pub const SPEEDS: std::ops::RangeInclusive<f64> = 0.001..=100_000.0;

    /// The requests of a log, `speed` times as fast; a speed outside of [`Self::SPEEDS`] is
    /// clamped. One of several agents sends its share, at their times in the whole.
    pub fn new(log: Log<'_>, speed: f64, share: Share) -> Self {
        let tally = log.tally();
        let speed = speed.clamp(*Self::SPEEDS.start(), *Self::SPEEDS.end());
        let (messages, dues) = log.finish(speed);
        let requests = messages.into_iter().map(|message| {
            let request =
                Request { check: 0, step: 0, content: message.content_of_answer(), due: None };
            // The message of a log has no variables, as its braces were escaped.
            (message.as_fixed().unwrap_or_default(), request)
        });
        Self {
            plan: Arc::new(Plan { requests: requests.collect(), dues, turns: Turns::new(share) }),
            tally,
            steps: ["request".to_owned()],
        }
    }

    /// What became of the lines of the log.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// The time from the first request to the last.
    pub fn length(&self) -> Duration {
        self.plan.dues.last().map_or(Duration::ZERO, |due| due.at)
    }
}

impl Plan {
    /// The next request in turn.
    fn take(&self) -> Option<Due> {
        let number = usize::try_from(self.turns.take()).ok()?;
        self.dues.get(number).copied()
    }
}

impl Scripts for Replay {
    fn user(&self, _number: u32) -> Box<dyn Script> {
        Box::new(User { plan: Arc::clone(&self.plan), taken: None })
    }

    fn steps(&self) -> &[String] {
        &self.steps
    }
}

/// One user: takes a request, waits until it is due, and sends it.
#[derive(Debug)]
struct User {
    plan: Arc<Plan>,
    taken: Option<Due>,
}

impl Script for User {
    fn next(&mut self, turn: &Turn<'_>, out: &mut Vec<u8>) -> Step {
        let Some(due) = self.taken.take().or_else(|| self.plan.take()) else {
            return Step::End;
        };
        if let Some(early) = due.at.checked_sub(turn.elapsed)
            && !early.is_zero()
        {
            self.taken = Some(due);
            return Step::Wait(early);
        }
        let (bytes, request) = &self.plan.requests[due.message as usize];
        out.extend_from_slice(bytes);
        Step::Send(Request { due: Some(due.at), ..*request })
    }
}
