//! Lines into a file that is opened anew when it was renamed away, and put aside by size and time.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::outlet::{Shared, Trouble};
use super::rotation::{CopyNumber, GZIP_END, Rotation};
use super::stream::Pen;
use super::target::{FileTarget, LOG_FILE_MODE, Output, Refusal};
use super::tidying::tidy_later;

/// How often it is looked whether the file still has its name, when lines come.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How often something that does not work is tried, and said, again.
const TRY_AGAIN_EVERY: Duration = Duration::from_secs(10);

/// A file as it was opened.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) file: File,
    /// Device and inode.
    pub(super) identity: (u64, u64),
    pub(super) is_regular: bool,
    bytes: u64,
    /// When it was last written, in seconds since 1970.
    modified: u64,
}

/// Opens a log file, and makes it if it is not there. A named pipe is opened for reading, too: otherwise the open waits
/// for a reader, and a reader that goes away would take lines with it that the next one could have had.
pub(super) fn open(target: &FileTarget) -> io::Result<Opened> {
    let before = target.path.metadata().ok();
    let is_pipe = before
        .as_ref()
        .is_some_and(|metadata| metadata.file_type().is_fifo());
    let file = OpenOptions::new()
        .append(true)
        .read(is_pipe)
        .create(true)
        .mode(target.mode & LOG_FILE_MODE)
        .open(&target.path)?;
    if let (None, Some((user, group))) = (&before, target.owner) {
        std::os::unix::fs::fchown(&file, Some(user), Some(group))?;
    }
    let metadata = file.metadata()?;
    Ok(Opened {
        file,
        identity: (metadata.dev(), metadata.ino()),
        is_regular: metadata.is_file(),
        bytes: metadata.len(),
        modified: u64::try_from(metadata.mtime()).unwrap_or(0),
    })
}

/// A log file at work.
#[derive(Debug)]
pub(super) struct FileOutput {
    target: FileTarget,
    pen: Pen,
    identity: (u64, u64),
    bytes: u64,
    /// When the lines in it began, in seconds since 1970; of a file that was there before, when it was last written.
    begun: u64,
    looked: Instant,
    /// The last file that was put aside.
    last_copy: Option<CopyNumber>,
    /// When something did not work that is not to be tried again at once.
    failed: Option<Instant>,
}

impl FileOutput {
    pub(super) fn new(target: FileTarget, opened: Opened) -> Self {
        Self {
            target,
            identity: opened.identity,
            bytes: opened.bytes,
            begun: opened.modified,
            pen: Pen::new(opened.file),
            looked: Instant::now(),
            last_copy: None,
            failed: None,
        }
    }

    fn take(&mut self, opened: Opened) {
        *self = Self {
            last_copy: self.last_copy,
            ..Self::new(self.target.clone(), opened)
        };
    }

    /// Opens the file anew where its name has gone to another file, or to none.
    fn look(&mut self, shared: &Arc<Shared>) {
        if self.looked.elapsed() < LOOK_EVERY || self.waits_after_failure() {
            return;
        }
        self.looked = Instant::now();
        if self.has_its_name() {
            return;
        }
        match open(&self.target) {
            Ok(opened) => self.take(opened),
            Err(error) => self.fail(shared, Trouble::NotReopened(error)),
        }
    }

    fn has_its_name(&self) -> bool {
        let metadata = self.target.path.metadata();
        metadata.is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == self.identity)
    }

    fn waits_after_failure(&self) -> bool {
        self.failed
            .is_some_and(|failed| failed.elapsed() < TRY_AGAIN_EVERY)
    }

    fn fail(&mut self, shared: &Arc<Shared>, trouble: Trouble) {
        self.failed = Some(Instant::now());
        shared.tell_trouble(trouble);
    }

    fn write_rotating(
        &mut self,
        lines: &[u8],
        rotation: &Rotation,
        shared: &Arc<Shared>,
    ) -> Result<(), Refusal> {
        let mut done = 0;
        while done < lines.len() {
            let rest = &lines[done..];
            let first = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            let now = now();
            if self.bytes == 0 {
                self.begun = now;
            }
            let is_due = rotation.is_due(self.bytes, first as u64, (self.begun, now));
            let count = if !is_due {
                rotation.fitting(rest, self.bytes)
            } else if self.waits_after_failure() {
                rest.len()
            } else {
                if let Err(error) = self.put_aside(now) {
                    self.fail(shared, Trouble::NotRotated(error));
                } else {
                    tidy_later(&self.target.path, rotation.clone(), shared);
                }
                continue;
            };
            self.write_counted(&rest[..count])
                .map_err(|refusal| Refusal {
                    written: done + refusal.written,
                    ..refusal
                })?;
            done += count;
        }
        Ok(())
    }

    fn write_counted(&mut self, lines: &[u8]) -> Result<(), Refusal> {
        let result = self.pen.write(lines);
        let written = result
            .as_ref()
            .map_or_else(|refusal| refusal.written, |()| lines.len());
        self.bytes += written as u64;
        result
    }

    /// Gives the file the name of a copy, and begins another.
    fn put_aside(&mut self, now: u64) -> io::Result<()> {
        if !self.has_its_name() {
            let opened = open(&self.target)?;
            self.take(opened);
            return Ok(());
        }
        let path = &self.target.path;
        let mut number = CopyNumber::next(self.last_copy, now);
        // Another process may have given names away in this second.
        while !is_free(&number.name(path)) {
            number = CopyNumber::next(Some(number), now);
        }
        self.last_copy = Some(number);
        let copy = number.name(path);
        std::fs::rename(path, &copy)?;
        match open(&self.target) {
            Ok(opened) => {
                self.take(opened);
                Ok(())
            }
            Err(error) => {
                // Back to its name, or whoever looks for the lines does not find them. If that fails too, what is said is why
                // it was tried.
                let _ = std::fs::rename(&copy, path);
                Err(error)
            }
        }
    }
}

impl Output for FileOutput {
    fn write(&mut self, lines: &[u8], shared: &Arc<Shared>) -> Result<(), Refusal> {
        self.look(shared);
        match shared.rotation() {
            None => self.write_counted(lines),
            Some(rotation) => self.write_rotating(lines, &rotation, shared),
        }
    }

    fn reopen(&mut self) -> io::Result<()> {
        let opened = open(&self.target)?;
        self.take(opened);
        Ok(())
    }
}

/// Whether neither a copy nor its compressed form has this name.
fn is_free(name: &Path) -> bool {
    let mut compressed = name.as_os_str().to_owned();
    compressed.push(GZIP_END);
    [name, Path::new(&compressed)]
        .iter()
        .all(|name| name.symlink_metadata().is_err())
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs())
}
