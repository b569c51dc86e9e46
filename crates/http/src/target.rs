//! Request targets (RFC 9112 §3.2): their four forms, authorities, and conversion between a raw
//! path and a [`NormalPath`]. The server decides which site or file a path means.

use std::borrow::Cow;
use std::fmt;

mod authority;
mod normal_path;

use crate::method::Method;
pub use authority::Authority;
use normal_path::triplet;
pub use normal_path::{NormalPath, PathError};

/// Why a request target is invalid; the response is 400.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetError {
    /// The target is empty.
    Empty,
    /// A control character, a space, or a `#`: fragments are not sent (RFC 9112 §3.2.1).
    Byte,
    /// The method does not allow this form.
    Form,
    /// The scheme of an absolute-form is neither `http` nor `https`.
    Scheme,
    /// Host or port is invalid, user information is given (RFC 9110 §4.2.4), or CONNECT lacks a
    /// port.
    Authority,
}

impl fmt::Display for TargetError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Empty => "the request target is empty",
            Self::Byte => "the request target has a byte that must be percent-encoded",
            Self::Form => "the request target has a form that the method does not allow",
            Self::Scheme => "the scheme of the request target is neither http nor https",
            Self::Authority => "the authority is malformed",
        })
    }
}

impl std::error::Error for TargetError {}

/// Scheme of an absolute-form target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// The scheme `http`, without TLS.
    Http,
    /// The scheme `https`, with TLS.
    Https,
}

/// A request target, parsed but not decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestTarget<'a> {
    /// `/path?query` (RFC 9112 §3.2.1)
    Origin(PathAndQuery<'a>),
    /// `http://host/path?query` (RFC 9112 §3.2.2); its authority overrides the Host field.
    Absolute {
        /// The scheme before the colon.
        scheme: Scheme,
        /// Host and port of the URI.
        authority: Authority<'a>,
        /// Path and query; an empty path becomes `/`, or `*` for OPTIONS (RFC 9112 §3.2.4).
        path_and_query: PathAndQuery<'a>,
    },
    /// `host:port` of CONNECT (RFC 9112 §3.2.3)
    Authority(Authority<'a>),
    /// `*` of OPTIONS (RFC 9112 §3.2.4)
    Asterisk,
}

impl<'a> RequestTarget<'a> {
    /// Parses the target of a request line in a form that the method allows (RFC 9112 §3.2):
    /// authority-form for CONNECT only, asterisk-form for OPTIONS only.
    #[inline]
    pub fn parse(raw: &'a [u8], method: Method) -> Result<Self, TargetError> {
        if raw.is_empty() {
            return Err(TargetError::Empty);
        }
        let path = scan_path(raw);
        let query = match &raw[path.bytes..] {
            [] => None,
            [b'?', query @ ..] => Some(query),
            _ => return Err(TargetError::Byte),
        };
        let query_is_allowed = |query: &[u8]| query.iter().all(|&byte| is_target_byte(byte));
        if !query.is_none_or(query_is_allowed) {
            return Err(TargetError::Byte);
        }
        match method {
            Method::Connect => {
                let authority = Authority::parse(raw)?;
                // RFC 9110 §9.3.6: CONNECT has no default port.
                authority.port().ok_or(TargetError::Authority)?;
                Ok(Self::Authority(authority))
            }
            Method::Options if raw == b"*" => Ok(Self::Asterisk),
            _ if raw[0] == b'/' => Ok(Self::Origin(PathAndQuery {
                path: &raw[..path.bytes],
                is_normal: path.is_normal,
                query,
            })),
            _ => Self::parse_absolute(raw, method),
        }
    }

    /// Returns the raw path: at least `/`, `*` for the asterisk-form, `None` for the
    /// authority-form.
    pub fn raw_path(self) -> Option<&'a [u8]> {
        match self {
            Self::Origin(path_and_query) | Self::Absolute { path_and_query, .. } => {
                Some(path_and_query.path)
            }
            Self::Authority(_) => None,
            Self::Asterisk => Some(b"*"),
        }
    }

    /// Returns the decoded path: at least `/`, `*` for the asterisk-form, `/` for the
    /// authority-form, which has no path.
    ///
    /// # Errors
    /// A path that [`NormalPath::decode`] refuses.
    #[inline]
    pub fn decoded_path(self) -> Result<Cow<'a, [u8]>, PathError> {
        match self {
            Self::Origin(own) | Self::Absolute { path_and_query: own, .. }
                if !own.is_normal && own.path != b"*" =>
            {
                NormalPath::decode(own.path).map(NormalPath::into_bytes)
            }
            _ => Ok(Cow::Borrowed(self.raw_path().unwrap_or(b"/"))),
        }
    }

    /// Returns the raw query after the `?`, which may be empty.
    pub fn raw_query(self) -> Option<&'a [u8]> {
        match self {
            Self::Origin(path_and_query) | Self::Absolute { path_and_query, .. } => {
                path_and_query.query
            }
            Self::Authority(_) | Self::Asterisk => None,
        }
    }

    /// Returns the authority in the target, if it has one.
    pub fn authority(self) -> Option<Authority<'a>> {
        match self {
            Self::Absolute { authority, .. } | Self::Authority(authority) => Some(authority),
            Self::Origin(_) | Self::Asterisk => None,
        }
    }

    fn parse_absolute(raw: &'a [u8], method: Method) -> Result<Self, TargetError> {
        let colon = memchr::memmem::find(raw, b"://").ok_or(TargetError::Form)?;
        let scheme = match &raw[..colon] {
            name if name.eq_ignore_ascii_case(b"http") => Scheme::Http,
            name if name.eq_ignore_ascii_case(b"https") => Scheme::Https,
            _ => return Err(TargetError::Scheme),
        };
        let rest = &raw[colon + 3..];
        let end = memchr::memchr2(b'/', b'?', rest).unwrap_or(rest.len());
        let authority = Authority::parse(&rest[..end])?;
        // RFC 9110 §4.2.1: a sender must not make an http URI with an empty host.
        if authority.host().is_empty() {
            return Err(TargetError::Authority);
        }
        let mut path_and_query = PathAndQuery::split(&rest[end..]);
        if path_and_query.path.is_empty() {
            let whole_server = method == Method::Options && path_and_query.query.is_none();
            path_and_query.path = if whole_server { b"*" } else { b"/" };
        }
        Ok(Self::Absolute { scheme, authority, path_and_query })
    }
}

