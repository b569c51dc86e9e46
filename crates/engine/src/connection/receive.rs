//! Turning received bytes into exchanges: the PROXY protocol header, requests and their content.

use vervet_http::field::{FIELDS_MAX, FieldBlock, FieldSlots, Fields};
use vervet_http::h1::state::State;
use vervet_http::h1::{ContentLength, HeadLimits, Next, Received, RequestHead, Server, Violation};
use vervet_http::status::Status;

use bytes::Bytes;

use super::answer::Refusal;
use super::http::Http;
use super::state::{Answer, Begun, Connection, InProgress, Record, Waiting};
use crate::exchange::{
    Admit, Exchange, ExchangeOptions, ExchangeParts, Outcome, ReturnAddress, Service, Writer,
};
use crate::pipe::{ContentError, TrySendError};
use crate::proxy_protocol::{self, Parsed};
use crate::reactor::{Closing, Io};

/// The response buffer is sent when it is larger than this, so that a pipelined batch of large
/// responses does not grow it without bound.
const OUT_FLUSH_BYTES: usize = 64 * 1024;

/// A head that was accepted once is not checked against limits again, since they may have changed.
const NO_LIMITS: HeadLimits = HeadLimits {
    head_bytes_max: usize::MAX,
    fields_max: FIELDS_MAX,
    target_bytes_max: usize::MAX,
    trailer_bytes_max: usize::MAX,
};

/// What a call of the service needs in addition to the head.
pub(super) struct CallContext<'a> {
    /// The bytes of the head as received.
    pub(super) head_bytes: &'a [u8],
    pub(super) record: Record,
    pub(super) resumed: Option<u64>,
}

impl Connection {
    /// Returns whether the machine can process more bytes.
    fn may_advance(&self, io: &Io<'_>) -> bool {
        if io.is_closing() || io.is_blocked() {
            return false;
        }
        match &self.exchange {
            None => true,
            Some(exchange) => self.is_receiving() && !exchange.holds_back(),
        }
    }
}

impl<S: Service> Http<S> {
    /// Consumes as much of `input` as possible. Returns how many bytes.
    pub(super) fn advance(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Connection,
        input: &[u8],
    ) -> usize {
        let mut at = 0;
        while connection.may_advance(io) {
            if connection.machine.take_end() {
                end_of_content(connection, &Fields::EMPTY);
                next_exchange(io, connection, input.len() - at);
                continue;
            }
            // Nothing follows most requests: skip the parser.
            if at == input.len() && connection.machine.receiving() == State::Idle {
                break;
            }
            let mut slots = FieldSlots::new();
            let received = connection.machine.receive(&input[at..], &mut slots, &self.head_limits);
            match &received {
                Ok(Received::NeedMore | Received::Paused) => {
                    self.check_announced(io, connection, &input[at..]);
                    break;
                }
                Ok(Received::Head { head, consumed }) => {
                    let head_bytes = &input[at..at + consumed];
                    at += consumed;
                    self.begin(io, connection, head, head_bytes);
                }
                Ok(Received::Content { bytes, consumed }) => {
                    at += consumed;
                    self.content(io, connection, bytes);
                }
                Ok(Received::Opaque) => {
                    let rest = std::mem::replace(&mut at, input.len());
                    self.content(io, connection, &input[rest..]);
                    break;
                }
                Ok(Received::Closed) => {
                    at = input.len();
                    break;
                }
                Ok(Received::End { trailers, consumed }) => {
                    at += consumed;
                    end_of_content(connection, trailers);
                    next_exchange(io, connection, input.len() - at);
                }
                Err(violation) => {
                    at = input.len();
                    self.violated(io, connection, *violation);
                }
            }
            if io.out().len() > OUT_FLUSH_BYTES {
                io.flush();
            }
        }
        at
    }

    /// Reads the PROXY protocol header from the connection's buffer. Returns whether the connection
    /// may continue.
    pub(super) fn proxy_header(&mut self, io: &mut Io<'_>, connection: &mut Connection) -> bool {
        match proxy_protocol::parse(&connection.input) {
            Ok(Parsed::NeedMore) => false,
            Ok(Parsed::Header { source, consumed, .. }) => {
                // A LOCAL header has no source: the connection is the proxy's own, such as a health
                // check.
                if source.is_some() {
                    connection.peer = source;
                }
                if self.service.admit(connection.peer, &connection.listener) == Admit::Close {
                    self.counters.denied.add(1);
                    io.close(Closing::AfterSent);
                    return false;
                }
                connection.input.drain(..consumed);
                connection.waiting = Waiting::Head;
                io.set_deadline(u64::from(self.limits.head_timeout_ms));
                true
            }
            Err(_) => {
                // The peer speaks another protocol: an HTTP response would only confuse it.
                self.counters.violations.add(1);
                io.close(Closing::Abort);
                false
            }
        }
    }

