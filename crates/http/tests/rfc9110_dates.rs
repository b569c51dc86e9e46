//! Dates of fields: RFC 9110 §5.6.7.

use proptest::prelude::*;
use vervet_http::date::{DATE_BYTES, DATE_MAX, UnixSeconds, parse, write_date};

#[track_caller]
fn check(value: &str, expected: Option<UnixSeconds>) {
    assert_eq!(parse(value.as_bytes()), expected, "{value:?}");
}

#[test]
fn rejects_invalid_dates() {
    for bad in [
        "",
        "yesterday",
        "0",
        "784111777",
        "1994-11-06T08:49:37Z",
        "Wed, 30 Feb 1994 08:49:37 GMT",
        "Tue, 29 Feb 2022 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 GMT GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Wed, 31 Dec 1969 23:59:59 GMT",
        "Sun, 06 N\u{f6}v 1994 08:49:37 GMT",
        // The day of the week is wrong: the sender computes dates badly, so the date is ignored.
        "Mon, 06 Nov 1994 08:49:37 GMT",
        // Two lines of the field, joined: not a date.
        "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
    ] {
        check(bad, None);
    }
    assert_eq!(parse(b"Sun, 06 Nov 1994 08:49:37 \xff\xff\xff"), None);
}

#[test]
fn reads_all_three_forms() {
    // "A recipient that parses a timestamp value in an HTTP field MUST accept all three HTTP-date
    // formats."
    check("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777));
    check("Sunday, 06-Nov-94 08:49:37 GMT", Some(784_111_777));
    check("Sun Nov  6 08:49:37 1994", Some(784_111_777));
    check("Thu, 01 Jan 1970 00:00:00 GMT", Some(0));
    check("Thu, 29 Feb 2024 23:59:59 GMT", Some(1_709_251_199));
    check("Fri, 31 Dec 9999 23:59:59 GMT", Some(DATE_MAX));
}

#[track_caller]
fn check_written(date: UnixSeconds, expected: &str) {
    let mut written = [0; DATE_BYTES];
    write_date(date, &mut written);
    assert_eq!(written.escape_ascii().to_string(), expected);
}

#[test]
fn writes_the_fixed_form() {
    check_written(u64::MAX, "Fri, 31 Dec 9999 23:59:59 GMT");
    check_written(DATE_MAX + 1, "Fri, 31 Dec 9999 23:59:59 GMT");
    check_written(DATE_MAX, "Fri, 31 Dec 9999 23:59:59 GMT");
    check_written(0, "Thu, 01 Jan 1970 00:00:00 GMT");
    check_written(784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT");
    check_written(951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT");
}

proptest! {
    #[test]
    fn reading_takes_back_writing(date in 0..=DATE_MAX) {
        let mut written = [0; DATE_BYTES];
        write_date(date, &mut written);
        prop_assert_eq!(parse(&written), Some(date));
    }

    #[test]
    fn any_bytes_are_answered(value in prop::collection::vec(any::<u8>(), 0..40)) {
        let _ = parse(&value);
    }
}
