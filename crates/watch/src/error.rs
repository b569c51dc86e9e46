//! Why there is nothing to watch: what was typed means nothing, or nothing that runs fits it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::target::Target;

/// The text is not a valid target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetError {
    /// Nothing.
    Empty,
    /// `pid:` is not followed by a process ID.
    Pid(String),
    /// `port:` is not followed by a port from 1 to 65535.
    Port(String),
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str(
                "nothing to watch is named: give a process number, a name, a port or a cgroup",
            ),
            Self::Pid(text) => write!(f, "\"{}\" is not a process ID", text.escape_debug()),
            Self::Port(text) => {
                write!(f, "\"{}\" is not a port (1 to 65535)", text.escape_debug())
            }
        }
    }
}

impl std::error::Error for TargetError {}

/// Nothing that runs fits the target.
#[derive(Debug)]
pub enum FindError {
    /// No such process, name, listener or cgroup.
    NotFound(Target),
    /// A bare number that is both a process and a port somebody listens on.
    Ambiguous(u32),
    /// Somebody listens on the port, but whose descriptors these are cannot be read.
    OwnerHidden(u16),
    /// There is no cgroup of version 2 here.
    NoCgroups,
    /// The file system of processes cannot be read.
    Proc(PathBuf, io::Error),
}

impl fmt::Display for FindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(target) => match target {
                Target::Pid(pid) => write!(f, "there is no process {pid}"),
                Target::Port(port) => write!(f, "nobody listens on port {port}"),
                Target::Number(number) => write!(
                    f,
                    "there is no process {number}, and nobody listens on a port of that number"
                ),
                Target::Name(name) => {
                    write!(f, "no process is called \"{}\"", name.escape_debug())
                }
                Target::Cgroup(path) => {
                    write!(f, "there is no process in a cgroup {}", path.display())
                }
                Target::Unit(unit) => write!(
                    f,
                    "no cgroup of a unit {} has a process in it",
                    unit.escape_debug()
                ),
            },
            Self::Ambiguous(number) => write!(
                f,
                "{number} is a process, and somebody listens on port {number}: write pid:{number} or port:{number}"
            ),
            Self::OwnerHidden(port) => write!(
                f,
                "somebody listens on port {port}, but whose process that is cannot be seen (run as its user, or as root)"
            ),
            Self::NoCgroups => f.write_str(
                "there are no cgroups of version 2 on this machine, or not in this container",
            ),
            Self::Proc(path, error) => write!(f, "cannot read {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for FindError {}
