//! The `Date` field line, written once a second.

use vervet_http::date::write_date;

use crate::reactor::Now;

const LINE_BYTES: usize = 6 + 29 + 2;

pub(super) struct DateLine {
    second: u64,
    line: [u8; LINE_BYTES],
}

impl Default for DateLine {
    fn default() -> Self {
        let mut line = [0; LINE_BYTES];
        line[..6].copy_from_slice(b"Date: ");
        line[LINE_BYTES - 2..].copy_from_slice(b"\r\n");
        Self {
            second: u64::MIN,
            line,
        }
    }
}

impl DateLine {
    /// Returns the whole line with its CRLF (RFC 9110 §6.6.1).
    pub(super) fn at(&mut self, now: Now) -> &[u8] {
        if now.unix_seconds != self.second {
            self.second = now.unix_seconds;
            let mut date = [0; 29];
            write_date(now.unix_seconds, &mut date);
            self.line[6..LINE_BYTES - 2].copy_from_slice(&date);
        }
        &self.line
    }
}
