//! The interface of a reactor to the protocol above it: completed events.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use super::io::Io;
use crate::gate::ConnectionLimit;
use crate::listener::Endpoint;

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The protocol ended it, and all output was sent.
    Finished,
    /// The protocol aborted it: unsent output is lost.
    Aborted,
    /// The peer reset the connection or the network failed.
    Failed(rustix::io::Errno),
    /// A file became shorter than promised while it was sent.
    FileTruncated,
    /// The reactor was stopped.
    Stopped,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished => formatter.write_str("finished"),
            Self::Aborted => formatter.write_str("aborted by the server"),
            Self::Failed(errno) => write!(formatter, "connection failed: {errno}"),
            Self::FileTruncated => formatter.write_str("a file became shorter while it was sent"),
            Self::Stopped => formatter.write_str("the server stopped"),
        }
    }
}

/// What is known of a connection when it is accepted.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// The peer's address; `None` over a unix socket.
    pub peer: Option<SocketAddr>,
    /// The listener that accepted it.
    pub listener: Arc<Endpoint>,
    /// Set if a connection limit is exceeded: the protocol may send a response, and must reject the
    /// connection.
    pub overload: Option<ConnectionLimit>,
}

/// Whether a protocol accepts a connection.
pub enum Admission<C> {
    /// The connection is accepted, with this state.
    Admit(C),
    /// The connection is rejected: what the protocol wrote to [`Io::out`](super::Io::out) is sent,
    /// then the connection lingers and closes.
    Refuse,
    /// The connection is closed without a byte.
    Drop,
}

/// A protocol over byte streams, which receives completed events. One value serves all connections
/// of one reactor; the state of a connection is `Connection`, kept by the reactor in one slab.
///
/// Every call gets the [`Io`] of the connection: what is written to [`Io::out`] is sent with one
/// system call when the call returns.
pub trait Protocol {
    /// The state of one connection. Keep it small: there may be tens of thousands of idle ones.
    type Connection;
    /// What other threads may send to a connection through a [`Handle`](super::Handle).
    type Message: Send + 'static;

    /// A connection was accepted; nothing has been read from it yet.
    fn on_accept(&mut self, io: &mut Io<'_>, accepted: &Accepted) -> Admission<Self::Connection>;

    /// An outgoing connection, by [`Reactor::connect`](super::Reactor::connect), is connected.
    fn on_connect(&mut self, io: &mut Io<'_>, connection: &mut Self::Connection) {
        let _ = (io, connection);
    }

    /// Bytes were received. They are borrowed for the call: copy what is needed later.
    fn on_data(&mut self, io: &mut Io<'_>, connection: &mut Self::Connection, bytes: &[u8]);

    /// This many bytes were received and dropped, as requested by [`Io::discard`]: never more,
    /// perhaps in several calls.
    fn on_discarded(&mut self, io: &mut Io<'_>, connection: &mut Self::Connection, bytes: usize) {
        let _ = (io, connection, bytes);
    }

    /// Blocked output has been sent completely.
    fn on_sent(&mut self, io: &mut Io<'_>, connection: &mut Self::Connection);

    /// The peer will send no more data.
    fn on_eof(&mut self, io: &mut Io<'_>, connection: &mut Self::Connection);

    /// The deadline set by [`Io::set_deadline`] expired. It is removed before the call.
    fn on_deadline(&mut self, io: &mut Io<'_>, connection: &mut Self::Connection);

    /// Output became blocked when the protocol's call returned, or has made progress since.
    fn on_progress(&mut self, io: &mut Io<'_>, connection: &mut Self::Connection);

    /// A message for this connection arrived.
    fn on_message(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Self::Connection,
        message: Self::Message,
    );

    /// A message for the whole protocol arrived: a [`Command::Tell`](super::Command::Tell).
    fn on_command(&mut self, message: Self::Message);

    /// The reactor drains: complete exchanges in progress, begin nothing new, close when idle.
    fn on_drain(&mut self, io: &mut Io<'_>, connection: &mut Self::Connection);

    /// The connection has ended, and the kernel has not taken this many bytes of its output, the
    /// last ones. Called before [`Self::on_close`].
    fn on_lost(&mut self, connection: &mut Self::Connection, bytes: u64) {
        let _ = (connection, bytes);
    }

    /// The connection has ended.
    fn on_close(&mut self, connection: Self::Connection, reason: Reason);
}
