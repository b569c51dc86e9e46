//! Time series of one step: responses and resource use of the server.

use vervet_report::{Interval, Run};

use super::number::number;
use crate::record::{ServerFigures, WatchedSample};

/// A piece of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Start of the piece in seconds.
    pub at_seconds: f64,
    /// Successful responses per second.
    pub rate: f64,
    /// Failed requests per second.
    pub failed_rate: f64,
    /// Median response time in milliseconds; `None` without responses.
    pub p50_ms: Option<f64>,
    /// The response time that 99 % did not exceed, in milliseconds.
    pub p99_ms: Option<f64>,
    /// Busy cores of the server; `None` if it was not watched.
    pub cores_busy: Option<f64>,
}

/// The pieces of a run, in order of time.
pub(super) fn series(run: &Run, server: Option<&ServerFigures>) -> Vec<Moment> {
    let samples = server.map_or(&[][..], |server| &server.samples);
    let pieces = run.intervals.iter();
    pieces.map(|interval| moment(interval, samples)).collect()
}

fn moment(interval: &Interval, samples: &[WatchedSample]) -> Moment {
    // Records of older versions have 0 where there was no response.
    let ms = |time_ns: Option<u64>| {
        time_ns.filter(|_| interval.done > 0).map(|time_ns| number(time_ns) / 1e6)
    };
    Moment {
        at_seconds: number(interval.start_ms) / 1e3,
        rate: interval.rate(),
        failed_rate: interval.failed_rate(),
        p50_ms: ms(interval.p50_ns),
        p99_ms: ms(interval.p99_ns),
        cores_busy: cores_busy(
            samples,
            number(interval.start_ms),
            number(interval.start_ms.saturating_add(interval.length_ms)),
        ),
    }
}

/// Busy cores between two times in milliseconds; `None` if less than half of the time was sampled.
fn cores_busy(samples: &[WatchedSample], from_ms: f64, to_ms: f64) -> Option<f64> {
    let until_ms = number(samples.last()?.at_ms).min(to_ms);
    let read_ms = until_ms - from_ms;
    if read_ms <= 0.0 || read_ms < (to_ms - from_ms) / 2.0 {
        return None;
    }
    Some((spent_us(samples, until_ms) - spent_us(samples, from_ms)) / (read_ms * 1e3))
}

/// CPU time from the first moment to this one, in microseconds. Between two readings it lies
/// on the line between them.
fn spent_us(samples: &[WatchedSample], at_ms: f64) -> f64 {
    let mut before = (0.0, 0.0);
    for sample in samples {
        let after = (number(sample.at_ms), number(sample.cpu_us));
        if after.0 >= at_ms {
            let whole = after.0 - before.0;
            let part = if whole > 0.0 { (at_ms - before.0) / whole } else { 1.0 };
            return before.1 + (after.1 - before.1) * part;
        }
        before = after;
    }
    before.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(from_ms: f64, to_ms: f64, expected: Option<f64>) {
        let sample = |(at_ms, cpu_us)| WatchedSample { at_ms, cpu_us, memory_bytes: 0 };
        // One core, then half of one, then nothing.
        let samples = [(100, 100_000), (200, 150_000), (300, 150_000)].map(sample);
        assert_eq!(cores_busy(&samples, from_ms, to_ms), expected);
    }

    #[test]
    fn cores_are_the_slope_of_the_processor_time() {
        check(0.0, 100.0, Some(1.0));
        check(100.0, 200.0, Some(0.5));
        check(50.0, 150.0, Some(0.75));
        check(200.0, 300.0, Some(0.0));
    }

    #[test]
    fn what_was_not_read_is_not_known() {
        // Half of it was read, and then less.
        check(100.0, 500.0, Some(0.25));
        check(200.0, 401.0, None);
        check(300.0, 400.0, None);
        assert_eq!(cores_busy(&[], 0.0, 100.0), None);
    }
}
