//! A fast recorder of times for the hot path of the generator.

use super::counts::{Histogram, TIME_MAX_NS};
use super::index::{lowest, slot};

/// Counts times in nanoseconds in the slots of a histogram until [`Recorder::take`] returns them as
/// a [`Histogram`].
///
/// Minimum and maximum, which a histogram updates with each time, are only determined then. Takes
/// 270 KB.
#[derive(Clone, Debug)]
pub struct Recorder {
    counts: Box<[u64]>,
}

impl Recorder {
    /// A recorder without any times.
    pub fn new() -> Self {
        let slots = usize::try_from(slot(TIME_MAX_NS)).unwrap_or(usize::MAX) + 1;
        Self { counts: vec![0; slots].into_boxed_slice() }
    }

    /// Records a time, at most [`TIME_MAX_NS`].
    pub fn record_ns(&mut self, time_ns: u64) {
        let slot = slot(time_ns.min(TIME_MAX_NS));
        // Truncation cannot be: there are some ten thousands of slots.
        if let Some(count) = usize::try_from(slot).ok().and_then(|at| self.counts.get_mut(at)) {
            *count += 1;
        }
    }

    /// Takes the times recorded since the last call.
    pub fn take(&mut self) -> Histogram {
        let mut times = Histogram::new();
        for (slot, count) in (0u64..).zip(&mut self.counts) {
            if *count > 0
                && let Some(time_ns) = lowest(slot)
            {
                times.record_many_ns(time_ns, std::mem::take(count));
            }
        }
        times
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn gives_what_a_histogram_would_have(
            times in vec(prop_oneof![0u64..5000, 0u64..10_000_000_000, any::<u64>()], 0..200),
        ) {
            let mut recorder = Recorder::new();
            let mut expected = Histogram::new();
            for time_ns in &times {
                recorder.record_ns(*time_ns);
                expected.record_ns(*time_ns);
            }
            let taken = recorder.take();
            prop_assert_eq!(&taken, &expected);
            prop_assert_eq!(taken.min_ns(), expected.min_ns());
            prop_assert_eq!(taken.max_ns(), expected.max_ns());
            prop_assert_eq!(taken.mean_ns().to_bits(), expected.mean_ns().to_bits());
            prop_assert_eq!(taken.pack(), expected.pack());
            prop_assert!(recorder.take().is_empty());
        }
    }

    #[test]
    fn times_at_the_ends_are_counted() {
        let mut recorder = Recorder::new();
        let mut expected = Histogram::new();
        for time_ns in [0, 1, 2047, 2048, TIME_MAX_NS - 1, TIME_MAX_NS, TIME_MAX_NS + 1, u64::MAX] {
            recorder.record_ns(time_ns);
            expected.record_ns(time_ns);
        }
        let taken = recorder.take();
        assert_eq!(taken.count(), 8);
        assert_eq!(taken, expected);
    }
}
