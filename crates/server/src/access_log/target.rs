//! Where lines go, and how each place is opened.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file::{self, FileOutput};
use super::journal::{Journal, JournalOutput};
use super::outlet::Shared;
use super::stream::{Stream, StreamOutput};
use super::syslog::{Syslog, SyslogOutput};

/// Where a log goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// A file, made if it is not there and appended to; or a named pipe or a device.
    File(FileTarget),
    /// A syslog daemon.
    Syslog(Syslog),
    /// The systemd journal.
    Journal(Journal),
    /// The last lines in memory, to be asked for.
    Memory,
}

/// Permissions of a log file that is made, less what the umask takes away: addresses of people stand in it.
pub const LOG_FILE_MODE: u32 = 0o640;

/// A log file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTarget {
    /// Its path. The folder has to be there.
    pub path: PathBuf,
    /// Permissions of a file that is made, never more than [`LOG_FILE_MODE`], less what the umask takes away.
    pub mode: u32,
    /// User and group that a file that is made is given to: those that the server will run as.
    pub owner: Option<(u32, u32)>,
}

impl Target {
    /// A file with the usual permissions; `/dev/stdout` and `/dev/stderr` are the streams.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        match path.to_str() {
            Some("/dev/stdout") => Self::Stdout,
            Some("/dev/stderr") => Self::Stderr,
            _ => Self::File(FileTarget {
                path,
                mode: LOG_FILE_MODE,
                owner: None,
            }),
        }
    }

    /// What makes two targets one.
    pub(super) fn key(&self) -> String {
        match self {
            Self::File(file) => format!("file {}", file.path.display()),
            other => format!("{other:?}"),
        }
    }

    /// Whether an entry has fields besides its message.
    pub(super) fn takes_fields(&self) -> bool {
        matches!(self, Self::Journal(_))
    }

    pub(super) fn open(&self) -> Result<(Box<dyn Output>, Lane), OpenError> {
        let (output, lane): (Box<dyn Output>, Lane) = match self {
            Self::Stdout => (Box::new(StreamOutput::standard(Stream::Out)?), Lane::Alone),
            Self::Stderr => (
                Box::new(StreamOutput::standard(Stream::Error)?),
                Lane::Alone,
            ),
            Self::Syslog(syslog) => (Box::new(SyslogOutput::new(syslog)), Lane::Alone),
            Self::Journal(journal) => (Box::new(JournalOutput::new(journal)), Lane::Alone),
            Self::Memory => (Box::new(MemoryOutput), Lane::Memory),
            Self::File(target) => {
                let opened =
                    file::open(target).map_err(|error| OpenError::new(&target.path, error))?;
                if opened.is_regular {
                    let device = opened.identity.0;
                    let output = FileOutput::new(target.clone(), opened);
                    (Box::new(output), Lane::Device(device))
                } else {
                    (Box::new(StreamOutput::new(opened.file)), Lane::Alone)
                }
            }
        };
        Ok((output, lane))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => formatter.write_str("standard output"),
            Self::Stderr => formatter.write_str("standard error"),
            Self::File(file) => file.path.display().fmt(formatter),
            Self::Syslog(syslog) => syslog.fmt(formatter),
            Self::Journal(_) => formatter.write_str("the journal"),
            Self::Memory => formatter.write_str("memory"),
        }
    }
}

/// Why a target could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The folder of a file is not there. None is made: it would belong to the wrong user.
    NoFolder(PathBuf),
    /// The system refused.
    System(io::Error),
}

impl OpenError {
    fn new(path: &Path, error: io::Error) -> Self {
        match path.parent() {
            Some(folder)
                if error.kind() == io::ErrorKind::NotFound && !folder.as_os_str().is_empty() =>
            {
                Self::NoFolder(folder.to_owned())
            }
            _ => Self::System(error),
        }
    }
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFolder(folder) => write!(
                formatter,
                "the folder {} does not exist (make it, writable for the user that the server runs as)",
                folder.display()
            ),
            Self::System(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for OpenError {}

/// Which thread writes a target: what holds up one lane holds up no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Lane {
    /// Files of one file system, by its device number: a disk that hangs holds up all its files anyway.
    Device(u64),
    /// Memory.
    Memory,
    /// A pipe, a terminal or a daemon, whose reader may stop: a lane of its own.
    Alone,
}

/// What takes lines.
pub(super) trait Output: Send + fmt::Debug {
    /// Writes whole lines.
    fn write(&mut self, lines: &[u8], shared: &Arc<Shared>) -> Result<(), Refusal>;

    /// Opens the target by its name again; on failure nothing changes.
    fn reopen(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The target did not take all.
#[derive(Debug)]
pub(super) struct Refusal {
    /// Bytes that were taken.
    pub(super) written: usize,
    pub(super) error: io::Error,
    pub(super) then: Then,
}

/// What becomes of the lines that were not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// They are dropped: trying again would not help.
    Drop,
    /// They are tried again in a moment.
    Retry,
}

/// Lines that are only remembered.
#[derive(Debug)]
struct MemoryOutput;

impl Output for MemoryOutput {
    fn write(&mut self, lines: &[u8], shared: &Arc<Shared>) -> Result<(), Refusal> {
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            shared.remember(line.strip_suffix(b"\n").unwrap_or(line));
        }
        Ok(())
    }
}
