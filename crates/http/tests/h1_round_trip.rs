//! What one role writes the other reads, for any content, fields and cuts.

use crate::common;
use proptest::collection::vec;
use proptest::prelude::*;
use vervet_http::field::{FieldBlock, FieldSlots};
use vervet_http::h1::state::Proposal;
use vervet_http::h1::{Client, HeadLimits, Length, Received, RequestToSend, ResponseHead, Server};
use vervet_http::status::Status;

type Line = (String, Vec<u8>);

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let value = vec(prop_oneof![Just(b'\t'), 0x20..=0x7e_u8, 0x80..=0xff_u8], 0..40);
    vec(("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,20}".prop_map(|name| format!("x-{name}")), value), 0..20)
}

fn block(lines: &[Line]) -> FieldBlock {
    let mut block = FieldBlock::new();
    for (name, value) in lines {
        block.push(name.as_bytes(), value).unwrap();
    }
    block
}

/// The lines as a reader sees them: without whitespace around values.
fn seen(lines: &[Line]) -> Vec<Line> {
    let trim = |value: &[u8]| {
        let is_blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
        let Some(from) = value.iter().position(|byte| !is_blank(byte)) else {
            return Vec::new();
        };
        let to = value.iter().rposition(|byte| !is_blank(byte)).unwrap();
        value[from..=to].to_vec()
    };
    lines.iter().map(|(name, value)| (name.clone(), trim(value))).collect()
}

#[derive(Default, Debug, PartialEq)]
struct Message {
    start: String,
    fields: Vec<Line>,
    content: Vec<u8>,
    trailers: Option<Vec<Line>>,
}

enum Reading {
    Server(Server),
    Client(Client),
}

/// Reads `wire` in pieces of `step` bytes.
fn read(mut reading: Reading, wire: &[u8], step: usize) -> Message {
    let mut message = Message::default();
    let mut buffer = Vec::new();
    let owned = |fields: vervet_http::field::Fields<'_>| -> Vec<Line> {
        fields.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    for piece in wire.chunks(step) {
        buffer.extend_from_slice(piece);
        while message.trailers.is_none() {
            let mut slots = FieldSlots::new();
            let limits = HeadLimits::DEFAULT;
            let received = match &mut reading {
                Reading::Server(server) => {
                    server.receive(&buffer, &mut slots, &limits).map(|received| match received {
                        Received::Head { head, consumed } => {
                            message.start =
                                format!("{} {}", head.method_token, head.target.escape_ascii());
                            (consumed, Some(head.fields), None, None)
                        }
                        Received::Content { bytes, consumed } => {
                            (consumed, None, Some(bytes), None)
                        }
                        Received::End { trailers, consumed } => {
                            (consumed, None, None, Some(trailers))
                        }
                        _ => (usize::MAX, None, None, None),
                    })
                }
                Reading::Client(client) => {
                    client.receive(&buffer, &mut slots, &limits).map(|received| match received {
                        Received::Head { head, consumed } => {
                            message.start = head.status.code().to_string();
                            (consumed, Some(head.fields), None, None)
                        }
                        Received::Content { bytes, consumed } => {
                            (consumed, None, Some(bytes), None)
                        }
                        Received::End { trailers, consumed } => {
                            (consumed, None, None, Some(trailers))
                        }
                        _ => (usize::MAX, None, None, None),
                    })
                }
            };
            let (consumed, fields, content, trailers) = received.unwrap();
            if consumed == usize::MAX {
                break;
            }
            message.fields.extend(fields.map(owned).unwrap_or_default());
            message.content.extend_from_slice(content.unwrap_or_default());
            message.trailers = trailers.map(owned);
            buffer.drain(..consumed);
        }
    }
    assert_eq!(buffer, b"", "bytes are left over");
    message
}

fn is_ours(line: &Line) -> bool {
    line.0.starts_with("x-")
}

