//! Writes lines to a file, which is reopened after it was renamed, and rotated by size and time.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::copies::{CopyNumber, clean_up_in_background, is_free};
use super::rotation::{FileAge, Rotation};
use super::sink::{SinkError, SinkState};
use super::stream::LineWriter;
use super::target::{FileTarget, Output, WriteError};

/// How often writing a line checks whether the file still has its name.
const CHECK_NAME_EVERY: Duration = Duration::from_millis(500);
/// How often an operation that failed is tried, and reported, again.
const RETRY_EVERY: Duration = Duration::from_secs(10);

/// A file that was just opened.
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

/// Opens a log file, and creates it if it does not exist. A named pipe is also opened for reading:
/// otherwise the open would wait for a reader, and lines in the pipe would be lost with a reader
/// that exits.
pub(super) fn open(target: &FileTarget) -> io::Result<Opened> {
    let before = target.path.metadata().ok();
    let is_pipe = before.as_ref().is_some_and(|metadata| metadata.file_type().is_fifo());
    let file = OpenOptions::new()
        .append(true)
        .read(is_pipe)
        .create(true)
        .mode(target.mode.bits())
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

/// An open log file.
#[derive(Debug)]
pub(super) struct FileOutput {
    target: FileTarget,
    writer: LineWriter,
    identity: (u64, u64),
    bytes: u64,
    /// When its first line was written, in seconds since 1970. For a file that existed before:
    /// when it was last written.
    begun: u64,
    name_checked: Instant,
    last_copy: Option<CopyNumber>,
    /// When an operation failed that is not to be tried again at once.
    failed: Option<Instant>,
}

impl FileOutput {
    pub(super) fn new(target: FileTarget, opened: Opened) -> Self {
        Self {
            target,
            identity: opened.identity,
            bytes: opened.bytes,
            begun: opened.modified,
            writer: LineWriter::new(opened.file),
            name_checked: Instant::now(),
            last_copy: None,
            failed: None,
        }
    }

    fn replace(&mut self, opened: Opened) {
        *self = Self { last_copy: self.last_copy, ..Self::new(self.target.clone(), opened) };
    }

    /// Reopens the file if its name belongs to another file, or to none.
    fn check_name(&mut self, state: &Arc<SinkState>) {
        if self.name_checked.elapsed() < CHECK_NAME_EVERY || self.has_failed_lately() {
            return;
        }
        self.name_checked = Instant::now();
        if self.has_its_name() {
            return;
        }
        match open(&self.target) {
            Ok(opened) => self.replace(opened),
            Err(error) => self.fail(state, SinkError::Reopen(error)),
        }
    }

    fn has_its_name(&self) -> bool {
        let metadata = self.target.path.metadata();
        metadata.is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == self.identity)
    }

    fn has_failed_lately(&self) -> bool {
        self.failed.is_some_and(|failed| failed.elapsed() < RETRY_EVERY)
    }

    fn fail(&mut self, state: &Arc<SinkState>, error: SinkError) {
        self.failed = Some(Instant::now());
        state.report_error(error);
    }

    fn write_rotating(
        &mut self,
        lines: &[u8],
        rotation: &Rotation,
        state: &Arc<SinkState>,
    ) -> Result<(), WriteError> {
        let mut written = 0;
        while written < lines.len() {
            let rest = &lines[written..];
            let first = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            let now = unix_seconds();
            if self.bytes == 0 {
                self.begun = now;
            }
            let age = FileAge { bytes: self.bytes, begun: self.begun, now };
            let count = if !rotation.is_due(age, first as u64) {
                rotation.fitting(rest, self.bytes)
            } else if self.has_failed_lately() {
                rest.len()
            } else {
                match self.rotate(now) {
                    Err(error) => self.fail(state, SinkError::Rotate(error)),
                    Ok(()) => clean_up_in_background(&self.target.path, rotation.clone(), state),
                }
                continue;
            };
            self.write_counted(&rest[..count])
                .map_err(|error| WriteError { written: written + error.written, ..error })?;
            written += count;
        }
        Ok(())
    }

    fn write_counted(&mut self, lines: &[u8]) -> Result<(), WriteError> {
        let result = self.writer.write(lines);
        let written = result.as_ref().map_or_else(|error| error.written, |()| lines.len());
        self.bytes += written as u64;
        result
    }

    /// Renames the file to a copy, and begins a new one.
    fn rotate(&mut self, now: u64) -> io::Result<()> {
        if !self.has_its_name() {
            let opened = open(&self.target)?;
            self.replace(opened);
            return Ok(());
        }
        let path = &self.target.path;
        let mut number = CopyNumber::next(self.last_copy, now);
        // Another process may have made copies in this second.
        while !is_free(&number.path(path)) {
            number = CopyNumber::next(Some(number), now);
        }
        self.last_copy = Some(number);
        let copy = number.path(path);
        std::fs::rename(path, &copy)?;
        match open(&self.target) {
            Ok(opened) => {
                self.replace(opened);
                Ok(())
            }
            Err(error) => {
                // Readers expect the lines under the first name. If this fails too, the error
                // that is reported is the one that came first.
                let _ = std::fs::rename(&copy, path);
                Err(error)
            }
        }
    }
}

impl Output for FileOutput {
    fn write(&mut self, lines: &[u8], state: &Arc<SinkState>) -> Result<(), WriteError> {
        self.check_name(state);
        match state.rotation() {
            None => self.write_counted(lines),
            Some(rotation) => self.write_rotating(lines, &rotation, state),
        }
    }

    fn reopen(&mut self) -> io::Result<()> {
        let opened = open(&self.target)?;
        self.replace(opened);
        Ok(())
    }
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
