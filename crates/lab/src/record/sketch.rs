//! A histogram in a hundred bytes: the times that somebody asks for stay where they are, and all others between two of them
//! become one. Every quantile that is told, the shortest, the longest, how many there are and how many on which side of a
//! bound stay exact; the mean stays within a thousandth.

use vervet_report::{Histogram, QUANTILES};

/// The quantile that is told beside [`QUANTILES`].
const P10: f64 = 0.10;

/// The sketch of a histogram. No time crosses one of the bounds, in nanoseconds: what did not exceed it does not, and what
/// did does.
pub(super) fn sketch(times: &Histogram, bounds_ns: &[u64]) -> Histogram {
    let told = QUANTILES.iter().map(|(_, quantile)| *quantile);
    let mut stay: Vec<u64> = told
        .chain([P10])
        .map(|quantile| times.quantile_ns(quantile))
        .collect();
    stay.push(times.max_ns());
    let piece = |time_ns: u64| bounds_ns.iter().filter(|bound| time_ns > **bound).count();
    let mut sketch = Histogram::new();
    let mut between = Between::default();
    for (number, (time_ns, count)) in times.recorded().enumerate() {
        let stays = number == 0 || stay.contains(&time_ns);
        if stays || piece(time_ns) != piece(between.last_ns) {
            between.join(&mut sketch);
        }
        if stays {
            sketch.record_many_ns(time_ns, count);
        } else {
            between.add(time_ns, count);
        }
    }
    between.join(&mut sketch);
    sketch
}

/// Times that become one.
#[derive(Default)]
struct Between {
    count: u64,
    sum_ns: u128,
    last_ns: u64,
}

impl Between {
    fn add(&mut self, time_ns: u64, count: u64) {
        self.count = self.count.saturating_add(count);
        self.sum_ns += u128::from(time_ns) * u128::from(count);
        self.last_ns = time_ns;
    }

    /// Records their mean, and begins anew.
    fn join(&mut self, sketch: &mut Histogram) {
        if self.count > 0 {
            let mean_ns = self.sum_ns / u128::from(self.count);
            sketch.record_many_ns(u64::try_from(mean_ns).unwrap_or(u64::MAX), self.count);
        }
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of 1 to 4000 ms, more of them at the beginning.
    fn times() -> Histogram {
        let mut times = Histogram::new();
        for ms in 1..=4_000 {
            times.record_many_ns(ms * 1_000_000, 5_000 / ms + 1);
        }
        times
    }

    #[test]
    fn what_is_told_of_times_stays() {
        let (times, bounds) = (times(), [500_000_000, 1_499_999_999]);
        let sketch = sketch(&times, &bounds);
        assert_eq!(sketch.count(), times.count());
        let ends = |times: &Histogram| (times.min_ns(), times.max_ns());
        assert_eq!(ends(&sketch), ends(&times));
        for (name, quantile) in QUANTILES.into_iter().chain([("p10", P10)]) {
            assert_eq!(
                sketch.quantile_ns(quantile),
                times.quantile_ns(quantile),
                "{name}"
            );
        }
        let apart = (sketch.mean_ns() / times.mean_ns() - 1.0).abs();
        assert!(apart < 0.001, "{apart}");
        let within = |times: &Histogram, bound: u64| -> u64 {
            let recorded = times.recorded();
            let fast = recorded.filter(|(time_ns, _)| *time_ns <= bound);
            fast.map(|(_, count)| count).sum()
        };
        for bound in bounds {
            assert_eq!(within(&sketch, bound), within(&times, bound));
        }
        assert!(sketch.recorded().count() <= 26);
    }

    #[test]
    fn a_sketch_of_a_sketch_is_itself() {
        let bounds = [1_000_000_000];
        let once = sketch(&times(), &bounds);
        assert_eq!(sketch(&once, &bounds), once);
        assert!(sketch(&Histogram::new(), &bounds).is_empty());
    }
}
