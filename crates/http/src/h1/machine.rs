//! What both roles share: receiving and sending content, and the pair of states.

use super::HeadLimits;
use super::chunked::{self, ChunkLine};
use super::framing::ContentLength;
use super::head::RequestHead;
use super::misuse::{SendError, SkipError};
use super::section::{Section, find_end};
use super::state::{Event, Illegal, Pair, Persistence, Proposal, Role, State};
use super::violation::Violation;
use crate::field::{FieldBlock, FieldSlots, Fields};
use crate::method::Method;
use crate::version::Version;

/// The event at the start of the input. The caller removes `consumed` bytes and calls again.
#[derive(Clone, Copy, Debug)]
pub enum Received<'a, Head = RequestHead<'a>> {
    /// Incomplete: call again with the same bytes followed by more.
    NeedMore,
    /// A complete message head.
    Head {
        /// The head, borrowed from the input.
        head: Head,
        /// Length in bytes of the input consumed.
        consumed: usize,
    },
    /// A piece of content, as much as the input holds contiguously; never empty.
    Content {
        /// The bytes of the piece.
        bytes: &'a [u8],
        /// Length in bytes of the input consumed, including the chunk line before the piece.
        consumed: usize,
    },
    /// The end of the message.
    End {
        /// The trailer section; empty unless the content was chunked.
        trailers: Fields<'a>,
        /// Length in bytes of the input consumed; 0 if the end needs no bytes.
        consumed: usize,
    },
    /// The message is complete and the exchange is not: nothing is read before `start_next`.
    Paused,
    /// The input is no longer HTTP/1.1: the protocol was switched, or a tunnel was opened.
    Opaque,
    /// No more input will be read from the peer.
    Closed,
}

/// The length of the content of a message to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// The length in bytes is known.
    Known(u64),
    /// The length is unknown: chunked, or delimited by close for an HTTP/1.0 peer.
    Unknown,
}

/// How the content of a head that was just sent must be framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// No content is sent; content passed in is dropped.
    None,
    /// Exactly this many bytes must follow.
    Length(u64),
    /// The chunked transfer coding.
    Chunked,
    /// All bytes until the connection closes.
    UntilClose,
}

/// What follows an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The machine is ready for the next request.
    Request,
    /// One side has not ended its message: continue, or close.
    Unfinished,
    /// The connection must be closed.
    Close,
    /// The connection now uses another protocol.
    Switched,
}

/// What the end of the peer's stream means where it is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// It came between two messages.
    BetweenMessages,
    /// It ends content that is delimited by close: the message is complete.
    OfMessage,
}

/// The state of reading content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Incoming {
    /// All content was read.
    Nothing,
    /// Content-Length: `incoming_left` bytes follow.
    Length,
    ChunkLine,
    /// `incoming_left` bytes of the chunk follow.
    ChunkData,
    ChunkEnd,
    Trailers,
    UntilClose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outgoing {
    Nothing,
    /// `outgoing_left` bytes are still to be sent.
    Length,
    Chunked,
    UntilClose,
}

/// Whether the server owes the client a `100 Continue`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Continue {
    NotOwed,
    Owed,
}

/// One connection, either role.
#[derive(Debug)]
pub(super) struct Machine {
    incoming_left: u64,
    outgoing_left: u64,
    /// Bytes of the incomplete section already searched for its end.
    pub(super) scanned: u32,
    incoming: Incoming,
    outgoing: Outgoing,
    pub(super) pair: Pair,
    pub(super) persistence: Persistence,
    pub(super) proposal: Proposal,
    /// The method of the request of this exchange.
    pub(super) method: Method,
    /// The version of the peer in this exchange.
    pub(super) version: Version,
    pub(super) owes_continue: Continue,
}

// The engine promises a maximum memory per idle connection; the machine may take 32 bytes of it.
const _: () = assert!(size_of::<Machine>() <= 32);

