//! The same rate all the time.

use std::fmt;
use std::time::Duration;

use super::Pacer;

/// The same rate all the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant {
    rate: f64,
}

impl Constant {
    /// So many requests per second; nothing below 0, nothing above [`RATE_MAX`](super::RATE_MAX).
    pub fn per_second(rate: f64) -> Self {
        Self {
            rate: rate.clamp(0.0, super::RATE_MAX),
        }
    }
}

impl Pacer for Constant {
    fn sent_by(&self, elapsed: Duration) -> f64 {
        elapsed.as_secs_f64() * self.rate
    }

    fn due_at(&self, number: f64) -> Option<Duration> {
        Duration::try_from_secs_f64(number / self.rate).ok()
    }

    fn rate_max(&self) -> f64 {
        self.rate
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.rate)
    }
}
