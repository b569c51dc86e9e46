//! The client role: sends requests and receives responses.

use super::HeadLimits;
use super::head::{AnswerHead, HeadError, explain, explain_status_line, parse_response};
use super::machine::{Framing, Length, Machine, Next, Received, StreamEnd};
use super::misuse::{SendError, SkipError};
use super::section::{Section, find_end};
use super::server::write_length;
use super::state::{Event, Persistence, Proposal, Role, State};
use super::violation::Violation;
use crate::field::{FieldBlock, FieldSlots, is_token};
use crate::method::Method;
use crate::status::Status;

/// One connection in the client role. See [`crate::h1::state`] for the state machine.
#[derive(Debug)]
pub struct Client(Machine);

/// A request head to be sent.
#[derive(Clone, Copy, Debug)]
pub struct RequestToSend<'a> {
    /// The method, which must be a token.
    pub method: &'a str,
    /// The request target, in visible ASCII.
    pub target: &'a [u8],
    /// Field lines including Host, each with its CRLF, without Content-Length, Transfer-Encoding
    /// and Connection.
    pub encoded: &'a [u8],
    /// The content; `None` for a request that has none by definition, such as GET.
    pub content: Option<Length>,
    /// Whether the fields contain Upgrade; the machine then adds `Connection: upgrade`.
    pub proposal: Proposal,
}

impl Client {
    /// Creates the state of a new connection.
    pub const fn new() -> Self {
        Self(Machine::NEW)
    }

    /// Writes a request head and returns how the content must be framed.
    pub fn send_head(
        &mut self,
        out: &mut Vec<u8>,
        request: &RequestToSend<'_>,
    ) -> Result<Framing, SendError> {
        let target_is_visible =
            !request.target.is_empty() && request.target.iter().all(u8::is_ascii_graphic);
        if !is_token(request.method.as_bytes()) || !target_is_visible {
            return Err(SendError::RequestLine);
        }
        let machine = &mut self.0;
        machine.pair.apply(Role::Client, Event::Request)?;
        machine.method = Method::from_token(request.method.as_bytes());
        machine.proposal = match machine.method {
            Method::Connect => Proposal::Pending,
            _ => request.proposal,
        };
        let framing = match request.content {
            None => Framing::None,
            Some(Length::Known(length)) => Framing::Length(length),
            Some(Length::Unknown) => Framing::Chunked,
        };
        machine.owe_content(framing);
        for part in
            [request.method.as_bytes(), b" ", request.target, b" HTTP/1.1\r\n", request.encoded]
        {
            out.extend_from_slice(part);
        }
        match framing {
            Framing::Length(length) => write_length(out, length),
            Framing::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
            Framing::None | Framing::UntilClose => {}
        }
        let connection: &[u8] = match (self.0.persistence, request.proposal) {
            (Persistence::Close, Proposal::None) => b"Connection: close\r\n",
            (Persistence::Close, Proposal::Pending) => b"Connection: close, upgrade\r\n",
            (Persistence::Persist, Proposal::None) => b"",
            (Persistence::Persist, Proposal::Pending) => b"Connection: upgrade\r\n",
        };
        out.extend_from_slice(connection);
        out.extend_from_slice(b"\r\n");
        Ok(framing)
    }

    /// Records a whole request, head and content, that was sent without this machine, such as
    /// prepared bytes that are sent repeatedly. The request must not propose another protocol.
    pub fn sent_whole(&mut self, method: Method) -> Result<(), SendError> {
        let machine = &mut self.0;
        machine.pair.apply(Role::Client, Event::Request)?;
        machine.method = method;
        machine.proposal = Proposal::None;
        machine.owe_content(Framing::None);
        machine.apply(Role::Client, Event::End)?;
        Ok(())
    }

    /// Writes a piece of content, as a chunk if the framing is chunked.
    pub fn send_content(&mut self, out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), SendError> {
        self.0.send_content(Role::Client, out, bytes)
    }

    /// Records that `bytes` of content were sent without this machine. Not for chunked content.
    pub fn sent(&mut self, bytes: u64) -> Result<(), SendError> {
        self.0.sent(Role::Client, bytes)
    }

    /// Ends the request. Trailers are sent with chunked content and dropped otherwise.
    pub fn send_end(
        &mut self,
        out: &mut Vec<u8>,
        trailers: Option<&FieldBlock>,
    ) -> Result<(), SendError> {
        self.0.send_end(Role::Client, out, trailers)
    }

