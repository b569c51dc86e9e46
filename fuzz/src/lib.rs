//! What the targets share: a server that writes down all it reads, so that two ways of cutting the input can be compared.

use vervet_http::field::{FieldSlots, Fields};
use vervet_http::h1::{
    ContentLength, HeadLimits, Length, Next, Received, ResponseHead, Server, Violation,
};
use vervet_http::status::Status;

/// Small limits, so that inputs of a few hundred bytes reach them.
pub const LIMITS: HeadLimits =
    HeadLimits { head_bytes_max: 512, fields_max: 8, target_bytes_max: 64, trailer_bytes_max: 64 };

/// One thing that a server reported. Content is joined, since its pieces depend on the cuts.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    Head {
        method: String,
        target: Vec<u8>,
        fields: Vec<(String, Vec<u8>)>,
        content: ContentLength,
        raw: Vec<u8>,
    },
    Content(Vec<u8>),
    End(Vec<(String, Vec<u8>)>),
    Violation(Violation),
    Close,
    Opaque,
}

struct Reader {
    server: Server,
    buffer: Vec<u8>,
    events: Vec<Event>,
    is_closed: bool,
}

/// All events of `pieces` received one after the other, each request answered with an empty 200 at its end.
pub fn read(pieces: &[&[u8]]) -> Vec<Event> {
    let mut reader =
        Reader { server: Server::new(), buffer: Vec::new(), events: Vec::new(), is_closed: false };
    for piece in pieces {
        reader.buffer.extend_from_slice(piece);
        while !reader.is_closed && reader.turn() {}
    }
    reader.events
}

/// Panics unless `input` is read alike in one piece, cut in two at `cut`, and byte by byte.
pub fn check_cuts(input: &[u8], cut: usize) -> Vec<Event> {
    let whole = read(&[input]);
    let (first, second) = input.split_at(cut.min(input.len()));
    assert_eq!(whole, read(&[first, second]), "cut at {}", first.len());
    let bytes: Vec<&[u8]> = input.chunks(1).collect();
    assert_eq!(whole, read(&bytes), "byte by byte");
    whole
}

fn owned(fields: Fields<'_>) -> Vec<(String, Vec<u8>)> {
    fields.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

impl Reader {
    fn turn(&mut self) -> bool {
        let mut slots = FieldSlots::new();
        let (event, consumed) = match self.server.receive(&self.buffer, &mut slots, &LIMITS) {
            Ok(Received::NeedMore) => return false,
            Ok(Received::Head { head, consumed }) => {
                let event = Event::Head {
                    method: head.method_token.to_owned(),
                    target: head.target.to_owned(),
                    fields: owned(head.fields),
                    content: head.content(),
                    raw: self.buffer[..consumed].to_owned(),
                };
                (event, consumed)
            }
            Ok(Received::Content { bytes, consumed }) => {
                (Event::Content(bytes.to_owned()), consumed)
            }
            Ok(Received::End { trailers, consumed }) => (Event::End(owned(trailers)), consumed),
            Ok(Received::Opaque) => (Event::Opaque, 0),
            Ok(Received::Paused | Received::Closed) => (Event::Close, 0),
            Err(violation) => (Event::Violation(violation), 0),
        };
        self.buffer.drain(..consumed);
        let has_ended = matches!(event, Event::End(_));
        self.is_closed = matches!(event, Event::Opaque | Event::Close | Event::Violation(_));
        match (event, self.events.last_mut()) {
            (Event::Content(bytes), Some(Event::Content(before))) => {
                before.extend_from_slice(&bytes)
            }
            (event, _) => self.events.push(event),
        }
        if has_ended {
            self.answer();
        }
        true
    }

    fn answer(&mut self) {
        let head = ResponseHead {
            status: Status::OK,
            encoded: b"HTTP/1.1 200 OK\r\n",
            length: Length::Known(0),
            date: b"",
        };
        let mut out = Vec::new();
        self.server.send_head(&mut out, &head).expect("the request has ended");
        // Behind a 200 to CONNECT is the tunnel.
        if self.server.send_end(&mut out, None).is_err() {
            self.events.push(Event::Opaque);
            self.is_closed = true;
        } else if self.server.start_next() != Next::Request {
            self.events.push(Event::Close);
            self.is_closed = true;
        }
    }
}
