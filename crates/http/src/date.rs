//! Dates in fields (RFC 9110 §5.6.7): parsing and writing, in whole seconds since 1970. Reads no
//! clock.

use std::io::Write as _;
use std::time::{Duration, UNIX_EPOCH};

use httpdate::HttpDate;

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

/// Parses any of the three date formats of RFC 9110 §5.6.7. Returns `None` for anything else,
/// including a day that does not exist (30 February), a wrong day of the week and a year before
/// 1970. Two-digit years mean 1970 to 2069.
pub fn parse(value: &[u8]) -> Option<UnixSeconds> {
    let time = httpdate::parse_http_date(str::from_utf8(value).ok()?).ok()?;
    Some(time.duration_since(UNIX_EPOCH).ok()?.as_secs())
}
