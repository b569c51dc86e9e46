//! Why a command failed: one sentence for its user, and the exit status. The parser of the command
//! line reports usage errors itself.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use vervet_server::engine::EngineError;

use crate::console;
use crate::load::Refused;
use crate::passwd::PasswdError;

/// What went wrong. The exit status is 1, except for [`Failure::Load`].
#[derive(Debug)]
pub(crate) enum Failure {
    /// A file that cannot be read.
    Read(PathBuf, io::Error),
    /// An invalid configuration, whose findings have been printed; and the first of them.
    Configuration(PathBuf, String),
    /// A file that cannot be written.
    Write(PathBuf, io::Error),
    /// A listener, a limit, or the operating system.
    Engine(EngineError),
    /// Standard output.
    Output(io::Error),
    /// A password file, or a password.
    Passwd(PasswdError),
    /// A load run that did not start, with an exit status of its own.
    Load(Refused),
    /// Anything else: the environment, the user or the pid file of the process, a lab.
    Other(String),
}

impl Failure {
    /// A file that cannot be written.
    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Failure {
        move |error| Failure::Write(path.to_owned(), error)
    }

    /// Prints the reason, and returns the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        if let Self::Load(refused) = self {
            return refused.report();
        }
        console::message(format_args!("{self}"));
        ExitCode::FAILURE
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self::Load(refused)
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
            Self::Read(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::Configuration(path, first) => {
                write!(f, "cannot serve {}: {first}", path.display())
            }
            Self::Write(path, error) => write!(f, "cannot write {}: {error}", path.display()),
            Self::Engine(error) => error.fmt(f),
            Self::Output(error) => write!(f, "cannot write to standard output: {error}"),
            Self::Passwd(error) => error.fmt(f),
            Self::Load(refused) => f.write_str(&refused.lines().join("; ")),
            Self::Other(problem) => f.write_str(problem),
        }
    }
}
