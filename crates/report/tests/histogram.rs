//! Histograms: resolution, what documents keep, and what documents of other programs may contain.

use std::time::Duration;

use proptest::prelude::*;
use vervet_report::{Histogram, Packed, TIME_MAX_NS, Unreadable};

fn histogram(times_ns: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for time_ns in times_ns {
        histogram.record_ns(*time_ns);
    }
    histogram
}

#[track_caller]
fn check_unreadable(change: impl Fn(&mut Vec<u8>), expected: Unreadable) {
    let mut bytes = histogram(&[1, 5_000_000]).pack().to_bytes();
    change(&mut bytes);
    assert_eq!(Packed::from_bytes(&bytes), Err(expected));
}

#[test]
fn refuses_what_is_no_histogram() {
    check_unreadable(|bytes| bytes.truncate(39), Unreadable::Truncated);
    check_unreadable(|bytes| bytes.truncate(41), Unreadable::Truncated);
    check_unreadable(|bytes| bytes.push(0), Unreadable::Truncated);
    check_unreadable(|bytes| bytes.resize(320_001, 0), Unreadable::TooLong);
    check_unreadable(|bytes| bytes[3] = 1, Unreadable::Encoding);
    check_unreadable(|bytes| bytes[11] = 1, Unreadable::Encoding);
    check_unreadable(|bytes| bytes[15] = 2, Unreadable::Precision);
    check_unreadable(|bytes| bytes[23] = 2, Unreadable::Precision);
    // A count that says that another byte follows.
    check_unreadable(|bytes| *bytes.last_mut().unwrap() = 0x80, Unreadable::Truncated);
    assert_eq!(Histogram::from_base64("no base64!"), Err(Unreadable::Base64));
    assert_eq!(Histogram::from_base64(&"A".repeat(500_000)), Err(Unreadable::TooLong));
}

#[test]
fn refuses_times_beyond_the_hour() {
    let mut far = histogram(&[TIME_MAX_NS]).pack().to_bytes();
    assert_eq!(
        Packed::from_bytes(&far).map(|packed| packed.count()),
        Ok(1),
        "the hour itself is within"
    );
    // One more slot without counts before the last.
    let length = u32::from_be_bytes(far[4..8].try_into().unwrap()) + 1;
    far[4..8].copy_from_slice(&length.to_be_bytes());
    far.insert(far.len() - 1, 1);
    assert_eq!(Packed::from_bytes(&far), Err(Unreadable::Range));
}

#[test]
fn an_empty_one_has_no_times() {
    let empty = Histogram::new();
    assert_eq!((empty.count(), empty.min_ns(), empty.max_ns()), (0, 0, 0));
    assert_eq!(empty.quantile_ns(0.99), 0);
    assert!(empty.mean_ns().abs() < f64::EPSILON && empty.sd_ns().abs() < f64::EPSILON);
    assert_eq!(Histogram::unpack(&Packed::default()), empty);
}

#[test]
fn keeps_three_digits_and_takes_an_hour_for_what_is_longer() {
    for time_ns in [1, 999, 2047, 2049, 123_456, 987_654_321, TIME_MAX_NS - 1] {
        let kept = histogram(&[time_ns]).quantile_ns(0.5);
        assert!(kept.abs_diff(time_ns) * 1000 <= time_ns, "{time_ns} became {kept}");
    }
    let mut long = Histogram::new();
    long.record(Duration::from_hours(2));
    long.record(Duration::MAX);
    assert_eq!(long, histogram(&[TIME_MAX_NS, TIME_MAX_NS]));
}

#[test]
fn quantiles_are_those_of_the_list() {
    let thousand: Vec<u64> = (1..=1000).collect();
    let times = histogram(&thousand);
    for (quantile, expected) in
        [(0.0, 1), (0.5, 500), (0.9, 900), (0.99, 990), (0.999, 999), (1.0, 1000)]
    {
        assert_eq!(times.quantile_ns(quantile), expected, "quantile {quantile}");
    }
    assert!((times.mean_ns() - 500.5).abs() < 0.01);
    assert!((times.sd_ns() - 288.675).abs() < 0.01);
}

#[test]
fn the_encoding_is_that_of_other_ports() {
    // Cookie, length, offset, digits, lowest, highest, ratio; then 0 not seen, 1 once, 2 to 4 not
    // seen, 5 twice.
    let expected = [
        &[0x1c, 0x84, 0x93, 0x13, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 3][..],
        &[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 3, 0x46, 0x30, 0xb8, 0xa0, 0],
        &[0x3f, 0xf0, 0, 0, 0, 0, 0, 0],
        &[1, 2, 5, 4],
    ];
    assert_eq!(histogram(&[1, 5, 5]).pack().to_bytes(), expected.concat());
}

#[test]
fn a_cleared_one_is_as_new() {
    let mut times = histogram(&[5, 7]);
    times.clear();
    assert_eq!(times, Histogram::new());
    assert!(times.is_empty());
}

fn times() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec((0u32..43).prop_flat_map(|bits| 0..=(1u64 << bits)), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn packing_loses_nothing(times in times(), many in 1u64..u64::MAX / 64) {
        let mut kept = histogram(&times);
        kept.record_many_ns(77, many);
        let text = kept.pack().to_base64();
        prop_assert_eq!(&Histogram::from_base64(&text).unwrap(), &kept);
        let json = serde_json::to_string(&kept).unwrap();
        prop_assert_eq!(serde_json::from_str::<Histogram>(&json).unwrap(), kept);
    }

    #[test]
    fn merging_equals_recording_all(one in times(), other in times()) {
        let all = histogram(&[one.clone(), other.clone()].concat());
        let mut merged = histogram(&one);
        merged.merge(&histogram(&other));
        prop_assert_eq!(&merged, &all);
        let mut packed = histogram(&one).pack();
        packed.merge(&histogram(&other).pack());
        prop_assert_eq!(packed, all.pack());
    }

    #[test]
    fn no_bytes_break_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let mut whole = histogram(&[]).pack().to_bytes();
        whole[7] = u8::try_from(bytes.len()).unwrap();
        whole.extend(bytes);
        if let Ok(packed) = Packed::from_bytes(&whole) {
            prop_assert_eq!(Packed::from_bytes(&packed.to_bytes()), Ok(packed));
        }
    }
}
