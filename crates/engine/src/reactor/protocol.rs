//! What stands on a reactor: completed events upwards.

use super::accept::{Accepted, Admission};
use super::io::Io;
use std::fmt;

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The protocol asked for it, all output having been sent.
    Finished,
    /// The protocol aborted it: output that was not sent is lost.
    Aborted,
    /// The peer reset the connection or the network failed.
    Failed(rustix::io::Errno),
    /// A file became shorter than promised while it was being sent.
    FileTruncated,
    /// The reactor stopped.
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

/// A protocol over byte streams, told of completed events. One value serves all connections of one reactor;
/// the state of a connection is `Connection`, kept by the reactor in one slab.
///
/// Every call gets an [`Io`] that stands for the connection: what is written to [`Io::out`] leaves in one send
/// when the call returns.
pub trait Protocol {
    /// State of one connection. Keep it small: ten thousand idle ones are kept.
    type Connection;
    /// What other threads may send to a connection through a [`Handle`](super::Handle).
    type Message: Send + 'static;

    /// A connection was accepted; nothing has been read from it yet.
    fn on_accept(&mut self, io: &mut Io<'_>, accepted: &Accepted) -> Admission<Self::Connection>;

    /// A connection that began here, by [`Reactor::connect`](super::Reactor::connect), is connected.
    fn on_connect(&mut self, io: &mut Io<'_>, connection: &mut Self::Connection) {
        let _ = (io, connection);
    }

    /// Bytes were received. They are borrowed for the call: what is needed later must be copied.
    fn on_data(&mut self, io: &mut Io<'_>, connection: &mut Self::Connection, bytes: &[u8]);

    /// So many bytes were received and dropped, as [`Io::discard`] had asked: never more, perhaps in several calls.
    fn on_discarded(&mut self, io: &mut Io<'_>, connection: &mut Self::Connection, bytes: usize) {
        let _ = (io, connection, bytes);
    }

    /// Output that had been blocked has been sent completely.
    fn on_sent(&mut self, io: &mut Io<'_>, connection: &mut Self::Connection);

    /// The peer will send no more.
    fn on_eof(&mut self, io: &mut Io<'_>, connection: &mut Self::Connection);

    /// The deadline set by [`Io::set_deadline`] passed. It is unset before the call.
    fn on_deadline(&mut self, io: &mut Io<'_>, connection: &mut Self::Connection);

    /// Output became blocked when the protocol's call returned, or made some progress since.
    fn on_progress(&mut self, io: &mut Io<'_>, connection: &mut Self::Connection);

    /// A message for this connection arrived.
    fn on_message(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Self::Connection,
        message: Self::Message,
    );

    /// A message for all of it, and no connection, arrived: an [`Order::Tell`](super::Order::Tell).
    fn on_order(&mut self, message: Self::Message);

    /// The reactor drains: finish what is in hand, begin nothing new, close when idle.
    fn on_drain(&mut self, io: &mut Io<'_>, connection: &mut Self::Connection);

    /// The connection is gone.
    fn on_close(&mut self, connection: Self::Connection, reason: Reason);
}
