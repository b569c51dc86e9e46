//! A rate that changes from stage to stage: steps, and whatever a file says.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::{Pacer, RATE_MAX, Ramp};

/// Most stages of one load.
pub const STAGES_MAX: usize = 10_000;

/// One stage: a line from one rate to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// How long it lasts.
    pub length: Duration,
    /// Requests per second where it begins.
    pub from: f64,
    /// Requests per second where it ends.
    pub to: f64,
}

/// Stages one after another; the last rate holds from then on.
///
/// As text, one stage a line: how long, then the rate or `from..to`. What follows `#` is not read.
#[derive(Clone, Debug, PartialEq)]
pub struct Stages {
    timed: Vec<TimedStage>,
    end_s: f64,
    end_number: f64,
    last_rate: f64,
}

/// A stage at its place: when it begins, and how many requests come before it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TimedStage {
    at_s: f64,
    before: f64,
    line: Ramp,
}

/// What is wrong with stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagesError {
    /// The line, counted from 1; 0 where it is none in particular.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}

impl Stages {
    /// These stages.
    ///
    /// # Errors
    /// None at all, or more than [`STAGES_MAX`].
    pub fn new(stages: &[Stage]) -> Result<Self, StagesError> {
        let wrong = |what: String| StagesError { line: 0, what };
        let last = stages.last().ok_or_else(|| wrong("no stage".to_owned()))?;
        if stages.len() > STAGES_MAX {
            return Err(wrong(format!("more than {STAGES_MAX} stages")));
        }
        let (mut end_s, mut end_number) = (0.0, 0.0);
        let place = |stage: &Stage| {
            let line = Ramp::new(stage.from, stage.to, stage.length);
            let timed = TimedStage {
                at_s: end_s,
                before: end_number,
                line,
            };
            end_s += line.over_s();
            end_number += line.total();
            timed
        };
        let timed = stages.iter().map(place).collect();
        Ok(Self {
            timed,
            end_s,
            end_number,
            last_rate: last.to.clamp(0.0, RATE_MAX),
        })
    }

    /// A staircase: `first`, then `by` more, up to `last`, each for this long.
    ///
    /// # Errors
    /// Steps that do not lead from the first rate to the last, or too many of them.
    pub fn steps(first: f64, by: f64, last: f64, each: Duration) -> Result<Self, StagesError> {
        let wrong = |what: &str| StagesError {
            line: 0,
            what: what.to_owned(),
        };
        if by <= 0.0 || last < first || !(last - first).is_finite() {
            return Err(wrong("steps lead upwards: write first..last+step"));
        }
        let mut stages = Vec::new();
        let mut rate = first;
        while rate <= last + by * 1e-9 {
            if stages.len() == STAGES_MAX {
                return Err(wrong("too many steps"));
            }
            stages.push(Stage {
                length: each,
                from: rate,
                to: rate,
            });
            rate += by;
        }
        Self::new(&stages)
    }
}

impl Pacer for Stages {
    fn sent_by(&self, elapsed: Duration) -> f64 {
        let seconds = elapsed.as_secs_f64();
        if seconds >= self.end_s {
            return self.end_number + (seconds - self.end_s) * self.last_rate;
        }
        let behind = self.timed.partition_point(|stage| stage.at_s <= seconds);
        let Some(stage) = behind.checked_sub(1).and_then(|at| self.timed.get(at)) else {
            return 0.0;
        };
        stage.before + stage.line.sent_within(seconds - stage.at_s)
    }

    fn due_at(&self, number: f64) -> Option<Duration> {
        let seconds = if number >= self.end_number {
            self.end_s + (number - self.end_number) / self.last_rate
        } else {
            let behind = self.timed.partition_point(|stage| stage.before <= number);
            let stage = self.timed.get(behind.checked_sub(1)?)?;
            stage.at_s + stage.line.second_of(number - stage.before)
        };
        Duration::try_from_secs_f64(seconds).ok()
    }

    fn rate_max(&self) -> f64 {
        let rates = self.timed.iter().map(|stage| stage.line.rate_max());
        rates.fold(0.0, f64::max)
    }
}

impl fmt::Display for Stages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (stages, seconds) = (self.timed.len(), self.end_s);
        write!(
            f,
            "{stages} stages within {seconds} s, at most {}/s",
            self.rate_max()
        )
    }
}

impl FromStr for Stages {
    type Err = StagesError;

    fn from_str(text: &str) -> Result<Self, StagesError> {
        let mut stages = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let stage = stage_of(line).map_err(|what| StagesError {
                line: index + 1,
                what,
            })?;
            stages.push(stage);
        }
        Self::new(&stages)
    }
}

fn stage_of(line: &str) -> Result<Stage, String> {
    let mut words = line.split_whitespace();
    let (Some(length), Some(rates), None) = (words.next(), words.next(), words.next()) else {
        return Err(format!(
            "invalid stage `{line}`: expected `30s 100` or `30s 100..500`"
        ));
    };
    let length = crate::units::duration(length)
        .ok()
        .filter(|length| !length.is_zero())
        .ok_or_else(|| format!("invalid time `{length}`: expected one such as 30s, 500ms or 2m"))?;
    let rate = |text: &str| {
        let rate = crate::units::number(text).filter(|rate| (0.0..=RATE_MAX).contains(rate));
        rate.ok_or_else(|| format!("invalid rate `{text}`: expected a number such as 100 or 2.5k"))
    };
    let (from, to) = match rates.split_once("..") {
        Some((from, to)) => (rate(from)?, rate(to)?),
        None => (rate(rates)?, rate(rates)?),
    };
    Ok(Stage { length, from, to })
}

impl fmt::Display for StagesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.what),
            line => write!(f, "line {line}: {}", self.what),
        }
    }
}

impl std::error::Error for StagesError {}
