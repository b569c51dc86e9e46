//! The time of a line, written once a second and copied from then on.

use std::io::Write as _;

use crate::timestamp::Moment;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// How a format writes the second. All are UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `20/Nov/2026:19:30:00 +0000`.
    Common,
    /// `2026-11-20T19:30:00`, to be followed by milliseconds and `Z`.
    Rfc3339,
    /// `19:30:00`.
    OfDay,
}

/// The text of the last second asked for.
#[derive(Debug)]
pub(super) struct SecondText {
    style: Style,
    second: Option<u64>,
    text: Vec<u8>,
}

impl SecondText {
    pub(super) fn new(style: Style) -> Self {
        Self {
            style,
            second: None,
            text: Vec::new(),
        }
    }

    /// The text of a second since 1970.
    pub(super) fn at(&mut self, unix_seconds: u64) -> &[u8] {
        if self.second != Some(unix_seconds) {
            self.second = Some(unix_seconds);
            self.text.clear();
            let moment = Moment::of_unix(i64::try_from(unix_seconds).unwrap_or(i64::MAX / 2));
            write_second(&mut self.text, self.style, moment);
        }
        &self.text
    }
}

fn write_second(out: &mut Vec<u8>, style: Style, moment: Moment) {
    let Moment {
        year,
        month,
        day,
        hour,
        minute,
        second,
    } = moment;
    let name = usize::try_from(month - 1)
        .ok()
        .and_then(|index| MONTHS.get(index))
        .unwrap_or(&"-");
    // Writing to a Vec does not fail.
    let _ = match style {
        Style::Common => write!(
            out,
            "{day:02}/{name}/{year:04}:{hour:02}:{minute:02}:{second:02} +0000"
        ),
        Style::Rfc3339 => write!(
            out,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        ),
        Style::OfDay => write!(out, "{hour:02}:{minute:02}:{second:02}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(style: Style, seconds: u64, expected: &str) {
        let mut text = SecondText::new(style);
        assert_eq!(text.at(seconds), expected.as_bytes());
        text.at(seconds + 1);
        assert_eq!(text.at(seconds), expected.as_bytes());
    }

    #[test]
    fn seconds_are_written_as_each_format_wants() {
        check(Style::Common, 0, "01/Jan/1970:00:00:00 +0000");
        check(Style::Common, 1_794_252_599, "09/Nov/2026:19:29:59 +0000");
        check(Style::Rfc3339, 1_709_164_800, "2024-02-29T00:00:00");
        check(Style::OfDay, 1_794_252_599, "19:29:59");
    }
}
