//! The HTTP/1.1 machine (RFC 9112) in both roles, over byte buffers: bytes in, events and bytes
//! out.
//!
//! [`Server`] and [`Client`] hold the state of one connection, at most 32 bytes each, and no
//! buffer: the caller keeps the input that was not consumed, and passes it again followed by more.

mod chunked;
mod client;
mod framing;
mod head;
mod machine;
mod misuse;
mod section;
mod server;
pub mod state;
mod violation;

pub use chunked::CHUNK_LINE_BYTES_MAX;
pub use client::{Client, RequestToSend};
pub use framing::{CONTENT_LENGTH_DIGITS_MAX, ContentLength};
pub use head::{AnswerHead, RequestHead};
pub use machine::{Framing, Length, Next, Received, StreamEnd};
pub use misuse::{SendError, SkipError};
pub use server::{ResponseHead, Server};
pub use violation::Violation;

use crate::field::FIELDS_MAX;

/// Limits on what the peer may send apart from content. Passed to each call, so a reload changes
/// them at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadLimits {
    /// Maximum length in bytes of a head, from the start line to the empty line, both included.
    pub head_bytes_max: usize,
    /// Maximum number of field lines in a head; at most [`FIELDS_MAX`].
    pub fields_max: usize,
    /// Maximum length in bytes of a request target.
    pub target_bytes_max: usize,
    /// Maximum length in bytes of a trailer section with its empty line.
    pub trailer_bytes_max: usize,
}

impl HeadLimits {
    /// 32 KiB of head, 128 field lines, 8 KiB of target (RFC 9112 §3 asks for at least 8000 bytes),
    /// 8 KiB of trailers.
    pub const DEFAULT: Self = Self {
        head_bytes_max: 32 << 10,
        fields_max: FIELDS_MAX,
        target_bytes_max: 8 << 10,
        trailer_bytes_max: 8 << 10,
    };

    /// Maximum length in bytes of a request line with its CRLF. A longer line is rejected before it
    /// is complete.
    const fn line_bytes_max(&self) -> usize {
        self.target_bytes_max.saturating_add(REQUEST_LINE_OVERHEAD_BYTES)
    }
}

/// The rest of a request line apart from the target: two spaces, version, CRLF, and a method of 64
/// bytes.
const REQUEST_LINE_OVERHEAD_BYTES: usize = 64 + b"  HTTP/1.1\r\n".len();

const _: () = assert!(HeadLimits::DEFAULT.target_bytes_max < HeadLimits::DEFAULT.head_bytes_max);

impl Default for HeadLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