impl Machine {
    pub(super) const NEW: Self = Self {
        incoming_left: 0,
        outgoing_left: 0,
        scanned: 0,
        incoming: Incoming::Nothing,
        outgoing: Outgoing::Nothing,
        pair: Pair::NEW,
        persistence: Persistence::Persist,
        proposal: Proposal::None,
        method: Method::Unknown,
        version: Version::Http11,
        owes_continue: Continue::NotOwed,
    };

    /// Moves `role` by `event` and settles the pair.
    pub(super) fn apply(&mut self, role: Role, event: Event) -> Result<(), Illegal> {
        self.pair.apply(role, event)?;
        self.settle();
        Ok(())
    }

    pub(super) fn settle(&mut self) {
        self.proposal = self.pair.settle(self.persistence, self.proposal);
    }

    pub(super) fn close_after_this(&mut self) {
        self.persistence = Persistence::Close;
        self.settle();
    }

    /// Records a protocol violation of the peer: nothing more is read from it.
    pub(super) fn fail(&mut self, peer: Role, violation: Violation) -> Violation {
        self.persistence = Persistence::Close;
        self.incoming = Incoming::Nothing;
        // Legal from every state.
        let _ = self.apply(peer, Event::Fail);
        violation
    }

    /// Returns whether content of the peer's message, or the end of its chunks, is still to come.
    pub(super) fn awaits_content(&self) -> bool {
        self.incoming != Incoming::Nothing
    }

    pub(super) fn expect_content(&mut self, content: ContentLength) {
        (self.incoming, self.incoming_left) = match content {
            ContentLength::None => (Incoming::Nothing, 0),
            ContentLength::Length(length) => (Incoming::Length, length),
            ContentLength::Chunked => (Incoming::ChunkLine, 0),
            ContentLength::UntilClose => (Incoming::UntilClose, 0),
        };
    }

    /// Returns how many bytes of unframed content of the peer follow.
    pub(super) fn content_left(&self, peer: Role) -> u64 {
        match (self.pair.state(peer), self.incoming) {
            (State::SendBody, Incoming::Length) => self.incoming_left,
            _ => 0,
        }
    }

    /// Returns how many bytes of content are known to follow `input`, which [`Received::NeedMore`]
    /// left: the rest of the content if its length is known, otherwise of the chunk.
    pub(super) fn content_announced(&self, input: &[u8]) -> u64 {
        let line = match self.incoming {
            Incoming::Length | Incoming::ChunkData => return self.incoming_left,
            Incoming::ChunkLine => input,
            Incoming::ChunkEnd => input.strip_prefix(b"\r\n").unwrap_or_default(),
            Incoming::Nothing | Incoming::Trailers | Incoming::UntilClose => return 0,
        };
        chunked::parse_line(line).ok().flatten().map_or(0, |line| line.size)
    }

    /// Skips content of the peer without parsing it.
    pub(super) fn skip_content(&mut self, peer: Role, bytes: u64) -> Result<(), SkipError> {
        let left = self.content_left(peer);
        if bytes > left {
            return Err(SkipError { left });
        }
        if bytes > 0 {
            self.incoming_left = left - bytes;
            self.owes_continue = Continue::NotOwed;
            if self.incoming_left == 0 {
                self.incoming = Incoming::Nothing;
            }
        }
        Ok(())
    }

    /// Ends the peer's message if all of its content was read and it is not chunked. Returns
    /// whether it did.
    pub(super) fn take_end(&mut self, peer: Role) -> bool {
        let ends = self.pair.state(peer) == State::SendBody && self.incoming == Incoming::Nothing;
        if ends {
            self.end_received(peer);
        }
        ends
    }

    fn end_received(&mut self, peer: Role) {
        self.owes_continue = Continue::NotOwed;
        // Legal by construction: content is read in state SendBody only.
        let _ = self.apply(peer, Event::End);
    }

