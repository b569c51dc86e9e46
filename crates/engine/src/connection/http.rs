//! HTTP/1 for one reactor: handles completed events and decides what a connection waits for next.

use std::sync::Arc;

use vervet_http::h1::state::State;
use vervet_http::h1::{HeadLimits, Server};
use vervet_http::status::Status;

use crate::counters::Counters;
use crate::exchange::{Admit, Finished, Message, Service};
use crate::executor::Spawner;
use crate::limits::Limits;
use crate::pipe::ContentError;
use crate::reactor::{Accepted, Admission, Closing, Io, Mailbox, Now, Protocol, Reason};

use super::answer::{DateLine, Refusal};
use super::receive;
use super::state::{Connection, Record, Waiting};

/// Settings shared by all connections of an engine.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Limits of time, size and count.
    pub limits: Limits,
    /// Field lines, each with its CRLF, that responses of the engine itself carry, such as
    /// `Server: vervet`.
    pub own_fields: Vec<u8>,
    /// `Retry-After` of an overload response, in seconds.
    pub retry_after_s: u32,
}

impl Default for HttpOptions {
    /// Clients retry after one second: 0 would ask a crowd to try again at once.
    fn default() -> Self {
        Self { limits: Limits::default(), own_fields: Vec::new(), retry_after_s: 1 }
    }
}

/// HTTP/1 connections of one reactor, with a [`Service`] as handler.
pub struct Http<S> {
    pub(super) service: S,
    pub(super) options: Arc<HttpOptions>,
    /// Initially those of the options, later those that were set.
    pub(super) limits: Limits,
    pub(super) head_limits: HeadLimits,
    pub(super) counters: Arc<Counters>,
    pub(super) mailbox: Arc<Mailbox<Message>>,
    pub(super) spawner: Spawner,
    pub(super) date: DateLine,
}

impl<S: Service> Http<S> {
    /// Creates HTTP/1 for one reactor, with its mailbox and executor.
    pub fn new(
        service: S,
        options: Arc<HttpOptions>,
        counters: Arc<Counters>,
        mailbox: &Arc<Mailbox<Message>>,
        spawner: &Spawner,
    ) -> Self {
        Self {
            service,
            head_limits: head_limits(&options.limits),
            limits: options.limits.clone(),
            options,
            counters,
            mailbox: Arc::clone(mailbox),
            spawner: spawner.clone(),
            date: DateLine::default(),
        }
    }

    /// Returns whether `bytes` in `elapsed_ms` are below a minimum rate in bytes per second, after
    /// the grace period.
    pub(super) fn is_too_slow(&self, bytes: u64, elapsed_ms: u64, rate_min: u32) -> bool {
        elapsed_ms > u64::from(self.limits.rate_grace_ms)
            && bytes.saturating_mul(1000) < elapsed_ms.saturating_mul(u64::from(rate_min))
    }

    /// Processes the connection's own buffer, then sets the deadline for what comes next.
    pub(super) fn proceed(&mut self, io: &mut Io<'_>, connection: &mut Connection) {
        let input = std::mem::take(&mut connection.input);
        let consumed = self.advance(io, connection, &input);
        connection.keep(input, consumed);
        self.wait(io, connection);
    }

    /// Sets what the connection waits for. It reads only if the bytes can be processed.
    pub(super) fn wait(&self, io: &mut Io<'_>, connection: &mut Connection) {
        if io.is_closing() {
            return;
        }
        // Without an exchange, content that is to be dropped may follow.
        if connection.exchange.is_some() || connection.is_receiving() {
            return self.wait_in_exchange(io, connection);
        }
        io.resume();
        if io.is_blocked() {
            io.set_deadline(u64::from(self.limits.write_stall_timeout_ms));
        } else if connection.waiting == Waiting::Head {
            // The time limit of a head runs from its first byte.
        } else if connection.input.is_empty() {
            self.wait_for_request(io, connection);
        } else {
            connection.waiting = Waiting::Head;
            io.set_deadline(u64::from(self.limits.head_timeout_ms));
        }
    }

    fn wait_in_exchange(&self, io: &mut Io<'_>, connection: &mut Connection) {
        let limits = &self.limits;
        let wants_content = connection.wants_content();
        connection.waiting = Waiting::Exchange;
        if wants_content {
            io.resume();
        } else {
            io.pause();
        }
        if io.is_blocked() {
            io.set_deadline(u64::from(limits.write_stall_timeout_ms));
        } else if wants_content && connection.machine.receiving() == State::SendBody {
            io.set_deadline(u64::from(limits.content_idle_timeout_ms));
        } else {
            io.clear_deadline();
        }
    }

