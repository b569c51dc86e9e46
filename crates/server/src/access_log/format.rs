//! The formats of a line, and which parts of it each writes.

use std::net::SocketAddr;

use vervet_engine::exchange::Finished;
use vervet_engine::http::h1::RequestHead;

use super::record::Record;
use super::when::{SecondText, Style};
use super::{json, pretty, text};

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The common log format of NCSA, in UTC: peer, time, request line, status, bytes of content.
    Common,
    /// The common format with Referer and User-Agent.
    Combined,
    /// One JSON object.
    Json,
    /// Short and aligned, for people.
    Pretty(Color),
}

/// Whether a status has its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// Escape sequences of terminals.
    On,
    /// Plain text.
    Off,
}

/// All that a line is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineParts<'a> {
    /// What is known of the request; none for what the engine refused before a handler saw it.
    pub(super) record: Option<&'a Record>,
    pub(super) finished: &'a Finished<'a>,
    /// The second, written.
    pub(super) second: &'a [u8],
    /// Milliseconds within the second.
    pub(super) millisecond: u32,
}

impl Format {
    pub(super) fn clock(self) -> SecondText {
        SecondText::new(match self {
            Self::Common | Self::Combined => Style::Common,
            Self::Json => Style::Rfc3339,
            Self::Pretty(_) => Style::OfDay,
        })
    }

    /// The part that says method, target and version.
    pub(super) fn push_request(self, out: &mut Vec<u8>, head: &RequestHead<'_>) {
        match self {
            Self::Common | Self::Combined => text::push_request(out, head),
            Self::Json => json::push_request(out, head),
            Self::Pretty(_) => pretty::push_method(out, head),
        }
    }

    /// The part of the head that comes later in the line.
    pub(super) fn push_rest(self, out: &mut Vec<u8>, head: &RequestHead<'_>) {
        match self {
            Self::Common => {}
            Self::Combined => text::push_rest(out, head),
            Self::Json => json::push_rest(out, head),
            Self::Pretty(_) => pretty::push_target(out, head),
        }
    }

    /// A whole line with its end.
    pub(super) fn push_line(self, out: &mut Vec<u8>, parts: &LineParts<'_>) {
        match self {
            Self::Common => text::push_line(out, parts, text::Tail::None),
            Self::Combined => text::push_line(out, parts, text::Tail::RefererAndAgent),
            Self::Json => json::push_line(out, parts),
            Self::Pretty(color) => pretty::push_line(out, parts, color),
        }
        out.push(b'\n');
    }
}

/// Appends a number in decimal.
pub(super) fn push_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends the address of a peer without its port; `unix:` for one that has none.
pub(super) fn push_peer(out: &mut Vec<u8>, peer: Option<SocketAddr>) {
    match peer {
        // By hand: the general way costs as much as the rest of the line.
        Some(SocketAddr::V4(peer)) => {
            for (index, octet) in peer.ip().octets().into_iter().enumerate() {
                if index > 0 {
                    out.push(b'.');
                }
                push_number(out, u64::from(octet));
            }
        }
        Some(SocketAddr::V6(peer)) => {
            use std::io::Write as _;
            // Writing to a Vec does not fail.
            let _ = write!(out, "{}", peer.ip());
        }
        None => out.extend_from_slice(b"unix:"),
    }
}
