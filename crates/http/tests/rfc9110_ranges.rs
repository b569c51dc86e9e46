//! Byte ranges: RFC 9110 §14, and the defence of §17.15.

use proptest::prelude::*;
use vervet_http::range::{
    Boundary, ByteRange, Multipart, OVERLAPS_MAX, RANGES_MAX, Selection, select,
    write_content_range, write_unsatisfied_range,
};

/// The answer as one line: `200`, `416`, or the ranges of a 206.
fn summary(value: &[u8], length: u64) -> String {
    match select(value, length) {
        Selection::Whole => "200".to_owned(),
        Selection::NotSatisfiable => "416".to_owned(),
        Selection::Partial(set) => {
            let ranges = set.as_slice().iter();
            let ranges: Vec<_> =
                ranges.map(|range| format!("{}-{}", range.first(), range.last())).collect();
            ranges.join(",")
        }
    }
}

#[track_caller]
fn check(value: &str, length: u64, expected: &str) {
    assert_eq!(summary(value.as_bytes(), length), expected, "{value:?} of {length}");
}

#[test]
fn ignores_malformed_values_and_other_units() {
    // §14.2: "A server MAY ignore the Range header field"; an invalid ranges-specifier "MUST be
    // ignored"
    for value in [
        "",
        "bytes",
        "bytes=",
        "bytes=,",
        "bytes=-",
        "bytes=a-b",
        "bytes=1",
        "bytes=5-2",
        "bytes=0-1,x",
        "bytes=0-1-2",
        "bytes=--1",
        "bytes=+0-1",
        "bytes=0 - 1",
        "bytes 0-1",
        "bytes =0-1",
        "items=0-1",
        "bytes=0x0-1",
        "0-1",
        "bytes=0-1;",
        "bytes=0-1,5-2",
    ] {
        check(value, 10, "200");
    }
}

#[test]
fn answers_416_when_no_range_is_satisfiable() {
    check("bytes=10-", 10, "416");
    check("bytes=10-20", 10, "416");
    check("bytes=-0", 10, "416");
    check("bytes=10-,-0,11-12", 10, "416");
    check("bytes=99999999999999999999999-", 10, "416");
    check("bytes=18446744073709551615-", u64::MAX, "416");
}

#[test]
fn selects_one_range() {
    // §14.1.2
    check("bytes=0-499", 10_000, "0-499");
    check("bytes=500-999", 10_000, "500-999");
    check("bytes=-500", 10_000, "9500-9999");
    check("bytes=9500-", 10_000, "9500-9999");
    check("bytes=0-0", 10, "0-0");
    check("bytes=9-9", 10, "9-9");
    check("bytes=9-", 10, "9-9");
    check("bytes=-1", 10, "9-9");
    check("bytes=0-", 10, "0-9");
    check("bytes=0-99", 10, "0-9");
    check("bytes=-99", 10, "0-9");
    check("bytes=5-99999999999999999999999", 10, "5-9");
    check("bytes=-99999999999999999999999", 10, "0-9");
    check("Bytes=0-1", 10, "0-1");
    check(" bytes= 0-1 ", 10, "0-1");
    check("bytes=0-", u64::MAX, "0-18446744073709551614");
}

#[test]
fn selects_several_ranges_in_the_requested_order() {
    check("bytes=0-0,-1", 10, "0-0,9-9");
    check("bytes=8-9 , ,\t0-1", 10, "8-9,0-1");
    check("bytes=0-1,50-,4-5", 10, "0-1,4-5");
}

#[test]
fn joins_ranges_that_overlap_or_touch() {
    check("bytes=0-4,2-6", 10, "0-6");
    check("bytes=0-4,5-6", 10, "0-6");
    check("bytes=5-6,0-4", 10, "0-6");
    check("bytes=0-4,6-7", 10, "0-4,6-7");
    check("bytes=0-1,8-9,4-5,2-3", 10, "0-5,8-9");
    check("bytes=8-9,0-1,3-4,2-2", 10, "8-9,0-4");
    check("bytes=0-9,3-4", 10, "0-9");
}

#[test]
fn ignores_more_ranges_or_overlaps_than_the_limits() {
    // §17.15: "Unconstrained multiple range requests are susceptible to denial-of-service attacks"
    let separate = |count: usize| {
        let specs: Vec<_> = (0..count).map(|at| format!("{}-{}", at * 2, at * 2)).collect();
        format!("bytes={}", specs.join(","))
    };
    let overlapping = |count: usize| format!("bytes=0-9{}", ",0-9".repeat(count));
    check(&separate(RANGES_MAX + 1), 10_000, "200");
    check(&separate(1300), 10_000, "200");
    // Ranges that are not there count too: they cost the parser the same.
    check(&format!("bytes=0-0{}", ",99999-".repeat(RANGES_MAX)), 10_000, "200");
    check(&overlapping(OVERLAPS_MAX + 1), 10_000, "200");
    assert_eq!(summary(separate(RANGES_MAX).as_bytes(), 10_000).split(',').count(), RANGES_MAX);
    check(&overlapping(OVERLAPS_MAX), 10_000, "0-9");
}

