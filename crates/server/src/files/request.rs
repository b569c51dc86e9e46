//! The parts of a request that the file handler uses, so that decisions need no socket.

use std::borrow::Cow;

use vervet_http::conditional::{Preconditions, Validators, Verdict, evaluate};
use vervet_http::field::{Fields, Known, KnownSet};
use vervet_http::h1::RequestHead;
use vervet_http::method::Method;
use vervet_http::target::{RequestTarget, TargetError};

/// The fields that may change what is answered to a request for a file that is there.
const CONDITIONS: KnownSet = KnownSet::EMPTY
    .with(Known::Range)
    .with(Known::IfMatch)
    .with(Known::IfNoneMatch)
    .with(Known::IfModifiedSince)
    .with(Known::IfUnmodifiedSince);

/// A request for a file. Its fields are read as they are needed, and the values of repeated ones
/// are joined by commas (RFC 9110 §5.3).
#[derive(Debug, Clone)]
pub struct FileRequest<'a> {
    /// The method of the request.
    pub method: Method,
    /// The path as it came, undecoded; `*` of OPTIONS.
    pub path: &'a [u8],
    /// The query as it came.
    pub query: Option<&'a [u8]>,
    /// The decoded path of the root on the site, without a slash at its end; empty for the whole
    /// site. Redirects and listings begin with it.
    pub mount: &'a [u8],
    /// The field lines of the request.
    pub fields: Fields<'a>,
}

impl<'a> FileRequest<'a> {
    /// A request without any field.
    pub fn plain(method: Method, path: &'a [u8]) -> Self {
        Self::new(method, path, &Fields::EMPTY)
    }

    /// What a head asks; the answer to an error is 400.
    pub fn from_head(head: &RequestHead<'a>) -> Result<Self, TargetError> {
        let target = RequestTarget::parse(head.target, head.method)?;
        let path = target.raw_path().unwrap_or_default();
        Ok(Self::new(head.method, path, &head.fields).with_query(target.raw_query()))
    }

    /// What a method and fields ask at a path that is not the one of the head, such as the part
    /// that a route leaves.
    pub fn new(method: Method, path: &'a [u8], fields: &Fields<'a>) -> Self {
        Self { method, path, query: None, mount: b"", fields: *fields }
    }

    /// The same with a query.
    #[must_use]
    pub fn with_query(self, query: Option<&'a [u8]>) -> Self {
        Self { query, ..self }
    }

    /// The same with a root that is not found at `/`.
    #[must_use]
    pub fn with_mount(self, mount: &'a [u8]) -> Self {
        Self { mount, ..self }
    }

    /// The value of a field.
    pub(crate) fn value(&self, name: Known) -> Option<Cow<'a, [u8]>> {
        if !self.fields.is_repeated(name) {
            return self.fields.get(name).map(Cow::Borrowed);
        }
        Some(Cow::Owned(self.fields.all(name).collect::<Vec<_>>().join(&b", "[..])))
    }

    /// Whether neither a precondition nor a range can change the answer.
    pub(crate) fn is_unconditional(&self) -> bool {
        !self.fields.has_any(CONDITIONS)
    }

    /// What the preconditions say of what is there (RFC 9110 §13.2.2).
    pub(crate) fn verdict(&self, current: &Validators<'_>) -> Verdict {
        let [if_match, if_none_match, if_modified_since, if_unmodified_since] =
            [Known::IfMatch, Known::IfNoneMatch, Known::IfModifiedSince, Known::IfUnmodifiedSince]
                .map(|name| self.value(name));
        let preconditions = Preconditions {
            if_match: if_match.as_deref(),
            if_none_match: if_none_match.as_deref(),
            if_modified_since: if_modified_since.as_deref(),
            if_unmodified_since: if_unmodified_since.as_deref(),
        };
        evaluate(Method::Get, &preconditions, Some(current))
    }

    /// The Range, where it counts: GET alone knows ranges (RFC 9110 §14.2).
    pub(crate) fn range(&self) -> Option<Cow<'a, [u8]>> {
        self.value(Known::Range).filter(|_| self.method == Method::Get)
    }
}