    fn wait_for_request(&self, io: &mut Io<'_>, connection: &mut Connection) {
        connection.waiting = Waiting::Request;
        let kept_ms = self.limits.keep_alive_idle_ms;
        let idle_ms = if io.is_draining() { DRAIN_IDLE_MS.min(kept_ms) } else { kept_ms };
        io.set_deadline(u64::from(idle_ms));
    }

    pub(super) fn finish(
        &mut self,
        io: &Io<'_>,
        connection: &Connection,
        record: Record,
        fault: Option<&str>,
    ) {
        self.counters.content_bytes.add(record.content_bytes);
        if record.tag.is_some() || fault.is_some() {
            let now = io.now();
            self.service.finished(&Finished {
                tag: record.tag,
                status: record.status,
                content_bytes: record.content_bytes,
                duration_ms: now.monotonic_ms.saturating_sub(record.started_ms),
                peer: connection.peer,
                now,
                fault,
            });
        }
    }
}

fn head_limits(limits: &Limits) -> HeadLimits {
    HeadLimits {
        head_bytes_max: limits.head_bytes_max as usize,
        fields_max: limits.fields_max as usize,
        target_bytes_max: limits.target_bytes_max as usize,
        trailer_bytes_max: limits.trailer_bytes_max as usize,
    }
}

/// How long after the beginning of a drain a connection may still begin a last request: one sent
/// before the client could know is served, with `Connection: close`.
const DRAIN_IDLE_MS: u32 = 500;

impl<S: Service> Protocol for Http<S> {
    type Connection = Connection;
    type Message = Message;

    fn on_accept(&mut self, io: &mut Io<'_>, accepted: &Accepted) -> Admission<Connection> {
        let expects_proxy_header =
            accepted.listener.expects_proxy_header(accepted.peer.map(|peer| peer.ip()));
        if !expects_proxy_header
            && self.service.admit(accepted.peer, &accepted.listener) == Admit::Close
        {
            self.counters.denied.add(1);
            return Admission::Drop;
        }
        if let Some(too_many) = accepted.overload {
            self.counters.count_refusal(too_many);
            self.refuse_overload(io);
            return Admission::Refuse;
        }
        self.counters.connections.add(1);
        let (waiting, timeout_ms) = if expects_proxy_header {
            (Waiting::ProxyHeader, self.limits.proxy_header_timeout_ms)
        } else {
            (Waiting::Head, self.limits.head_timeout_ms)
        };
        let drain_ms = if io.is_draining() { DRAIN_IDLE_MS } else { u32::MAX };
        io.set_deadline(u64::from(timeout_ms.min(drain_ms)));
        Admission::Admit(Connection {
            machine: Server::new(),
            waiting,
            input: Vec::new(),
            peer: accepted.peer,
            listener: Arc::clone(&accepted.listener),
            exchange: None,
            requests: 0,
            dropped_bytes: 0,
            closes_unasked: false,
        })
    }

    fn on_data(&mut self, io: &mut Io<'_>, connection: &mut Connection, bytes: &[u8]) {
        if connection.input.is_empty() && connection.waiting != Waiting::ProxyHeader {
            let consumed = self.advance(io, connection, bytes);
            connection.input.extend_from_slice(&bytes[consumed..]);
            self.wait(io, connection);
        } else {
            connection.input.extend_from_slice(bytes);
            if connection.waiting == Waiting::ProxyHeader && !self.proxy_header(io, connection) {
                return;
            }
            self.proceed(io, connection);
        }
    }

    fn on_sent(&mut self, io: &mut Io<'_>, connection: &mut Connection) {
        self.pump(io, connection);
        self.proceed(io, connection);
    }

    fn on_progress(&mut self, io: &mut Io<'_>, _connection: &mut Connection) {
        let Some((since_ms, taken_bytes)) = io.blocked() else {
            return;
        };
        let waited_ms = io.now().monotonic_ms.saturating_sub(since_ms);
        if self.is_too_slow(taken_bytes, waited_ms, self.limits.write_rate_min) {
            self.counters.timeouts.write_rate.add(1);
            return io.close(Closing::Abort);
        }
        io.set_deadline(u64::from(self.limits.write_stall_timeout_ms));
    }

