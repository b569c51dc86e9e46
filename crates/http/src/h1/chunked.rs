//! The chunked transfer coding (RFC 9112 §7.1): reading and writing chunk lines, and the trailer
//! section.

use super::section::explain_fields;
use super::violation::Violation;
use crate::field::{FieldSlots, Fields, Known, Refused, TRAILERS_MAX, is_value_byte};

/// The maximum length in bytes of one chunk line: size, extensions and CRLF. Chunk extensions are
/// hardly used; without a bound they would be content that no limit counts (RFC 9112 §7.1.1).
pub const CHUNK_LINE_BYTES_MAX: usize = 256;

/// A complete chunk line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChunkLine {
    /// Bytes of content that follow; 0 for the last chunk.
    pub(super) size: u64,
    /// Length in bytes of the line with its CRLF.
    pub(super) bytes: usize,
}

#[derive(Clone, Copy)]
enum LineState {
    Start,
    Size,
    Blank,
    Extension,
    Cr,
}

/// Parses the chunk line at the start of `input`; `None` if it is incomplete. Reads byte by byte,
/// so the first violation is the same however the input was split.
pub(super) fn parse_line(input: &[u8]) -> Result<Option<ChunkLine>, Violation> {
    let mut size = 0_u64;
    let mut state = LineState::Start;
    for (at, &byte) in input.iter().enumerate() {
        if at == CHUNK_LINE_BYTES_MAX {
            return Err(Violation::ChunkLineTooLong);
        }
        state = match (state, byte) {
            (LineState::Cr, b'\n') => {
                return Ok(Some(ChunkLine { size, bytes: at + 1 }));
            }
            (LineState::Cr, _) => return Err(Violation::BareCr),
            (LineState::Size | LineState::Blank | LineState::Extension, b'\n') => {
                return Err(Violation::BareLf);
            }
            (LineState::Size | LineState::Extension, b'\r') => LineState::Cr,
            (LineState::Start | LineState::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                if size >> 60 != 0 {
                    return Err(Violation::ChunkSizeTooLarge);
                }
                size = size << 4 | u64::from(hex_value(byte));
                LineState::Size
            }
            (LineState::Size | LineState::Blank, b';') => LineState::Extension,
            (LineState::Size | LineState::Blank, b' ' | b'\t') => LineState::Blank,
            (LineState::Start | LineState::Size, _) => return Err(Violation::ChunkSizeMalformed),
            (LineState::Extension, _) if is_value_byte(byte) => LineState::Extension,
            (LineState::Blank | LineState::Extension, _) => {
                return Err(Violation::ChunkExtensionMalformed);
            }
        };
    }
    Ok(None)
}

const fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

/// Parses a complete trailer section, including the empty line.
pub(super) fn parse_trailers<'a>(
    section: &'a [u8],
    slots: &'a mut FieldSlots,
) -> Result<Fields<'a>, Violation> {
    if section == b"\r\n" {
        return Ok(Fields::EMPTY);
    }
    let (fields, _) = slots.parse(section, TRAILERS_MAX).map_err(|refused| match refused {
        Refused::TooManyLines => Violation::FieldsTooMany,
        Refused::Syntax => explain_fields(section),
    })?;
    if Known::ALL.iter().any(|&name| fields.has(name) && is_forbidden_trailer(name)) {
        return Err(Violation::TrailerForbidden);
    }
    Ok(fields)
}

/// Fields for framing, routing, request modifiers, authentication or content format (RFC 9110
/// §6.5.1). They are rejected in trailers, since merging them into a head that was validated
/// without them would change its meaning.
pub(super) const fn is_forbidden_trailer(name: Known) -> bool {
    use Known as K;
    matches!(
        name,
        K::Authorization
            | K::CacheControl
            | K::Connection
            | K::ContentEncoding
            | K::ContentLength
            | K::ContentRange
            | K::ContentType
            | K::Cookie
            | K::Expect
            | K::Forwarded
            | K::Host
            | K::IfMatch
            | K::IfModifiedSince
            | K::IfNoneMatch
            | K::IfRange
            | K::IfUnmodifiedSince
            | K::KeepAlive
            | K::Location
            | K::MaxForwards
            | K::ProxyAuthorization
            | K::ProxyConnection
            | K::Range
            | K::SetCookie
            | K::Te
            | K::Trailer
            | K::TransferEncoding
            | K::Upgrade
            | K::Vary
            | K::WwwAuthenticate
            | K::XForwardedFor
            | K::XForwardedHost
            | K::XForwardedProto
    )
}

/// Appends the line before a chunk of `size` bytes to `out`.
pub(super) fn write_line(out: &mut Vec<u8>, size: usize) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let nibbles = (usize::BITS - size.leading_zeros()).div_ceil(4).max(1);
    for nibble in (0..nibbles).rev() {
        out.push(DIGITS[(size >> (4 * nibble)) & 0xF]);
    }
    out.extend_from_slice(b"\r\n");
}
