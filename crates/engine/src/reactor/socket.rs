//! One connected socket: its readiness, and the output that the kernel has not accepted yet.

use std::collections::VecDeque;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use bytes::{Buf, Bytes};
use rustix::io::Errno;
use rustix::net::sockopt::set_tcp_cork;
use rustix::net::{SendFlags, Shutdown};

use super::io::Closing;
use super::spare_sockets::Family;
use crate::counters::Counter;

/// The maximum number of file bytes that one connection sends in one visit, so that a fast reader
/// of a large file does not delay the others. Several times the socket's buffer: small calls cost
/// up to five times the CPU of large ones (107 against 25 us for 200 KB in 64 KB pieces).
const SENDFILE_BYTES_PER_VISIT_MAX: u64 = 8 << 20;

/// Files up to this size are sent without a [`Cork`]: the kernel takes them in one piece.
const UNCORKED_BYTES_MAX: u64 = 64 * 1024;

/// Parts of files that end in the second segment of 64 KiB are handed over in two pieces, the first
/// of 32 KiB. With one call, the pages of the second segment wait for BBR's pacing: 64 KiB on a
/// kept connection cost 27 us of CPU under BBR and 22 in two pieces, 100 KB cost 43 and 27, 120 KB
/// 52 and 31; under cubic the two are within 3 %. What fits one segment, and what needs more than
/// two, costs a third more in pieces (140 KB: 27 and 35 us).
const TWO_SEGMENTS: std::ops::RangeInclusive<u64> = 63 * 1024..=128 * 1024;

/// The first of the two pieces.
const FIRST_PIECE_BYTES: u64 = 32 * 1024;

/// The kernel refuses more in one call (`MAX_RW_COUNT`).
const SENDFILE_BYTES_PER_CALL_MAX: u64 = 0x7fff_f000;

/// A part of an open file, sent without being copied through this process.
#[derive(Clone, Debug)]
pub struct FileSlice {
    /// The open file. Its own position is neither used nor changed.
    pub file: Arc<File>,
    /// The offset of the first byte in the file.
    pub offset: u64,
    /// The number of bytes. A file that turns out to be shorter ends the connection, since the
    /// promised length cannot be kept.
    pub length: u64,
}

#[derive(Debug)]
enum Chunk {
    Bytes(Bytes),
    File(FileSlice),
}

impl Chunk {
    fn length(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(slice) => slice.length,
        }
    }
}

/// Output that waits for the peer, from when the kernel accepted no more until all of it is sent.
/// After a write has failed, it holds what the kernel did not take.
#[derive(Debug, Default)]
pub(super) struct Queue {
    chunks: VecDeque<Chunk>,
    /// Bytes added during the whole wait.
    queued_bytes: u64,
    /// When the wait began; set by [`Io`](super::Io), which knows the time.
    pub(super) since_ms: Option<u64>,
}

impl Queue {
    fn push(&mut self, chunk: Chunk) {
        self.queued_bytes += chunk.length();
        self.chunks.push_back(chunk);
    }

    /// Returns the bytes that the peer has taken since the wait began.
    pub(super) fn taken_bytes(&self) -> u64 {
        self.queued_bytes - self.unsent_bytes()
    }

    fn unsent_bytes(&self) -> u64 {
        self.chunks.iter().map(Chunk::length).sum()
    }
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// The kernel has accepted all of it.
    All,
    /// The kernel accepts no more for now. The rest is queued.
    Blocked,
    /// The visit's share is used up; the socket would accept more.
    ShareUsed,
}

/// Why a write failed permanently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteError {
    Errno(Errno),
    FileTruncated,
}

/// What follows the bytes of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Continuation {
    /// More follows at once: the kernel may wait and fill the segment (`MSG_MORE`).
    More,
    Nothing,
}

/// Whether the kernel keeps a segment that is not full for what follows (`TCP_CORK`).
///
/// It reads a long file in pieces of 16 pages. Between two pieces it answers received
/// acknowledgements with the data it has, full segment or not, unless the socket is corked. That is
/// frequent while the peer's window is small: 200 KB on a new connection cost 63 us with a cork and
/// 94 without. Later the two calls cost more than they gain: 70 KB on a persistent connection cost
/// 21 us with and 17 without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cork {
    /// For the first long file.
    Unused,
    In,
    Out,
}

/// How much is read from a socket at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadSize {
    /// All available data, always: the socket is not known to be TCP, and only TCP can drop data.
    AllThere,
    /// All available data; data that is not wanted can be dropped.
    Whole,
    /// No more than a head needs: bytes before it were dropped, and those after it may be, too.
    Brief,
}

