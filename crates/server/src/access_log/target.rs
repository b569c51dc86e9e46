//! Where lines go: standard output, or a file that can be opened anew.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, poll};

/// Permissions of a log file that is made, less what the umask takes away: addresses of people stand in it.
pub const LOG_FILE_MODE: u32 = 0o640;

/// Where an access log goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Standard output.
    Stdout,
    /// A file, made if it is not there and appended to; or a named pipe or a device.
    File(PathBuf),
}

impl Target {
    pub(super) fn open(&self) -> io::Result<Output> {
        let (file, path) = match self {
            Target::Stdout => (File::from(io::stdout().as_fd().try_clone_to_owned()?), None),
            Target::File(path) => (open_file(path)?, Some(path.clone())),
        };
        Ok(Output {
            file,
            path,
            within_line: false,
        })
    }
}

/// A named pipe is opened for reading, too: otherwise the open waits for a reader, and a reader that goes away would
/// take lines with it that the next one could have had.
fn open_file(path: &Path) -> io::Result<File> {
    let is_pipe = path
        .metadata()
        .is_ok_and(|metadata| metadata.file_type().is_fifo());
    OpenOptions::new()
        .append(true)
        .read(is_pipe)
        .create(true)
        .mode(LOG_FILE_MODE)
        .open(path)
}

/// The open target.
#[derive(Debug)]
pub(super) struct Output {
    file: File,
    path: Option<PathBuf>,
    /// A line was begun and could not be ended.
    within_line: bool,
}

/// The system did not take all.
#[derive(Debug)]
pub(super) struct Refusal {
    /// Bytes that were taken.
    pub(super) written: usize,
    pub(super) error: io::Error,
}

impl Output {
    /// Opens the file by its name again; on failure nothing changes.
    pub(super) fn reopen(&mut self) -> io::Result<()> {
        if let Some(path) = &self.path {
            self.file = open_file(path)?;
            self.within_line = false;
        }
        Ok(())
    }

    /// Writes whole lines, and waits as long as it takes. The half of a line that a full disk left is ended first.
    pub(super) fn write(&mut self, lines: &[u8]) -> Result<(), Refusal> {
        if self.within_line {
            self.write_bytes(b"\n")?;
            self.within_line = false;
        }
        let result = self.write_bytes(lines);
        if let Err(refusal) = &result {
            let taken = &lines[..refusal.written];
            self.within_line = taken.last().is_some_and(|byte| *byte != b'\n');
        }
        result
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let mut written = 0;
        while written < bytes.len() {
            match self.file.write(&bytes[written..]) {
                Ok(0) => {
                    let error = ErrorKind::WriteZero.into();
                    return Err(Refusal { written, error });
                }
                Ok(count) => written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait_for_room(),
                Err(error) => return Err(Refusal { written, error }),
            }
        }
        Ok(())
    }

    /// Standard output may be set not to block by whoever shares it.
    fn wait_for_room(&self) {
        let mut one = [PollFd::new(&self.file, PollFlags::OUT)];
        // An interrupted wait is followed by another try.
        let _ = poll(&mut one, None);
    }
}
