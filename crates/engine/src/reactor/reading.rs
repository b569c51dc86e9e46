//! Reading: how much of a connection at once, and how long in one visit.

use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::driver::{Reactor, live};
use super::io::Io;
use super::poller::Token;
use super::protocol::{Protocol, Reason};
use super::socket::Socket;

/// The one read buffer of a reactor. One `recv` takes a pipelined batch or a piece of content in one go; larger
/// buffers gained nothing.
pub(super) const READ_BUFFER_BYTES: usize = 64 * 1024;
/// Reads from one connection in one visit, so that a fast sender does not keep the others waiting.
const READS_PER_VISIT_MAX: u32 = 8;

impl<P: Protocol> Reactor<P> {
    /// Reads while there is something and the protocol wants it.
    pub(super) fn read(&mut self, token: Token) {
        for _ in 0..READS_PER_VISIT_MAX {
            let Some(slot) = live(&mut self.slots, token) else {
                return;
            };
            if slot.socket.lingered_bytes.is_some() {
                return self.linger(token);
            }
            if !slot.socket.wants_data() {
                return;
            }
            let received = match slot.socket.receive(&mut self.read_buffer) {
                Ok(Some(count)) => count,
                Ok(None) => return,
                Err(errno) => return self.remove(token, Reason::Failed(errno)),
            };
            let Some(connection) = &mut slot.connection else {
                return;
            };
            let mut io = Io::new(&mut slot.socket, &mut self.shared, token);
            if received == 0 {
                io.socket.eof = true;
                self.protocol.on_eof(&mut io, connection);
            } else {
                io.shared.counters.received_bytes.add(received as u64);
                self.protocol
                    .on_data(&mut io, connection, &self.read_buffer);
            }
            self.conclude(token);
        }
        self.shared.again.push(token);
    }

    /// Reads and drops.
    pub(super) fn linger(&mut self, token: Token) {
        while let Some(slot) = live(&mut self.slots, token) {
            let dropped = slot.socket.lingered_bytes.unwrap_or(0);
            if slot.socket.eof || dropped > self.options.tuning.lingering_bytes_max {
                return self.remove(token, Reason::Finished);
            }
            match slot.socket.receive(&mut self.read_buffer) {
                Ok(Some(0)) => slot.socket.eof = true,
                Ok(Some(count)) => slot.socket.lingered_bytes = Some(dropped + count as u64),
                Ok(None) => return,
                Err(_) => return self.remove(token, Reason::Finished),
            }
        }
    }
}

impl Socket {
    /// Reads once into the reactor's buffer, in the place of what it holds. `None`: nothing there now.
    fn receive(&mut self, buffer: &mut Vec<u8>) -> Result<Option<usize>, Errno> {
        loop {
            buffer.clear();
            match rustix::net::recv(&*self, spare_capacity(buffer), RecvFlags::empty()) {
                Ok((count, _)) => {
                    // A short read empties the socket: new bytes come with a new edge. Only the end of the
                    // data may already have been announced.
                    self.readable = count == buffer.capacity() || self.peer_shut;
                    return Ok(Some(count));
                }
                Err(Errno::AGAIN) => {
                    self.readable = false;
                    return Ok(None);
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
}
