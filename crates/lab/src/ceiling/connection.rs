//! One connection of the ceiling: how many answers it is owed, and how far the one under way has come.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::sendfile;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

/// What is sent.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) head: Vec<u8>,
    pub(super) content: Content,
}

/// Content, from where it is sent with the least work.
#[derive(Debug)]
pub(super) enum Content {
    /// Behind the head, in the same send, as often as there are requests.
    Memory,
    /// By sendfile(2), so many bytes.
    File(File, u64),
}

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Requests.
    Read,
    /// Room for what it is owed.
    Write,
    /// Nothing: it is over.
    End,
}

#[derive(Debug)]
pub(super) struct Connection {
    socket: OwnedFd,
    /// Answers that are not sent to their end.
    owed: u64,
    /// How much of the first of them is sent, head and content together.
    sent: u64,
    /// How many bytes of an empty line the last read ended with.
    matched: usize,
    /// Whether an answer was sent to its end.
    answered: bool,
}

const EMPTY_LINE: &[u8; 4] = b"\r\n\r\n";

impl Connection {
    pub(super) fn new(socket: OwnedFd) -> Self {
        Self {
            socket,
            owed: 0,
            sent: 0,
            matched: 0,
            answered: false,
        }
    }

    /// Reads what is there and answers it.
    pub(super) fn read(&mut self, buffer: &mut [u8], answer: &Answer) -> Next {
        match recv(&self.socket, &mut *buffer, RecvFlags::empty()) {
            Ok((0, _)) => Next::End,
            Ok((count, _)) => {
                self.owed += self.requests(&buffer[..count]);
                self.write(answer)
            }
            Err(Errno::AGAIN | Errno::INTR) => Next::Read,
            Err(_) => Next::End,
        }
    }

    /// Sends what is owed, as far as there is room.
    pub(super) fn write(&mut self, answer: &Answer) -> Next {
        let whole = answer.length();
        while self.owed > 0 {
            match self.send(answer) {
                Ok(count) => {
                    self.sent += count;
                    while self.sent >= whole && self.owed > 0 {
                        self.sent -= whole;
                        self.owed -= 1;
                        self.answered = true;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Next::Write,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Next::End,
            }
        }
        Next::Read
    }

    /// Whether it has had an answer, and is owed none.
    pub(super) fn is_done(&self) -> bool {
        self.answered && self.owed == 0
    }

    /// One call that sends a part of what is owed.
    fn send(&self, answer: &Answer) -> io::Result<u64> {
        let head = answer.head.len() as u64;
        let (flags, bytes) = match &answer.content {
            Content::File(file, length) if self.sent >= head => {
                let mut offset = self.sent - head;
                let left = usize::try_from(length - offset).unwrap_or(usize::MAX);
                return Ok(sendfile(&self.socket, file, Some(&mut offset), left)? as u64);
            }
            Content::File(..) => (SendFlags::MORE, answer.head.as_slice()),
            Content::Memory => (SendFlags::empty(), answer.head.as_slice()),
        };
        let from = usize::try_from(self.sent)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        Ok(send(&self.socket, &bytes[from..], flags | SendFlags::NOSIGNAL)? as u64)
    }

    /// How many requests end in some bytes: an empty line may lie across two reads.
    fn requests(&mut self, bytes: &[u8]) -> u64 {
        let mut requests = 0;
        for &byte in bytes {
            self.matched = if byte == EMPTY_LINE[self.matched] {
                self.matched + 1
            } else {
                usize::from(byte == b'\r')
            };
            if self.matched == EMPTY_LINE.len() {
                self.matched = 0;
                requests += 1;
            }
        }
        requests
    }
}

impl Answer {
    /// Head and content, in bytes.
    fn length(&self) -> u64 {
        let head = self.head.len() as u64;
        match self.content {
            Content::Memory => head,
            Content::File(_, length) => head + length,
        }
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_line_may_lie_across_reads() {
        let check = |pieces: &[&[u8]], expected: u64| {
            let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
            let mut connection = Connection::new(socket.into());
            let requests: u64 = pieces.iter().map(|piece| connection.requests(piece)).sum();
            assert_eq!(requests, expected, "{pieces:?}");
        };
        check(&[b"GET / HTTP/1.1\r\nA: b\r\n"], 0);
        check(&[b"GET / HTTP/1.1\r\n\r\n"], 1);
        check(&[b"GET /\r\n\r\nGET /\r\n\r\nGET"], 2);
        check(&[b"GET /\r", b"\n", b"\r", b"\nGET /\r\n\r", b"\n"], 2);
        check(&[b"\r\r\n\r\n"], 1);
    }
}
