//! Errors of the caller: calls that do not fit the state of the machine. Violations are errors of
//! the peer.

use super::state::Illegal;

/// A call that does not fit the state of the machine: a bug, or a handler that sent another length
/// than announced. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// The call is not possible in this state.
    Illegal(Illegal),
    /// More content than was announced; only `left` bytes remained.
    TooLong {
        /// Announced bytes that were not sent yet.
        left: u64,
    },
    /// The message was ended although `left` announced bytes are missing. The connection must be
    /// closed.
    TooShort {
        /// Announced bytes that are missing.
        left: u64,
    },
    /// Chunked content cannot be sent without the machine.
    NeedsChunks,
    /// Status 101 although the client proposed no protocol.
    NotProposed,
    /// The method of the request line is not a token, or the target contains a byte that is not
    /// visible ASCII.
    RequestLine,
}

impl std::fmt::Display for SendError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Illegal(illegal) => illegal.fmt(formatter),
            Self::TooLong { left } => {
                write!(formatter, "content is longer than announced ({left} bytes were left)")
            }
            Self::TooShort { left } => {
                write!(formatter, "content is {left} bytes shorter than announced")
            }
            Self::NeedsChunks => {
                formatter.write_str("chunked content must be sent through the machine")
            }
            Self::NotProposed => formatter.write_str("the client proposed no other protocol"),
            Self::RequestLine => {
                formatter.write_str("the method or target cannot stand in a request line")
            }
        }
    }
}

impl std::error::Error for SendError {}

impl From<Illegal> for SendError {
    fn from(illegal: Illegal) -> Self {
        Self::Illegal(illegal)
    }
}

/// More content was to be skipped than is known to follow, which is a bug. Nothing was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkipError {
    /// Bytes that may be skipped.
    pub left: u64,
}

impl std::fmt::Display for SkipError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "only {} bytes may be skipped", self.left)
    }
}

impl std::error::Error for SkipError {}
