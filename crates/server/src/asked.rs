//! What a request asks of the file handler, taken from its head: so that decisions need no socket.

use std::borrow::Cow;

use vervet_http::conditional::Preconditions;
use vervet_http::field::{Fields, Known, KnownSet};
use vervet_http::h1::RequestHead;
use vervet_http::method::Method;
use vervet_http::target::{RequestTarget, TargetError, TargetMethod};

/// The fields that are looked at.
const FIELDS: KnownSet = KnownSet::EMPTY
    .with(Known::Accept)
    .with(Known::AcceptEncoding)
    .with(Known::Range)
    .with(Known::IfRange)
    .with(Known::IfMatch)
    .with(Known::IfNoneMatch)
    .with(Known::IfModifiedSince)
    .with(Known::IfUnmodifiedSince);

/// A request for a file. Values of repeated fields are joined by commas (RFC 9110 §5.3).
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// The method.
    pub method: Method,
    /// The path as it came, undecoded; `*` of OPTIONS.
    pub path: &'a [u8],
    /// The query as it came.
    pub query: Option<&'a [u8]>,
    /// Where the root is found on the site, percent-encoded and without a slash at its end; empty for the whole site.
    /// Redirects and listings begin with it.
    pub mount: Cow<'a, [u8]>,
    /// Accept.
    pub accept: Option<Cow<'a, [u8]>>,
    /// Accept-Encoding.
    pub accept_encoding: Option<Cow<'a, [u8]>>,
    /// Range.
    pub range: Option<Cow<'a, [u8]>>,
    /// If-Range.
    pub if_range: Option<Cow<'a, [u8]>>,
    /// If-Match.
    pub if_match: Option<Cow<'a, [u8]>>,
    /// If-None-Match.
    pub if_none_match: Option<Cow<'a, [u8]>>,
    /// If-Modified-Since.
    pub if_modified_since: Option<Cow<'a, [u8]>>,
    /// If-Unmodified-Since.
    pub if_unmodified_since: Option<Cow<'a, [u8]>>,
}

impl<'a> Asked<'a> {
    /// A request without any field.
    pub fn plain(method: Method, path: &'a [u8]) -> Self {
        Self {
            method,
            path,
            query: None,
            mount: Cow::Borrowed(b""),
            accept: None,
            accept_encoding: None,
            range: None,
            if_range: None,
            if_match: None,
            if_none_match: None,
            if_modified_since: None,
            if_unmodified_since: None,
        }
    }

    /// What a head asks; the answer to an error is 400.
    pub fn of_head(head: &RequestHead<'a>) -> Result<Self, TargetError> {
        let form = match head.method {
            Method::Connect => TargetMethod::Connect,
            Method::Options => TargetMethod::Options,
            _ => TargetMethod::Other,
        };
        let target = RequestTarget::parse(head.target, form)?;
        let path = target.raw_path().unwrap_or_default();
        Ok(Self::of_fields(head.method, path, &head.fields).with_query(target.raw_query()))
    }

    /// What a method and fields ask at a path that is not the one of the head, such as the part that a route leaves.
    pub fn of_fields(method: Method, path: &'a [u8], fields: &Fields<'a>) -> Self {
        let plain = Self::plain(method, path);
        if !fields.has_any(FIELDS) {
            return plain;
        }
        let value = |name| joined(fields, name);
        Self {
            accept: value(Known::Accept),
            accept_encoding: value(Known::AcceptEncoding),
            range: value(Known::Range),
            if_range: value(Known::IfRange),
            if_match: value(Known::IfMatch),
            if_none_match: value(Known::IfNoneMatch),
            if_modified_since: value(Known::IfModifiedSince),
            if_unmodified_since: value(Known::IfUnmodifiedSince),
            ..plain
        }
    }

    /// The same with a query.
    #[must_use]
    pub fn with_query(self, query: Option<&'a [u8]>) -> Self {
        Self { query, ..self }
    }

    /// The same with a root that is not found at `/`.
    #[must_use]
    pub fn with_mount(self, mount: Cow<'a, [u8]>) -> Self {
        Self { mount, ..self }
    }

    /// Whether neither a precondition nor a range can change the answer.
    pub(crate) fn is_unconditional(&self) -> bool {
        self.range.is_none()
            && self.if_none_match.is_none()
            && self.if_modified_since.is_none()
            && self.if_match.is_none()
            && self.if_unmodified_since.is_none()
    }

    pub(crate) fn preconditions(&self) -> Preconditions<'_> {
        Preconditions {
            if_match: self.if_match.as_deref(),
            if_none_match: self.if_none_match.as_deref(),
            if_modified_since: self.if_modified_since.as_deref(),
            if_unmodified_since: self.if_unmodified_since.as_deref(),
        }
    }

    /// The Range, where it counts: GET alone knows ranges (RFC 9110 §14.2).
    pub(crate) fn counting_range(&self) -> Option<&[u8]> {
        self.range.as_deref().filter(|_| self.method == Method::Get)
    }
}

fn joined<'a>(fields: &Fields<'a>, name: Known) -> Option<Cow<'a, [u8]>> {
    if !fields.is_repeated(name) {
        return fields.get(name).map(Cow::Borrowed);
    }
    Some(Cow::Owned(
        fields.all(name).collect::<Vec<_>>().join(&b", "[..]),
    ))
}
