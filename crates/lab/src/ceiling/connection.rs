//! One connection of the ceiling: how many answers it is owed, and how far the one under way has come.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use memchr::memmem;
use rustix::fs::sendfile;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

/// What is sent, from where it is sent with the least work.
#[derive(Debug)]
pub(super) enum Answer {
    /// Head and content in one piece, which is repeated so that one send answers several requests.
    Memory {
        /// The answer, again and again.
        repeated: Vec<u8>,
        /// How often.
        times: u64,
    },
    /// The content by sendfile(2).
    File {
        head: Vec<u8>,
        file: File,
        /// Bytes of the file.
        length: u64,
    },
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

/// Finds empty lines; made once.
#[derive(Debug)]
pub(super) struct Search(memmem::Finder<'static>);

impl Search {
    pub(super) fn new() -> Self {
        Self(memmem::Finder::new(EMPTY_LINE))
    }
}

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
    pub(super) fn read(&mut self, buffer: &mut [u8], search: &Search, answer: &Answer) -> Next {
        match recv(&self.socket, &mut *buffer, RecvFlags::empty()) {
            Ok((0, _)) => Next::End,
            Ok((count, _)) => {
                self.owed += self.requests(search, &buffer[..count]);
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
        let (flags, bytes) = match answer {
            Answer::Memory { repeated, times } => {
                let end = place(self.owed.min(*times) * answer.length());
                (SendFlags::empty(), &repeated[place(self.sent)..end])
            }
            Answer::File { head, file, length } => {
                if let Some(mut offset) = self.sent.checked_sub(head.len() as u64) {
                    let left = place(length - offset);
                    return Ok(sendfile(&self.socket, file, Some(&mut offset), left)? as u64);
                }
                (SendFlags::MORE, &head[place(self.sent)..])
            }
        };
        Ok(send(&self.socket, bytes, flags | SendFlags::NOSIGNAL)? as u64)
    }

    /// How many requests end in some bytes: an empty line may lie across two reads.
    fn requests(&mut self, search: &Search, mut bytes: &[u8]) -> u64 {
        let mut requests = 0;
        while let [byte, rest @ ..] = bytes {
            if self.matched == 0 {
                // The search of whole blocks: what is left behind the last empty line is shorter than a head.
                let Some(end) = search.0.find(bytes) else {
                    self.matched = begun(bytes);
                    break;
                };
                requests += 1;
                bytes = &bytes[end + EMPTY_LINE.len()..];
                continue;
            }
            self.matched = if *byte == EMPTY_LINE[self.matched] {
                self.matched + 1
            } else {
                usize::from(*byte == b'\r')
            };
            if self.matched == EMPTY_LINE.len() {
                self.matched = 0;
                requests += 1;
            }
            bytes = rest;
        }
        requests
    }
}

impl Answer {
    /// Head and content of one answer, in bytes.
    fn length(&self) -> u64 {
        match self {
            Self::Memory { repeated, times } => repeated.len() as u64 / times,
            Self::File { head, length, .. } => head.len() as u64 + length,
        }
    }
}

/// How many bytes of an empty line stand at the end of some bytes that hold none.
fn begun(bytes: &[u8]) -> usize {
    let begins = |count: &usize| bytes.ends_with(&EMPTY_LINE[..*count]);
    (1..EMPTY_LINE.len()).rev().find(begins).unwrap_or(0)
}

/// A place in memory. What is counted here is in memory, so it has one.
fn place(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
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
            let search = Search::new();
            let requests = pieces
                .iter()
                .map(|piece| connection.requests(&search, piece));
            let requests: u64 = requests.sum();
            assert_eq!(requests, expected, "{pieces:?}");
        };
        check(&[b"GET / HTTP/1.1\r\nA: b\r\n"], 0);
        check(&[b"GET / HTTP/1.1\r\n\r\n"], 1);
        check(&[b"GET /\r\n\r\nGET /\r\n\r\nGET"], 2);
        check(&[b"GET /\r", b"\n", b"\r", b"\nGET /\r\n\r", b"\n"], 2);
        check(&[b"\r\r\n\r\n"], 1);
        check(&[b"GET /\r\n\r", b"\r\n", b"\r\n"], 1);
        // Wherever two requests are cut, they are two.
        let whole = b"GET /\r\nA: b\r\n\r\nGET /\r\n\r\n";
        for cut in 0..=whole.len() {
            check(&[&whole[..cut], &whole[cut..]], 2);
        }
    }
}
