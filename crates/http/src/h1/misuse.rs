//! Calls of ours that do not fit what the machine knows: the faults of this side, as violations are the peer's.

use super::state::Illegal;

/// A call of ours that does not fit: our bug, or a handler that promised another length. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// Not possible in this state.
    Illegal(Illegal),
    /// More content than was announced; so many bytes were left.
    TooLong {
        /// Bytes still announced.
        left: u64,
    },
    /// The end, with so many announced bytes missing. The connection must be closed.
    TooShort {
        /// Bytes still announced.
        left: u64,
    },
    /// Chunked content cannot go out by another way.
    NeedsChunks,
    /// 101 without a proposal of the client.
    NotProposed,
    /// A request line with a method that is no token, or a target with a byte that is not visible ASCII.
    RequestLine,
}

impl std::fmt::Display for SendError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Illegal(illegal) => illegal.fmt(formatter),
            Self::TooLong { left } => write!(
                formatter,
                "content is longer than announced ({left} bytes were left)"
            ),
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

/// More content was to be skipped than is known to follow: our bug. Nothing was skipped.
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
