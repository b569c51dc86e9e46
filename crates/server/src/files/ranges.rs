//! Responses with parts of a file: 206 with one range or several, and 416.

use std::collections::VecDeque;
use std::fs::File;
use std::sync::Arc;

use bytes::Bytes;
use rustix::rand::{GetRandomFlags, getrandom};
use vervet_engine::reactor::FileSlice;
use vervet_engine::{Content, Piece, Response};
use vervet_http::field::Known;
use vervet_http::range::{
    Boundary, ByteRange, Multipart, RangeSet, write_content_range, write_unsatisfied_range,
};
use vervet_http::status::Status;

use crate::files::options::FilesOptions;
use crate::files::representation::Representation;
use crate::response::error_answer_with;

/// The content of a representation, wherever it lies.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    Memory(Bytes),
    File(Arc<File>),
}

impl Source {
    /// `length` bytes from `offset`, both within the content.
    pub(crate) fn part(&self, offset: u64, length: u64) -> Piece {
        match self {
            Self::Memory(bytes) => {
                // Content in memory is far smaller than any address space.
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                let end = start
                    .saturating_add(usize::try_from(length).unwrap_or(usize::MAX))
                    .min(bytes.len());
                Piece::Bytes(bytes.slice(start..end))
            }
            Self::File(file) => Piece::File(FileSlice { file: Arc::clone(file), offset, length }),
        }
    }
}

/// A piece as the whole content.
pub(crate) fn content_of(piece: Piece) -> Content {
    match piece {
        Piece::Bytes(bytes) => Content::Bytes(bytes),
        Piece::File(slice) => Content::File(slice),
    }
}

/// 206 with the ranges of `set`.
pub(crate) fn partial_answer(
    representation: &Representation,
    source: &Source,
    set: &RangeSet,
    options: &FilesOptions,
) -> Response {
    match set.as_slice() {
        [range] => single(representation, source, *range, options),
        _ => multipart(representation, source, set, options),
    }
}

/// 416 with the length that would have been possible.
pub(crate) fn unsatisfied_answer(
    representation: &Representation,
    options: &FilesOptions,
) -> Response {
    let mut value = Vec::new();
    write_unsatisfied_range(representation.length, &mut value);
    let status = Status::RANGE_NOT_SATISFIABLE;
    error_answer_with(status, &options.server, &[(Known::ContentRange, &value)])
}

fn single(
    representation: &Representation,
    source: &Source,
    range: ByteRange,
    options: &FilesOptions,
) -> Response {
    let status = Status::PARTIAL_CONTENT;
    let mut head = representation.encode_head(status, options);
    let mut value = Vec::with_capacity(64);
    write_content_range(range, representation.length, &mut value);
    head.field(Known::ContentRange, &value);
    head.into_response(status, content_of(source.part(range.first(), range.len())))
}

fn multipart(
    representation: &Representation,
    source: &Source,
    set: &RangeSet,
    options: &FilesOptions,
) -> Response {
    let multipart = Multipart {
        ranges: set,
        length: representation.length,
        media_type: Some(&representation.media_type),
        boundary: boundary(),
    };
    let status = Status::PARTIAL_CONTENT;
    let mut head = representation.encode_untyped_head(status, options);
    let mut value = Vec::with_capacity(80);
    multipart.write_content_type(&mut value);
    head.field(Known::ContentType, &value);
    let mut pieces = VecDeque::with_capacity(2 * set.as_slice().len() + 1);
    for range in set.as_slice() {
        let mut part_head = Vec::with_capacity(160);
        multipart.write_part_head(*range, &mut part_head);
        pieces.push_back(Piece::Bytes(Bytes::from(part_head)));
        pieces.push_back(source.part(range.first(), range.len()));
    }
    let mut end = Vec::with_capacity(40);
    multipart.write_end(&mut end);
    pieces.push_back(Piece::Bytes(Bytes::from(end)));
    head.into_response(status, Content::Pieces(pieces))
}

fn boundary() -> Boundary {
    let mut random = [0; 16];
    // Fails only where the system has no random numbers at all; then the address space layout must
    // do.
    if getrandom(&mut random, GetRandomFlags::empty()).is_err() {
        random = (std::ptr::from_ref(&random).addr() as u128)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
            .to_ne_bytes();
    }
    Boundary::from_random(random)
}