// Five independent facts, each with its own cause: no two of them make one state.
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Socket {
    fd: OwnedFd,
    pub(super) queue: Option<Box<Queue>>,
    pub(super) generation: u32,
    pub(super) read_size: ReadSize,
    /// Bytes that the peer has still to send and that are dropped.
    pub(super) discard_bytes: u32,
    /// Set if the socket can be reused for another connection.
    pub(super) family: Option<Family>,
    /// An outgoing connection that is not connected yet.
    pub(super) connecting: bool,
    cork: Cork,
    /// There may be data to read. Cleared by a short read, set by an edge.
    pub(super) readable: bool,
    /// The protocol does not want data now.
    pub(super) paused: bool,
    /// The peer has shut down its side: a short read does not end the reading.
    pub(super) peer_shut: bool,
    /// The end of the peer's data was reported.
    pub(super) eof: bool,
    pub(super) closing: Option<Closing>,
    /// A write failed: the connection ends when the protocol's call returns.
    pub(super) failed: Option<WriteError>,
    /// Bytes dropped since the connection began to linger, counted up to the maximum of the type.
    pub(super) lingered_bytes: Option<u32>,
}

// Part of what an idle connection costs.
const _: () = assert!(size_of::<Socket>() <= 48);

impl Socket {
    pub(super) fn new(fd: OwnedFd, generation: u32) -> Self {
        Self {
            fd,
            queue: None,
            generation,
            read_size: ReadSize::AllThere,
            discard_bytes: 0,
            family: None,
            connecting: false,
            cork: Cork::Unused,
            readable: false,
            paused: false,
            peer_shut: false,
            eof: false,
            closing: None,
            failed: None,
            lingered_bytes: None,
        }
    }

    /// Drops the next bytes if the kernel supports it.
    pub(super) fn discard_next(&mut self, bytes: u64) {
        if self.read_size != ReadSize::AllThere {
            self.read_size = ReadSize::Brief;
            self.discard_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        }
    }

    /// Returns the descriptor without its state.
    pub(super) fn into_fd(self) -> OwnedFd {
        self.fd
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.queue.is_some()
    }

    /// Returns how many bytes of the output the kernel has not taken.
    pub(super) fn unsent_bytes(&self) -> u64 {
        self.queue.as_ref().map_or(0, |queue| queue.unsent_bytes())
    }

    pub(super) fn wants_data(&self) -> bool {
        self.readable && !self.paused && !self.eof && self.closing.is_none() && self.queue.is_none()
    }

