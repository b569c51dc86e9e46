//! One JSON object a line. Every member is in every line, `null` where it is not known, save `fault`, which says why
//! an answer did not reach its end.

use vervet_engine::http::field::Known;
use vervet_engine::http::h1::RequestHead;

use super::escape::push_json;
use super::format::{LineParts, push_number, push_peer};

pub(super) fn push_request(out: &mut Vec<u8>, head: &RequestHead<'_>) {
    push_member(out, "method", Some(head.method_token.as_bytes()));
    push_member(out, "target", Some(head.target));
    push_member(out, "version", Some(head.version.as_str().as_bytes()));
}

pub(super) fn push_rest(out: &mut Vec<u8>, head: &RequestHead<'_>) {
    push_member(out, "host", head.host());
    push_member(out, "referer", head.fields.get(Known::Referer));
    push_member(out, "user_agent", head.fields.get(Known::UserAgent));
}

const NO_REQUEST: &[u8] = b",\"method\":null,\"target\":null,\"version\":null";
const NO_REST: &[u8] = b",\"host\":null,\"referer\":null,\"user_agent\":null";

pub(super) fn push_line(out: &mut Vec<u8>, parts: &LineParts<'_>) {
    let (request, rest) = parts.record.map_or((NO_REQUEST, NO_REST), |record| {
        (record.request(), record.rest())
    });
    let finished = parts.finished;
    out.extend_from_slice(b"{\"time\":\"");
    out.extend_from_slice(parts.second);
    push_milliseconds(out, parts.millisecond);
    out.extend_from_slice(b"Z\",\"peer\":\"");
    push_peer(out, finished.peer);
    out.push(b'"');
    out.extend_from_slice(request);
    for (name, number) in [
        ("status", u64::from(finished.status.code())),
        ("bytes", finished.content_bytes),
        ("duration_ms", finished.duration_ms),
    ] {
        push_name(out, name);
        push_number(out, number);
    }
    out.extend_from_slice(rest);
    if let Some(fault) = finished.fault {
        push_member(out, "fault", Some(fault.as_bytes()));
    }
    out.push(b'}');
}

fn push_milliseconds(out: &mut Vec<u8>, millisecond: u32) {
    out.push(b'.');
    for unit in [100, 10, 1] {
        // A digit fits a byte.
        out.push(b'0' + (millisecond / unit % 10) as u8);
    }
}

fn push_name(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

fn push_member(out: &mut Vec<u8>, name: &str, value: Option<&[u8]>) {
    push_name(out, name);
    match value {
        None => out.extend_from_slice(b"null"),
        Some(value) => {
            out.push(b'"');
            push_json(out, value);
            out.push(b'"');
        }
    }
}
