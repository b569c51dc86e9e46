//! The targets of logs, and how they are opened.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file::{self, FileOutput};
use super::journal::{Journal, JournalOutput};
use super::settings::{LogMode, StreamName};
use super::sink::SinkState;
use super::stream::StreamOutput;
use super::syslog::{Syslog, SyslogOutput};

/// The target of a log.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// The standard output of the process.
    Stdout,
    /// The standard error of the process.
    Stderr,
    /// A file, created if it does not exist and appended to; or a named pipe or a device.
    File(FileTarget),
    /// A syslog daemon, by socket or UDP.
    Syslog(Syslog),
    /// The journal of systemd.
    Journal(Journal),
    /// The last lines in memory, for the admin service.
    Memory,
}

/// A log file and its rotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTarget {
    /// The path of the file. Its directory must exist.
    pub path: PathBuf,
    /// Permissions of a new file.
    pub mode: LogMode,
    /// User and group that own a new file: those that the server will run as.
    pub owner: Option<(u32, u32)>,
}

impl Target {
    /// A file with default permissions; `/dev/stdout` and `/dev/stderr` are the streams.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        match path.to_str() {
            Some("/dev/stdout") => Self::Stdout,
            Some("/dev/stderr") => Self::Stderr,
            _ => Self::File(FileTarget { path, mode: LogMode::default(), owner: None }),
        }
    }

    /// Targets with equal keys share a sink.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::File(file) => format!("file {}", file.path.display()),
            other => format!("{other:?}"),
        }
    }

    pub(super) fn open(&self) -> Result<(Box<dyn Output>, WriterKey), OpenError> {
        let output: Box<dyn Output> = match self {
            Self::Stdout => Box::new(StreamOutput::standard(StreamName::Stdout)?),
            Self::Stderr => Box::new(StreamOutput::standard(StreamName::Stderr)?),
            Self::Syslog(syslog) => Box::new(SyslogOutput::new(syslog)),
            Self::Journal(journal) => Box::new(JournalOutput::new(journal)),
            Self::Memory => return Ok((Box::new(MemoryOutput), WriterKey::Memory)),
            Self::File(target) => {
                let opened =
                    file::open(target).map_err(|error| OpenError::new(&target.path, error))?;
                if opened.is_regular {
                    let key = WriterKey::Device(opened.identity.0);
                    return Ok((Box::new(FileOutput::new(target.clone(), opened)), key));
                }
                Box::new(StreamOutput::new(opened.file))
            }
        };
        Ok((output, WriterKey::Exclusive))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => formatter.write_str("standard output"),
            Self::Stderr => formatter.write_str("standard error"),
            Self::File(file) => file.path.display().fmt(formatter),
            Self::Syslog(syslog) => write!(formatter, "syslog at {}", syslog.address.location()),
            Self::Journal(_) => formatter.write_str("the journal"),
            Self::Memory => formatter.write_str("memory"),
        }
    }
}

/// Why a target could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The directory of a file does not exist. It is not created: it would have the wrong owner.
    NoDirectory(PathBuf),
    /// The system call failed.
    System(io::Error),
}

impl OpenError {
    fn new(path: &Path, error: io::Error) -> Self {
        match path.parent() {
            Some(directory)
                if error.kind() == io::ErrorKind::NotFound && !directory.as_os_str().is_empty() =>
            {
                Self::NoDirectory(directory.to_owned())
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
            Self::NoDirectory(directory) => write!(
                formatter,
                "the directory {} does not exist (create it, writable for the user that the \
                 server runs as)",
                directory.display()
            ),
            Self::System(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for OpenError {}

/// Which thread writes a target. Threads of different keys do not delay each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum WriterKey {
    /// Files of one file system, by its device number: a disk that hangs delays all its files.
    Device(u64),
    /// Memory sinks.
    Memory,
    /// A thread of its own, for a pipe, a terminal or a daemon, whose reader may stop.
    Exclusive,
}

/// An open target that takes lines.
pub(super) trait Output: Send + fmt::Debug {
    /// Writes whole lines.
    fn write(&mut self, lines: &[u8], state: &Arc<SinkState>) -> Result<(), WriteError>;

    /// Opens the target by its name again. On failure the old one stays in use.
    fn reopen(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The target did not take all lines.
#[derive(Debug)]
pub(super) struct WriteError {
    /// Bytes that were written.
    pub(super) written: usize,
    pub(super) error: io::Error,
    pub(super) then: OnError,
}

/// What happens to lines after a write error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnError {
    /// The lines are dropped: another attempt would fail as well.
    Drop,
    /// The lines are written later.
    Retry,
}

#[derive(Debug)]
struct MemoryOutput;

impl Output for MemoryOutput {
    fn write(&mut self, lines: &[u8], state: &Arc<SinkState>) -> Result<(), WriteError> {
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            state.remember(line.strip_suffix(b"\n").unwrap_or(line));
        }
        Ok(())
    }
}