    fn begin(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Connection,
        head: &RequestHead<'_>,
        head_bytes: &[u8],
    ) {
        let limits = &self.limits;
        let content_max = match limits.content_bytes_max {
            0 => u64::MAX,
            max => max,
        };
        let requests_max = limits.requests_per_connection_max;
        self.counters.requests.add(1);
        connection.requests = connection.requests.wrapping_add(1);
        connection.waiting = Waiting::Exchange;
        connection.dropped_bytes = 0;
        if (requests_max > 0 && connection.requests >= requests_max) || io.is_draining() {
            connection.close_after_this();
        }
        if matches!(head.content(), ContentLength::Length(length) if length > content_max) {
            let refusal =
                Refusal { status: Status::CONTENT_TOO_LARGE, reason: "the content is too large" };
            return self.refuse(io, connection, &refusal);
        }
        let record = Record {
            tag: None,
            status: Status::INTERNAL_SERVER_ERROR,
            started_ms: io.now().monotonic_ms,
            content_bytes: 0,
        };
        let call = CallContext { head_bytes, record, resumed: None };
        self.call(io, connection, head, &call);
    }

    /// Calls the service, for the first time or after a suspension.
    pub(super) fn call(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Connection,
        head: &RequestHead<'_>,
        call: &CallContext<'_>,
    ) {
        let mut record = call.record;
        let number = connection.requests;
        let (now, token) = (io.now(), io.token());
        let mut options = ExchangeOptions {
            tag: record.tag,
            content_bytes_max: self.limits.content_bytes_max,
            ..ExchangeOptions::default()
        };
        let mut parts = ExchangeParts {
            head,
            peer: connection.peer,
            listener: &connection.listener,
            now,
            spawner: &self.spawner,
            window_bytes: self.limits.content_window_bytes as usize,
            resumed: call.resumed,
            to: ReturnAddress { mailbox: &self.mailbox, token, number },
            options: &mut options,
            writer: Writer {
                out: io.out(),
                machine: &mut connection.machine,
                date: self.date.at(now),
            },
            holds_answer: false,
        };
        let outcome = self.service.call(Exchange(&mut parts));
        record.tag = options.tag;
        connection.closes_unasked |= options.closes;
        let takes_content = options.inbound.is_some() && head.expects_continue();
        if takes_content && !matches!(outcome, Outcome::Suspended(_)) {
            connection.machine.send_continue(io.out());
        }
        let mut begun = Begun { number, record, options };
        let answer = match outcome {
            Outcome::Done(response) => return self.respond(io, connection, response, begun),
            Outcome::Sent(sent) => return self.sent(io, connection, &sent, record),
            Outcome::Later(later) => {
                begun.options.amendments = later.amendments;
                Answer::Awaited
            }
            Outcome::Suspended(_) => {
                begun.options = ExchangeOptions::default();
                Answer::Suspended(call.head_bytes.into())
            }
        };
        connection.exchange = Some(InProgress::new(begun, answer, now.monotonic_ms));
    }

    /// Resumes a suspended exchange.
    pub(super) fn resume(&mut self, io: &mut Io<'_>, connection: &mut Connection, value: u64) {
        let suspended =
            |exchange: &mut Box<InProgress>| matches!(exchange.answer, Answer::Suspended(_));
        let Some(exchange) = connection.exchange.take_if(suspended) else {
            return;
        };
        let InProgress { answer, record, .. } = *exchange;
        let Answer::Suspended(head_bytes) = answer else {
            return;
        };
        let mut slots = FieldSlots::new();
        let received = Server::new().receive(&head_bytes, &mut slots, &NO_LIMITS);
        let Ok(Received::Head { head, .. }) = received else {
            // These bytes were parsed before, so this is a bug.
            return io.close(Closing::Abort);
        };
        let call = CallContext { head_bytes: &head_bytes, record, resumed: Some(value) };
        self.call(io, connection, &head, &call);
    }

    /// Rejects a chunk that is announced and exceeds the limit of content, before it arrives.
    fn check_announced(&mut self, io: &mut Io<'_>, connection: &mut Connection, input: &[u8]) {
        let Some(exchange) = &connection.exchange else {
            return;
        };
        let announced = connection.machine.content_announced(input);
        let content_max = exchange.content_bytes_max;
        if content_max > 0 && exchange.received_bytes.saturating_add(announced) > content_max {
            self.content_failed(io, connection, ContentError::TooLarge(content_max));
        }
    }

