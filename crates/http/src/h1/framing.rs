//! How long content is: the rules of RFC 9112 §6, which two parties must read alike or one can be made to smuggle.

use super::violation::Violation;
use crate::field::{Fields, Known, KnownSet};
use crate::version::Version;

/// The most digits of a Content-Length. Every number of 19 digits fits in 64 bits; one of 20 may not, and no content is
/// that long. Leading zeros count: the grammar allows them, and decimal is the only reading it allows.
pub const CONTENT_LENGTH_DIGITS_MAX: usize = 19;

/// The content that a head announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentLength {
    /// No content.
    None,
    /// So many bytes; never 0.
    Length(u64),
    /// Chunks until the last one.
    Chunked,
    /// Responses only: everything until the connection closes.
    UntilClose,
}

/// What the framing fields of a head say, before role and status are looked at.
pub(super) enum Announced {
    Nothing,
    Length(u64),
    Chunked,
}

const FRAMING: KnownSet = KnownSet::EMPTY
    .with(Known::ContentLength)
    .with(Known::TransferEncoding);

/// Reads Content-Length and Transfer-Encoding (RFC 9112 §6.3).
#[inline]
pub(super) fn announced(fields: &Fields<'_>, version: Version) -> Result<Announced, Violation> {
    if fields.has_any(FRAMING) {
        framing(fields, version)
    } else {
        Ok(Announced::Nothing)
    }
}

fn framing(fields: &Fields<'_>, version: Version) -> Result<Announced, Violation> {
    match (
        fields.has(Known::TransferEncoding),
        fields.get(Known::ContentLength),
    ) {
        (false, None) => Ok(Announced::Nothing),
        // A list (`5, 5`) fails on its comma. RFC 9112 §6.3 lets a recipient take equal values for one; we refuse, since
        // a peer that repeats the length was confused before us or wants somebody behind us to be.
        (false, Some(_)) if fields.is_repeated(Known::ContentLength) => {
            Err(Violation::ContentLengthRepeated)
        }
        (false, Some(value)) => parse_length(value).map(Announced::Length),
        (true, Some(_)) => Err(Violation::TransferEncodingWithLength),
        (true, None) if version == Version::Http10 => Err(Violation::TransferEncodingInOldVersion),
        (true, None) => check_codings(fields).map(|()| Announced::Chunked),
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
    Ok(value
        .iter()
        .fold(0, |length, digit| length * 10 + u64::from(digit - b'0')))
}

/// Only `chunked` alone is understood. Where it is not last the end cannot be known, which is the worse fault (400, RFC
/// 9112 §6.3); where others stand before it the content cannot be decoded (501, RFC 9112 §6.1).
fn check_codings(fields: &Fields<'_>) -> Result<(), Violation> {
    let is_chunked = |coding: &[u8]| coding.eq_ignore_ascii_case(b"chunked");
    let (mut chunked, mut others, mut is_last) = (0, 0, false);
    for coding in fields
        .all(Known::TransferEncoding)
        .flat_map(|value| value.split(|&byte| byte == b','))
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
