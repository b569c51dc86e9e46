//! A peer on a string: feeds bytes to a machine in any pieces and writes down what it reports.

#![allow(dead_code)] // every test file uses its part
use std::fmt::Write;
use vervet_http::field::{FieldSlots, Fields};
use vervet_http::h1::state::{Proposal, State};
use vervet_http::h1::{
    AnswerHead, Client, ContentLength, HeadLimits, Length, Next, Received, RequestHead,
    RequestToSend, ResponseHead, Server, Violation,
};
use vervet_http::status::Status;
use vervet_http::version::Version;

/// What a machine reported, one entry an event; neighbouring pieces of content are one entry.
pub(crate) type Transcript = Vec<String>;

fn note_content(transcript: &mut Transcript, bytes: &[u8]) {
    let text = bytes.escape_ascii().to_string();
    match transcript.last_mut() {
        Some(last) if last.starts_with("content ") => last.push_str(&text),
        _ => transcript.push(format!("content {text}")),
    }
}

fn note_end(transcript: &mut Transcript, trailers: Fields<'_>) {
    let mut entry = String::from("end");
    for (name, value) in trailers.iter() {
        write!(entry, " {name}={}", value.escape_ascii()).unwrap();
    }
    transcript.push(entry);
}

fn note_violation(transcript: &mut Transcript, violation: Violation) {
    transcript.push(format!("{} {violation:?}", violation.status().code()));
}

fn content(length: ContentLength) -> String {
    match length {
        ContentLength::None => String::new(),
        ContentLength::Length(length) => format!(" +{length}"),
        ContentLength::Chunked => String::from(" +chunked"),
        ContentLength::UntilClose => String::from(" +until-close"),
    }
}

fn version(version: Version) -> &'static str {
    match version {
        Version::Http10 => " (1.0)",
        Version::Http11 => "",
    }
}

fn request_entry(head: &RequestHead<'_>) -> String {
    let target = head.target.escape_ascii();
    format!("{} {target}{}{}", head.method_token, version(head.version), content(head.content()))
}

fn answer_entry(head: &AnswerHead<'_>) -> String {
    format!("{}{}{}", head.status.code(), version(head.version), content(head.content()))
}

/// An empty 200, so that the next request may be read.
pub(crate) fn answer_ok(server: &mut Server, out: &mut Vec<u8>) {
    let head = ResponseHead {
        status: Status::OK,
        encoded: b"HTTP/1.1 200 OK\r\n",
        length: Length::Known(0),
        date: b"",
    };
    server.send_head(out, &head).unwrap();
    server.send_end(out, None).unwrap();
}

/// A server that answers each request with an empty 200 when it has ended.
struct Reader {
    server: Server,
    limits: HeadLimits,
    buffer: Vec<u8>,
    transcript: Transcript,
    is_closed: bool,
}

impl Reader {
    fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
        while !self.is_closed && self.turn() {}
    }

    fn turn(&mut self) -> bool {
        let mut slots = FieldSlots::new();
        let consumed = match self.server.receive(&self.buffer, &mut slots, &self.limits) {
            Ok(Received::NeedMore) => return false,
            Ok(Received::Head { head, consumed }) => {
                self.transcript.push(request_entry(&head));
                consumed
            }
            Ok(Received::Content { bytes, consumed }) => {
                assert!(!bytes.is_empty());
                note_content(&mut self.transcript, bytes);
                consumed
            }
            Ok(Received::End { trailers, consumed }) => {
                note_end(&mut self.transcript, trailers);
                self.buffer.drain(..consumed);
                self.answer();
                return true;
            }
            Ok(other @ (Received::Paused | Received::Opaque | Received::Closed)) => {
                panic!("not expected here: {other:?}")
            }
            Err(violation) => {
                note_violation(&mut self.transcript, violation);
                self.refuse();
                return false;
            }
        };
        self.buffer.drain(..consumed);
        true
    }

    fn answer(&mut self) {
        answer_ok(&mut self.server, &mut Vec::new());
        if self.server.start_next() != Next::Request {
            self.transcript.push(String::from("close"));
            self.is_closed = true;
        }
    }

    /// After a violation nothing is read, an answer announces the close, and the connection ends.
    fn refuse(&mut self) {
        let mut slots = FieldSlots::new();
        let again = self.server.receive(&self.buffer, &mut slots, &self.limits);
        assert!(matches!(again, Ok(Received::Closed)), "{again:?}");
        let mut out = Vec::new();
        answer_ok(&mut self.server, &mut out);
        assert!(String::from_utf8(out).unwrap().contains("\r\nConnection: close\r\n"));
        assert_eq!(self.server.start_next(), Next::Close);
        self.is_closed = true;
    }
}

