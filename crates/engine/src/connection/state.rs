//! One connection and the exchange in hand.

use std::net::SocketAddr;
use std::sync::Arc;

use vervet_http::h1::Server;
use vervet_http::h1::state::State;
use vervet_http::status::Status;

use crate::exchange::{Amendment, Left};
use crate::listener::Endpoint;
use crate::pipe::{ContentReader, ContentSender};

/// What a connection waits for, which decides what a passed deadline means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// A PROXY protocol header.
    Preface,
    /// The rest of a head; before the first byte of the first one, too.
    Head,
    /// The next request, if there is to be one.
    Request,
    /// Content, or the handler: which of them the exchange tells.
    Exchange,
}

/// One connection. An idle one owns nothing beyond this.
pub struct Connection {
    pub(super) machine: Server,
    pub(super) waiting: Waiting,
    /// Received and not yet consumed: a partial head, or what is behind an answer under way.
    pub(super) input: Vec<u8>,
    pub(super) peer: Option<SocketAddr>,
    pub(super) listener: Arc<Endpoint>,
    pub(super) exchange: Option<Box<InProgress>>,
    pub(super) requests: u32,
    /// Content of the current request that was read and dropped.
    pub(super) dropped_bytes: u32,
    /// It is we who end the connection, not the client: it may be sending the next request already.
    pub(super) closes_unasked: bool,
}

/// Ten thousand idle connections are this, ten thousand times.
const _: () = assert!(size_of::<Connection>() <= 120);

/// An exchange that did not end in the call that began it.
pub(super) struct InProgress {
    pub(super) number: u32,
    pub(super) answer: Answer,
    /// Towards the handler.
    pub(super) inbound: Option<ContentSender>,
    /// `inbound` is for what comes after HTTP and not for content.
    pub(super) is_tunnel: bool,
    /// Content that the handler's pipe had no room for.
    pub(super) stalled: Option<bytes::Bytes>,
    pub(super) received_bytes: u64,
    pub(super) content_bytes_max: u64,
    /// How long the peer was waited for in all, and since when it is waited for now.
    pub(super) waited_ms: u64,
    pub(super) waiting_since_ms: u64,
    pub(super) record: Record,
    /// What is to be changed in the answer when it comes.
    pub(super) amendments: Vec<Amendment>,
}

impl InProgress {
    /// An exchange that is waited for from `now_ms` on.
    pub(super) fn new(
        number: u32,
        answer: Answer,
        left: Left,
        record: Record,
        now_ms: u64,
    ) -> Box<Self> {
        Box::new(Self {
            number,
            answer,
            inbound: left.inbound,
            is_tunnel: left.is_tunnel,
            stalled: None,
            received_bytes: 0,
            content_bytes_max: left.content_bytes_max,
            waited_ms: 0,
            waiting_since_ms: now_ms,
            record,
            amendments: Vec::new(),
        })
    }

    /// Whether content has to wait.
    pub(super) fn holds_back(&self) -> bool {
        self.stalled.is_some() || matches!(self.answer, Answer::Suspended(_))
    }

    /// Whether nothing has been answered yet.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.answer, Answer::Awaited | Answer::Suspended(_))
    }
}

pub(super) enum Answer {
    /// The handler has the responder.
    Awaited,
    /// Somebody has the resume. The bytes of the head, to call the service with once more.
    Suspended(Box<[u8]>),
    /// Content comes through a pipe.
    Streaming(ContentReader),
    /// All of it is with the connection; some of it may wait for the peer to read.
    Written,
}

/// What is told to [`Service::finished`].
#[derive(Clone, Copy)]
pub(super) struct Record {
    pub(super) tag: Option<u32>,
    pub(super) status: Status,
    pub(super) started_ms: u64,
    pub(super) content_bytes: u64,
}

impl Connection {
    /// Whether the request under way is not complete: its content may still come.
    pub(super) fn is_receiving(&self) -> bool {
        matches!(self.machine.receiving(), State::SendBody | State::Switched)
    }

    /// Whether the next thing to come is content that somebody has room for, or drops.
    pub(super) fn wants_content(&self) -> bool {
        let holds_back = self.exchange.as_ref();
        self.is_receiving() && !holds_back.is_some_and(|exchange| exchange.holds_back())
    }

    /// Whether the connection speaks another protocol by now. Our side goes first: the client's follows when all
    /// of its request has been read.
    pub(super) fn is_switched(&self) -> bool {
        self.machine.sending() == State::Switched
    }

    pub(super) fn close_after_this(&mut self) {
        self.closes_unasked = true;
        self.machine.close_after_this();
    }

    /// Keeps what was not consumed of a buffer that is its own.
    pub(super) fn keep(&mut self, mut input: Vec<u8>, consumed: usize) {
        if consumed >= input.len() {
            return; // the buffer goes back: an idle connection owns none
        }
        input.drain(..consumed);
        self.input = input;
    }
}
