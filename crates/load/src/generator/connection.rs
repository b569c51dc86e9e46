//! One connection of the generator: its outstanding requests, and the progress of the current
//! response.

use std::collections::VecDeque;

use vervet_http::field::FieldSlots;
use vervet_http::h1::{AnswerHead, Client, HeadLimits, Next, Received, SkipError, StreamEnd};
use vervet_http::method::Method;

use crate::check::ContentCheck;
use crate::script::ContentOfAnswer;

/// The limits of a response head. A longer one counts as malformed, and uses no memory.
pub(crate) const HEAD_LIMITS: HeadLimits = HeadLimits::DEFAULT;
/// Maximum body bytes that scripts see; further ones are counted and dropped.
pub const ANSWER_CONTENT_BYTES_MAX: usize = 1 << 20;

/// No user: all responses are complete, and the connection waits for the close.
pub(crate) const NOBODY: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Connecting,
    Open,
    /// Its requests are done; the target is about to close it.
    Leaving,
}

/// A request that waits for its response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub(crate) check: u16,
    pub(crate) step: u16,
    pub(crate) content: ContentOfAnswer,
    pub(crate) due_ns: u64,
    pub(crate) sent_ns: u64,
}

/// The parts of a response that checks and scripts read.
#[derive(Debug, Default)]
pub(crate) struct AnswerBuffer {
    pub(crate) fields: Vec<u8>,
    pub(crate) content: Vec<u8>,
}

/// One connection.
pub(crate) struct Connection {
    pub(crate) user: u32,
    pub(crate) phase: Phase,
    /// When it was begun.
    pub(crate) begun_ns: u64,
    /// Requests sent on it.
    pub(crate) sent: u64,
    /// The machine knows of the front request.
    told: bool,
    /// Persistence according to a response that was read without the parser.
    persists: Persists,
    machine: Client,
    front: Option<Pending>,
    behind: VecDeque<Pending>,
    /// Received and not yet understood; empty but for partial heads and chunk lines.
    left: Vec<u8>,
    status: u16,
    content_bytes: u64,
    received_bytes: u64,
    first_byte_ns: u64,
    judging: Option<Box<ContentCheck>>,
}

