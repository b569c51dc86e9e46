//! The load shape of open load: how many requests should have been sent by a time, and when a
//! request is due, each of which follows from the other (the idea of vegeta's `lib/pacer.go`).
//!
//! Every shape is a sequence of stages in which the rate changes linearly. Random arrivals are not
//! a shape: [`Arrival`](super::Arrival) distributes the requests of any.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The maximum rate in requests per second: to draw a due time takes a thread about 25 ns, at this
/// rate a quarter of its time. At several times of it the clock would run away from the pacer.
pub const RATE_MAX: u32 = 10_000_000;
/// The maximum number of stages of a shape.
pub const STAGES_MAX: usize = 10_000;

/// A load shape: the rate over time, as stages, and a last rate that holds after them. Displays as
/// `5000/s`.
///
/// As text, each line is a stage: its duration, then a rate or `from..to`; `#` begins a comment.
#[derive(Clone, Debug, PartialEq)]
pub struct Pacer {
    stages: Vec<Stage>,
    end_s: f64,
    end_number: f64,
    last_rate: f64,
}

/// A stage: the rate changes linearly.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stage {
    from: f64,
    to: f64,
    length_s: f64,
    /// When it begins.
    start_s: f64,
    /// How many requests are before it.
    before: f64,
}

/// Why stages are invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagesError {
    /// The line, from 1; 0 for the shape as a whole.
    pub line: usize,
    /// The error as a message.
    pub what: String,
}

impl Pacer {
    /// A constant rate in requests per second, limited to [`RATE_MAX`].
    pub fn constant(rate: f64) -> Self {
        Self { stages: Vec::new(), end_s: 0.0, end_number: 0.0, last_rate: limited(rate) }
    }

    /// A linear change from one rate to another within a time.
    pub fn ramp(from: f64, to: f64, over: Duration) -> Self {
        let mut ramp = Self::constant(to);
        ramp.push(from, to, over);
        ramp
    }

    /// Steps of constant rates: `first`, then `by` more, up to `last`, each for this long.
    ///
    /// # Errors
    /// Steps that do not lead from the first rate to the last, or too many of them.
    pub fn steps(first: f64, by: f64, last: f64, each: Duration) -> Result<Self, StagesError> {
        let wrong = |what: &str| StagesError { line: 0, what: what.to_owned() };
        if by <= 0.0 || last < first || !(last - first).is_finite() {
            return Err(wrong("steps must increase: expected FROM..TO+BY"));
        }
        let mut steps = Self::constant(first);
        let mut rate = first;
        while rate <= last + by * 1e-9 {
            if steps.stages.len() == STAGES_MAX {
                return Err(wrong("too many steps"));
            }
            steps.push(rate, rate, each);
            rate += by;
        }
        Ok(steps)
    }

    /// Appends a stage.
    fn push(&mut self, from: f64, to: f64, length: Duration) {
        let stage = Stage {
            from: limited(from),
            to: limited(to),
            length_s: length.as_secs_f64(),
            start_s: self.end_s,
            before: self.end_number,
        };
        self.end_s += stage.length_s;
        self.end_number += f64::midpoint(stage.from, stage.to) * stage.length_s;
        self.last_rate = stage.to;
        self.stages.push(stage);
    }

    /// How many requests should have been sent after this time. Never decreases.
    pub fn sent_by(&self, elapsed: Duration) -> f64 {
        let seconds = elapsed.as_secs_f64();
        if seconds >= self.end_s {
            return self.end_number + (seconds - self.end_s) * self.last_rate;
        }
        let begun = (self.stages).partition_point(|stage| stage.start_s <= seconds);
        let stage = begun.checked_sub(1).and_then(|at| self.stages.get(at));
        stage.map_or(0.0, |stage| stage.before + stage.sent_within(seconds - stage.start_s))
    }

    /// When the request with this number is due, from 0; none if never. The inverse of
    /// [`Pacer::sent_by`].
    pub fn due_at(&self, number: f64) -> Option<Duration> {
        let seconds = if number >= self.end_number {
            self.end_s + (number - self.end_number) / self.last_rate
        } else {
            let begun = self.stages.partition_point(|stage| stage.before <= number);
            let stage = self.stages.get(begun.checked_sub(1)?)?;
            stage.start_s + stage.second_of(number - stage.before)
        };
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// The maximum rate in requests per second.
    pub fn rate_max(&self) -> f64 {
        let rates = self.stages.iter().map(|stage| stage.from.max(stage.to));
        rates.fold(self.last_rate, f64::max)
    }
}

fn limited(rate: f64) -> f64 {
    rate.clamp(0.0, RATE_MAX.into())
}

impl Stage {
    /// How many requests within the first seconds of the stage.
    fn sent_within(&self, seconds: f64) -> f64 {
        let slope = (self.to - self.from) / self.length_s;
        self.from * seconds + slope * seconds * seconds / 2.0
    }

