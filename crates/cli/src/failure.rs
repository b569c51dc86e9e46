//! Why the command ended badly: one sentence for whoever typed it. Usage is the parser's own business.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use vervet_server::FilesError;
use vervet_server::engine::EngineError;
use vervet_server::log_sinks::OpenError;

use crate::passwd::PasswdError;

/// What went wrong; each ends the program with status 1.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The folder or file to serve.
    Root(FilesError),
    /// The log file.
    LogFile(PathBuf, OpenError),
    /// A file to be read.
    Read(PathBuf, io::Error),
    /// A configuration with mistakes, which have been said; the first of them once more.
    Configuration(PathBuf, String),
    /// The identity of the process, its pid file, its restrictions: a part of the start that the system refused.
    Start(String),
    /// A file to be written.
    Write(PathBuf, io::Error),
    /// A listener, a limit, or the system under the engine.
    Engine(EngineError),
    /// Standard output.
    Output(io::Error),
    /// A user file, or a password.
    Passwd(PasswdError),
    /// What the environment asks for.
    Environment(String),
    /// A lab, its record, or what is to be told of it.
    Lab(String),
}

impl Failure {
    /// A file that cannot be written.
    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Failure {
        move |error| Failure::Write(path.to_owned(), error)
    }
}

impl From<PasswdError> for Failure {
    fn from(error: PasswdError) -> Self {
        Self::Passwd(error)
    }
}

impl<E: Into<EngineError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Engine(error.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(error) => error.fmt(f),
            Self::LogFile(path, error) => {
                write!(f, "cannot open the log file {}: {error}", path.display())
            }
            Self::Read(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::Configuration(path, first) => {
                write!(f, "{} cannot be served: {first}", path.display())
            }
            Self::Write(path, error) => write!(f, "cannot write {}: {error}", path.display()),
            Self::Engine(error) => error.fmt(f),
            Self::Output(error) => write!(f, "cannot write to standard output: {error}"),
            Self::Passwd(error) => error.fmt(f),
            Self::Start(problem) | Self::Environment(problem) | Self::Lab(problem) => {
                f.write_str(problem)
            }
        }
    }
}
