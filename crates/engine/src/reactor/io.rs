//! What a protocol can do with the connection that it is called for.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use bytes::Bytes;

use super::poller::Token;
use super::socket::{Continuation, FileSlice, Socket, WriteError, Written};
use super::timers::{Now, Timers};
use crate::counters::Counters;
use crate::wheel::Tick;

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// After all output is sent. Only if the peer is not sending: otherwise the kernel sends a
    /// reset, which may overtake the output.
    AfterSent,
    /// After all output is sent, shut down the output, then read and drop input for a bounded time,
    /// so that the peer can read the last response (RFC 9112 §9.6).
    Lingering,
    /// At once; unsent output is lost and the peer gets a reset.
    Abort,
}

/// State shared by all connections of one reactor during a call.
pub(super) struct Shared {
    /// The response buffer of the reactor.
    pub(super) out: Vec<u8>,
    pub(super) now: Now,
    pub(super) timers: Timers,
    /// Connections with work left that needs no new event.
    pub(super) again: Vec<Token>,
    pub(super) draining: bool,
    pub(super) counters: Arc<Counters>,
}

/// One connection, during a call of its protocol.
pub struct Io<'a> {
    pub(super) socket: &'a mut Socket,
    pub(super) shared: &'a mut Shared,
    pub(super) token: Token,
}

impl<'a> Io<'a> {
    pub(super) fn new(socket: &'a mut Socket, shared: &'a mut Shared, token: Token) -> Self {
        Io { socket, shared, token }
    }

    /// Returns the buffer that output is appended to. It is sent when the call returns, in one
    /// system call.
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.shared.out
    }

    /// Returns the time of this turn.
    pub fn now(&self) -> Now {
        self.shared.now
    }

    /// Returns whether the reactor drains, so that nothing new should begin.
    pub fn is_draining(&self) -> bool {
        self.shared.draining
    }

    /// Returns the connection's token, for messages to it.
    pub fn token(&self) -> Token {
        self.token
    }

    /// Returns the socket, for querying the kernel.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Returns whether output waits for the peer to read, or is lost because a write failed. If so,
    /// write no more until [`Protocol::on_sent`].
    ///
    /// [`Protocol::on_sent`]: super::Protocol::on_sent
    pub fn is_blocked(&self) -> bool {
        self.socket.is_blocked()
    }

    /// Sends what is in [`Self::out`] now.
    pub fn flush(&mut self) {
        self.flush_then(Continuation::Nothing);
    }

    fn flush_then(&mut self, then: Continuation) {
        let written = self.socket.send(&self.shared.out, then, &self.shared.counters.sent_bytes);
        self.note(written);
        self.shared.out.clear();
    }

    /// Sends [`Self::out`] and then shared bytes, which are not copied.
    pub fn send_shared(&mut self, bytes: Bytes) {
        self.flush_then(Continuation::More);
        let written = self.socket.send_shared(bytes, &self.shared.counters.sent_bytes);
        self.note(written);
    }

    /// Sends [`Self::out`] and then a part of a file.
    pub fn send_file(&mut self, slice: FileSlice) {
        self.flush_then(if slice.length > 0 { Continuation::More } else { Continuation::Nothing });
        if slice.length > 0 {
            let written = self.socket.send_file(slice, &self.shared.counters.sent_bytes);
            self.note(written);
        }
    }

    /// Returns since when output waits for the peer, in milliseconds of the monotonic clock, and
    /// how many bytes the peer has taken since.
    pub fn blocked(&self) -> Option<(u64, u64)> {
        let queue = self.socket.queue.as_ref()?;
        Some((queue.since_ms.unwrap_or(self.shared.now.monotonic_ms), queue.taken_bytes()))
    }

    pub(super) fn note(&mut self, written: Result<Written, WriteError>) {
        if let Some(queue) = &mut self.socket.queue {
            queue.since_ms.get_or_insert(self.shared.now.monotonic_ms);
        }
        match written {
            Ok(Written::ShareUsed) => self.shared.again.push(self.token),
            Ok(_) => {}
            Err(error) => self.socket.failed = Some(error),
        }
    }

    /// Calls [`Protocol::on_deadline`](super::Protocol::on_deadline) after this many milliseconds,
    /// not earlier and at most one tick of the wheel (128 ms) later. Replaces the previous
    /// deadline.
    pub fn set_deadline(&mut self, after_ms: u64) {
        let at = self.shared.now.monotonic_ms.saturating_add(after_ms);
        self.shared.timers.set(self.token.index, Some(Tick::deadline_from_ms(at)));
    }

    /// Removes the deadline that was set.
    pub fn clear_deadline(&mut self) {
        self.shared.timers.set(self.token.index, None);
    }

    /// Stops reading from the peer until [`Self::resume`]; the kernel's buffer then slows it down.
    pub fn pause(&mut self) {
        self.socket.paused = true;
    }

    /// Reads from the peer again.
    pub fn resume(&mut self) {
        self.socket.paused = false;
    }

    /// Drops the next received bytes, at most 4 GiB, without copying them out of the kernel, for
    /// content that is not read. [`Protocol::on_discarded`] reports them as they arrive, and
    /// [`Protocol::on_data`] gets what follows. Replaces an earlier call.
    ///
    /// Has an effect only on outgoing TCP connections; on others, [`Protocol::on_data`] gets all
    /// bytes.
    ///
    /// [`Protocol::on_data`]: super::Protocol::on_data
    /// [`Protocol::on_discarded`]: super::Protocol::on_discarded
    pub fn discard(&mut self, bytes: u64) {
        self.socket.discard_next(bytes);
    }

    /// Returns whether the peer is known to have shut down its side, whatever has been read.
    /// Closing now leaves no port in `TIME_WAIT` here.
    pub fn peer_has_shut(&self) -> bool {
        self.socket.peer_shut
    }

    /// Ends the connection. The first call decides, except that an abort always takes effect.
    pub fn close(&mut self, how: Closing) {
        if self.socket.closing.is_none() || how == Closing::Abort {
            self.socket.closing = Some(how);
        }
    }

    /// Returns whether [`Self::close`] was called.
    pub fn is_closing(&self) -> bool {
        self.socket.closing.is_some()
    }
}
