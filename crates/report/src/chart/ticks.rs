//! Where ticks stand: at multiples of 1, 2 and 5, as people count.

use super::axis::{Scale, Unit};

/// More are never drawn, whatever the values.
const TICKS_MAX: usize = 50;

/// Ticks around values from `low` to `high`, about so many; the first is at most `low`, the last at
/// least `high`.
pub(super) fn linear(low: f64, high: f64, unit: Unit, about: usize) -> Vec<f64> {
    let (worth, _) = unit.written(low.abs().max(high.abs()), Scale::Linear);
    let (low, high) = (low / worth, high / worth);
    let mut step = nice((high - low) / intervals(about));
    if unit == Unit::Count {
        step = step.max(1.0);
    }
    let first = (low / step + 1e-9).floor();
    let last = (high / step - 1e-9).ceil();
    let mut ticks = Vec::new();
    let mut at = first;
    while at <= last && ticks.len() < TICKS_MAX {
        ticks.push(at * step * worth);
        at += 1.0;
    }
    ticks
}

/// Ticks around values above zero: powers of ten, with 2 and 5 between them where there is room.
pub(super) fn logarithmic(low: f64, high: f64, about: usize) -> Vec<f64> {
    let (first, last) = ((low.log10() + 1e-9).floor(), (high.log10() - 1e-9).ceil());
    let decades = (last - first).max(1.0);
    let between: &[f64] = if decades * 2.0 <= intervals(about) { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let stride = (decades / intervals(about)).ceil().max(1.0);
    let mut all = Vec::new();
    let mut exponent = first;
    while exponent <= last + stride && all.len() < TICKS_MAX {
        all.extend(between.iter().map(|digit| digit * 10f64.powf(exponent)));
        exponent += stride;
    }
    // From the last that is not above the values to the first that is not below.
    let from = all.iter().rposition(|tick| *tick <= low * (1.0 + 1e-9)).unwrap_or(0);
    let to = all.iter().position(|tick| *tick >= high * (1.0 - 1e-9)).unwrap_or(all.len() - 1);
    all.get(from..=to.max(from)).unwrap_or_default().to_vec()
}

#[expect(clippy::cast_precision_loss, reason = "a handful")]
fn intervals(about: usize) -> f64 {
    about.clamp(2, TICKS_MAX) as f64
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below.
fn nice(step: f64) -> f64 {
    if !step.is_finite() || step <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(step.log10().floor());
    let digit = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * power >= step * (1.0 - 1e-9));
    digit.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::super::axis::{Axis, Range};
    use super::*;

    #[track_caller]
    fn check(axis: &Axis, values: &[f64], about: usize, labels: &str) {
        let settled = axis.settle(values.iter().copied(), about).unwrap();
        let found: Vec<_> = settled.ticks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(found.join("|"), labels);
    }

    #[test]
    fn linear_ticks_stand_at_round_values_of_one_unit() {
        let time = Axis::new("", Unit::Time);
        check(&time, &[0.0, 7.3e6], 5, "0|2 ms|4 ms|6 ms|8 ms");
        check(&time, &[1.2e6], 4, "0|0.5 ms|1.0 ms|1.5 ms");
        check(&time, &[950e3], 4, "0|0.5 ms|1.0 ms");
        check(&time, &[600e9], 5, "0|2 min|4 min|6 min|8 min|10 min");
        check(&Axis::new("", Unit::PerSecond), &[10_200.0], 4, "0|5k/s|10k/s|15k/s");
        check(
            &Axis::new("", Unit::PerSecond),
            &[1000.0, 990.0],
            5,
            "0|200/s|400/s|600/s|800/s|1,000/s",
        );
        check(&Axis::new("", Unit::Bytes), &[5.0e6], 5, "0|1 MiB|2 MiB|3 MiB|4 MiB|5 MiB");
        check(&Axis::new("", Unit::Count), &[1.0, 2.0], 8, "0|1|2");
        check(&Axis::new("", Unit::Percent), &[100.0], 5, "0|20 %|40 %|60 %|80 %|100 %");
        check(&Axis::new("", Unit::Number).reaching(Range::Values), &[-3.0, 3.0], 4, "-4|-2|0|2|4");
        check(&Axis::new("", Unit::Number).reaching(Range::Exact), &[0.0, 10.5], 5, "0|5|10");
    }

    #[test]
    fn logarithmic_ticks_stand_at_powers_of_ten() {
        let time = Axis::new("", Unit::Time).logarithmic();
        check(&time, &[60e3, 900e6], 5, "10 us|100 us|1 ms|10 ms|100 ms|1 s");
        check(&time, &[1.1e6, 4e6], 5, "1 ms|2 ms|5 ms");
        check(&time, &[1.0, 3.6e12], 5, "1 ns|1 us|1 ms|1 s|1,000 s|1,000,000 s");
        check(&time, &[5e6], 5, "5 ms|10 ms");
    }

    #[test]
    fn a_single_value_and_strange_ones_have_an_axis() {
        check(&Axis::new("", Unit::Number), &[0.0], 2, "0|0.5|1.0");
        let axis = Axis::new("", Unit::Number);
        assert_eq!(axis.settle([f64::NAN, f64::INFINITY].into_iter(), 5), None);
        assert_eq!(axis.clone().logarithmic().settle([0.0, -1.0].into_iter(), 5), None);
        let far = axis.reaching(Range::Values).settle([-1e300, 1e300].into_iter(), 5).unwrap();
        assert!(far.ticks.len() <= TICKS_MAX);
    }
}
