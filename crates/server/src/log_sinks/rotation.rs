//! When a log file is rotated. `copies.rs` names and removes rotated files.

use vervet_config::{Size, section, words};

words! {
    /// How often a file is rotated.
    pub enum Period {
        /// Every hour, at minute 0 UTC.
        Hour = "hour",
        /// Every day, at midnight UTC.
        Day = "day",
    }
}

section! {
    /// Rotation of a log file: the file is renamed, for example to `access.log.20261121T193000Z`,
    /// and a new one is created. This happens before the next line is written; an empty file is not
    /// rotated.
    pub struct Rotation short(every) {
        /// Rotate before the file exceeds this size.
        pub size: Option<Size> = _ in "4KiB"..="1TiB",
        /// Rotate with the first line of a new hour or day (UTC).
        pub every: Option<Period>,
        /// Number of rotated files to keep; older ones are deleted.
        pub keep: u32 = 7 in 0..=10000,
        /// Compress rotated files with gzip, on a thread with low priority.
        pub compress: bool = true,
    }
}

impl Period {
    /// The number of the hour or day of a time, in seconds since 1970.
    fn number(self, unix_seconds: u64) -> u64 {
        match self {
            Self::Hour => unix_seconds / 3600,
            Self::Day => unix_seconds / 86_400,
        }
    }
}

/// The state of a log file that decides about its rotation.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileAge {
    pub(super) bytes: u64,
    /// When its first line was written, in seconds since 1970.
    pub(super) begun: u64,
    /// The present time, in seconds since 1970.
    pub(super) now: u64,
}

impl Rotation {
    /// Whether a file is to be rotated before `next` more bytes are written.
    pub(super) fn is_due(&self, file: FileAge, next: u64) -> bool {
        let is_full = self.size.is_some_and(|size| file.bytes.saturating_add(next) > size.bytes());
        let is_over =
            self.every.is_some_and(|period| period.number(file.begun) != period.number(file.now));
        file.bytes > 0 && (is_full || is_over)
    }

    /// How many bytes of `lines` fit into a file of `bytes`: whole lines, at least one. A line
    /// that is longer than the limit has a file of its own.
    pub(super) fn fitting(&self, lines: &[u8], bytes: u64) -> usize {
        let room = match *self.size {
            Some(size) => usize::try_from(size.bytes().saturating_sub(bytes)).unwrap_or(usize::MAX),
            None => usize::MAX,
        };
        if lines.len() <= room {
            return lines.len();
        }
        match memchr::memrchr(b'\n', &lines[..room]) {
            Some(end) => end + 1,
            None => memchr::memchr(b'\n', lines).map_or(lines.len(), |end| end + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use vervet_config::Setting;

    use super::*;

    fn rotation(bytes_max: Option<u64>, every: Option<Period>) -> Rotation {
        Rotation {
            size: Setting::assumed(bytes_max.map(Size::new)),
            every: Setting::assumed(every),
            keep: Setting::assumed(1),
            compress: Setting::assumed(false),
        }
    }

    #[test]
    fn a_file_is_rotated_before_it_grows_too_large() {
        let by_size = rotation(Some(100), None);
        let file = |bytes| FileAge { bytes, begun: 0, now: 1_000_000 };
        let check = |bytes, next, expected| {
            assert_eq!(by_size.is_due(file(bytes), next), expected, "{bytes} {next}");
        };
        check(90, 10, false);
        check(90, 11, true);
        check(0, 1000, false);
        assert!(!rotation(None, None).is_due(file(u64::MAX), 1));
    }

    #[test]
    fn a_file_is_rotated_with_the_first_lines_of_another_period() {
        let check = |period, begun, now, expected| {
            let rotation = rotation(None, Some(period));
            let file = |bytes| FileAge { bytes, begun, now };
            assert_eq!(rotation.is_due(file(1), 1), expected, "{begun} {now}");
            assert!(!rotation.is_due(file(0), 1));
        };
        check(Period::Hour, 7199, 7200, true);
        check(Period::Hour, 3600, 7199, false);
        check(Period::Day, 86_399, 86_400, true);
        check(Period::Day, 3600, 7200, false);
        // A clock that was set back.
        check(Period::Day, 86_400, 86_399, true);
    }

    #[test]
    fn only_whole_lines_fit_and_at_least_one() {
        let by_size = rotation(Some(10), None);
        let check = |lines: &str, bytes, expected| {
            let fitting = by_size.fitting(lines.as_bytes(), bytes);
            assert_eq!(fitting, expected, "{lines:?} {bytes}");
        };
        check("abc\ndef\n", 0, 8);
        check("abc\ndef\n", 3, 4);
        check("abc\ndef\n", 10, 4);
        check("a line of more than ten bytes\nb\n", 0, 30);
    }
}