    fn on_eof(&mut self, io: &mut Io<'_>, connection: &mut Connection) {
        if connection.is_receiving()
            && let Some(exchange) = &mut connection.exchange
            && let Some(sender) = exchange.inbound.take()
        {
            if connection.is_switched() {
                sender.finish(None);
            } else {
                sender.abort(ContentError::PeerClosed);
            }
        }
        // A peer may shut down its side and still read (`nc -N`): a response in progress is
        // completed.
        connection.machine.close_after_this();
        if connection.exchange.is_none() && !io.is_blocked() {
            io.close(Closing::AfterSent);
        }
    }

    fn on_deadline(&mut self, io: &mut Io<'_>, connection: &mut Connection) {
        if io.is_blocked() {
            self.counters.timeouts.write_stall.add(1);
            return io.close(Closing::Abort);
        }
        match connection.waiting {
            Waiting::Request => io.close(Closing::AfterSent),
            Waiting::ProxyHeader => {
                self.counters.timeouts.proxy_header.add(1);
                io.close(Closing::Abort);
            }
            Waiting::Head if connection.input.is_empty() => io.close(Closing::AfterSent),
            Waiting::Head => {
                self.counters.timeouts.head.add(1);
                let refusal = Refusal {
                    status: Status::REQUEST_TIMEOUT,
                    reason: "the request head took too long",
                };
                self.refuse(io, connection, &refusal);
            }
            Waiting::Exchange => {
                self.counters.timeouts.content_idle.add(1);
                self.content_failed(io, connection, ContentError::TimedOut);
            }
        }
    }

    fn on_command(&mut self, message: Message) {
        match message {
            Message::Limits(limits) => {
                self.head_limits = head_limits(&limits);
                self.limits = Limits::clone(&limits);
            }
            Message::Refresh => self.service.refresh(),
            Message::Respond(..)
            | Message::Abandoned(_)
            | Message::Resume(..)
            | Message::Pipe(_) => {}
        }
    }

    fn on_message(&mut self, io: &mut Io<'_>, connection: &mut Connection, message: Message) {
        let number = match message {
            Message::Respond(number, _)
            | Message::Abandoned(number)
            | Message::Resume(number, _)
            | Message::Pipe(number) => number,
            Message::Limits(_) | Message::Refresh => return,
        };
        let Some(exchange) = &connection.exchange else {
            return;
        };
        if exchange.number != number {
            return; // the answer of an exchange that is over must not reach the next one
        }
        match message {
            Message::Respond(_, response) => self.respond_later(io, connection, *response),
            Message::Abandoned(_) => self.handler_failed(io, connection),
            Message::Resume(_, value) => self.resume(io, connection, value),
            Message::Pipe(_) => {
                receive::feed(io, connection);
                self.pump(io, connection);
            }
            Message::Limits(_) | Message::Refresh => {}
        }
        self.proceed(io, connection);
    }

    fn on_drain(&mut self, io: &mut Io<'_>, connection: &mut Connection) {
        match connection.waiting {
            Waiting::Request => self.wait_for_request(io, connection),
            // A client that has not sent anything may be sending a request.
            Waiting::ProxyHeader | Waiting::Head if connection.input.is_empty() => {
                io.set_deadline(u64::from(DRAIN_IDLE_MS));
            }
            Waiting::ProxyHeader | Waiting::Head => {}
            Waiting::Exchange => {
                let exchange = connection.exchange.as_ref();
                // A response whose head was sent has promised to keep the connection: one more
                // request may follow.
                if exchange.is_some_and(|exchange| exchange.is_open()) {
                    connection.close_after_this();
                }
            }
        }
    }

    fn on_lost(&mut self, connection: &mut Connection, bytes: u64) {
        if let Some(exchange) = &mut connection.exchange {
            // Content is the last that a response writes. Lost chunks include their framing, so
            // this is at most what was sent.
            let content_bytes = &mut exchange.record.content_bytes;
            *content_bytes = content_bytes.saturating_sub(bytes);
        }
    }

    fn on_close(&mut self, mut connection: Connection, reason: Reason) {
        self.counters.closed.add(1);
        let Some(mut exchange) = connection.exchange.take() else {
            return;
        };
        if let Some(sender) = exchange.inbound.take() {
            sender.abort(ContentError::PeerClosed);
        }
        let content_bytes = exchange.record.content_bytes;
        self.counters.content_bytes.add(content_bytes);
        let fault = reason.to_string();
        let now = Now::read();
        self.service.finished(&Finished {
            tag: exchange.record.tag,
            status: exchange.record.status,
            content_bytes,
            duration_ms: now.monotonic_ms.saturating_sub(exchange.record.started_ms),
            peer: connection.peer,
            now,
            fault: Some(&fault),
        });
    }
}