    /// Returns how many bytes the kernel took; `sent` counts them.
    fn send_once(&self, bytes: &[u8], then: Continuation, sent: &Counter) -> Result<usize, Errno> {
        let mut flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        if then == Continuation::More {
            flags |= SendFlags::MORE;
        }
        loop {
            match rustix::net::send(&self.fd, bytes, flags) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(0),
                Err(errno) => return Err(errno),
                Ok(count) => {
                    sent.add(count as u64);
                    return Ok(count);
                }
            }
        }
    }

    fn enqueue(&mut self, chunk: Chunk) {
        self.queue.get_or_insert_default().push(chunk);
    }

    /// Sends bytes that belong to the caller; what the kernel does not take is copied to the queue.
    /// `sent` counts what it takes, here and below.
    pub(super) fn send(
        &mut self,
        bytes: &[u8],
        then: Continuation,
        sent: &Counter,
    ) -> Result<Written, WriteError> {
        if bytes.is_empty() {
            return Ok(self.state());
        }
        let taken = if self.is_blocked() { Ok(0) } else { self.send_once(bytes, then, sent) };
        let count = taken.unwrap_or(0);
        if count < bytes.len() {
            self.enqueue(Chunk::Bytes(Bytes::copy_from_slice(&bytes[count..])));
        }
        taken.map(|_| self.state()).map_err(WriteError::Errno)
    }

    /// Sends shared bytes; what the kernel does not take is queued without a copy.
    pub(super) fn send_shared(
        &mut self,
        mut bytes: Bytes,
        sent: &Counter,
    ) -> Result<Written, WriteError> {
        let taken = if self.is_blocked() {
            Ok(0)
        } else {
            self.send_once(&bytes, Continuation::Nothing, sent)
        };
        bytes.advance(taken.unwrap_or(0));
        if !bytes.is_empty() {
            self.enqueue(Chunk::Bytes(bytes));
        }
        taken.map(|_| self.state()).map_err(WriteError::Errno)
    }

    pub(super) fn send_file(
        &mut self,
        mut slice: FileSlice,
        sent: &Counter,
    ) -> Result<Written, WriteError> {
        let mut written = Ok(self.state());
        if written == Ok(Written::All) {
            written = self.sendfile(&mut slice, sent);
        }
        if slice.length > 0 {
            self.enqueue(Chunk::File(slice));
        }
        written
    }

    fn sendfile(&mut self, slice: &mut FileSlice, sent: &Counter) -> Result<Written, WriteError> {
        if slice.length > UNCORKED_BYTES_MAX {
            self.cork();
        }
        let mut share = SENDFILE_BYTES_PER_VISIT_MAX;
        let mut piece = first_piece_bytes(slice.length);
        while slice.length > 0 {
            if share == 0 {
                return Ok(Written::ShareUsed);
            }
            let wanted = piece.min(slice.length).min(share);
            piece = SENDFILE_BYTES_PER_CALL_MAX;
            let count = usize::try_from(wanted).unwrap_or(usize::MAX);
            match rustix::fs::sendfile(&self.fd, &slice.file, Some(&mut slice.offset), count) {
                Ok(0) => return Err(WriteError::FileTruncated),
                Ok(count) => {
                    slice.length -= count as u64;
                    share -= count as u64;
                    sent.add(count as u64);
                }
                Err(Errno::AGAIN) => return Ok(Written::Blocked),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(WriteError::Errno(errno)),
            }
        }
        Ok(Written::All)
    }

    fn state(&self) -> Written {
        if self.is_blocked() { Written::Blocked } else { Written::All }
    }

    fn cork(&mut self) {
        if self.cork == Cork::Unused {
            // Only TCP has it; elsewhere there are no segments to fill.
            let corked = set_tcp_cork(&self.fd, true).is_ok();
            self.cork = if corked { Cork::In } else { Cork::Out };
        }
    }

    /// Sends what the cork holds back. Needed only at the end of the output.
    pub(super) fn uncork(&mut self) {
        if self.cork == Cork::In {
            self.cork = Cork::Out;
            let _ = set_tcp_cork(&self.fd, false);
        }
    }

    /// Continues with the queue after the socket became writable.
    pub(super) fn flush_queue(&mut self, sent: &Counter) -> Result<Written, WriteError> {
        let Some(mut queue) = self.queue.take() else {
            return Ok(Written::All);
        };
        let written = self.drain_queue(&mut queue.chunks, sent);
        if !queue.chunks.is_empty() {
            self.queue = Some(queue);
        }
        written
    }

    /// Leaves in the queue what the kernel does not take, even if it reports an error.
    fn drain_queue(
        &mut self,
        queue: &mut VecDeque<Chunk>,
        sent: &Counter,
    ) -> Result<Written, WriteError> {
        while let Some(chunk) = queue.pop_front() {
            let then = if queue.is_empty() { Continuation::Nothing } else { Continuation::More };
            match chunk {
                Chunk::Bytes(mut bytes) => {
                    let taken = self.send_once(&bytes, then, sent);
                    bytes.advance(taken.unwrap_or(0));
                    if !bytes.is_empty() {
                        queue.push_front(Chunk::Bytes(bytes));
                        return taken.map(|_| Written::Blocked).map_err(WriteError::Errno);
                    }
                }
                Chunk::File(mut slice) => {
                    let written = self.sendfile(&mut slice, sent);
                    if written != Ok(Written::All) {
                        queue.push_front(Chunk::File(slice));
                        return written;
                    }
                }
            }
        }
        Ok(Written::All)
    }

    /// Shuts down the output, so that the peer reads all of the last response before the connection
    /// ends.
    pub(super) fn shut_output(&self) {
        let _ = rustix::net::shutdown(&self.fd, Shutdown::Write);
    }

    /// Makes the close a reset: the peer must not take the response for complete.
    pub(super) fn reset_on_close(&self) {
        let zero = Some(std::time::Duration::ZERO);
        let _ = rustix::net::sockopt::set_socket_linger(&self.fd, zero);
    }
}

/// Returns how many bytes of a part of a file of this length the first call hands over.
fn first_piece_bytes(length: u64) -> u64 {
    if TWO_SEGMENTS.contains(&length) { FIRST_PIECE_BYTES } else { SENDFILE_BYTES_PER_CALL_MAX }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_segments_are_sent_in_two_pieces() {
        for (length, first) in [
            (0, SENDFILE_BYTES_PER_CALL_MAX),
            (63 * 1024 - 1, SENDFILE_BYTES_PER_CALL_MAX),
            (63 * 1024, FIRST_PIECE_BYTES),
            (128 * 1024, FIRST_PIECE_BYTES),
            (128 * 1024 + 1, SENDFILE_BYTES_PER_CALL_MAX),
        ] {
            assert_eq!(first_piece_bytes(length), first, "{length}");
        }
    }
}
