//! The state of one connection and its current exchange.

use std::net::SocketAddr;
use std::sync::Arc;

use vervet_http::h1::Server;
use vervet_http::h1::state::State;
use vervet_http::status::Status;

use crate::exchange::{Amendment, ExchangeOptions};
use crate::listener::Endpoint;
use crate::pipe::{ContentReader, ContentSender};

/// What a connection waits for, which decides what an expired deadline means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// A PROXY protocol header.
    ProxyHeader,
    /// The rest of a head, or the first head of the connection.
    Head,
    /// The next request on a persistent connection.
    Request,
    /// Content or the handler, depending on the exchange.
    Exchange,
}

/// The state of one connection. An idle connection needs no other memory.
pub struct Connection {
    pub(super) machine: Server,
    pub(super) waiting: Waiting,
    /// Bytes received and not yet consumed: a partial head, or input after the current exchange.
    pub(super) input: Vec<u8>,
    pub(super) peer: Option<SocketAddr>,
    pub(super) listener: Arc<Endpoint>,
    pub(super) exchange: Option<Box<InProgress>>,
    pub(super) requests: u32,
    /// Bytes of content of the current request that were read and dropped.
    pub(super) dropped_bytes: u32,
    /// The server ends the connection, not the client, which may be sending the next request
    /// already.
    pub(super) closes_unasked: bool,
}

/// The memory of an idle connection, of which there may be tens of thousands.
const _: () = assert!(size_of::<Connection>() <= 120);

/// An exchange that did not end within the call that began it.
pub(super) struct InProgress {
    pub(super) number: u32,
    pub(super) answer: Answer,
    /// The request content, to be read by the handler.
    pub(super) inbound: Option<ContentSender>,
    /// `inbound` carries bytes after HTTP, not content.
    pub(super) is_tunnel: bool,
    /// Content for which the handler's pipe had no room.
    pub(super) stalled: Option<bytes::Bytes>,
    pub(super) received_bytes: u64,
    pub(super) content_bytes_max: u64,
    /// How long the exchange waited for the peer in total, and since when it is waiting now.
    pub(super) waited_ms: u64,
    pub(super) waiting_since_ms: u64,
    pub(super) record: Record,
    /// Changes to the response, applied when it comes.
    pub(super) amendments: Vec<Amendment>,
}

/// An exchange when the service has returned from the call that began it.
pub(super) struct Begun {
    pub(super) number: u32,
    pub(super) record: Record,
    pub(super) options: ExchangeOptions,
}

impl InProgress {
    /// An exchange that waits for its peer since `now_ms`.
    pub(super) fn new(begun: Begun, answer: Answer, now_ms: u64) -> Box<Self> {
        let Begun { number, record, options } = begun;
        Box::new(Self {
            number,
            answer,
            inbound: options.inbound,
            is_tunnel: options.is_tunnel,
            stalled: None,
            received_bytes: 0,
            content_bytes_max: options.content_bytes_max,
            waited_ms: 0,
            waiting_since_ms: now_ms,
            record,
            amendments: options.amendments,
        })
    }

    /// Returns whether content must wait.
    pub(super) fn holds_back(&self) -> bool {
        self.stalled.is_some() || matches!(self.answer, Answer::Suspended(_))
    }

    /// Returns whether no response has been sent yet.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.answer, Answer::Awaited | Answer::Suspended(_))
    }
}

pub(super) enum Answer {
    /// The handler holds the responder.
    Awaited,
    /// The exchange is suspended: the bytes of the head, to call the service with again.
    Suspended(Box<[u8]>),
    /// Content is sent from a pipe.
    Streaming(ContentReader),
    /// All content has been passed to the connection; some may wait for the peer to read.
    Written,
}

/// What [`Service::finished`] reports.
#[derive(Clone, Copy)]
pub(super) struct Record {
    pub(super) tag: Option<u32>,
    pub(super) status: Status,
    pub(super) started_ms: u64,
    pub(super) content_bytes: u64,
}

impl Connection {
    /// Returns whether the current request is incomplete: its content may still come.
    pub(super) fn is_receiving(&self) -> bool {
        matches!(self.machine.receiving(), State::SendBody | State::Switched)
    }

    /// Returns whether content is next that a handler has room for or that is dropped.
    pub(super) fn wants_content(&self) -> bool {
        let holds_back = self.exchange.as_ref();
        self.is_receiving() && !holds_back.is_some_and(|exchange| exchange.holds_back())
    }

    /// Returns whether the connection speaks another protocol. The server's side switches first,
    /// the client's when its whole request has been read.
    pub(super) fn is_switched(&self) -> bool {
        self.machine.sending() == State::Switched
    }

    pub(super) fn close_after_this(&mut self) {
        self.closes_unasked = true;
        self.machine.close_after_this();
    }

    /// Keeps the input that was not consumed.
    pub(super) fn keep(&mut self, mut input: Vec<u8>, consumed: usize) {
        if consumed >= input.len() {
            return; // the buffer goes back: an idle connection owns none
        }
        input.drain(..consumed);
        self.input = input;
    }
}