    /// The second of the stage by which this many have been sent, by the quadratic formula in the
    /// form that loses no digits where the slope is small.
    fn second_of(&self, number: f64) -> f64 {
        let slope = (self.to - self.from) / self.length_s;
        let square = self.from * self.from + 2.0 * slope * number;
        let divisor = self.from + square.max(0.0).sqrt();
        if divisor == 0.0 {
            return 0.0;
        }
        2.0 * number / divisor
    }
}

impl fmt::Display for Pacer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.stages.as_slice() {
            [] => write!(f, "{}/s", self.last_rate),
            [Stage { from, to, length_s, .. }] => {
                write!(f, "from {from}/s to {to}/s within {length_s} s")
            }
            stages => {
                let (count, seconds, most) = (stages.len(), self.end_s, self.rate_max());
                write!(f, "{count} stages within {seconds} s, at most {most}/s")
            }
        }
    }
}

impl FromStr for Pacer {
    type Err = StagesError;

    fn from_str(text: &str) -> Result<Self, StagesError> {
        let mut pacer = Self::constant(0.0);
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let wrong = |what| StagesError { line: index + 1, what };
            if pacer.stages.len() == STAGES_MAX {
                return Err(wrong(format!("more than {STAGES_MAX} stages")));
            }
            let (length, from, to) = stage_of(line).map_err(wrong)?;
            pacer.push(from, to, length);
        }
        if pacer.stages.is_empty() {
            let what = "no stages".to_owned();
            return Err(StagesError { line: 0, what });
        }
        Ok(pacer)
    }
}

/// The duration of a stage, and the rates at its begin and end.
fn stage_of(line: &str) -> Result<(Duration, f64, f64), String> {
    let mut words = line.split_whitespace();
    let (Some(length), Some(rates), None) = (words.next(), words.next(), words.next()) else {
        return Err(format!("invalid stage `{line}`: expected `30s 100` or `30s 100..500`"));
    };
    let length = crate::units::duration(length)
        .ok()
        .filter(|length| !length.is_zero())
        .ok_or_else(|| format!("invalid time `{length}`: expected one such as 30s, 500ms or 2m"))?;
    let rate = |text: &str| {
        crate::units::rate(text).map_err(|what| format!("invalid rate `{text}`: {what}"))
    };
    let (from, to) = match rates.split_once("..") {
        Some((from, to)) => (rate(from)?, rate(to)?),
        None => (rate(rates)?, rate(rates)?),
    };
    Ok((length, from, to))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pacer: &Pacer, points: &[(f64, f64)]) {
        for &(seconds, number) in points {
            let sent = pacer.sent_by(Duration::from_secs_f64(seconds));
            assert!((sent - number).abs() < 1e-6, "{pacer}: {sent} by {seconds} s");
            let due = pacer.due_at(number).unwrap().as_secs_f64();
            assert!((due - seconds).abs() < 1e-6, "{pacer}: {number} at {due} s");
        }
    }

    #[test]
    fn each_shape_is_its_own_inverse() {
        check(&Pacer::constant(50.0), &[(0.0, 0.0), (2.0, 100.0)]);
        let over = Duration::from_secs(10);
        check(&Pacer::ramp(0.0, 100.0, over), &[(0.0, 0.0), (10.0, 500.0), (12.0, 700.0)]);
        check(&Pacer::ramp(100.0, 20.0, over), &[(5.0, 400.0), (10.0, 600.0), (11.0, 620.0)]);
        check(&Pacer::ramp(30.0, 30.0, over), &[(5.0, 150.0)]);
        let stages = "10s 100\n 10s 0..100 \n# comment\n5s 10".parse::<Pacer>().unwrap();
        check(&stages, &[(10.0, 1000.0), (20.0, 1500.0), (25.0, 1550.0), (26.0, 1560.0)]);
        assert!((stages.rate_max() - 100.0).abs() < 1e-9);
        let steps = Pacer::steps(10.0, 10.0, 30.0, Duration::from_secs(1)).unwrap();
        check(&steps, &[(1.0, 10.0), (2.0, 30.0), (3.0, 60.0)]);
    }

    #[test]
    fn a_zero_rate_is_never_due() {
        assert_eq!(Pacer::constant(0.0).due_at(0.0), None);
        let silence = "1s 10\n1s 0".parse::<Pacer>().unwrap();
        assert_eq!(silence.due_at(11.0), None);
        // A pause in between is passed over.
        let pause = "1s 10\n1s 0\n1s 10".parse::<Pacer>().unwrap();
        check(&pause, &[(0.5, 5.0), (2.5, 15.0)]);
    }

    #[test]
    fn says_which_line_of_stages_is_wrong() {
        for (text, line) in [
            ("", 0),
            ("10s 5\n10s", 2),
            ("soon 5", 1),
            ("10s five", 1),
            ("10s -5", 1),
            ("10s 10000001", 1),
            ("10s 5 6", 1),
            ("0s 5", 1),
        ] {
            let error = text.parse::<Pacer>().unwrap_err();
            assert_eq!(error.line, line, "{text:?}: {error}");
        }
    }
}
