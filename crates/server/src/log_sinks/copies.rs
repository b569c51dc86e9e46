//! Copies of rotated log files: their names, and the thread that removes and compresses them.
//!
//! `access.log` becomes `access.log.20261121T193000Z`. A copy never changes its name, except for
//! `.gz` when it is compressed. Times are UTC, so that no day has 23 or 25 hours.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::rotation::Rotation;
use super::sink::{SinkError, SinkState, lock};
use crate::timestamp::utc;

/// Format and example of the time in the name of a copy.
const STAMP_FORMAT: &str = "%Y%m%dT%H%M%SZ";
const STAMP_EXAMPLE: &str = "20261121T193000Z";
/// The suffix of compressed copies.
const GZIP_SUFFIX: &str = ".gz";
/// The suffix of a copy while it is compressed.
const PARTIAL_SUFFIX: &str = ".gz.part";

/// The time of a copy in seconds since 1970, and how many copies were made before it in that
/// second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CopyNumber {
    second: u64,
    before: u32,
}

impl CopyNumber {
    /// The number of the next copy. A number is never used twice, even if its copy was removed:
    /// later copies sort after earlier ones.
    pub(super) fn next(last: Option<Self>, second: u64) -> Self {
        match last {
            Some(last) if last.second >= second => Self { before: last.before + 1, ..last },
            _ => Self { second, before: 0 },
        }
    }

    /// The path of the copy of the file at `path`.
    pub(super) fn path(self, path: &Path) -> PathBuf {
        let stamp = utc(self.second).format(STAMP_FORMAT);
        match self.before {
            0 => with_suffix(path, &format!(".{stamp}")),
            before => with_suffix(path, &format!(".{stamp}-{before:04}")),
        }
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Whether neither a copy nor its compressed form exists at this path.
pub(super) fn is_free(copy: &Path) -> bool {
    let exists = |path: &Path| path.symlink_metadata().is_ok();
    !exists(copy) && !exists(&with_suffix(copy, GZIP_SUFFIX))
}

/// If `name` is that of a copy of the file `original`, the part that sorts copies by age.
fn copy_age<'a>(name: &'a str, original: &str) -> Option<&'a str> {
    let rest = name.strip_prefix(original)?.strip_prefix('.')?;
    let rest = rest.strip_suffix(GZIP_SUFFIX).unwrap_or(rest);
    let (stamp, number) = rest.split_at_checked(STAMP_EXAMPLE.len())?;
    let is_like = |(byte, example): (u8, u8)| {
        byte == example || (byte.is_ascii_digit() && example.is_ascii_digit())
    };
    let is_stamp = stamp.bytes().zip(STAMP_EXAMPLE.bytes()).all(is_like);
    let is_number = number.is_empty()
        || number.strip_prefix('-').is_some_and(|digits| {
            digits.len() >= 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
        });
    (is_stamp && is_number).then_some(rest)
}

/// Only one clean-up runs at a time, however many files are rotated.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The lowest priority of Linux.
const NICE: i32 = 19;

/// Removes and compresses the copies of a file as `rotation` says, on a thread of its own.
pub(super) fn clean_up_in_background(path: &Path, rotation: Rotation, state: &Arc<SinkState>) {
    let (path, thread_state) = (path.to_owned(), Arc::clone(state));
    let spawned = std::thread::Builder::new().name("log-copies".to_owned()).spawn(move || {
        let _guard = lock(&ONE_AT_A_TIME);
        // If that fails, copies are compressed all the same.
        let _ = rustix::process::nice(NICE);
        if let Err(error) = clean_up(&path, &rotation) {
            thread_state.report_error(SinkError::CleanUp(error));
        }
    });
    if let Err(error) = spawned {
        state.report_error(SinkError::CleanUp(error));
    }
}

fn clean_up(path: &Path, rotation: &Rotation) -> io::Result<()> {
    let mut copies = copies(path)?;
    copies.sort_by(|one, other| other.0.cmp(&one.0));
    for (number, (_, copy)) in copies.iter().enumerate() {
        if number >= *rotation.keep as usize {
            fs::remove_file(copy)?;
        } else if *rotation.compress && copy.extension().is_none_or(|end| end != "gz") {
            compress(copy)?;
        }
    }
    Ok(())
}

