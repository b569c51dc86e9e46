//! Message heads: the start line, and what the fields say about the connection and the host.

use super::HeadLimits;
use super::framing::{ContentLength, FramingFields, framing_fields};
use super::section::explain_fields;
use super::state::Persistence;
use super::violation::Violation;
use crate::field::{FieldSlots, Fields, Known, Refused, find, is_token, visible_length};
use crate::method::Method;
use crate::status::Status;
use crate::target::Authority;
use crate::version::Version;

/// A valid request head according to RFC 9112 and the limits of this crate, borrowed from the
/// input.
#[derive(Clone, Copy, Debug)]
pub struct RequestHead<'a> {
    /// The method; [`Method::Unknown`] for a token outside the list.
    pub method: Method,
    /// The method token as it was sent.
    pub method_token: &'a str,
    /// The request target: one or more visible ASCII bytes, otherwise uninterpreted.
    pub target: &'a [u8],
    /// The version the client speaks.
    pub version: Version,
    /// The field lines of the request.
    pub fields: Fields<'a>,
    pub(super) host: Option<&'a [u8]>,
    pub(super) content: ContentLength,
}

/// A response head, interim or final, borrowed from the input.
#[derive(Clone, Copy, Debug)]
pub struct AnswerHead<'a> {
    /// The status code of the response.
    pub status: Status,
    /// The version the server speaks.
    pub version: Version,
    /// The field lines of the response.
    pub fields: Fields<'a>,
    pub(super) content: ContentLength,
}

impl<'a> RequestHead<'a> {
    /// Returns how the request's content is delimited.
    pub const fn content(&self) -> ContentLength {
        self.content
    }

    /// Returns whether the client waits for `100 Continue` before it sends the content (RFC 9110
    /// §10.1.1: not from HTTP/1.0, and only if there is content).
    pub fn expects_continue(&self) -> bool {
        self.version == Version::Http11
            && self.content != ContentLength::None
            && self.fields.has_token(Known::Expect, "100-continue")
    }

    /// Returns the protocols in `Upgrade`, in the client's order, if the client requests one
    /// validly (RFC 9110 §7.8).
    pub fn upgrade(&self) -> Option<impl Iterator<Item = &'a [u8]> + use<'a>> {
        self.proposes_upgrade().then(|| self.fields.list(Known::Upgrade))
    }

    /// Returns the host of the Host field, without port and maybe empty; `None` only from HTTP/1.0.
    pub const fn host(&self) -> Option<&'a [u8]> {
        self.host
    }

    /// Returns whether the client allows the connection to be reused (RFC 9112 §9.3).
    pub fn persistence(&self) -> Persistence {
        persistence(self.version, &self.fields)
    }

    pub(super) fn proposes_upgrade(&self) -> bool {
        self.fields.has(Known::Upgrade)
            && self.version == Version::Http11
            && self.fields.has_token(Known::Connection, "upgrade")
    }
}

impl AnswerHead<'_> {
    /// Returns how the response's content is delimited.
    pub const fn content(&self) -> ContentLength {
        self.content
    }

    /// Returns whether the server allows the connection to be reused (RFC 9112 §9.3).
    pub fn persistence(&self) -> Persistence {
        match self.content {
            ContentLength::UntilClose => Persistence::Close,
            _ => persistence(self.version, &self.fields),
        }
    }
}

fn persistence(version: Version, fields: &Fields<'_>) -> Persistence {
    let persists = match version {
        _ if !fields.has(Known::Connection) => version == Version::Http11,
        Version::Http11 => !fields.has_token(Known::Connection, "close"),
        Version::Http10 => {
            fields.has_token(Known::Connection, "keep-alive")
                && !fields.has_token(Known::Connection, "close")
        }
    };
    if persists { Persistence::Persist } else { Persistence::Close }
}

/// Why the input did not parse as a head.
pub(super) enum HeadError {
    /// Incomplete, or a syntax error that [`explain`] finds line by line.
    Refused(Refused),
    /// The syntax is valid and the meaning is not.
    Violation(Violation),
}

impl From<Violation> for HeadError {
    fn from(violation: Violation) -> Self {
        Self::Violation(violation)
    }
}