#[test]
fn gives_an_empty_representation_whole() {
    check("bytes=0-", 0, "200");
    check("bytes=-5", 0, "200");
    check("bytes=-0", 0, "200");
    check("bytes=0-0", 0, "200");
}

fn partial(value: &str, length: u64) -> vervet_http::range::RangeSet {
    match select(value.as_bytes(), length) {
        Selection::Partial(set) => set,
        other => panic!("{value:?} gives {other:?}"),
    }
}

#[test]
fn content_range() {
    // §14.4
    let mut out = Vec::new();
    write_content_range(partial("bytes=42-1233", 1234).as_slice()[0], 1234, &mut out);
    assert_eq!(out, b"bytes 42-1233/1234");
    out.clear();
    write_unsatisfied_range(1234, &mut out);
    assert_eq!(out, b"bytes */1234");
}

#[test]
fn multipart_byteranges() {
    // §14.6
    let content = b"0123456789";
    let ranges = partial("bytes=0-1,-3", 10);
    let boundary = Boundary::from_random([0x0f; 16]);
    let multipart =
        Multipart { ranges: &ranges, length: 10, media_type: Some("text/plain"), boundary };
    let mut out = Vec::new();
    multipart.write_content_type(&mut out);
    assert_eq!(out, b"multipart/byteranges; boundary=0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f");
    let expected = b"\r\n--0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-1/10\r\n\r\n01\
        \r\n--0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f\r\nContent-Type: text/plain\r\nContent-Range: bytes 7-9/10\r\n\r\n789\
        \r\n--0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f--\r\n";
    let written = write_whole(multipart, content);
    assert_eq!(written.escape_ascii().to_string(), expected.escape_ascii().to_string());
}

fn write_whole(multipart: Multipart<'_>, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for &range in multipart.ranges.as_slice() {
        multipart.write_part_head(range, &mut out);
        let inside =
            (0u64..).zip(content).filter(|(at, _)| (range.first()..=range.last()).contains(at));
        out.extend(inside.map(|(_, byte)| byte));
    }
    multipart.write_end(&mut out);
    out
}

/// Ranges as numbers, with the value that asks for them; `None` for the last position is an open
/// end.
fn asked() -> impl Strategy<Value = Vec<(u64, Option<u64>)>> {
    let one = (0u64..40, prop::option::of(0u64..20))
        .prop_map(|(first, more)| (first, more.map(|more| first + more)));
    prop::collection::vec(one, 1..=RANGES_MAX)
}

fn value_of(asked: &[(u64, Option<u64>)]) -> String {
    let specs: Vec<_> = asked
        .iter()
        .map(|(first, last)| {
            format!("{first}-{}", last.map(|last| last.to_string()).unwrap_or_default())
        })
        .collect();
    format!("bytes={}", specs.join(","))
}

proptest! {
    #[test]
    fn joining_keeps_exactly_the_requested_bytes(asked in asked(), length in 1u64..48) {
        let covered = |position: u64, ranges: &[ByteRange]| {
            ranges.iter().filter(|range| (range.first()..=range.last()).contains(&position)).count()
        };
        let wanted = |position: u64| {
            asked.iter().any(|(first, last)| *first <= position && last.is_none_or(|last| position <= last))
        };
        match select(value_of(&asked).as_bytes(), length) {
            Selection::Partial(set) => for position in 0..length + 64 {
                let expected = usize::from(position < length && wanted(position));
                prop_assert_eq!(covered(position, set.as_slice()), expected);
            },
            Selection::NotSatisfiable => prop_assert!(!(0..length).any(wanted)),
            Selection::Whole => prop_assert!(asked.len() > OVERLAPS_MAX),
        }
    }


    #[test]
    fn any_bytes_are_answered_within_the_length(tail in prop::collection::vec(any::<u8>(), 0..40), length: u64) {
        let mut value = b"bytes=".to_vec();
        value.extend(tail);
        if let Selection::Partial(set) = select(&value, length) {
            for range in set.as_slice() {
                prop_assert!(range.first() <= range.last() && range.last() < length);
            }
        }
    }
}
