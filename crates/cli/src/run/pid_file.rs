//! The pid file of the server.
//!
//! The server holds a lock on the file while it runs: a file without a lock is stale, whatever
//! process has its number now. The file appears with its content or not at all, and of two servers
//! that start at the same time one is refused.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, FlockOperation, OFlags, access, flock};
use rustix::io::Errno;

/// Most bytes of a file that may be a pid file: the longest number has 7 digits.
const BYTES_MAX: u64 = 32;
/// Maximum tries if other processes replace the file at the same time.
const TRIES_MAX: u32 = 100;

/// Why the pid file cannot be created: a fault of the configuration or the system.
#[derive(Debug)]
pub(crate) enum PidFileError {
    /// A server that runs owns it.
    InUse {
        path: PathBuf,
        /// Content of the file.
        pid: String,
    },
    /// The path is another file, which must not be overwritten.
    NoPidFile(PathBuf),
    /// The system refused.
    System(PathBuf, io::Error),
}

impl fmt::Display for PidFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse { path, pid } => write!(
                f,
                "the pid file {} belongs to running process {pid} (stop it, or choose another file)",
                path.display()
            ),
            Self::NoPidFile(path) => write!(
                f,
                "{} exists and is not a pid file (remove it, or choose another file)",
                path.display()
            ),
            Self::System(path, error) => {
                write!(f, "cannot write the pid file {}: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for PidFileError {}

/// A pid file of this process. Dropping it removes the file.
#[derive(Debug)]
pub(crate) struct PidFile {
    path: PathBuf,
    /// Locked as long as it is open.
    file: File,
    pid: u32,
}

impl PidFile {
    /// Writes the number of this process to `path`, over a file that an earlier one has left.
    pub(crate) fn create(path: &Path) -> Result<PidFile, PidFileError> {
        let system = |error| PidFileError::System(path.to_owned(), error);
        // Absolute, so that a later change of directory does not remove another file.
        let path = std::path::absolute(path).map_err(system)?;
        let system = |error| PidFileError::System(path.clone(), error);
        let pid = std::process::id();
        let new = path.with_file_name(format!(
            ".{}.{pid}",
            path.file_name().unwrap_or_default().to_string_lossy()
        ));
        // What an earlier process of this number has left.
        let _ = fs::remove_file(&new);
        let file = written(&new, pid).map_err(system)?;
        let placed = place(&new, &path);
        // Gone already where it was renamed.
        let _ = fs::remove_file(&new);
        placed?;
        Ok(PidFile { path, file, pid })
    }
}

impl PidFile {
    /// Finds why [`PidFile::create`] would fail. Nothing is written, and the file of a running
    /// server is fine.
    pub(crate) fn check(path: &Path) -> Result<(), PidFileError> {
        let folder = path.parent().filter(|folder| *folder != "").unwrap_or(Path::new("."));
        access(folder, Access::WRITE_OK | Access::EXEC_OK)
            .map_err(|errno| PidFileError::System(path.to_owned(), errno.into()))?;
        opened(path).map(drop)
    }

    /// The path, absolute.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the file. If the folder belongs to another account than the one that privileges
    /// were dropped to, it stays, empty: then it names no process.
    pub(super) fn remove(&self) -> io::Result<()> {
        if std::process::id() != self.pid || !is_at(&self.file, &self.path) {
            return Ok(());
        }
        let removed = fs::remove_file(&self.path);
        if removed.is_err() {
            let _ = self.file.set_len(0);
        }
        removed
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        // A caller that reports why it stays has called it before.
        let _ = self.remove();
    }
}

/// A new file with its content, locked.
fn written(path: &Path, pid: u32) -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(path)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    writeln!(file, "{pid}")?;
    Ok(file)
}

/// Renames a new file to `path`, if no file has that name or the file is stale.
fn place(new: &Path, path: &Path) -> Result<(), PidFileError> {
    let system = |error| PidFileError::System(path.to_owned(), error);
    for _ in 0..TRIES_MAX {
        match fs::hard_link(new, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result.map_err(system),
        }
        let Some(_stale) = stale(path)? else {
            continue;
        };
        // The lock on the stale file is held: another server that wants to replace it finds it
        // locked, and then finds ours.
        return fs::rename(new, path).map_err(system);
    }
    Err(system(io::ErrorKind::ResourceBusy.into()))
}

/// The file at the path, locked, when its owner has gone; `None` when it is there no more.
fn stale(path: &Path) -> Result<Option<File>, PidFileError> {
    let Some((file, pid)) = opened(path)? else {
        return Ok(None);
    };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(is_at(&file, path).then_some(file)),
        Err(Errno::WOULDBLOCK) => Err(PidFileError::InUse { path: path.to_owned(), pid }),
        Err(errno) => Err(PidFileError::System(path.to_owned(), errno.into())),
    }
}

/// The pid file at the path and its number; `None` when it is not there.
fn opened(path: &Path) -> Result<Option<(File, String)>, PidFileError> {
    let system = |error| PidFileError::System(path.to_owned(), error);
    // No link, and no waiting for the other end of a pipe.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or(0))
        .open(path);
    let file = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if Errno::from_io_error(&error) == Some(Errno::LOOP) => {
            return Err(PidFileError::NoPidFile(path.to_owned()));
        }
        result => result.map_err(system)?,
    };
    let is_file = file.metadata().map_err(system)?.is_file();
    let mut text = String::new();
    let read = (&file).take(BYTES_MAX).read_to_string(&mut text);
    let number = text.trim();
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    if !is_file || read.is_err() || !is_number || text.len() as u64 == BYTES_MAX {
        return Err(PidFileError::NoPidFile(path.to_owned()));
    }
    Ok(Some((file, number.to_owned())))
}