    /// Reads content of a message whose head was read.
    pub(super) fn receive_content<'a, Head>(
        &mut self,
        peer: Role,
        input: &'a [u8],
        slots: &'a mut FieldSlots,
        limits: &HeadLimits,
    ) -> Result<Received<'a, Head>, Violation> {
        let received = match self.incoming {
            Incoming::Nothing => Ok(Received::End { trailers: Fields::EMPTY, consumed: 0 }),
            _ if input.is_empty() => Ok(Received::NeedMore),
            Incoming::UntilClose => Ok(Received::Content { bytes: input, consumed: input.len() }),
            Incoming::Length => Ok(self.take_content(input, 0, Incoming::Nothing)),
            Incoming::ChunkLine | Incoming::ChunkData | Incoming::ChunkEnd | Incoming::Trailers => {
                self.receive_chunked(input, slots, limits)
            }
        };
        match received {
            Err(violation) => return Err(self.fail(peer, violation)),
            Ok(Received::Content { .. }) => self.owes_continue = Continue::NotOwed,
            Ok(Received::End { .. }) => self.end_received(peer),
            Ok(_) => {}
        }
        received
    }

    /// Reads chunk framing until content or the end is found. Unless an event is returned nothing
    /// is consumed and the phase is unchanged, so the at most 258 bytes of framing are read again
    /// with more input.
    fn receive_chunked<'a, Head>(
        &mut self,
        input: &'a [u8],
        slots: &'a mut FieldSlots,
        limits: &HeadLimits,
    ) -> Result<Received<'a, Head>, Violation> {
        let mut at = 0;
        let mut phase = self.incoming;
        let mut left = self.incoming_left;
        loop {
            let rest = &input[at..];
            match phase {
                Incoming::ChunkEnd => match rest {
                    [b'\r', b'\n', ..] => (at, phase) = (at + 2, Incoming::ChunkLine),
                    [] | [b'\r'] => return Ok(Received::NeedMore),
                    _ => return Err(Violation::ChunkEndMissing),
                },
                Incoming::ChunkLine => match chunked::parse_line(rest)? {
                    None => return Ok(Received::NeedMore),
                    Some(ChunkLine { size: 0, bytes }) => {
                        (at, phase) = (at + bytes, Incoming::Trailers);
                    }
                    Some(ChunkLine { size, bytes }) => {
                        (at, phase, left) = (at + bytes, Incoming::ChunkData, size);
                    }
                },
                Incoming::ChunkData if rest.is_empty() => return Ok(Received::NeedMore),
                Incoming::ChunkData => {
                    self.incoming_left = left;
                    self.incoming = Incoming::ChunkData;
                    return Ok(self.take_content(input, at, Incoming::ChunkEnd));
                }
                Incoming::Trailers
                | Incoming::Nothing
                | Incoming::Length
                | Incoming::UntilClose => break,
            }
        }
        let Some(span) =
            find_end(&input[at..], &mut self.scanned, Section::Trailers, limits.trailer_bytes_max)?
        else {
            return Ok(Received::NeedMore);
        };
        let consumed = at + span.to;
        let trailers = chunked::parse_trailers(&input[at..consumed], slots)?;
        self.incoming = Incoming::Nothing;
        Ok(Received::End { trailers, consumed })
    }

    fn take_content<'a, Head>(
        &mut self,
        input: &'a [u8],
        at: usize,
        then: Incoming,
    ) -> Received<'a, Head> {
        let rest = &input[at..];
        let taken =
            usize::try_from(self.incoming_left).map_or(rest.len(), |left| left.min(rest.len()));
        self.incoming_left -= taken as u64;
        if self.incoming_left == 0 {
            self.incoming = then;
        }
        Received::Content { bytes: &rest[..taken], consumed: at + taken }
    }

    /// Handles the end of the peer's stream, with the input that was not consumed.
    pub(super) fn end_of_stream(
        &mut self,
        peer: Role,
        unconsumed: &[u8],
    ) -> Result<StreamEnd, Violation> {
        let state = self.pair.state(peer);
        let owes_message = matches!(state, State::SendBody | State::SendResponse);
        let is_inside = state == State::Idle && !matches!(unconsumed, b"" | b"\r" | b"\r\n");
        let end = match state {
            _ if is_inside => return Err(self.fail(peer, Violation::Truncated)),
            State::SendBody if self.incoming == Incoming::UntilClose => StreamEnd::OfMessage,
            _ if owes_message => return Err(self.fail(peer, Violation::Truncated)),
            _ => StreamEnd::BetweenMessages,
        };
        self.persistence = Persistence::Close;
        if end == StreamEnd::OfMessage {
            self.incoming = Incoming::Nothing;
            // Legal: the state is SendBody.
            let _ = self.apply(peer, Event::End);
        }
        // From Error nothing moves, and nothing needs to.
        let _ = self.apply(peer, Event::Close);
        Ok(end)
    }

    pub(super) fn owe_content(&mut self, framing: Framing) {
        (self.outgoing, self.outgoing_left) = match framing {
            Framing::None => (Outgoing::Nothing, 0),
            Framing::Length(length) => (Outgoing::Length, length),
            Framing::Chunked => (Outgoing::Chunked, 0),
            Framing::UntilClose => (Outgoing::UntilClose, 0),
        };
    }

    pub(super) fn send_content(
        &mut self,
        role: Role,
        out: &mut Vec<u8>,
        bytes: &[u8],
    ) -> Result<(), SendError> {
        match self.outgoing {
            // An empty chunk would be the last one.
            Outgoing::Chunked if bytes.is_empty() => Ok(()),
            Outgoing::Chunked => {
                self.pair.apply(role, Event::Content)?;
                chunked::write_line(out, bytes.len());
                out.extend_from_slice(bytes);
                out.extend_from_slice(b"\r\n");
                Ok(())
            }
            Outgoing::Nothing => Ok(self.pair.apply(role, Event::Content)?),
            Outgoing::Length | Outgoing::UntilClose => {
                self.sent(role, bytes.len() as u64)?;
                out.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    pub(super) fn sent(&mut self, role: Role, bytes: u64) -> Result<(), SendError> {
        match self.outgoing {
            Outgoing::Chunked => return Err(SendError::NeedsChunks),
            Outgoing::Length if bytes > self.outgoing_left => {
                return Err(SendError::TooLong { left: self.outgoing_left });
            }
            Outgoing::Length | Outgoing::Nothing | Outgoing::UntilClose => {}
        }
        self.pair.apply(role, Event::Content)?;
        if self.outgoing == Outgoing::Length {
            self.outgoing_left -= bytes;
        }
        Ok(())
    }

    #[inline]
    pub(super) fn send_end(
        &mut self,
        role: Role,
        out: &mut Vec<u8>,
        trailers: Option<&FieldBlock>,
    ) -> Result<(), SendError> {
        if self.outgoing == Outgoing::Length && self.outgoing_left > 0 {
            self.close_after_this();
            return Err(SendError::TooShort { left: self.outgoing_left });
        }
        self.apply(role, Event::End)?;
        if self.outgoing == Outgoing::Chunked {
            out.extend_from_slice(b"0\r\n");
            out.extend_from_slice(trailers.map_or(&[], FieldBlock::as_bytes));
            out.extend_from_slice(b"\r\n");
        }
        self.outgoing = Outgoing::Nothing;
        Ok(())
    }

    pub(super) fn start_next(&mut self) -> Next {
        use State::{Closed, Error, MustClose, Switched};
        if self.pair.start_next() {
            *self = Self::NEW;
            return Next::Request;
        }
        match (self.pair.client, self.pair.server) {
            (Switched, Switched) => Next::Switched,
            (_, MustClose | Closed | Error) | (Closed | Error | MustClose, State::Idle) => {
                Next::Close
            }
            _ => Next::Unfinished,
        }
    }
}