proptest! {
    #[test]
    fn a_server_reads_what_a_client_writes(
        fields in lines(),
        trailers in lines(),
        pieces in vec(vec(any::<u8>(), 0..300), 0..6),
        is_chunked in any::<bool>(),
        step in 1..400_usize,
    ) {
        let content = pieces.concat();
        let mut encoded = b"Host: a\r\n".to_vec();
        encoded.extend_from_slice(block(&fields).as_bytes());
        let length = if is_chunked { Length::Unknown } else { Length::Known(content.len() as u64) };
        let request = RequestToSend {
            method: "PATCH",
            target: b"/a?b",
            encoded: &encoded,
            content: Some(length),
            proposal: Proposal::None,
        };
        let (mut client, mut wire) = (Client::new(), Vec::new());
        client.send_head(&mut wire, &request).unwrap();
        for piece in &pieces {
            client.send_content(&mut wire, piece).unwrap();
        }
        client.send_end(&mut wire, Some(&block(&trailers))).unwrap();
        let mut message = read(Reading::Server(Server::new()), &wire, step);
        message.fields.retain(is_ours);
        let trailers = if is_chunked { seen(&trailers) } else { Vec::new() };
        prop_assert_eq!(message, Message {
            start: String::from("PATCH /a?b"),
            fields: seen(&fields),
            content,
            trailers: Some(trailers),
        });
    }

    #[test]
    fn a_client_reads_what_a_server_writes(
        fields in lines(),
        trailers in lines(),
        pieces in vec(vec(any::<u8>(), 0..300), 0..6),
        is_chunked in any::<bool>(),
        step in 1..400_usize,
    ) {
        let content = pieces.concat();
        let mut encoded = Vec::new();
        Status::CREATED.write_line(&mut encoded);
        encoded.extend_from_slice(block(&fields).as_bytes());
        let length = if is_chunked { Length::Unknown } else { Length::Known(content.len() as u64) };
        let (mut client, mut asked) = (Client::new(), Vec::new());
        let request = RequestToSend {
            method: "GET",
            target: b"/",
            encoded: b"Host: a\r\n",
            content: None,
            proposal: Proposal::None,
        };
        client.send_head(&mut asked, &request).unwrap();
        client.send_end(&mut asked, None).unwrap();
        let mut server = Server::new();
        for input in [&asked[..], b""] {
            let mut slots = FieldSlots::new();
            server.receive(input, &mut slots, &HeadLimits::DEFAULT).unwrap();
        }
        let mut wire = Vec::new();
        let head = ResponseHead { status: Status::CREATED, encoded: &encoded, length, date: b"Date: d\r\n" };
        server.send_head(&mut wire, &head).unwrap();
        for piece in &pieces {
            server.send_content(&mut wire, piece).unwrap();
        }
        server.send_end(&mut wire, Some(&block(&trailers))).unwrap();
        let mut message = read(Reading::Client(client), &wire, step);
        message.fields.retain(is_ours);
        let trailers = if is_chunked { seen(&trailers) } else { Vec::new() };
        prop_assert_eq!(message, Message {
            start: String::from("201"),
            fields: seen(&fields),
            content,
            trailers: Some(trailers),
        });
    }

    /// No bytes make either role panic, and cutting them changes nothing.
    #[test]
    fn any_bytes_are_read_alike_however_cut(
        input in vec(prop_oneof![4 => any::<u8>(), 1 => Just(b'\r'), 1 => Just(b'\n'), 1 => Just(b':'), 1 => Just(b' ')], 0..300),
        step in 1..40_usize,
        start in prop_oneof![Just(&b""[..]), Just(&b"GET / HTTP/1.1\r\nHost: a\r\n"[..]),
            Just(&b"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n"[..])],
    ) {
        let wire = [start, &input].concat();
        let pieces: Vec<&[u8]> = wire.chunks(step).collect();
        prop_assert_eq!(common::read(&[&wire], HeadLimits::DEFAULT), common::read(&pieces, HeadLimits::DEFAULT));
    }
}