/// Returns whether a target may contain this byte: not a control character, a space or `#`.
const fn is_target_byte(byte: u8) -> bool {
    byte > b' ' && byte != 0x7f && byte != b'#'
}

/// Returns whether the path of a target may contain this byte: a `?` ends it.
const fn is_path_byte(byte: u8) -> bool {
    is_target_byte(byte) && byte != b'?'
}

/// The path that a target begins with.
struct ScannedPath {
    bytes: usize,
    /// Whether the path is its own decoded form: no percent sign, no empty and no dot segment.
    is_normal: bool,
}

/// Finds the path that a target begins with.
#[inline]
fn scan_path(raw: &[u8]) -> ScannedPath {
    let mut is_normal = true;
    let mut follows_slash = false;
    for (at, &byte) in raw.iter().enumerate() {
        // Most bytes are letters, which need one comparison.
        if matches!(byte, b'@'..=b'~') {
            follows_slash = false;
            continue;
        }
        match byte {
            b'/' | b'.' => is_normal &= !follows_slash,
            b'%' => is_normal = false,
            _ if is_path_byte(byte) => {}
            _ => {
                return ScannedPath { bytes: at, is_normal };
            }
        }
        follows_slash = byte == b'/';
    }
    ScannedPath { bytes: raw.len(), is_normal }
}

/// The raw path and query of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathAndQuery<'a> {
    path: &'a [u8],
    is_normal: bool,
    query: Option<&'a [u8]>,
}

impl<'a> PathAndQuery<'a> {
    fn split(raw: &'a [u8]) -> Self {
        match memchr::memchr(b'?', raw) {
            Some(at) => Self { path: &raw[..at], is_normal: false, query: Some(&raw[at + 1..]) },
            None => Self { path: raw, is_normal: false, query: None },
        }
    }
}

/// Encodes a decoded path or a single name for a link or a Location field. Slashes stay; a colon
/// and all characters that are special in HTML or fields are encoded, so the result needs no
/// escaping and a name cannot look like a scheme.
pub fn percent_encode_path(path: &[u8]) -> Cow<'_, str> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let stays = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~/@+,=!$()".contains(byte);
    if path.iter().all(stays)
        && let Ok(path) = str::from_utf8(path)
    {
        return Cow::Borrowed(path);
    }
    let mut encoded = String::with_capacity(path.len() + path.len() / 2);
    for byte in path {
        if stays(byte) {
            encoded.push(char::from(*byte));
        } else {
            encoded.push('%');
            encoded.push(char::from(HEX[usize::from(byte >> 4)]));
            encoded.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    Cow::Owned(encoded)
}

/// Returns the pairs `key=value` of a raw query, decoded as forms encode them: `+` is a space. A
/// percent sign without two hexadecimal digits is kept; empty pairs are skipped.
pub fn query_pairs(raw_query: &[u8]) -> impl Iterator<Item = (Cow<'_, [u8]>, Cow<'_, [u8]>)> {
    raw_query.split(|&byte| byte == b'&').filter(|pair| !pair.is_empty()).map(|pair| {
        let equals = memchr::memchr(b'=', pair).unwrap_or(pair.len());
        let value = pair.get(equals + 1..).unwrap_or_default();
        (decode_form(&pair[..equals]), decode_form(value))
    })
}

fn decode_form(raw: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr2(b'+', b'%', raw).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut decoded = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let [byte, after @ ..] = rest {
        let (value, next) = match (byte, triplet(rest)) {
            (b'+', _) => (b' ', after),
            (_, Some(value)) => (value, &rest[3..]),
            _ => (*byte, after),
        };
        decoded.push(value);
        rest = next;
    }
    Cow::Owned(decoded)
}