impl From<Refused> for HeadError {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// Parses the request head at offset `from` of `input` and returns where it ends.
#[inline]
pub(super) fn parse_request<'a>(
    input: &'a [u8],
    from: usize,
    slots: &'a mut FieldSlots,
    limits: &HeadLimits,
) -> Result<(RequestHead<'a>, usize), HeadError> {
    let section = &input[from..];
    let line = parse_request_line(section).ok_or(Refused::Syntax)?;
    let (fields, fields_bytes) = slots.parse(&section[line.bytes..], limits.fields_max)?;
    let end = from + line.bytes + fields_bytes;
    if end > limits.head_bytes_max || line.bytes > limits.line_bytes_max() {
        return Err(HeadError::Refused(Refused::Syntax));
    }
    if line.target.len() > limits.target_bytes_max {
        return Err(HeadError::Violation(Violation::TargetTooLong));
    }
    let version = line.version;
    let host = parse_host(&fields, version)?;
    if fields.is_repeated(Known::ContentType) {
        return Err(HeadError::Violation(Violation::ContentTypeRepeated));
    }
    let content = match framing_fields(&fields, version)? {
        // A request without framing fields has no content (RFC 9112 §6.3), whatever its method: 411
        // is for handlers.
        FramingFields::Nothing | FramingFields::Length(0) => ContentLength::None,
        FramingFields::Length(length) => ContentLength::Length(length),
        FramingFields::Chunked => ContentLength::Chunked,
    };
    let head = RequestHead {
        method: line.method,
        method_token: line.method_token,
        target: line.target,
        version,
        fields,
        host,
        content,
    };
    Ok((head, end))
}

/// A valid request line (RFC 9112 §3).
struct RequestLine<'a> {
    method: Method,
    method_token: &'a str,
    target: &'a [u8],
    version: Version,
    /// Its length with CRLF.
    bytes: usize,
}

/// Parses the request line at the start of a section, if it is complete and valid.
#[inline]
fn parse_request_line(section: &[u8]) -> Option<RequestLine<'_>> {
    let (token, rest) = section.split_at(find(section, b' ')?);
    let method = Method::from_token(token);
    let method_token = match method {
        Method::Unknown if is_token(token) => str::from_utf8(token).ok()?,
        Method::Unknown => return None,
        known => known.as_str(),
    };
    let rest = &rest[1..];
    let (target, rest) = rest.split_at(visible_length(rest));
    let version = match rest.first_chunk()? {
        b" HTTP/1.1\r\n" => Version::Http11,
        b" HTTP/1.0\r\n" => Version::Http10,
        _ => return None,
    };
    let bytes = token.len() + target.len() + b"  HTTP/1.1\r\n".len();
    (!target.is_empty()).then_some(RequestLine { method, method_token, target, version, bytes })
}

/// Parses the response head at the start of `input`, which answers a request with `method`, and
/// returns where it ends.
pub(super) fn parse_response<'a>(
    input: &'a [u8],
    slots: &'a mut FieldSlots,
    limits: &HeadLimits,
    method: Method,
) -> Result<(AnswerHead<'a>, usize), HeadError> {
    let (version, status, line_bytes) = parse_status_line(input).ok_or(Refused::Syntax)?;
    let (fields, fields_bytes) = slots.parse(&input[line_bytes..], limits.fields_max)?;
    let length = line_bytes + fields_bytes;
    if length > limits.head_bytes_max {
        return Err(HeadError::Refused(Refused::Syntax));
    }
    let content = response_content(&fields, version, status, method)?;
    let head = AnswerHead { status, version, fields, content };
    Ok((head, length))
}

/// RFC 9112 §6.3, in its order. Invalid framing fields are rejected even where they would be
/// ignored.
fn response_content(
    fields: &Fields<'_>,
    version: Version,
    status: Status,
    method: Method,
) -> Result<ContentLength, Violation> {
    let opens_tunnel = method == Method::Connect && (200..300).contains(&status.code());
    if opens_tunnel {
        return Ok(ContentLength::None);
    }
    let announced = framing_fields(fields, version)?;
    if !status.allows_content()
        && status != Status::NOT_MODIFIED
        && matches!(announced, FramingFields::Chunked)
    {
        return Err(Violation::TransferEncodingUnexpected);
    }
    if method == Method::Head || !status.allows_content() {
        return Ok(ContentLength::None);
    }
    Ok(match announced {
        FramingFields::Length(0) => ContentLength::None,
        FramingFields::Length(length) => ContentLength::Length(length),
        FramingFields::Chunked => ContentLength::Chunked,
        FramingFields::Nothing => ContentLength::UntilClose,
    })
}

