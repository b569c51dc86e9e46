//! Message body length (RFC 9112 §6). If two parties read these rules differently, requests can be
//! smuggled.

use super::violation::Violation;
use crate::field::{Fields, Known, KnownSet};
use crate::version::Version;

/// The maximum number of digits in Content-Length. Every number of 19 digits fits in 64 bits.
/// Leading zeros count as digits.
pub const CONTENT_LENGTH_DIGITS_MAX: usize = 19;

/// How the content of a message is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentLength {
    /// The message has no content.
    None,
    /// Exactly this many bytes; never 0.
    Length(u64),
    /// The chunked transfer coding.
    Chunked,
    /// Responses only: all bytes until the connection closes.
    UntilClose,
}

/// What the framing fields of a head announce, before role and status are considered.
pub(super) enum FramingFields {
    Nothing,
    Length(u64),
    Chunked,
}

const FRAMING: KnownSet = KnownSet::EMPTY.with(Known::ContentLength).with(Known::TransferEncoding);

/// Reads Content-Length and Transfer-Encoding (RFC 9112 §6.3).
#[inline]
pub(super) fn framing_fields(
    fields: &Fields<'_>,
    version: Version,
) -> Result<FramingFields, Violation> {
    if fields.has_any(FRAMING) { framing(fields, version) } else { Ok(FramingFields::Nothing) }
}

fn framing(fields: &Fields<'_>, version: Version) -> Result<FramingFields, Violation> {
    match (fields.has(Known::TransferEncoding), fields.get(Known::ContentLength)) {
        (false, None) => Ok(FramingFields::Nothing),
        // A list (`5, 5`) fails at its comma. RFC 9112 §6.3 lets a recipient accept equal values;
        // they are rejected here, since a peer that repeats the length is broken or hostile.
        (false, Some(_)) if fields.is_repeated(Known::ContentLength) => {
            Err(Violation::ContentLengthRepeated)
        }
        (false, Some(value)) => parse_length(value).map(FramingFields::Length),
        (true, Some(_)) => Err(Violation::TransferEncodingWithLength),
        (true, None) if version == Version::Http10 => Err(Violation::TransferEncodingInOldVersion),
        (true, None) => check_codings(fields).map(|()| FramingFields::Chunked),
    }
}

fn parse_length(value: &[u8]) -> Result<u64, Violation> {
    if value.contains(&b',') {
        return Err(Violation::ContentLengthRepeated);
    }
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(Violation::ContentLengthMalformed);
    }
    if value.len() > CONTENT_LENGTH_DIGITS_MAX {
        return Err(Violation::ContentLengthTooLarge);
    }
    Ok(value.iter().fold(0, |length, digit| length * 10 + u64::from(digit - b'0')))
}

/// Accepts `chunked` alone. If it is not last, the length is unknown, which is the worse fault
/// (400, RFC 9112 §6.3); if other codings precede it, the content cannot be decoded (501, RFC 9112
/// §6.1).
fn check_codings(fields: &Fields<'_>) -> Result<(), Violation> {
    let is_chunked = |coding: &[u8]| coding.eq_ignore_ascii_case(b"chunked");
    let (mut chunked, mut others, mut is_last) = (0, 0, false);
    for coding in
        fields.all(Known::TransferEncoding).flat_map(|value| value.split(|&byte| byte == b','))
    {
        is_last = is_chunked(crate::field::trim(coding));
        if is_last {
            chunked += 1;
        } else {
            others += 1;
        }
    }
    match (is_last, chunked, others) {
        (true, 1, 0) => Ok(()),
        (true, 1, _) => Err(Violation::TransferEncodingUnknown),
        _ => Err(Violation::TransferEncodingNotChunked),
    }
}
