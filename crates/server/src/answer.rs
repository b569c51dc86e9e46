//! What the file handler decides for a request, before any socket: a head, and where the content comes from.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use bytes::Bytes;
use vervet_http::status::Status;

use crate::head::Head;

/// A complete answer. For HEAD and 304 the content is given all the same; the engine leaves it out.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status in the head, for the access log.
    pub status: Status,
    /// Status line and field lines, each with its CRLF, without Date, Content-Length and Connection.
    pub head: Bytes,
    /// What follows the head.
    pub content: AnswerContent,
}

/// Where the content of an answer comes from.
#[derive(Debug, Clone)]
pub enum AnswerContent {
    /// There is none.
    Empty,
    /// Bytes in memory.
    Bytes(Bytes),
    /// A part of an open file.
    File(FilePart),
    /// Bytes and parts of files in turn (multipart/byteranges).
    Pieces(Vec<Piece>),
}

/// `length` bytes of an open file from `offset`.
#[derive(Debug, Clone)]
pub struct FilePart {
    /// The file, shared with the cache: only positioned reads, never a seek.
    pub file: Arc<OwnedFd>,
    /// Position of the first byte.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
}

/// One piece of a content.
#[derive(Debug, Clone)]
pub enum Piece {
    /// Bytes in memory.
    Bytes(Bytes),
    /// A part of an open file.
    File(FilePart),
}

impl AnswerContent {
    /// Length in bytes.
    pub fn length(&self) -> u64 {
        match self {
            Self::Empty => 0,
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(part) => part.length,
            Self::Pieces(pieces) => pieces.iter().map(Piece::length).sum(),
        }
    }
}

impl Piece {
    fn length(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(part) => part.length,
        }
    }
}

impl Answer {
    pub(crate) fn new(status: Status, head: Head, content: AnswerContent) -> Self {
        Self { status, head: Bytes::from(head.into_bytes()), content }
    }
}
