//! A histogram of durations with fixed buckets and one writing thread.

use vervet_engine::counters::Counter;

/// The upper bounds of the buckets, in milliseconds: those that OpenTelemetry recommends for
/// `http.server.request.duration`. One more bucket counts longer durations.
pub const BOUNDS_MS: [u64; 14] =
    [5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10_000];

/// A bucket for each bound, and one above.
const BUCKETS: usize = BOUNDS_MS.len() + 1;

/// The durations that one reactor has counted.
#[derive(Debug, Default)]
pub struct Histogram {
    buckets: [Counter; BUCKETS],
    sum_ms: Counter,
}

/// The durations of several reactors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durations {
    /// Counts of each bucket alone, with the bounds [`BOUNDS_MS`].
    pub buckets: [u64; BUCKETS],
    /// Their sum in milliseconds.
    pub sum_ms: u64,
}

impl Histogram {
    /// Counts one duration.
    pub(super) fn count(&self, duration_ms: u64) {
        // Nearly all are in the first bucket: searched in order.
        let bucket = BOUNDS_MS.iter().position(|bound| duration_ms <= *bound);
        self.buckets[bucket.unwrap_or(BUCKETS - 1)].add(1);
        self.sum_ms.add(duration_ms);
    }

    pub(super) fn add_to(&self, total: &mut Durations) {
        for (bucket, total) in self.buckets.iter().zip(&mut total.buckets) {
            *total += bucket.get();
        }
        total.sum_ms += self.sum_ms.get();
    }
}

impl Durations {
    /// Count of all durations.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(duration_ms: u64, bucket: usize) {
        let histogram = Histogram::default();
        histogram.count(duration_ms);
        let mut durations = Durations::default();
        histogram.add_to(&mut durations);
        let mut buckets = [0; BUCKETS];
        buckets[bucket] = 1;
        assert_eq!(durations, Durations { buckets, sum_ms: duration_ms });
    }

    #[test]
    fn a_duration_at_a_bound_is_within_it() {
        check(0, 0);
        check(5, 0);
        check(6, 1);
        check(1000, 9);
        check(10_000, 13);
        check(10_001, 14);
        check(u64::MAX, 14);
    }

    #[test]
    fn reactors_are_summed() {
        let (one, two) = (Histogram::default(), Histogram::default());
        one.count(1);
        two.count(2);
        two.count(60);
        let mut durations = Durations::default();
        one.add_to(&mut durations);
        two.add_to(&mut durations);
        assert_eq!((durations.count(), durations.sum_ms), (3, 63));
        assert_eq!((durations.buckets[0], durations.buckets[4]), (2, 1));
    }
}
