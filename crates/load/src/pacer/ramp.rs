//! A rate that rises or falls in a straight line, and then stays.

use std::fmt;
use std::time::Duration;

use super::Pacer;

/// From one rate to another in a straight line; the last rate holds from then on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    from: f64,
    to: f64,
    over_s: f64,
}

impl Ramp {
    /// From one rate to another, in requests per second, within this time.
    pub fn new(from: f64, to: f64, over: Duration) -> Self {
        let within = |rate: f64| rate.clamp(0.0, super::RATE_MAX);
        Self {
            from: within(from),
            to: within(to),
            over_s: over.as_secs_f64(),
        }
    }

    /// How long the line is.
    pub(super) fn over_s(&self) -> f64 {
        self.over_s
    }

    /// How many requests belong to the line.
    pub(super) fn total(&self) -> f64 {
        f64::midpoint(self.from, self.to) * self.over_s
    }

    /// How many within the first seconds of the line.
    pub(super) fn sent_within(&self, seconds: f64) -> f64 {
        let slope = (self.to - self.from) / self.over_s;
        self.from * seconds + slope * seconds * seconds / 2.0
    }

    /// The second of the line at which so many have been sent, by the quadratic formula in the form
    /// that loses no digits where the slope is small.
    pub(super) fn second_of(&self, number: f64) -> f64 {
        let slope = (self.to - self.from) / self.over_s;
        let root = (self.from * self.from + 2.0 * slope * number)
            .max(0.0)
            .sqrt();
        let divisor = self.from + root;
        if divisor == 0.0 {
            return 0.0;
        }
        2.0 * number / divisor
    }
}

impl Pacer for Ramp {
    fn sent_by(&self, elapsed: Duration) -> f64 {
        let seconds = elapsed.as_secs_f64();
        if seconds < self.over_s {
            return self.sent_within(seconds);
        }
        self.total() + (seconds - self.over_s) * self.to
    }

    fn due_at(&self, number: f64) -> Option<Duration> {
        let seconds = if number <= self.total() {
            self.second_of(number)
        } else {
            self.over_s + (number - self.total()) / self.to
        };
        Duration::try_from_secs_f64(seconds).ok()
    }

    fn rate_max(&self) -> f64 {
        self.from.max(self.to)
    }
}

impl fmt::Display for Ramp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, over_s } = self;
        write!(f, "from {from}/s to {to}/s within {over_s} s")
    }
}
