//! What is done to old copies of log files: the oldest are removed, the others compressed. On a thread that is there
//! while there is something to do, at the lowest priority.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::outlet::{Shared, Trouble, lock};
use super::rotation::{Copies, GZIP_END, PART_END, Rotation, copy_age};

/// Only one thread tidies, however many files are put aside.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The lowest priority of Linux.
const NICE: i32 = 19;

/// Tidies the copies of a file as a rotation says, on a thread of its own.
pub(super) fn tidy_later(path: &Path, rotation: Rotation, shared: &Arc<Shared>) {
    let (path, shared_there) = (path.to_owned(), Arc::clone(shared));
    let spawned = std::thread::Builder::new()
        .name("log-copies".to_owned())
        .spawn(move || {
            let _one = lock(&ONE_AT_A_TIME);
            // Without it, copies are compressed all the same.
            let _ = rustix::process::nice(NICE);
            if let Err(error) = tidy(&path, &rotation) {
                shared_there.tell_trouble(Trouble::NotTidied(error));
            }
        });
    if let Err(error) = spawned {
        shared.tell_trouble(Trouble::NotTidied(error));
    }
}

/// Removes the copies of a file beyond those that stay, and compresses the rest if that is wanted.
pub(super) fn tidy(path: &Path, rotation: &Rotation) -> io::Result<()> {
    let mut copies = copies(path)?;
    copies.sort_by(|one, other| other.0.cmp(&one.0));
    for (number, (_, copy)) in copies.iter().enumerate() {
        if number >= rotation.keep as usize {
            fs::remove_file(copy)?;
        } else if rotation.copies == Copies::Gzip && !is_compressed(copy) {
            compress(copy)?;
        }
    }
    Ok(())
}

/// All copies of a file, each with what sorts it by age.
fn copies(path: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let (Some(name), Some(folder)) = (
        path.file_name().and_then(|name| name.to_str()),
        path.parent(),
    ) else {
        return Ok(Vec::new());
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let mut copies = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if let Some(age) = entry
            .file_name()
            .to_str()
            .and_then(|copy| copy_age(copy, name))
        {
            copies.push((age.to_owned(), entry.path()));
        }
    }
    Ok(copies)
}

fn is_compressed(copy: &Path) -> bool {
    copy.to_str().is_some_and(|name| name.ends_with(GZIP_END))
}

/// Compresses a copy. It is there until its compressed form is there whole.
fn compress(copy: &Path) -> io::Result<()> {
    let with_end = |end| {
        let mut name = copy.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    let (part, done) = (with_end(PART_END), with_end(GZIP_END));
    let mut from = File::open(copy)?;
    // What a process that was ended in the middle has left.
    match fs::remove_file(&part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let to = File::options()
        .write(true)
        .create_new(true)
        .mode(from.metadata()?.permissions().mode() & 0o777)
        .open(&part)?;
    let mut encoder = GzEncoder::new(to, Compression::default());
    io::copy(&mut from, &mut encoder)?;
    encoder.finish()?.sync_all()?;
    fs::rename(&part, &done)?;
    fs::remove_file(copy)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn rotation(keep: u32, copies: Copies) -> Rotation {
        Rotation {
            size: None,
            every: None,
            keep,
            copies,
        }
    }

    /// Tidies a folder of these files, each with its own name as content, and says what is left.
    #[track_caller]
    fn check(names: &[&str], rotation: &Rotation, expected: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            fs::write(folder.path().join(name), name).unwrap();
        }
        tidy(&folder.path().join("log"), rotation).unwrap();
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, expected);
        folder
    }

    const OLD: &str = "log.20260101T000000Z.gz";
    const NEW: &str = "log.20260102T000000Z";
    const NEWEST: &str = "log.20260102T000000Z-0001";

    #[test]
    fn the_oldest_copies_go_and_nothing_else() {
        let files = ["log", "log.1", "other.20200101T000000Z", OLD, NEW, NEWEST];
        check(
            &files,
            &rotation(2, Copies::Plain),
            &["log", "log.1", NEW, NEWEST, "other.20200101T000000Z"],
        );
        check(
            &files,
            &rotation(0, Copies::Plain),
            &["log", "log.1", "other.20200101T000000Z"],
        );
    }

    #[test]
    fn copies_that_stay_are_compressed_once_and_keep_their_permissions() {
        let part = "log.20260102T000000Z.gz.part";
        let folder = check(
            &["log", OLD, NEW, part],
            &rotation(9, Copies::Gzip),
            &["log", OLD, "log.20260102T000000Z.gz"],
        );
        assert_eq!(fs::read(folder.path().join(OLD)).unwrap(), OLD.as_bytes());
        let file = File::open(folder.path().join("log.20260102T000000Z.gz")).unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o644);
        let mut text = String::new();
        flate2::read::GzDecoder::new(file)
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text, NEW);
    }
}
