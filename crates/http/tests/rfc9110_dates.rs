//! Dates of fields: RFC 9110 §5.6.7.

use proptest::prelude::*;
use vervet_http::date::{DATE_BYTES, DATE_MAX, UnixSeconds, parse, parse_at, write_date};

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
        "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06-Nov-94 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sunday, 6-Nov-94 08:49:37 GMT",
        "Sunday, 30-Feb-94 08:49:37 GMT",
        "Sunday, 06-Nov-94",
        "Sunday, 06-Nov 94-08:49:37 GMT",
        "Sonntag, 06-Nov-94 08:49:37 GMT",
        "Son, 06 Nov 1994 08:49:37 GMT",
        ", 06 Nov 1994 08:49:37 GMT",
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

/// The grammar has a day of the week and says nothing of one that is wrong: the date counts.
#[test]
fn a_wrong_day_of_the_week_is_ignored() {
    check("Mon, 06 Nov 1994 08:49:37 GMT", Some(784_111_777));
    check("Monday, 06-Nov-94 08:49:37 GMT", Some(784_111_777));
    check("Mon Nov  6 08:49:37 1994", Some(784_111_777));
    check("Mon, 29 Feb 2024 23:59:59 GMT", Some(1_709_251_199));
}

const FIFTY_YEARS_S: u64 = 50 * 31_556_952;

/// "Recipients of a timestamp value in rfc850-date format, which uses a two-digit year, MUST
/// interpret a timestamp that appears to be more than 50 years in the future as representing the
/// most recent year in the past that had the same last two digits."
#[test]
fn two_digit_years_are_relative_to_now() {
    let check = |value: &str, now, expected: &str| {
        let expected = (!expected.is_empty()).then(|| parse(expected.as_bytes()).unwrap());
        assert_eq!(parse_at(value.as_bytes(), now), expected, "{value} at {now}");
    };
    let (first, value) = ("Tue, 01 Jan 2075 00:00:00 GMT", "Tuesday, 01-Jan-75 00:00:00 GMT");
    let edge = parse(first.as_bytes()).unwrap() - FIFTY_YEARS_S;
    check(value, edge - 1, "Wed, 01 Jan 1975 00:00:00 GMT");
    check(value, edge, first);
    let late = parse(b"Fri, 31 Dec 2100 00:00:00 GMT").unwrap();
    check("Sunday, 06-Nov-94 08:49:37 GMT", late, "Sat, 06 Nov 2094 08:49:37 GMT");
    check("Sunday, 06-Nov-49 08:49:37 GMT", late, "Sat, 06 Nov 2149 08:49:37 GMT");
    // Years before 1970 are none that we know.
    check("Sunday, 06-Nov-69 08:49:37 GMT", 0, "");
    // The only leap day among them: 2100 has none.
    check("Tuesday, 29-Feb-00 00:00:00 GMT", late, "Tue, 29 Feb 2000 00:00:00 GMT");
    // Years with four digits are what they say.
    check(first, 0, first);
    check("Sunday, 06-Nov-94 08:49:37 GMT", u64::MAX, "Sat, 06 Nov 9994 08:49:37 GMT");
}

/// RFC 6265 §5.1.1: 70 to 99 are in the twentieth century, 00 to 69 in the next.
#[test]
fn two_digit_years_without_a_clock_are_those_of_cookies() {
    check("Tuesday, 31-Dec-69 23:59:59 GMT", Some(3_155_759_999));
    check("Wednesday, 31-Dec-69 23:59:59 GMT", Some(3_155_759_999));
    check("Thursday, 01-Jan-70 00:00:00 GMT", Some(0));
    check("Friday, 31-Dec-99 23:59:59 GMT", Some(946_684_799));
    check("Saturday, 01-Jan-00 00:00:00 GMT", Some(946_684_800));
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
        let _ = (parse(&value), parse_at(&value, 1_800_000_000));
    }
}
