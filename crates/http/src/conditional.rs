//! Conditional requests (RFC 9110 §13): the order in which preconditions are evaluated and their
//! outcome. Where validators come from and how a verdict becomes a response is decided by the
//! handler.

use crate::date::{self, UnixSeconds};
use crate::etag::{self, Comparison, EntityTag};
use crate::method::Method;

/// Age in seconds from which a modification date is a strong validator (RFC 9110 §8.8.2.2): a file
/// that changes twice within one second keeps its date.
pub const STRONG_DATE_AGE_S: UnixSeconds = 1;

/// Raw field values of a request; several lines of one field are joined by commas (RFC 9110 §5.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preconditions<'a> {
    /// If-Match (RFC 9110 §13.1.1).
    pub if_match: Option<&'a [u8]>,
    /// If-None-Match (RFC 9110 §13.1.2).
    pub if_none_match: Option<&'a [u8]>,
    /// If-Modified-Since (RFC 9110 §13.1.3).
    pub if_modified_since: Option<&'a [u8]>,
    /// If-Unmodified-Since (RFC 9110 §13.1.4).
    pub if_unmodified_since: Option<&'a [u8]>,
}

/// The validators of a representation that exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Validators<'a> {
    /// The entity tag, if the representation has one.
    pub etag: Option<EntityTag<'a>>,
    /// The modification date in whole seconds, as in Last-Modified.
    pub last_modified: Option<UnixSeconds>,
}

/// The outcome of evaluating the preconditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Perform the method; a Range field may be applied.
    Proceed,
    /// Respond with 304 (Not Modified).
    NotModified,
    /// Respond with 412 (Precondition Failed).
    PreconditionFailed,
}

/// Evaluates the preconditions in the order of RFC 9110 §13.2.2: a representation that the client
/// has is 304 for GET and HEAD, and 412 for other methods, which ignore If-Modified-Since.
/// `current` is `None` if no representation exists. Invalid dates are ignored, as are dates for a
/// representation without a modification date. A two-digit year is read relative to that date,
/// which the client had from us.
pub fn evaluate(
    method: Method,
    preconditions: &Preconditions<'_>,
    current: Option<&Validators<'_>>,
) -> Verdict {
    let is_read = matches!(method, Method::Get | Method::Head);
    let etag = current.and_then(|validators| validators.etag);
    let modified = current.and_then(|validators| validators.last_modified);
    let names_current =
        |value: &[u8], comparison| current.is_some() && etag::list_matches(value, etag, comparison);
    let unchanged_since = |value: Option<&[u8]>| {
        let modified = modified?;
        Some(modified <= date::parse_at(value?.trim_ascii(), modified)?)
    };

    let change_wanted = match preconditions.if_match {
        Some(value) => names_current(value, Comparison::Strong),
        None => unchanged_since(preconditions.if_unmodified_since).unwrap_or(true),
    };
    if !change_wanted {
        return Verdict::PreconditionFailed;
    }
    let known_to_peer = match preconditions.if_none_match {
        Some(value) => names_current(value, Comparison::Weak),
        None if is_read => unchanged_since(preconditions.if_modified_since).unwrap_or(false),
        None => false,
    };
    match (known_to_peer, is_read) {
        (false, _) => Verdict::Proceed,
        (true, true) => Verdict::NotModified,
        (true, false) => Verdict::PreconditionFailed,
    }
}

/// Returns whether If-Range allows the Range to be applied (RFC 9110 §13.1.5): the tag matches by
/// strong comparison, or the date equals the modification date and is at least
/// [`STRONG_DATE_AGE_S`] old.
pub fn if_range_matches(value: &[u8], current: &Validators<'_>, now: UnixSeconds) -> bool {
    let value = value.trim_ascii();
    if let Some(tag) = EntityTag::parse(value) {
        return current.etag.is_some_and(|etag| etag.matches(tag, Comparison::Strong));
    }
    match (date::parse_at(value, now), current.last_modified) {
        (Some(date), Some(modified)) => {
            date == modified && now.saturating_sub(modified) >= STRONG_DATE_AGE_S
        }
        _ => false,
    }
}
