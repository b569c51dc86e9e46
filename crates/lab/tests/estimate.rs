//! What repeats say: medians, intervals and ratios, compared with figures computed by hand.

// Every expected value is computed by the same operations.
#![allow(clippy::float_cmp)]

use vervet_lab::statistics::{Estimate, Ratio};

#[track_caller]
fn check(values: &[f64], median: f64, low: f64, high: f64) {
    let estimate = Estimate::from_repeats(values).unwrap();
    let found = [estimate.median, estimate.low, estimate.high];
    assert_eq!(found, [median, low, high], "{values:?}");
    assert_eq!(Estimate::from_repeats(values), Some(estimate), "drawn the same again");
}

#[test]
fn what_is_no_number_says_nothing() {
    for values in [&[][..], &[f64::NAN], &[1.0, f64::INFINITY]] {
        assert_eq!(Estimate::from_repeats(values), None);
        assert_eq!(Ratio::from_repeats(values, &[1.0]), None);
        assert_eq!(Ratio::from_repeats(&[1.0], values), None);
    }
    assert_eq!(Ratio::from_repeats(&[0.0], &[1.0]), None, "no ratio to nothing");
}

#[test]
fn few_repeats_give_an_interval_from_the_least_to_the_greatest() {
    check(&[7.0], 7.0, 7.0, 7.0);
    check(&[3.0, 1.0], 2.0, 1.0, 3.0);
    // A median of three drawn is the least one in 7 of 27 cases.
    check(&[3.0, 1.0, 2.0], 2.0, 1.0, 3.0);
    // Of five, in 181 of 3,125: 5.8 %, more than the 2.5 % outside.
    check(&[5.0, 1.0, 4.0, 2.0, 3.0], 3.0, 1.0, 5.0);
}

#[test]
fn more_repeats_leave_the_outermost_out() {
    // Of seven, the least is the median of what is drawn in 1.0 % of cases, one of the two least in
    // 10.7 %.
    check(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 4.0, 2.0, 6.0);
}

#[track_caller]
fn check_coverage(repeats: u32, coverage: f64) {
    let values: Vec<f64> = (0..repeats).map(f64::from).collect();
    let estimate = Estimate::from_repeats(&values).unwrap();
    let found = estimate.coverage();
    assert!((found - coverage).abs() < 1e-9, "{repeats}: {found}");
}

#[test]
fn coverage_says_what_an_interval_is_worth() {
    // From the least to the greatest: all but those cases in which every repeat lies on one side.
    for (repeats, coverage) in [(1, 0.0), (2, 0.5), (3, 0.75), (4, 0.875), (5, 0.9375)] {
        check_coverage(repeats, coverage);
    }
    // Of seven the outermost are left out: none or one of them on a side are 8 cases of 128.
    check_coverage(7, 1.0 - 2.0 * 8.0 / 128.0);
    // Of nine as well, and of eleven two of each side.
    check_coverage(9, 1.0 - 2.0 * 10.0 / 512.0);
    check_coverage(11, 1.0 - 2.0 * 67.0 / 2_048.0);
    let equal = Estimate::from_repeats(&[1.0; 7]).unwrap();
    assert_eq!((equal.below, equal.above), (0, 0), "none lies outside");
}

/// How often intervals of repeats that are drawn with another noise each time cover the true
/// median.
#[test]
fn intervals_cover_as_often_as_they_say() {
    const LABS: u32 = 200;
    for repeats in [5, 7, 8] {
        let mut random = fastrand::Rng::with_seed(repeats);
        let mut covering = 0;
        let mut said: f64 = 1.0;
        for _ in 0..LABS {
            // Noise of servers has one long tail. Half of it lies below this.
            let values: Vec<f64> = (0..repeats).map(|_| -random.f64().ln()).collect();
            let estimate = Estimate::from_repeats(&values).unwrap();
            let truth = std::f64::consts::LN_2;
            covering += u32::from((estimate.low..=estimate.high).contains(&truth));
            said = said.min(estimate.coverage());
        }
        let found = f64::from(covering) / f64::from(LABS);
        assert!(found > said - 0.05, "{repeats} repeats: {found}, said {said}");
    }
}

#[test]
fn the_spread_is_a_share_of_the_median() {
    // Two runs of the same command, of the post of 2009.
    let estimate = Estimate::from_repeats(&[9078.00, 5739.27]).unwrap();
    assert_eq!(format!("{:.3}", estimate.spread()), "0.451");
    assert_eq!(Estimate::from_repeats(&[0.0, 0.0]).unwrap().spread().to_bits(), 0);
    // A server that answered nothing in two of three repeats is not steady.
    let spread = Estimate::from_repeats(&[0.0, 0.0, 100.0]).unwrap().spread();
    assert_eq!(spread, f64::INFINITY);
}

#[test]
fn a_ratio_has_its_base_below() {
    let ratio = Ratio::from_repeats(&[17_222.0], &[29_231.0]).unwrap();
    assert_eq!(format!("{:+.1}", (ratio.ratio - 1.0) * 100.0), "+69.7");
    assert!(!ratio.has_interval);
    let ratio = Ratio::from_repeats(&[29_231.0], &[17_222.0]).unwrap();
    assert_eq!(format!("{:+.1}", (ratio.ratio - 1.0) * 100.0), "-41.1");
}

#[test]
fn the_interval_of_a_ratio_is_that_of_both_sides() {
    let ratio = Ratio::from_repeats(&[90.0, 100.0, 110.0], &[180.0, 200.0, 220.0]).unwrap();
    assert_eq!(ratio.ratio.to_bits(), 2.0_f64.to_bits());
    // Least by greatest and greatest by least happen in 6.7 % of cases each: more than the 2.5 %
    // outside.
    assert_eq!([ratio.low, ratio.high], [180.0 / 110.0, 220.0 / 90.0]);
    assert!(ratio.has_interval);
}

#[test]
fn a_base_that_may_be_nothing_has_no_interval() {
    for other in [[1.0, 1.0, 1.0], [0.0, 0.0, 1.0]] {
        let ratio = Ratio::from_repeats(&[0.0, 0.0, 2.0, 2.0, 2.0], &other).unwrap();
        assert!(!ratio.has_interval, "{ratio:?}");
        assert_eq!(ratio.high, f64::INFINITY);
        assert!(ratio.low.is_finite(), "{ratio:?}");
    }
    let ratio = Ratio::from_repeats(&[0.0, 0.0, 2.0, 2.0, 2.0], &[0.0; 5]).unwrap();
    assert_eq!((ratio.ratio, ratio.low), (0.0, 0.0));
}

#[test]
fn intervals_that_meet_are_ties() {
    let of = |values: &[f64]| Estimate::from_repeats(values).unwrap();
    let low = of(&[1.0, 2.0, 3.0]);
    assert!(low.ties_with(&of(&[3.0, 4.0, 5.0])), "they meet at 3");
    assert!(!low.ties_with(&of(&[3.1, 4.0, 5.0])));
    assert!(!of(&[3.1, 4.0, 5.0]).ties_with(&low));
    assert!(low.ties_with(&of(&[100.0])), "one repeat differs significantly from nothing");
}
