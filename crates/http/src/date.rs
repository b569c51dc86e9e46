//! Dates in fields (RFC 9110 §5.6.7): parsing and writing, in whole seconds since 1970. Reads no
//! clock.

use std::io::Write as _;
use std::time::{Duration, UNIX_EPOCH};

use httpdate::{HttpDate, parse_http_date};

/// Seconds since 1970-01-01T00:00:00Z. No field can carry an earlier date.
pub type UnixSeconds = u64;

/// Length in bytes of a date as it is written, `Sun, 06 Nov 1994 08:49:37 GMT`.
pub const DATE_BYTES: usize = 29;

/// The latest date that can be written: 9999-12-31T23:59:59Z.
pub const DATE_MAX: UnixSeconds = 253_402_300_799;

/// Writes a date as IMF-fixdate; a date after [`DATE_MAX`] is written as [`DATE_MAX`].
pub fn write_date(date: UnixSeconds, out: &mut [u8; DATE_BYTES]) {
    let time = UNIX_EPOCH + Duration::from_secs(date.min(DATE_MAX));
    // The form has exactly the length of the array, so the write cannot fail.
    let written = write!(&mut out[..], "{}", HttpDate::from(time));
    debug_assert!(written.is_ok());
}

/// The latest date that a year of two digits means in a cookie (RFC 6265 §5.1.1):
/// 2069-12-31T23:59:59Z.
const COOKIE_YEARS_END: UnixSeconds = 3_155_759_999;

/// Fifty years of the Gregorian calendar, which has 97 leap years in 400.
const FIFTY_YEARS_S: UnixSeconds = 50 * 31_556_952;

/// Parses any of the three date formats of RFC 9110 §5.6.7. Returns `None` for anything else,
/// including a day that does not exist (30 February) and a year before 1970. The day of the week is
/// not compared with the date. Two-digit years mean 1970 to 2069, as in cookies.
pub fn parse(value: &[u8]) -> Option<UnixSeconds> {
    parse_until(value, COOKIE_YEARS_END)
}

/// Parses a date like [`parse`], but a two-digit year is one of those up to fifty years after
/// `now`: a later one means the most recent year in the past with these digits (RFC 9110 §5.6.7).
pub fn parse_at(value: &[u8], now: UnixSeconds) -> Option<UnixSeconds> {
    parse_until(value, now.saturating_add(FIFTY_YEARS_S))
}

/// `latest` is the latest date that a two-digit year can mean.
fn parse_until(value: &[u8], latest: UnixSeconds) -> Option<UnixSeconds> {
    let text = str::from_utf8(value).ok().filter(|text| text.len() <= LONGEST.len())?;
    let (weekday, rest) = text.split_at(text.find([',', ' '])?);
    if WEEKDAYS.contains(&weekday) {
        return parse_four_digits(text);
    }
    // `Sunday, 06-Nov-94 08:49:37 GMT` becomes `Sun, 06 Nov 1994 08:49:37 GMT`.
    let weekday = weekday.get(..3).filter(|_| LONG_WEEKDAYS.contains(&weekday))?;
    let mut parts = rest.strip_prefix(", ")?.splitn(3, '-');
    let (day, month, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let century = century_of(latest);
    let in_century = |century| {
        let date = parse_four_digits(&format!("{weekday}, {day} {month} {century}{rest}"))?;
        (date <= latest).then_some(date)
    };
    in_century(century).or_else(|| in_century(century - 1))
}

const LONGEST: &str = "Wednesday, 06-Nov-94 08:49:37 GMT";
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const LONG_WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Parses a date with a short weekday and a year of four digits. The library refuses a wrong day of
/// the week, which is replaced then: it says nothing that the date does not.
fn parse_four_digits(text: &str) -> Option<UnixSeconds> {
    let time = parse_http_date(text).ok().or_else(|| {
        let rest = text.get(3..)?;
        let mut weekdays = WEEKDAYS.into_iter();
        weekdays.find_map(|weekday| parse_http_date(&format!("{weekday}{rest}")).ok())
    })?;
    Some(time.duration_since(UNIX_EPOCH).ok()?.as_secs())
}

/// Returns the first two digits of the year of a date.
fn century_of(date: UnixSeconds) -> u32 {
    let mut written = [0; DATE_BYTES];
    write_date(date, &mut written);
    u32::from(written[12] - b'0') * 10 + u32::from(written[13] - b'0')
}
