//! Conversion of a raw path to one that is safe for file lookup and authorization.

use std::borrow::Cow;
use std::fmt;

use super::is_path_byte;

/// Why a path is invalid; the response is 400.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathError {
    /// The path does not begin with `/`.
    NotAbsolute,
    /// A control character, space, `#` or `?` that is not percent-encoded.
    Byte,
    /// A `%` without two hexadecimal digits.
    Triplet,
    /// `%00`: not possible in a file name; a C library would end the name there.
    Nul,
    /// `%2F`: it would be one segment for an authorization rule and two for the file system.
    EncodedSlash,
    /// More `..` segments than segments before them. RFC 3986 §5.2.4 would stay at the root; but
    /// clients remove dot segments before sending, so such a path is a probe and is rejected.
    AboveRoot,
}

impl fmt::Display for PathError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotAbsolute => "the path does not begin with a slash",
            Self::Byte => "the path has a byte that must be percent-encoded",
            Self::Triplet => "the path has a percent sign without two hexadecimal digits",
            Self::Nul => "the path has a NUL byte",
            Self::EncodedSlash => "the path has an encoded slash",
            Self::AboveRoot => "the path climbs above the root",
        })
    }
}

impl std::error::Error for PathError {}

/// A decoded path in the only form that rules and file lookup see: it begins with `/` and contains
/// no empty segment (except that a directory ends with `/`), no `.` or `..` segment and no NUL.
/// Other bytes are arbitrary, UTF-8 or not; a backslash is part of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NormalPath<'a>(Cow<'a, [u8]>);

impl<'a> NormalPath<'a> {
    /// Decodes a raw path: percent-encoding first, segment by segment, then dot segments, so an
    /// encoded `..` is a `..`. Empty segments are removed before `..` is applied, as in the file
    /// system: `/a//../b` is `/b`. Allocates only if the path is not normal already.
    pub fn decode(raw: &'a [u8]) -> Result<Self, PathError> {
        if raw.first() != Some(&b'/') {
            return Err(PathError::NotAbsolute);
        }
        let (mut seen, mut before) = (0, 0);
        for &byte in raw {
            let part = PATH_PARTS[usize::from(byte)];
            // A slash or a dot after a slash begins an empty or a dot segment.
            let begins_odd = before & SLASH != 0 && part & (SLASH | DOT) != 0;
            seen |= part | (u8::from(begins_odd) * ODD_SEGMENT);
            before = part;
        }
        if seen & FOREIGN != 0 {
            return Err(PathError::Byte);
        }
        let plain = seen & (ENCODED | ODD_SEGMENT) == 0;
        if plain {
            return Ok(Self(Cow::Borrowed(raw)));
        }
        rebuild(raw).map(|path| Self(Cow::Owned(path)))
    }

    /// Returns the bytes, beginning with `/`.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the bytes, borrowed if the raw path was normal already.
    pub fn into_bytes(self) -> Cow<'a, [u8]> {
        self.0
    }

    /// Returns the segments from the root down; none for `/`.
    pub fn segments(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|&byte| byte == b'/').filter(|name| !name.is_empty())
    }
}

/// What a byte of a raw path is.
const FOREIGN: u8 = 1;
const ENCODED: u8 = 2;
const SLASH: u8 = 4;
const DOT: u8 = 8;
const ODD_SEGMENT: u8 = 16;

const PATH_PARTS: [u8; 256] = {
    let mut parts = [0; 256];
    let mut byte = 0_u8;
    loop {
        parts[byte as usize] = match byte {
            _ if !is_path_byte(byte) => FOREIGN,
            b'%' => ENCODED,
            b'/' => SLASH,
            b'.' => DOT,
            _ => 0,
        };
        if byte == u8::MAX {
            break parts;
        }
        byte += 1;
    }
};

/// Decodes segment by segment into a path that is normal at every step.
fn rebuild(raw: &[u8]) -> Result<Vec<u8>, PathError> {
    let mut path = Vec::with_capacity(raw.len());
    let mut name = Vec::new();
    let mut is_directory = false;
    for segment in raw[1..].split(|&byte| byte == b'/') {
        name.clear();
        decode_segment(segment, &mut name)?;
        is_directory = matches!(name.as_slice(), b"" | b"." | b"..");
        match name.as_slice() {
            b"" | b"." => {}
            b".." => {
                let parent = memchr::memrchr(b'/', &path).ok_or(PathError::AboveRoot)?;
                path.truncate(parent);
            }
            _ => {
                path.push(b'/');
                path.extend_from_slice(&name);
            }
        }
    }
    if is_directory {
        path.push(b'/');
    }
    Ok(path)
}

fn decode_segment(segment: &[u8], name: &mut Vec<u8>) -> Result<(), PathError> {
    let mut rest = segment;
    while let Some(at) = memchr::memchr(b'%', rest) {
        name.extend_from_slice(&rest[..at]);
        match triplet(&rest[at..]).ok_or(PathError::Triplet)? {
            0 => return Err(PathError::Nul),
            b'/' => return Err(PathError::EncodedSlash),
            byte => name.push(byte),
        }
        rest = &rest[at + 3..];
    }
    name.extend_from_slice(rest);
    Ok(())
}

/// Returns the byte that `%XX` at the beginning stands for.
pub(super) fn triplet(bytes: &[u8]) -> Option<u8> {
    let &[b'%', high, low, ..] = bytes else {
        return None;
    };
    Some(hex_digit(high)? << 4 | hex_digit(low)?)
}

fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}