    fn content(&mut self, io: &mut Io<'_>, connection: &mut Connection, bytes: &[u8]) {
        let is_http = connection.machine.receiving() == State::SendBody;
        let announced = connection.machine.content_announced(b"");
        let now_ms = io.now().monotonic_ms;
        let Some(exchange) = &mut connection.exchange else {
            return self.drop_content(io, connection, bytes);
        };
        exchange.received_bytes += bytes.len() as u64;
        exchange.waited_ms += now_ms.saturating_sub(exchange.waiting_since_ms);
        exchange.waiting_since_ms = now_ms;
        let (received_bytes, waited_ms) = (exchange.received_bytes, exchange.waited_ms);
        let content_max = exchange.content_bytes_max;
        let mut failed = None;
        let exceeds = received_bytes.saturating_add(announced) > content_max;
        if is_http && content_max > 0 && exceeds {
            failed = Some(ContentError::TooLarge(content_max));
        } else if is_http
            && self.is_too_slow(received_bytes, waited_ms, self.limits.content_rate_min)
        {
            self.counters.timeouts.content_rate.add(1);
            failed = Some(ContentError::TimedOut);
        } else if let Some(sender) = &mut exchange.inbound {
            match sender.try_send(Bytes::copy_from_slice(bytes)) {
                Ok(()) => {}
                Err(TrySendError::Full(rest)) => exchange.stalled = Some(rest),
                // The handler does not want the rest: it is read and dropped.
                Err(TrySendError::Closed(_)) => exchange.inbound = None,
            }
        }
        if let Some(error) = failed {
            self.content_failed(io, connection, error);
        }
    }

    /// Drops content of a request that has a response already. Little of it is read, to keep the
    /// connection; instead of much of it, a new connection is cheaper.
    fn drop_content(&self, io: &mut Io<'_>, connection: &mut Connection, bytes: &[u8]) {
        let dropped = bytes.len().try_into().unwrap_or(u32::MAX);
        connection.dropped_bytes = connection.dropped_bytes.saturating_add(dropped);
        if connection.dropped_bytes > self.limits.lingering_bytes_max {
            io.close(Closing::Lingering);
        }
    }

    fn violated(&mut self, io: &mut Io<'_>, connection: &mut Connection, violation: Violation) {
        self.counters.violations.add(1);
        let refusal = Refusal { status: violation.status(), reason: &violation.to_string() };
        if connection.exchange.is_some() {
            return self.break_off(io, connection, ContentError::Malformed, &refusal);
        }
        if connection.waiting == Waiting::Exchange {
            // The request has its response and must not get a second one.
            return io.close(Closing::Lingering);
        }
        self.refuse(io, connection, &refusal);
    }
}

/// Passes on what the handler's pipe had no room for.
pub(super) fn feed(io: &Io<'_>, connection: &mut Connection) {
    let Some(exchange) = &mut connection.exchange else {
        return;
    };
    let Some(rest) = exchange.stalled.take() else {
        return;
    };
    let Some(sender) = &mut exchange.inbound else {
        return;
    };
    match sender.try_send(rest) {
        // The time that the handler took does not count against the peer.
        Ok(()) => exchange.waiting_since_ms = io.now().monotonic_ms,
        Err(TrySendError::Full(rest)) => exchange.stalled = Some(rest),
        Err(TrySendError::Closed(_)) => exchange.inbound = None,
    }
}

/// If both sides have ended, starts the next exchange or ends the connection.
pub(super) fn next_exchange(io: &mut Io<'_>, connection: &mut Connection, unread_bytes: usize) {
    if connection.exchange.is_some() {
        return;
    }
    match connection.machine.start_next() {
        Next::Request => connection.waiting = Waiting::Request,
        Next::Unfinished => {}
        // The connection has left HTTP and nobody has a tunnel on it: what comes would be dropped,
        // and waited for without a limit.
        Next::Switched => io.close(Closing::Lingering),
        // A reset would overtake the response to a peer that may still be sending.
        Next::Close
            if unread_bytes > 0
                || connection.closes_unasked
                || connection.machine.awaits_content() =>
        {
            io.close(Closing::Lingering);
        }
        Next::Close => io.close(Closing::AfterSent),
    }
}

fn end_of_content(connection: &mut Connection, trailers: &Fields<'_>) {
    let Some(exchange) = connection.exchange.as_mut().filter(|exchange| !exchange.is_tunnel) else {
        return;
    };
    let Some(sender) = exchange.inbound.take() else {
        return;
    };
    let mut block = FieldBlock::new();
    for (name, value) in trailers.iter() {
        // Only fields that belong to the connection are rejected, which mean nothing to a handler.
        let _ = block.push(name.as_bytes(), value);
    }
    sender.finish((!trailers.is_empty()).then_some(block));
}
