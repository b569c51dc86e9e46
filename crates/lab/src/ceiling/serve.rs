//! The loop of the ceiling: one thread, one epoll set.

use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;

use nix::libc;
use rustix::event::epoll;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType, sockopt};

use super::connection::{Answer, Connection, Next, Search};

/// What a record says of how it serves.
pub(crate) const DESCRIPTION: &str = "\
# One thread, a backlog of 4096. Content from 16 KiB on is sent by sendfile(2).
# Where each answer ends its connection (--close) the kernel hands connections over with their first bytes
# (TCP_DEFER_ACCEPT, 10 s), and they are read straight after accept(2).
";

/// From this length on content costs less by sendfile(2).
const FILE_BYTES_MIN: u64 = 16 * 1024;
const BACKLOG: i32 = 4096;
/// How long a connection that sends nothing stays with the kernel.
const DEFER_SECONDS: u32 = 10;
const EVENTS_PER_TURN: usize = 256;
const ACCEPTS_PER_TURN: usize = 256;
const READ_BYTES: usize = 64 * 1024;
/// Answers that one send takes, for requests that came together.
const BATCH_BYTES: usize = 256 * 1024;

/// What is answered.
#[derive(Clone, Debug)]
pub struct Canned {
    /// The file with the content.
    pub content: PathBuf,
    /// What follows an answer.
    pub then: Then,
}

/// What follows an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The next request on the same connection.
    Keep,
    /// The end of the connection.
    Close,
}

/// `TCP_DEFER_ACCEPT`, which no safe crate names: a connection is accepted with its first bytes, or after so many seconds
/// (tcp(7)).
#[derive(Clone, Copy)]
struct DeferAccept;
nix::setsockopt_impl!(
    DeferAccept,
    libc::IPPROTO_TCP,
    libc::TCP_DEFER_ACCEPT,
    u32,
    nix::sys::socket::sockopt::SetStruct<'_, u32>
);

struct Server {
    epoll: OwnedFd,
    listener: OwnedFd,
    /// By descriptor number, which is also the data of events.
    connections: Vec<Option<Connection>>,
    answer: Answer,
    search: Search,
    then: Then,
}

/// Serves until the process is ended. An error is the system's: no listener, no descriptor left.
pub fn serve(address: SocketAddr, canned: &Canned) -> io::Result<()> {
    let listener = listen(address, canned.then)?;
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &listener, data_of(&listener), epoll::EventFlags::IN)?;
    let answer = answer(canned)?;
    let mut server = Server {
        epoll,
        listener,
        connections: Vec::new(),
        answer,
        search: Search::new(),
        then: canned.then,
    };
    let mut events = Vec::with_capacity(EVENTS_PER_TURN);
    let mut buffer = vec![0; READ_BYTES];
    loop {
        events.clear();
        let spare = rustix::buffer::spare_capacity(&mut events);
        match epoll::wait(&server.epoll, spare, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &events {
            let data = event.data;
            let flags = event.flags;
            let index = usize::try_from(data.u64()).unwrap_or(usize::MAX);
            if index == index_of(&server.listener) {
                server.accept(&mut buffer)?;
            } else {
                server.turn(index, flags, &mut buffer)?;
            }
        }
    }
}

/// The bytes of the answer, as long as a plain server's for the same content.
fn answer(canned: &Canned) -> io::Result<Answer> {
    let length = std::fs::metadata(&canned.content)?.len();
    let connection = match canned.then {
        Then::Keep => "keep-alive",
        Then::Close => "close",
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\nServer: canned\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: text/plain\r\n\
         Content-Length: {length}\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: {connection}\r\n\
         ETag: \"2ebc9c81-d\"\r\nAccept-Ranges: bytes\r\n\r\n"
    )
    .into_bytes();
    if length >= FILE_BYTES_MIN {
        let file = File::open(&canned.content)?;
        return Ok(Answer::File { head, file, length });
    }
    let answer = [head, std::fs::read(&canned.content)?].concat();
    let times = (BATCH_BYTES / answer.len()).max(1);
    Ok(Answer::Memory {
        repeated: answer.repeat(times),
        times: times as u64,
    })
}

fn index_of(socket: &impl AsRawFd) -> usize {
    usize::try_from(socket.as_raw_fd()).unwrap_or(usize::MAX)
}

fn data_of(socket: &impl AsRawFd) -> epoll::EventData {
    epoll::EventData::new_u64(u64::from(socket.as_raw_fd().unsigned_abs()))
}

fn listen(address: SocketAddr, then: Then) -> io::Result<OwnedFd> {
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
    if then == Then::Close {
        nix::sys::socket::setsockopt(&socket, DeferAccept, &DEFER_SECONDS)?;
    }
    Ok(socket)
}

impl Server {
    fn accept(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        for _ in 0..ACCEPTS_PER_TURN {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let socket = match net::accept_with(&self.listener, flags) {
                Ok(socket) => socket,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::CONNABORTED | Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            self.begin(Connection::new(socket), buffer)?;
        }
        Ok(())
    }

    /// A new connection. Where it is to be closed its request is there already, and most end here.
    fn begin(&mut self, mut connection: Connection, buffer: &mut [u8]) -> io::Result<()> {
        let next = match self.then {
            Then::Keep => Next::Read,
            Then::Close => connection.read(buffer, &self.search, &self.answer),
        };
        if is_over(self.then, &connection, next) {
            return Ok(());
        }
        let wanted = match next {
            Next::Write => epoll::EventFlags::OUT,
            _ => epoll::EventFlags::IN,
        };
        let index = index_of(&connection.as_fd());
        epoll::add(
            &self.epoll,
            connection.as_fd(),
            data_of(&connection.as_fd()),
            wanted,
        )?;
        if self.connections.len() <= index {
            self.connections.resize_with(index + 1, || None);
        }
        self.connections[index] = Some(connection);
        Ok(())
    }

    fn turn(
        &mut self,
        index: usize,
        flags: epoll::EventFlags,
        buffer: &mut [u8],
    ) -> io::Result<()> {
        let Some(Some(connection)) = self.connections.get_mut(index) else {
            return Ok(());
        };
        let is_writing = flags.contains(epoll::EventFlags::OUT);
        let next = if is_writing {
            connection.write(&self.answer)
        } else {
            connection.read(buffer, &self.search, &self.answer)
        };
        if is_over(self.then, connection, next) {
            self.connections[index] = None;
            return Ok(());
        }
        let wanted = match next {
            Next::Write => (!is_writing).then_some(epoll::EventFlags::OUT),
            _ => is_writing.then_some(epoll::EventFlags::IN),
        };
        if let Some(wanted) = wanted {
            let data = epoll::EventData::new_u64(index as u64);
            epoll::modify(&self.epoll, connection.as_fd(), data, wanted)?;
        }
        Ok(())
    }
}

/// Whether a connection is to be closed.
fn is_over(then: Then, connection: &Connection, next: Next) -> bool {
    next == Next::End || (then == Then::Close && connection.is_done())
}
