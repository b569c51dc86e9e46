//! When a log file is put aside, and what the copies are called.
//!
//! `access.log` becomes `access.log.20261121T193000Z`: a name that stays, so that whoever reads the copies never finds
//! one under another name. Times are UTC, as those of the lines, so that no day has 23 or 25 hours.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use crate::timestamp::Moment;

/// When a file is put aside and how many copies stay. It happens as lines are written: an empty file is not put aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// Before the file grows past so many bytes. A line that is longer has a file of its own.
    pub size: Option<NonZero<u64>>,
    /// With the first lines of another hour or day.
    pub every: Option<Period>,
    /// Copies that stay; older ones are removed.
    pub keep: u32,
    /// What becomes of copies.
    pub copies: Copies,
}

/// A stretch of time, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// Begins with minute 0.
    Hour,
    /// Begins at midnight.
    Day,
}

/// What becomes of copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// They stay as they are.
    Plain,
    /// They are compressed by gzip, on a thread of its own.
    Gzip,
}

impl Period {
    /// The number of the hour or day that a second since 1970 is in.
    pub(super) fn number(self, unix_seconds: u64) -> u64 {
        match self {
            Self::Hour => unix_seconds / 3600,
            Self::Day => unix_seconds / 86_400,
        }
    }
}

impl Rotation {
    /// Whether a file of so many bytes, whose lines began at `begun`, is to be put aside at `now` before `next` more
    /// bytes are written. Both times are seconds since 1970.
    pub(super) fn is_due(&self, bytes: u64, next: u64, (begun, now): (u64, u64)) -> bool {
        let is_full = self
            .size
            .is_some_and(|size| bytes.saturating_add(next) > size.get());
        let is_over = self
            .every
            .is_some_and(|period| period.number(begun) != period.number(now));
        bytes > 0 && (is_full || is_over)
    }

    /// How many of the bytes of `lines` go into a file that has `bytes` already: whole lines, one at least.
    pub(super) fn fitting(&self, lines: &[u8], bytes: u64) -> usize {
        let room = match self.size {
            Some(size) => usize::try_from(size.get().saturating_sub(bytes)).unwrap_or(usize::MAX),
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

/// What follows the name of the file in that of a copy.
const STAMP: &str = "20261121T193000Z";
/// What compressed copies end with.
pub(super) const GZIP_END: &str = ".gz";
/// What those end with that are being made.
pub(super) const PART_END: &str = ".gz.part";

/// Which copy of a file: the second since 1970 in which it was made, and how many came before it in that second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CopyNumber {
    second: u64,
    before: u32,
}

impl CopyNumber {
    /// The next copy, at a second. A name that has been given away once in this second is not given again, though the copy
    /// be gone: what comes later is sorted behind.
    pub(super) fn next(last: Option<Self>, second: u64) -> Self {
        match last {
            Some(last) if last.second >= second => Self {
                before: last.before + 1,
                ..last
            },
            _ => Self { second, before: 0 },
        }
    }

    /// The name of the copy.
    pub(super) fn name(self, path: &Path) -> PathBuf {
        let moment = Moment::of_unix(i64::try_from(self.second).unwrap_or(0));
        let stamp = moment.rfc3339().replace(['-', ':'], "");
        let mut name = path.as_os_str().to_owned();
        name.push(match self.before {
            0 => format!(".{stamp}"),
            before => format!(".{stamp}-{before:04}"),
        });
        PathBuf::from(name)
    }
}

/// Whether `name` is that of a copy of the file `of`, and if so what sorts copies by age.
pub(super) fn copy_age<'a>(name: &'a str, of: &str) -> Option<&'a str> {
    let rest = name.strip_prefix(of)?.strip_prefix('.')?;
    let rest = rest.strip_suffix(GZIP_END).unwrap_or(rest);
    let (stamp, number) = rest.split_at_checked(STAMP.len())?;
    let is_like = |(byte, like): (u8, u8)| {
        if like.is_ascii_digit() {
            byte.is_ascii_digit()
        } else {
            byte == like
        }
    };
    let is_stamp = stamp.bytes().zip(STAMP.bytes()).all(is_like);
    let is_number = number.is_empty()
        || number.strip_prefix('-').is_some_and(|digits| {
            digits.len() >= 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
        });
    (is_stamp && is_number).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotation(size: Option<u64>, every: Option<Period>) -> Rotation {
        Rotation {
            size: size.and_then(NonZero::new),
            every,
            keep: 1,
            copies: Copies::Plain,
        }
    }

    #[test]
    fn a_file_is_put_aside_before_it_grows_too_large() {
        let by_size = rotation(Some(100), None);
        let check = |bytes, next, expected| {
            assert_eq!(
                by_size.is_due(bytes, next, (0, 1_000_000)),
                expected,
                "{bytes} {next}"
            );
        };
        check(90, 10, false);
        check(90, 11, true);
        check(0, 1000, false);
        assert!(!rotation(None, None).is_due(u64::MAX, 1, (0, u64::MAX)));
    }

    #[test]
    fn a_file_is_put_aside_with_the_first_lines_of_another_period() {
        let check = |period, begun, now, expected| {
            let rotation = rotation(None, Some(period));
            assert_eq!(
                rotation.is_due(1, 1, (begun, now)),
                expected,
                "{begun} {now}"
            );
            assert!(!rotation.is_due(0, 1, (begun, now)));
        };
        check(Period::Hour, 7199, 7200, true);
        check(Period::Hour, 3600, 7199, false);
        check(Period::Day, 86_399, 86_400, true);
        check(Period::Day, 3600, 7200, false);
        // A clock that was set back.
        check(Period::Day, 86_400, 86_399, true);
    }

    #[test]
    fn only_whole_lines_are_parted_and_one_goes_at_least() {
        let by_size = rotation(Some(10), None);
        let check = |lines: &str, bytes, expected| {
            assert_eq!(
                by_size.fitting(lines.as_bytes(), bytes),
                expected,
                "{lines:?} {bytes}"
            );
        };
        check("abc\ndef\n", 0, 8);
        check("abc\ndef\n", 3, 4);
        check("abc\ndef\n", 10, 4);
        check("a line of more than ten bytes\nb\n", 0, 30);
    }

    #[test]
    fn each_copy_has_a_name_of_its_own_that_sorts_behind_those_before() {
        let mut last = None;
        let mut name = |second| {
            let number = CopyNumber::next(last, second);
            last = Some(number);
            number.name(Path::new("/log/a.log")).display().to_string()
        };
        assert_eq!(name(1_795_202_999), "/log/a.log.20261120T192959Z");
        assert_eq!(name(1_795_202_999), "/log/a.log.20261120T192959Z-0001");
        // A clock that was set back.
        assert_eq!(name(1_795_202_000), "/log/a.log.20261120T192959Z-0002");
        assert_eq!(name(1_795_203_000), "/log/a.log.20261120T193000Z");
    }

    #[test]
    fn only_copies_are_taken_for_copies() {
        let check = |name: &str, expected: bool| {
            assert_eq!(copy_age(name, "a.log").is_some(), expected, "{name}");
        };
        check("a.log.20261120T192959Z", true);
        check("a.log.20261120T192959Z.gz", true);
        check("a.log.20261120T192959Z-0001.gz", true);
        check("a.log", false);
        check("a.log.1", false);
        check("a.log.20261120T192959Z.gz.part", false);
        check("a.log.20261120T192959Zmine", false);
        check("b.log.20261120T192959Z", false);
        check("a.log.2026112xT192959Z", false);
    }
}
