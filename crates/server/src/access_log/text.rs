//! The common and the combined format. Bytes of the peer stand between quotes, escaped as `\xHH`.

use vervet_engine::http::field::Known;
use vervet_engine::http::h1::RequestHead;

use super::escape::push_text;
use super::format::{LineParts, push_number, push_peer};

/// What follows the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    None,
    RefererAndAgent,
}

pub(super) fn push_request(out: &mut Vec<u8>, head: &RequestHead<'_>) {
    out.push(b'"');
    push_text(out, head.method_token.as_bytes());
    out.push(b' ');
    push_text(out, head.target);
    out.push(b' ');
    out.extend_from_slice(head.version.as_str().as_bytes());
    out.push(b'"');
}

pub(super) fn push_rest(out: &mut Vec<u8>, head: &RequestHead<'_>) {
    for name in [Known::Referer, Known::UserAgent] {
        out.extend_from_slice(b" \"");
        push_text(out, head.fields.get(name).unwrap_or(b"-"));
        out.push(b'"');
    }
}

pub(super) fn push_line(out: &mut Vec<u8>, parts: &LineParts<'_>, tail: Tail) {
    push_peer(out, parts.finished.peer);
    out.extend_from_slice(b" - - [");
    out.extend_from_slice(parts.second);
    out.extend_from_slice(b"] ");
    let nothing: &[u8] = match tail {
        Tail::None => b"",
        Tail::RefererAndAgent => b" \"-\" \"-\"",
    };
    let (request, rest) = parts
        .record
        .map_or((b"\"-\"".as_slice(), nothing), |record| {
            (record.request(), record.rest())
        });
    out.extend_from_slice(request);
    out.push(b' ');
    push_number(out, u64::from(parts.finished.status.code()));
    out.push(b' ');
    push_number(out, parts.finished.content_bytes);
    out.extend_from_slice(rest);
}