/// What was found in the input.
pub(crate) enum AnswerEvent<'a> {
    /// Nothing whole.
    NeedMore,
    /// The head of the final response.
    Head(AnswerHead<'a>),
    /// A piece of content.
    Content(&'a [u8]),
    /// The end of the response.
    End,
    /// The bytes are not a valid response to the request.
    Broken,
}

impl Connection {
    pub(crate) fn new(user: u32, begun_ns: u64) -> Self {
        Self {
            user,
            phase: Phase::Connecting,
            begun_ns,
            sent: 0,
            told: false,
            persists: Persists::Yes,
            machine: Client::new(),
            front: None,
            behind: VecDeque::new(),
            left: Vec::new(),
            status: 0,
            content_bytes: 0,
            received_bytes: 0,
            first_byte_ns: 0,
            judging: None,
        }
    }

    pub(crate) fn front(&self) -> Option<&Pending> {
        self.front.as_ref()
    }

    pub(crate) fn waiting(&self) -> usize {
        usize::from(self.front.is_some()) + self.behind.len()
    }

    pub(crate) fn push(&mut self, pending: Pending) {
        self.sent += 1;
        match self.front {
            None => self.front = Some(pending),
            Some(_) => self.behind.push_back(pending),
        }
    }

    /// Takes the front request, whose response is complete or will not arrive.
    pub(crate) fn take_front(&mut self) -> Option<Pending> {
        let front = self.front.take();
        self.front = self.behind.pop_front();
        front
    }

    /// Starts the response to the front request.
    pub(crate) fn begin_answer(&mut self, now_ns: u64) {
        if self.first_byte_ns == 0 {
            self.first_byte_ns = now_ns;
        }
    }

    pub(crate) fn first_byte_ns(&self) -> u64 {
        self.first_byte_ns
    }

    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    pub(crate) fn content_bytes(&self) -> u64 {
        self.content_bytes
    }

    pub(crate) fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    pub(crate) fn judging(&mut self) -> Option<&mut ContentCheck> {
        self.judging.as_deref_mut()
    }

    /// Sets the status, and the checks of the content that follows.
    pub(crate) fn judge(&mut self, status: u16, judging: Option<Box<ContentCheck>>) {
        self.status = status;
        self.judging = judging;
    }

    /// Whether no byte of the response has been parsed yet.
    pub(crate) fn is_fresh(&self) -> bool {
        !self.told && self.left.is_empty()
    }

    /// Takes unparsed bytes, to be placed before new ones.
    pub(crate) fn take_left(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.left)
    }

    pub(crate) fn keep_left(&mut self, left: Vec<u8>) {
        self.left = left;
    }

    pub(crate) fn left(&self) -> &[u8] {
        &self.left
    }

    /// Parses one element at the start of the input, and returns its length.
    pub(crate) fn find<'a>(
        &mut self,
        input: &'a [u8],
        slots: &'a mut FieldSlots,
    ) -> (AnswerEvent<'a>, usize) {
        let Some(front) = self.front else {
            return (AnswerEvent::Broken, 0);
        };
        if !self.told {
            let method = match front.content {
                ContentOfAnswer::AsFramed => Method::Get,
                ContentOfAnswer::Never => Method::Head,
            };
            // Legal: the machine is fresh, or `next_answer` made it so.
            let _ = self.machine.sent_whole(method);
            self.told = true;
        }
        let (found, consumed) = match self.machine.receive(input, slots, &HEAD_LIMITS) {
            Ok(Received::Head { head, consumed }) => (AnswerEvent::Head(head), consumed),
            Ok(Received::Content { bytes, consumed }) => {
                self.content_bytes += bytes.len() as u64;
                (AnswerEvent::Content(bytes), consumed)
            }
            Ok(Received::End { consumed, .. }) => (AnswerEvent::End, consumed),
            Ok(Received::NeedMore) => (AnswerEvent::NeedMore, 0),
            // A switch that nobody asked for is a violation above; the rest cannot follow a front
            // request.
            Ok(Received::Paused | Received::Opaque | Received::Closed) | Err(_) => {
                (AnswerEvent::Broken, 0)
            }
        };
        self.received_bytes += consumed as u64;
        (found, consumed)
    }

    /// Body bytes that may be discarded unread: all remaining ones except the last, which arrives
    /// together with what follows the response.
    pub(crate) fn unseen_bytes(&self) -> u64 {
        match &self.judging {
            Some(_) => 0,
            None => self.machine.content_left().saturating_sub(1),
        }
    }

    /// Counts content that was dropped.
    pub(crate) fn skip(&mut self, bytes: u64) -> Result<(), SkipError> {
        self.machine.skip(bytes)?;
        self.content_bytes += bytes;
        self.received_bytes += bytes;
        Ok(())
    }

    /// Counts body bytes that were read without the parser.
    pub(crate) fn count_whole(
        &mut self,
        received_bytes: usize,
        content_bytes: usize,
        persists: Persists,
    ) {
        self.received_bytes = received_bytes as u64;
        self.content_bytes = content_bytes as u64;
        self.persists = persists;
    }

    /// Ends the response and prepares for the next; returns whether the connection persists.
    pub(crate) fn next_answer(&mut self) -> Persists {
        let persists = if !self.told {
            self.persists
        } else if self.machine.start_next() == Next::Request {
            Persists::Yes
        } else {
            Persists::No
        };
        self.told = false;
        self.first_byte_ns = 0;
        self.content_bytes = 0;
        self.received_bytes = 0;
        self.judging = None;
        persists
    }

    /// Handles the end of the stream; returns whether it ends a response that is delimited by
    /// close.
    pub(crate) fn ends_answer(&mut self) -> bool {
        let left = std::mem::take(&mut self.left);
        let end = self.told.then(|| self.machine.end_of_stream(&left));
        matches!(end, Some(Ok(StreamEnd::OfMessage)))
    }
}

/// Whether a connection may carry another exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Persists {
    #[default]
    Yes,
    No,
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n";

    /// A connection that has read so much of the answer to a request.
    fn connection(read: &[u8]) -> Connection {
        let mut connection = Connection::new(0, 0);
        connection.push(Pending {
            check: 0,
            step: 0,
            content: ContentOfAnswer::AsFramed,
            due_ns: 0,
            sent_ns: 0,
        });
        let mut input = read;
        while !input.is_empty() {
            let mut slots = FieldSlots::new();
            let (_, consumed) = connection.find(input, &mut slots);
            assert!(consumed > 0, "{:?}", input.escape_ascii());
            input = &input[consumed..];
        }
        connection
    }

    #[test]
    fn all_but_the_last_byte_may_be_discarded() {
        assert_eq!(connection(b"").unseen_bytes(), 0);
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(connection(chunked).unseen_bytes(), 0);
        assert_eq!(connection(b"HTTP/1.1 200 OK\r\n\r\n").unseen_bytes(), 0);
        assert_eq!(connection(HEAD).unseen_bytes(), 199_999);
        let mut connection = connection(&[HEAD, b"12345"].concat());
        assert_eq!(connection.unseen_bytes(), 199_994);
        connection.skip(199_994).unwrap();
        assert_eq!(connection.unseen_bytes(), 0);
        assert_eq!(connection.content_bytes(), 199_999);
        assert_eq!(connection.received_bytes(), HEAD.len() as u64 + 199_999);
        assert!(connection.skip(2).is_err());
        connection.skip(1).unwrap();
        let mut slots = FieldSlots::new();
        let (found, _) = connection.find(&[], &mut slots);
        assert!(matches!(found, AnswerEvent::End));
    }

    #[test]
    fn checked_content_is_read() {
        let mut connection = connection(HEAD);
        connection.judge(200, Some(Box::default()));
        assert_eq!(connection.unseen_bytes(), 0);
    }
}