    /// Returns the next event at the start of `input`, which is everything received and not yet
    /// consumed. A head with a 1xx status is interim: another head follows.
    pub fn receive<'a>(
        &mut self,
        input: &'a [u8],
        slots: &'a mut FieldSlots,
        limits: &HeadLimits,
    ) -> Result<Received<'a, AnswerHead<'a>>, Violation> {
        match self.0.pair.server {
            State::Idle if input.is_empty() => Ok(Received::NeedMore),
            State::Idle => Err(self.0.fail(Role::Server, Violation::Unsolicited)),
            State::SendResponse => self
                .receive_head(input, slots, limits)
                .map_err(|violation| self.0.fail(Role::Server, violation)),
            State::SendBody => self.0.receive_content(Role::Server, input, slots, limits),
            State::Done => Ok(Received::Paused),
            State::Switched => Ok(Received::Opaque),
            State::MightSwitch | State::MustClose | State::Closed | State::Error => {
                Ok(Received::Closed)
            }
        }
    }

    /// Returns how many bytes of the response's content follow unframed: the rest of a
    /// Content-Length. 0 if only parsing can determine what follows.
    pub fn content_left(&self) -> u64 {
        self.0.content_left(Role::Server)
    }

    /// Skips `bytes` of the response's content that were received but not parsed; they must have
    /// been removed from the input. At most [`Self::content_left`].
    pub fn skip(&mut self, bytes: u64) -> Result<(), SkipError> {
        self.0.skip_content(Role::Server, bytes)
    }

    fn receive_head<'a>(
        &mut self,
        input: &'a [u8],
        slots: &'a mut FieldSlots,
        limits: &HeadLimits,
    ) -> Result<Received<'a, AnswerHead<'a>>, Violation> {
        let head_bytes_max = limits.head_bytes_max;
        if self.0.scanned != 0
            && find_end(input, &mut self.0.scanned, Section::Head, head_bytes_max)?.is_none()
        {
            return Ok(Received::NeedMore);
        }
        let (head, consumed) = match parse_response(input, slots, limits, self.0.method) {
            Ok(parsed) => parsed,
            Err(HeadError::Violation(violation)) => return Err(violation),
            Err(HeadError::Refused(refused)) => {
                return match find_end(input, &mut self.0.scanned, Section::Head, head_bytes_max)? {
                    None => Ok(Received::NeedMore),
                    // The leniency of RFC 9112 §2.2 towards an empty line is for servers, so it is
                    // not cut off here.
                    Some(span) => Err(explain(&input[..span.to], refused, explain_status_line)),
                };
            }
        };
        let event = self.event_of(head.status)?;
        if event == Event::Response && self.0.persistence == Persistence::Persist {
            self.0.persistence = head.persistence();
        }
        self.0.version = head.version;
        self.0.expect_content(head.content);
        if self.0.apply(Role::Server, event).is_err() {
            return Ok(Received::Closed);
        }
        Ok(Received::Head { head, consumed })
    }

    fn event_of(&self, status: Status) -> Result<Event, Violation> {
        let is_tunnel = self.0.method == Method::Connect;
        match (status, self.0.proposal) {
            (Status::SWITCHING_PROTOCOLS, Proposal::Pending) if !is_tunnel => Ok(Event::Switch),
            (Status::SWITCHING_PROTOCOLS, _) => Err(Violation::SwitchUnasked),
            _ if !status.is_final() => Ok(Event::Informational),
            _ if is_tunnel && (200..300).contains(&status.code()) => Ok(Event::Switch),
            _ => Ok(Event::Response),
        }
    }

    /// Handles the end of the server's stream, with the input that was not consumed. Ends content
    /// that is delimited by the close of the connection.
    pub fn end_of_stream(&mut self, unconsumed: &[u8]) -> Result<StreamEnd, Violation> {
        self.0.end_of_stream(Role::Server, unconsumed)
    }

    /// Starts the next request if both sides are done and the connection persists.
    pub fn start_next(&mut self) -> Next {
        self.0.start_next()
    }

    /// Makes the current or next exchange the last one; announced if its head has not been sent
    /// yet.
    pub fn close_after_this(&mut self) {
        self.0.close_after_this();
    }

    /// Returns the state of the server.
    pub const fn receiving(&self) -> State {
        self.0.pair.server
    }

    /// Returns the state of the client.
    pub const fn sending(&self) -> State {
        self.0.pair.client
    }
}

impl Default for Client {
    fn default() -> Self {
        Self::new()
    }
}
