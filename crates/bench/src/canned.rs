//! The machine's ceiling: a server that counts blank lines and answers each with the same bytes.
//!
//! It owns what a server cannot avoid (accept, wait, receive, send) and nothing else: no parsing,
//! no routes, no timers. A blank line split over two reads is not seen; no generator here does so.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};

use memchr::memmem;
use rustix::event::epoll;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};

/// Bytes for bytes what nginx 1.22 answers for the same file, so that the kernel's work is equal.
const KEEP: &[u8] =
    b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
Content-Type: text/plain\r\nContent-Length: 13\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
Connection: keep-alive\r\nETag: \"2ebc9c81-d\"\r\nAccept-Ranges: bytes\r\n\r\nHello, world\n";
const CLOSE: &[u8] =
    b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
Content-Type: text/plain\r\nContent-Length: 13\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
Connection: close\r\nETag: \"2ebc9c81-d\"\r\nAccept-Ranges: bytes\r\n\r\nHello, world\n";

const BACKLOG: i32 = 4096;
const EVENTS_PER_TURN: usize = 256;
const ACCEPTS_PER_TURN: usize = 256;
const READ_BYTES: usize = 64 * 1024;
const ANSWERS_PER_READ: usize = 1024;
const DEFER_SECONDS: u32 = 10;

/// `TCP_DEFER_ACCEPT`, which no crate names: one int of seconds (tcp(7)).
#[derive(Clone, Copy)]
struct DeferAccept;
nix::setsockopt_impl!(
    DeferAccept,
    libc::IPPROTO_TCP,
    libc::TCP_DEFER_ACCEPT,
    u32,
    nix::sys::socket::sockopt::SetStruct<'_, u32>
);

/// When the kernel hands a connection over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accept {
    /// After the handshake.
    AtOnce,
    /// When the first bytes are there (`TCP_DEFER_ACCEPT`), read straight after accept.
    Deferred,
}

/// What follows an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// The next request on the same connection.
    Keep,
    /// The end of the connection.
    Close,
}

enum Next {
    Wait,
    Drop,
}

struct Canned {
    epoll: OwnedFd,
    listener: OwnedFd,
    /// Indexed by descriptor number, which is also the event's data.
    connections: Vec<Option<OwnedFd>>,
    answers: Vec<u8>,
    answer_bytes: usize,
    accept: Accept,
    then: Then,
}

/// Serves until the process is ended.
pub(crate) fn serve(address: SocketAddr, accept: Accept, then: Then) -> anyhow::Result<()> {
    let listener = listen(address, accept)?;
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &listener, data_of(&listener), epoll::EventFlags::IN)?;
    let answer = if then == Then::Close { CLOSE } else { KEEP };
    let mut canned = Canned {
        epoll,
        listener,
        connections: Vec::new(),
        answers: answer.repeat(ANSWERS_PER_READ),
        answer_bytes: answer.len(),
        accept,
        then,
    };
    let mut events = Vec::with_capacity(EVENTS_PER_TURN);
    let mut buffer = vec![0; READ_BYTES];
    let blank_line = memmem::Finder::new(b"\r\n\r\n");
    loop {
        events.clear();
        match epoll::wait(
            &canned.epoll,
            rustix::buffer::spare_capacity(&mut events),
            None,
        ) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &events {
            let data = event.data;
            if data.u64() == data_of(&canned.listener).u64() {
                canned.accept_some(&mut buffer, &blank_line)?;
            } else {
                canned.turn(usize::try_from(data.u64())?, &mut buffer, &blank_line);
            }
        }
    }
}

fn data_of(socket: &impl AsRawFd) -> epoll::EventData {
    epoll::EventData::new_u64(u64::from(socket.as_raw_fd().unsigned_abs()))
}

fn listen(address: SocketAddr, accept: Accept) -> anyhow::Result<OwnedFd> {
    let family = if address.is_ipv4() {
        AddressFamily::INET
    } else {
        AddressFamily::INET6
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    net::bind(&socket, &address)?;
    net::listen(&socket, BACKLOG)?;
    if accept == Accept::Deferred {
        nix::sys::socket::setsockopt(&socket, DeferAccept, &DEFER_SECONDS)?;
    }
    Ok(socket)
}

impl Canned {
    fn accept_some(
        &mut self,
        buffer: &mut [u8],
        blank_line: &memmem::Finder<'_>,
    ) -> anyhow::Result<()> {
        for _ in 0..ACCEPTS_PER_TURN {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let connection = match net::accept_with(&self.listener, flags) {
                Ok(connection) => connection,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(rustix::io::Errno::CONNABORTED) => continue,
                Err(error) => return Err(error.into()),
            };
            if self.accept == Accept::Deferred
                && matches!(self.answer(&connection, buffer, blank_line), Next::Drop)
            {
                continue;
            }
            epoll::add(
                &self.epoll,
                &connection,
                data_of(&connection),
                epoll::EventFlags::IN,
            )?;
            let index = usize::try_from(connection.as_raw_fd())?;
            if self.connections.len() <= index {
                self.connections.resize_with(index + 1, || None);
            }
            self.connections[index] = Some(connection);
        }
        Ok(())
    }

    fn turn(&mut self, index: usize, buffer: &mut [u8], blank_line: &memmem::Finder<'_>) {
        let Some(Some(connection)) = self.connections.get(index) else {
            return;
        };
        if matches!(self.answer(connection, buffer, blank_line), Next::Drop) {
            self.connections[index] = None;
        }
    }

    fn answer(
        &self,
        connection: &OwnedFd,
        buffer: &mut [u8],
        blank_line: &memmem::Finder<'_>,
    ) -> Next {
        let received = match net::recv(connection, &mut *buffer, RecvFlags::empty()) {
            Ok((0, _)) => return Next::Drop,
            Ok((received, _)) => received,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Next::Wait,
            Err(_) => return Next::Drop,
        };
        let requests = blank_line
            .find_iter(&buffer[..received])
            .count()
            .min(ANSWERS_PER_READ);
        let bytes = &self.answers[..requests * self.answer_bytes];
        // A peer that does not take its answers ends here: buffering them is not the ceiling.
        let sent = net::send(connection, bytes, SendFlags::NOSIGNAL);
        if sent.is_err() || sent.is_ok_and(|sent| sent < bytes.len()) {
            return Next::Drop;
        }
        if self.then == Then::Close && requests > 0 {
            Next::Drop
        } else {
            Next::Wait
        }
    }
}
