//! Reading from connections: buffers, how much one call and one visit read, and dropping bytes in
//! the kernel.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use super::driver::{Reactor, live};
use super::io::Io;
use super::poller::Token;
use super::protocol::{Protocol, Reason};
use super::socket::{ReadSize, Socket};

/// The size of the reactor's read buffer. One `recv` takes a pipelined batch or a piece of content
/// at once; larger buffers gained nothing.
const READ_BUFFER_BYTES: usize = 64 * 1024;
/// The maximum number of reads from one connection in one visit, so that a fast sender does not
/// delay the others.
const READS_PER_VISIT_MAX: u32 = 8;
/// The size of a read after dropped bytes: room for a head, since the content after it is likely to
/// be dropped as well.
const BRIEF_BUFFER_BYTES: usize = 4 * 1024;
/// The maximum number of bytes that one call drops: as many as a visit reads at most.
const DISCARD_BYTES_PER_CALL_MAX: usize = READ_BUFFER_BYTES * READS_PER_VISIT_MAX as usize;

/// The memory that a reactor reads into.
#[derive(Debug)]
pub(super) struct ReadBuffers {
    /// Its spare capacity is read into: memory that no request has needed is never touched.
    whole: Vec<u8>,
    /// The same for reads after dropped bytes. Allocated when it is needed.
    brief: Vec<u8>,
    /// Gives the kernel a length; it writes nothing there, and zeros that are never touched take no
    /// memory. Allocated when it is needed.
    discard_buffer: Vec<u8>,
}

impl ReadBuffers {
    pub(super) fn new() -> Self {
        Self {
            whole: Vec::with_capacity(READ_BUFFER_BYTES),
            brief: Vec::new(),
            discard_buffer: Vec::new(),
        }
    }

    fn brief(&mut self) -> &mut Vec<u8> {
        if self.brief.capacity() == 0 {
            self.brief.reserve_exact(BRIEF_BUFFER_BYTES);
        }
        &mut self.brief
    }

    fn discard_buffer(&mut self) -> &mut [u8] {
        if self.discard_buffer.is_empty() {
            self.discard_buffer = vec![0; DISCARD_BYTES_PER_CALL_MAX];
        }
        &mut self.discard_buffer
    }
}

/// The result of a read.
enum Received<'a> {
    /// No data is available.
    Nothing,
    Data(&'a [u8]),
    /// This many bytes were dropped.
    Discarded(usize),
    /// The peer sends no more data.
    End,
}

impl<P: Protocol> Reactor<P> {
    /// Reads while there is data and the protocol wants it.
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
            let received = match slot.socket.receive(&mut self.memory) {
                Ok(Received::Nothing) => return,
                Ok(received) => received,
                Err(errno) => return self.remove(token, Reason::Failed(errno)),
            };
            let Some(connection) = &mut slot.connection else {
                return;
            };
            let mut io = Io::new(&mut slot.socket, &mut self.shared, token);
            let counted = &io.shared.counters.received_bytes;
            match received {
                Received::Data(bytes) => {
                    counted.add(bytes.len() as u64);
                    self.protocol.on_data(&mut io, connection, bytes);
                }
                Received::Discarded(bytes) => {
                    counted.add(bytes as u64);
                    self.protocol.on_discarded(&mut io, connection, bytes);
                }
                Received::End | Received::Nothing => {
                    io.socket.eof = true;
                    self.protocol.on_eof(&mut io, connection);
                }
            }
            self.conclude(token);
        }
        self.shared.again.push(token);
    }

    /// Reads input of a closing connection and drops it.
    pub(super) fn linger(&mut self, token: Token) {
        while let Some(slot) = live(&mut self.slots, token) {
            let dropped = slot.socket.lingered_bytes.unwrap_or(0);
            if slot.socket.eof || u64::from(dropped) > self.options.tuning.lingering_bytes_max {
                return self.remove(token, Reason::Finished);
            }
            let count = match slot.socket.receive(&mut self.memory) {
                Ok(Received::Data(bytes)) => bytes.len(),
                Ok(Received::Discarded(bytes)) => bytes,
                Ok(Received::Nothing) => return,
                Ok(Received::End) => {
                    slot.socket.eof = true;
                    continue;
                }
                Err(_) => return self.remove(token, Reason::Finished),
            };
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            slot.socket.lingered_bytes = Some(dropped.saturating_add(count));
        }
    }
}

impl Socket {
    /// Reads once, or lets the kernel drop bytes if [`Io::discard`] was called.
    fn receive<'a>(&mut self, memory: &'a mut ReadBuffers) -> Result<Received<'a>, Errno> {
        if self.discard_bytes > 0 {
            return self.discard(memory.discard_buffer());
        }
        let is_brief = self.read_size == ReadSize::Brief;
        let buffer = if is_brief { memory.brief() } else { &mut memory.whole };
        let room = buffer.capacity();
        buffer.clear();
        let count = self.receive_once(room, |fd| {
            let received = recv(fd, spare_capacity(buffer), RecvFlags::empty())?;
            Ok(received.1)
        })?;
        if is_brief && count == Some(room) {
            // To drop what follows, the protocol calls `discard` again.
            self.read_size = ReadSize::Whole;
        }
        Ok(match count {
            None => Received::Nothing,
            Some(0) => Received::End,
            Some(_) => Received::Data(buffer),
        })
    }

    /// `MSG_TRUNC` has TCP drop what it would have copied (tcp(7)), and never more than there is
    /// room for.
    fn discard(&mut self, discard_buffer: &mut [u8]) -> Result<Received<'static>, Errno> {
        let wanted = usize::try_from(self.discard_bytes).unwrap_or(usize::MAX);
        let room = wanted.min(discard_buffer.len());
        let count = self.receive_once(room, |fd| {
            let received = recv(fd, &mut discard_buffer[..room], RecvFlags::TRUNC)?;
            Ok(received.1)
        })?;
        Ok(match count {
            None => Received::Nothing,
            Some(0) => Received::End,
            Some(count) => {
                let dropped = u32::try_from(count).unwrap_or(u32::MAX);
                self.discard_bytes = self.discard_bytes.saturating_sub(dropped);
                Received::Discarded(count)
            }
        })
    }

    /// Makes one call, and derives from its count whether the socket has more. `None`: no data yet.
    fn receive_once(
        &mut self,
        room: usize,
        mut call: impl FnMut(BorrowedFd<'_>) -> Result<usize, Errno>,
    ) -> Result<Option<usize>, Errno> {
        loop {
            match call(self.as_fd()) {
                Ok(count) => {
                    // A short read empties the socket: new bytes come with a new edge. Only the end
                    // of the data may already have been announced.
                    self.readable = count == room || self.peer_shut;
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
