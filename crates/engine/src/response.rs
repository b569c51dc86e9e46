//! A handler's response: a status, field lines and content. Framing is done by the engine.

mod edit;

use std::collections::VecDeque;

use bytes::Bytes;
use vervet_http::field::{FieldBlock, FieldError, Known};
use vervet_http::status::Status;

use crate::pipe::ContentReader;
use crate::reactor::FileSlice;

/// A part of content that consists of several.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Bytes in memory, shared; not copied if large.
    Bytes(Bytes),
    /// A part of a file, sent by the kernel.
    File(FileSlice),
}

impl Piece {
    /// Returns the length in bytes.
    pub fn length(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(slice) => slice.length,
        }
    }
}

/// The content of a response.
#[derive(Debug, Default)]
pub enum Content {
    /// No content; `Content-Length: 0` if the status allows content.
    #[default]
    Empty,
    /// Bytes in memory, shared.
    Bytes(Bytes),
    /// A part of a file.
    File(FileSlice),
    /// Several parts one after another, such as `multipart/byteranges`.
    Pieces(VecDeque<Piece>),
    /// Content from a [`ContentSender`](crate::pipe::ContentSender), on any thread.
    Stream {
        /// The length, if it is known. A stream that ends early aborts the connection; one that is
        /// longer is truncated.
        length: Option<u64>,
        /// The reading end of the pipe.
        reader: ContentReader,
    },
}

impl Content {
    /// Returns the length in bytes, if it is known.
    pub fn length(&self) -> Option<u64> {
        match self {
            Self::Empty => Some(0),
            Self::Bytes(bytes) => Some(bytes.len() as u64),
            Self::File(slice) => Some(slice.length),
            Self::Pieces(pieces) => Some(pieces.iter().map(Piece::length).sum()),
            Self::Stream { length, .. } => *length,
        }
    }
}

impl From<&'static str> for Content {
    fn from(text: &'static str) -> Self {
        Self::Bytes(Bytes::from_static(text.as_bytes()))
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Bytes(text.into())
    }
}

impl From<Bytes> for Content {
    fn from(bytes: Bytes) -> Self {
        Self::Bytes(bytes)
    }
}

/// The part of the head that a handler decides.
#[derive(Debug)]
enum Head {
    /// Status line and field lines, encoded once and shared.
    Encoded(Bytes),
    Built(Vec<u8>),
}

impl Default for Head {
    fn default() -> Self {
        Self::Built(Vec::new())
    }
}

/// A response. The engine adds `Date`, `Content-Length`, `Transfer-Encoding` and `Connection`.
#[derive(Debug)]
pub struct Response {
    status: Status,
    head: Head,
    content: Content,
    keeps_content: bool,
}

impl Response {
    /// Creates a response without fields and content.
    pub fn new(status: Status) -> Self {
        let mut line = Vec::with_capacity(128);
        status.write_line(&mut line);
        Self { status, head: Head::Built(line), content: Content::Empty, keeps_content: false }
    }

    /// Creates a `200 OK` with `text/plain; charset=utf-8`.
    pub fn text(content: impl Into<Content>) -> Self {
        Self::plain(Status::OK, content)
    }

    /// Creates a response of any status with `text/plain; charset=utf-8`.
    pub fn plain(status: Status, content: impl Into<Content>) -> Self {
        let mut response = Self::new(status).content(content);
        response.append(b"Content-Type: text/plain; charset=utf-8\r\n");
        response
    }

    /// Creates a response whose status line and field lines are encoded already, each ending in
    /// CRLF: a cached head costs one reference count.
    pub fn encoded(status: Status, head: Bytes) -> Self {
        Self { status, head: Head::Encoded(head), content: Content::Empty, keeps_content: false }
    }

    /// Adds a field line with a known name.
    pub fn field(mut self, name: Known, value: &[u8]) -> Result<Self, FieldError> {
        let mut block = FieldBlock::new();
        block.push_known(name, value)?;
        self.append(block.as_bytes());
        Ok(self)
    }

    /// Adds a block of encoded field lines.
    #[must_use]
    pub fn fields(mut self, block: &FieldBlock) -> Self {
        self.append(block.as_bytes());
        self
    }

    /// Adds field lines that are known to be well formed.
    pub(crate) fn raw_fields(mut self, lines: &[u8]) -> Self {
        self.append(lines);
        self
    }

    /// Sets the content of the response.
    #[must_use]
    pub fn content(mut self, content: impl Into<Content>) -> Self {
        self.content = content.into();
        self
    }

    /// Marks the content of an error response as specific to the request: it must not be replaced
    /// by a general error page.
    #[must_use]
    pub fn keep_content(mut self) -> Self {
        self.keeps_content = true;
        self
    }

    /// Returns whether [`Self::keep_content`] was called.
    pub fn keeps_content(&self) -> bool {
        self.keeps_content
    }

    /// Returns the status code.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Returns the status line and field lines as they are now.
    pub fn head_bytes(&self) -> &[u8] {
        match &self.head {
            Head::Encoded(bytes) => bytes,
            Head::Built(bytes) => bytes,
        }
    }

    /// Returns the content of the response.
    pub fn content_ref(&self) -> &Content {
        &self.content
    }

    pub(crate) fn take_content(&mut self) -> Content {
        std::mem::take(&mut self.content)
    }
}