/// The transcript of `pieces` received one after the other.
pub(crate) fn read(pieces: &[&[u8]], limits: HeadLimits) -> Transcript {
    let mut reader = Reader {
        server: Server::new(),
        limits,
        buffer: Vec::new(),
        transcript: Vec::new(),
        is_closed: false,
    };
    for piece in pieces {
        reader.feed(piece);
    }
    reader.transcript
}

/// What `input` must be read as: in one piece, cut in two at every byte, and byte by byte.
pub(crate) fn check_with(input: &[u8], limits: HeadLimits, expected: &[&str]) {
    let shown = input.escape_ascii();
    assert_eq!(read(&[input], limits), expected, "in one piece: {shown}");
    for cut in 1..input.len() {
        let (first, second) = input.split_at(cut);
        assert_eq!(read(&[first, second], limits), expected, "cut at {cut}: {shown}");
    }
    let bytes: Vec<&[u8]> = input.chunks(1).collect();
    assert_eq!(read(&bytes, limits), expected, "byte by byte: {shown}");
}

/// As [`check_with`], under the default limits.
pub(crate) fn check(input: &str, expected: &[&str]) {
    check_with(input.as_bytes(), HeadLimits::DEFAULT, expected);
}

/// `input` is refused with `violation` (`400 BareLf`) before anything of it is reported.
pub(crate) fn check_refused(input: &str, violation: &str) {
    check(input, &[violation]);
}

/// A request with the field lines `fields` under a valid start.
pub(crate) fn with_fields(fields: &str) -> String {
    format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n")
}

/// The transcript of a client that sent a request by `method` and receives `pieces`, then, if
/// asked, the end of stream.
pub(crate) fn read_answer(method: &str, pieces: &[&[u8]], then: AtEnd) -> Transcript {
    let mut client = Client::new();
    let request = RequestToSend {
        method,
        target: b"/",
        encoded: b"Host: a\r\n",
        content: None,
        proposal: Proposal::None,
    };
    client.send_head(&mut Vec::new(), &request).unwrap();
    client.send_end(&mut Vec::new(), None).unwrap();
    let mut transcript = Vec::new();
    let mut buffer = Vec::new();
    for piece in pieces {
        buffer.extend_from_slice(piece);
        while client_turn(&mut client, &mut buffer, &mut transcript) {}
    }
    if then == AtEnd::Close && client.receiving() != State::Error {
        match client.end_of_stream(&buffer) {
            Ok(end) => transcript.push(format!("{end:?}")),
            Err(violation) => note_violation(&mut transcript, violation),
        }
    }
    transcript
}

/// What follows the last byte.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtEnd {
    /// Nothing: the connection stays open.
    Open,
    /// The peer closes.
    Close,
}

fn client_turn(client: &mut Client, buffer: &mut Vec<u8>, transcript: &mut Transcript) -> bool {
    let mut slots = FieldSlots::new();
    let consumed = match client.receive(buffer, &mut slots, &HeadLimits::DEFAULT) {
        Ok(Received::NeedMore | Received::Closed) => return false,
        Ok(Received::Opaque) => {
            let bytes = std::mem::take(buffer);
            if !bytes.is_empty() {
                note_content(transcript, &bytes);
            }
            return false;
        }
        Ok(Received::Paused) => {
            transcript.push(format!("{:?}", client.start_next()));
            return client.receiving() == State::Idle && !buffer.is_empty();
        }
        Ok(Received::Head { head, consumed }) => {
            transcript.push(answer_entry(&head));
            consumed
        }
        Ok(Received::Content { bytes, consumed }) => {
            note_content(transcript, bytes);
            consumed
        }
        Ok(Received::End { trailers, consumed }) => {
            note_end(transcript, trailers);
            consumed
        }
        Err(violation) => {
            note_violation(transcript, violation);
            buffer.clear();
            return false;
        }
    };
    buffer.drain(..consumed);
    true
}

/// What the answer `input` to a request by `method` must be read as, however it is cut.
pub(crate) fn check_answer(method: &str, input: &str, then: AtEnd, expected: &[&str]) {
    let input = input.as_bytes();
    let shown = input.escape_ascii();
    assert_eq!(read_answer(method, &[input], then), expected, "in one piece: {shown}");
    let bytes: Vec<&[u8]> = input.chunks(1).collect();
    assert_eq!(read_answer(method, &bytes, then), expected, "byte by byte: {shown}");
    for cut in 1..input.len() {
        let (first, second) = input.split_at(cut);
        assert_eq!(read_answer(method, &[first, second], then), expected, "cut at {cut}: {shown}");
    }
}
