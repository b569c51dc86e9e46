//! Which slot of an HdrHistogram a value falls in: the arithmetic of its published format for three
//! significant digits and a lowest value of 1. Within a slot values differ by less than a
//! thousandth.

/// A value below `2 * HALF` has a slot of its own; above, each doubling is divided into `HALF`
/// slots.
const HALF_BITS: u32 = 10;
const HALF: u64 = 1 << HALF_BITS;

/// The slot of a value.
pub(crate) fn slot(value: u64) -> u64 {
    let doubling = value.max(2 * HALF - 1).ilog2() - HALF_BITS;
    (u64::from(doubling) << HALF_BITS) + (value >> doubling)
}

/// The smallest value of a slot; none where no value of 64 bits has such a slot.
pub(crate) fn lowest(slot: u64) -> Option<u64> {
    if slot < 2 * HALF {
        return Some(slot);
    }
    let doubling = u32::try_from((slot >> HALF_BITS) - 1).ok()?;
    let within = (slot & (HALF - 1)) + HALF;
    (doubling <= within.leading_zeros()).then(|| within << doubling)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;

    #[test]
    fn slots_are_those_of_the_format() {
        let histogram = Histogram::<u64>::new_with_bounds(1, u64::MAX / 2, 3).unwrap();
        let mut at = 0;
        for step in (0..histogram.distinct_values() as u64).step_by(37) {
            let low = lowest(step).unwrap();
            assert_eq!(histogram.lowest_equivalent(low), low, "slot {step}");
            assert_eq!(slot(low), step);
            assert_eq!(slot(histogram.highest_equivalent(low)), step);
            assert!(low >= at);
            at = low;
        }
    }

    #[test]
    fn slots_of_no_value_are_none() {
        assert_eq!(lowest(slot(u64::MAX)).map(slot), Some(slot(u64::MAX)));
        assert_eq!(lowest(slot(u64::MAX) + 1), None);
        assert_eq!(lowest(u64::MAX), None);
    }
}