/// Whether an open file is the one at a path.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(ours), Ok(there)) = (file.metadata(), fs::symlink_metadata(path)) else {
        return false;
    };
    (ours.dev(), ours.ino()) == (there.dev(), there.ino())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Barrier;
    use std::thread;

    use vervet_testkit::TempTree;

    use super::*;

    fn own_pid() -> String {
        format!("{}\n", std::process::id())
    }

    /// What becomes of a start when this stands at the path already and nobody has locked it.
    #[track_caller]
    fn check(before: &[u8], expected: Result<(), &str>) {
        let tree = TempTree::new();
        let path = tree.join("vervet.pid");
        fs::write(&path, before).unwrap();
        let result = PidFile::create(&path);
        let told = result.as_ref().map(drop).map_err(ToString::to_string);
        let expected = expected.map_err(|text| text.replace("PATH", path.to_str().unwrap()));
        assert_eq!(told, expected);
        let content = if result.is_ok() { own_pid().into_bytes() } else { before.to_vec() };
        assert_eq!(fs::read(&path).unwrap(), content);
        assert_eq!(fs::read_dir(tree.path()).unwrap().count(), 1);
    }

    #[test]
    fn another_file_is_not_overwritten() {
        let refusal = "PATH exists and is not a pid file (remove it, or choose another file)";
        check(b"precious\n", Err(refusal));
        check(b"4711 4712\n", Err(refusal));
        check(b"-1\n", Err(refusal));
        check(&[0xff, 0xfe], Err(refusal));
        check(&[b'1'; 32], Err(refusal));
        let tree = TempTree::new();
        let path = tree.join("link");
        fs::write(tree.join("precious"), "1\n").unwrap();
        std::os::unix::fs::symlink(tree.join("precious"), &path).unwrap();
        for path in [&path, &tree.path().to_owned()] {
            let error = PidFile::create(path).unwrap_err();
            assert!(matches!(error, PidFileError::NoPidFile(_)), "{error}");
        }
        assert_eq!(fs::read(tree.join("precious")).unwrap(), b"1\n");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let tree = TempTree::new();
        let path = tree.join("none/vervet.pid");
        let error = PidFile::create(&path).unwrap_err().to_string();
        let expected = format!("cannot write the pid file {}: No such", path.display());
        assert!(error.starts_with(&expected), "{error}");
    }

    /// Another process may have the number now, even this one.
    #[test]
    fn a_stale_file_is_taken_over() {
        check(b"", Ok(()));
        check(b"4194305\n", Ok(()));
        check(b"1\n", Ok(()));
        check(own_pid().as_bytes(), Ok(()));
    }

    #[test]
    fn a_file_in_use_is_refused_until_its_owner_ends() {
        let tree = TempTree::new();
        let path = tree.join("vervet.pid");
        let first = PidFile::create(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), own_pid());
        let error = PidFile::create(&path).unwrap_err().to_string();
        let expected = format!(
            "the pid file {} belongs to running process {} (stop it, or choose another file)",
            path.display(),
            std::process::id()
        );
        assert_eq!(error, expected);
        drop(first);
        assert!(!path.exists());
        drop(PidFile::create(&path).unwrap());
        assert_eq!(fs::read_dir(tree.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_that_is_another_by_now_stays() {
        let tree = TempTree::new();
        let path = tree.join("vervet.pid");
        let first = PidFile::create(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "4711\n").unwrap();
        drop(first);
        assert_eq!(fs::read(&path).unwrap(), b"4711\n");
    }

    /// Of many that start at once one gets it, and a reader never sees it without its content.
    #[test]
    fn one_of_many_wins() {
        const STARTS: usize = 8;
        let tree = TempTree::new();
        for (kind, before) in [("new", None), ("stale", Some("1\n"))] {
            let paths = (0..20).map(|round| tree.join(format!("{kind}-{round}")));
            let paths: Vec<_> = paths.collect();
            let barrier = Barrier::new(STARTS);
            let won = thread::scope(|scope| {
                let starts: Vec<_> = (0..STARTS)
                    .map(|start| {
                        let (paths, barrier) = (&paths, &barrier);
                        scope.spawn(move || {
                            let mut won = Vec::new();
                            for path in paths {
                                if start == 0
                                    && let Some(before) = before
                                {
                                    fs::write(path, before).unwrap();
                                }
                                barrier.wait();
                                // The name of the new file has the number of the process, which all
                                // have here.
                                won.extend(take(path, start));
                                let content = fs::read_to_string(path).unwrap();
                                assert!(content.ends_with('\n'), "{content:?}");
                                barrier.wait();
                            }
                            won
                        })
                    })
                    .collect();
                starts.into_iter().flat_map(|start| start.join().unwrap()).collect::<Vec<_>>()
            });
            let places: HashSet<_> = won.iter().map(|(path, _)| path).collect();
            assert_eq!((won.len(), places.len()), (20, 20));
        }
    }

    /// As a process of this number would.
    fn take(path: &Path, number: usize) -> Option<(PathBuf, File)> {
        let number = u32::try_from(number).unwrap();
        let new = path.with_extension(number.to_string());
        let file = written(&new, number).unwrap();
        let placed = place(&new, path);
        let _ = fs::remove_file(&new);
        placed.ok().map(|()| (path.to_owned(), file))
    }
}