/// All copies of a file, each with the text that sorts it by age.
fn copies(path: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let name = path.file_name().and_then(|name| name.to_str());
    let (Some(name), Some(directory)) = (name, path.parent()) else {
        return Ok(Vec::new());
    };
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let mut copies = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let file_name = entry.file_name();
        if let Some(age) = file_name.to_str().and_then(|copy| copy_age(copy, name)) {
            copies.push((age.to_owned(), entry.path()));
        }
    }
    Ok(copies)
}

/// Compresses a copy. It is removed only when its compressed form is complete.
fn compress(copy: &Path) -> io::Result<()> {
    let partial = with_suffix(copy, PARTIAL_SUFFIX);
    let mut from = File::open(copy)?;
    // A process that was killed may have left one.
    match fs::remove_file(&partial) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let to = File::options()
        .write(true)
        .create_new(true)
        .mode(from.metadata()?.permissions().mode() & 0o777)
        .open(&partial)?;
    let mut encoder = GzEncoder::new(to, Compression::default());
    io::copy(&mut from, &mut encoder)?;
    encoder.finish()?.sync_all()?;
    fs::rename(&partial, with_suffix(copy, GZIP_SUFFIX))?;
    fs::remove_file(copy)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use vervet_config::Setting;

    use super::*;

    #[test]
    fn each_copy_has_its_own_name_that_sorts_after_earlier_ones() {
        let mut last = None;
        let mut name = |second| {
            let number = CopyNumber::next(last, second);
            last = Some(number);
            number.path(Path::new("/log/a.log")).display().to_string()
        };
        assert_eq!(name(1_795_202_999), "/log/a.log.20261120T192959Z");
        assert_eq!(name(1_795_202_999), "/log/a.log.20261120T192959Z-0001");
        // A clock that was set back.
        assert_eq!(name(1_795_202_000), "/log/a.log.20261120T192959Z-0002");
        assert_eq!(name(1_795_203_000), "/log/a.log.20261120T193000Z");
    }

    #[test]
    fn only_names_of_copies_are_taken_for_copies() {
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

    fn rotation(keep: u32, compress: bool) -> Rotation {
        Rotation {
            size: Setting::assumed(None),
            every: Setting::assumed(None),
            keep: Setting::assumed(keep),
            compress: Setting::assumed(compress),
        }
    }

    /// Cleans up a directory of these files, whose content is their name, and compares the rest.
    #[track_caller]
    fn check(names: &[&str], rotation: &Rotation, expected: &[&str]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for name in names {
            fs::write(directory.path().join(name), name).unwrap();
        }
        clean_up(&directory.path().join("log"), rotation).unwrap();
        let mut kept: Vec<_> = fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        kept.sort();
        assert_eq!(kept, expected);
        directory
    }

    const OLD: &str = "log.20260101T000000Z.gz";
    const NEW: &str = "log.20260102T000000Z";
    const NEWEST: &str = "log.20260102T000000Z-0001";

    #[test]
    fn the_oldest_copies_are_removed_and_nothing_else() {
        let files = ["log", "log.1", "other.20200101T000000Z", OLD, NEW, NEWEST];
        check(
            &files,
            &rotation(2, false),
            &["log", "log.1", NEW, NEWEST, "other.20200101T000000Z"],
        );
        check(&files, &rotation(0, false), &["log", "log.1", "other.20200101T000000Z"]);
    }

    #[test]
    fn kept_copies_are_compressed_once_and_keep_their_permissions() {
        let partial = "log.20260102T000000Z.gz.part";
        let directory = check(
            &["log", OLD, NEW, partial],
            &rotation(9, true),
            &["log", OLD, "log.20260102T000000Z.gz"],
        );
        let path = |name| directory.path().join(name);
        assert_eq!(fs::read(path(OLD)).unwrap(), OLD.as_bytes());
        let file = File::open(path("log.20260102T000000Z.gz")).unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o644);
        let mut text = String::new();
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
        assert_eq!(text, NEW);
    }
}
