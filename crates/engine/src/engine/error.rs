//! Why an engine did not start, or failed.

use std::fmt;

use crate::limits::LimitError;
use crate::listener::{AddressError, BindError};
use crate::reactor::CommandError;

/// Why an engine did not start, or failed.
#[derive(Debug)]
pub enum EngineError {
    /// An address is invalid.
    Address(AddressError),
    /// A listener could not be opened.
    Bind(BindError),
    /// A limit is out of bounds.
    Limit(LimitError),
    /// The system failed to provide a thread or a descriptor, or waiting failed.
    System(std::io::Error),
    /// The engine has ended or is ending, and accepts no more commands.
    Ended,
    /// A worker's thread panicked, which is a bug in the engine or in a handler.
    Panicked,
}

impl fmt::Display for EngineError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(error) => error.fmt(formatter),
            Self::Bind(error) => error.fmt(formatter),
            Self::Limit(error) => error.fmt(formatter),
            Self::System(error) => write!(formatter, "system error: {error}"),
            Self::Ended => formatter.write_str("the engine is ending"),
            Self::Panicked => formatter.write_str("a worker panicked (the trace is above)"),
        }
    }
}

impl std::error::Error for EngineError {}

macro_rules! from {
    ($($variant:ident($error:ty)),*) => {$(
        impl From<$error> for EngineError {
            fn from(error: $error) -> Self {
                Self::$variant(error.into())
            }
        }
    )*};
}

from!(
    Address(AddressError),
    Bind(BindError),
    Limit(LimitError),
    System(std::io::Error),
    System(rustix::io::Errno)
);

impl From<CommandError> for EngineError {
    fn from(not_done: CommandError) -> Self {
        match not_done {
            CommandError::Ended => Self::Ended,
            CommandError::Refused(errno) => errno.into(),
        }
    }
}