/// Parses the status line at the start of `input` (RFC 9112 §4), if it is complete and valid.
/// Returns its length with CRLF as well.
fn parse_status_line(input: &[u8]) -> Option<(Version, Status, usize)> {
    let line = &input[..find(input, b'\n')?];
    let line = line.strip_suffix(b"\r")?;
    if explain_status_line(line).is_some() {
        return None;
    }
    let version = if line.starts_with(b"HTTP/1.0") { Version::Http10 } else { Version::Http11 };
    let code = str::from_utf8(line.get(9..12)?).ok()?.parse().ok()?;
    Some((version, Status::new(code)?, line.len() + 2))
}

/// The host of the Host field, which HTTP/1.1 requires (RFC 9112 §3.2).
#[inline]
fn parse_host<'a>(fields: &Fields<'a>, version: Version) -> Result<Option<&'a [u8]>, Violation> {
    match fields.get(Known::Host) {
        None if version == Version::Http10 => Ok(None),
        None => Err(Violation::HostMissing),
        Some(_) if fields.is_repeated(Known::Host) => Err(Violation::HostRepeated),
        Some(value) => match Authority::parse(value) {
            Ok(authority) => Ok(Some(authority.host())),
            Err(_) => Err(Violation::HostMalformed),
        },
    }
}

/// Finds the violation in a complete head that was refused with [`HeadError::Refused`].
#[cold]
pub(super) fn explain(
    section: &[u8],
    refused: Refused,
    explain_start_line: fn(&[u8]) -> Option<Violation>,
) -> Violation {
    let end = memchr::memchr(b'\n', section).unwrap_or(section.len());
    let line = section[..end].strip_suffix(b"\r").unwrap_or(&section[..end]);
    match explain_start_line(line) {
        Some(violation) => violation,
        None if refused == Refused::TooManyLines => Violation::FieldsTooMany,
        None => explain_fields(section.get(end + 1..).unwrap_or_default()),
    }
}

pub(super) fn explain_request_line(line: &[u8]) -> Option<Violation> {
    if line.contains(&b'\r') {
        return Some(Violation::BareCr);
    }
    let mut parts = line.split(|&byte| byte == b' ');
    let (method, target, version, more) = (parts.next(), parts.next(), parts.next(), parts.next());
    if !method.is_some_and(is_token) {
        return Some(Violation::MethodToken);
    }
    match (target, version, more) {
        (None, ..) | (_, _, Some(_)) => Some(Violation::RequestLine),
        (Some(target), None, _) if target.starts_with(b"HTTP/") => Some(Violation::RequestLine),
        (Some(_), None, _) => Some(Violation::VersionMissing),
        (Some([]), ..) => Some(Violation::RequestLine),
        (Some(target), ..) if !target.iter().all(u8::is_ascii_graphic) => {
            Some(Violation::TargetByte)
        }
        (_, Some(version), _) => explain_version(version),
    }
}

pub(super) fn explain_status_line(line: &[u8]) -> Option<Violation> {
    if line.is_empty() {
        return Some(Violation::StatusLine);
    }
    let (version, rest) = line.split_at(line.len().min(b"HTTP/1.1".len()));
    match (explain_version(version), rest) {
        (Some(violation), _) => Some(violation),
        (None, [b' ', b'1'..=b'9', b'0'..=b'9', b'0'..=b'9']) => None,
        (None, [b' ', b'1'..=b'9', b'0'..=b'9', b'0'..=b'9', b' ', reason @ ..])
            if reason.iter().all(|&byte| crate::field::is_value_byte(byte)) =>
        {
            None
        }
        (None, _) => Some(Violation::StatusLine),
    }
}

fn explain_version(version: &[u8]) -> Option<Violation> {
    match version {
        b"HTTP/1.0" | b"HTTP/1.1" => None,
        [] => Some(Violation::VersionMissing),
        // A higher minor version may be treated as 1.1 (RFC 9110 §2.5). None was ever published, so
        // such a client is broken, and 505 reports which version to use.
        [b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9'] => {
            Some(Violation::VersionUnsupported)
        }
        _ => Some(Violation::VersionMalformed),
    }
}
