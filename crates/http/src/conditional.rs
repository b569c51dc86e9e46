//! Conditional requests (RFC 9110 §13): owns the order of the preconditions and what each decides. Where validators come
//! from, and the answer that a verdict becomes, is the handler's business.

use crate::date::{self, UnixSeconds};
use crate::etag::{self, Comparison, EntityTag};

/// Age in seconds from which a modification date is a strong validator (RFC 9110 §8.8.2.2): a file that changes twice
/// within one second keeps its date.
pub const STRONG_DATE_AGE_S: UnixSeconds = 1;

/// How a method takes a precondition that says "you have it already" (RFC 9110 §13.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodClass {
    /// GET and HEAD: 304, and the dates of If-Modified-Since count.
    GetOrHead,
    /// All others: 412.
    Other,
}

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

/// What the server knows about a representation that exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Validators<'a> {
    /// Its entity tag.
    pub etag: Option<EntityTag<'a>>,
    /// Its date of modification, cut to whole seconds as Last-Modified says it.
    pub last_modified: Option<UnixSeconds>,
}

/// What the preconditions decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Perform the method; a Range counts now.
    Proceed,
    /// Answer 304.
    NotModified,
    /// Answer 412.
    PreconditionFailed,
}

/// Evaluates the preconditions in the order of RFC 9110 §13.2.2; `current` is `None` where nothing exists at the target.
/// Dates that
/// cannot be read are ignored, as are dates for a representation without one.
pub fn evaluate(
    method: MethodClass,
    preconditions: &Preconditions<'_>,
    current: Option<&Validators<'_>>,
) -> Verdict {
    let etag = current.and_then(|validators| validators.etag);
    let modified = current.and_then(|validators| validators.last_modified);
    let names_current =
        |value: &[u8], comparison| current.is_some() && etag::list_matches(value, etag, comparison);
    let unchanged_since = |value: Option<&[u8]>| {
        let since = date::parse(value?.trim_ascii())?;
        Some(modified? <= since)
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
        None if method == MethodClass::GetOrHead => {
            unchanged_since(preconditions.if_modified_since).unwrap_or(false)
        }
        None => false,
    };
    match (known_to_peer, method) {
        (false, _) => Verdict::Proceed,
        (true, MethodClass::GetOrHead) => Verdict::NotModified,
        (true, MethodClass::Other) => Verdict::PreconditionFailed,
    }
}

/// Whether If-Range lets the Range count (RFC 9110 §13.1.5): the tag is equal by strong comparison, or the date is exactly
/// the modification date and at least [`STRONG_DATE_AGE_S`] old.
pub fn if_range_matches(value: &[u8], current: &Validators<'_>, now: UnixSeconds) -> bool {
    let value = value.trim_ascii();
    if let Some(tag) = EntityTag::parse(value) {
        return current
            .etag
            .is_some_and(|etag| etag.matches(tag, Comparison::Strong));
    }
    match (date::parse(value), current.last_modified) {
        (Some(date), Some(modified)) => {
            date == modified && now.saturating_sub(modified) >= STRONG_DATE_AGE_S
        }
        _ => false,
    }
}
