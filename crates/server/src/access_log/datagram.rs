//! Lines as datagrams, one each, to a daemon that may be slow, go away and come back.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::target::{Refusal, Then};

/// The beginning of a line that says how severe it is: this byte and a digit of [`Severity`]. No line of text begins so,
/// because control bytes are escaped.
pub(crate) const SEVERITY_MARK: u8 = 0x1f;

/// How severe an entry is, by the number that syslog and the journal share (RFC 5424 §6.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something has failed.
    Error = 3,
    /// Something may fail.
    Warning = 4,
    /// Worth knowing.
    Notice = 5,
    /// As it should be.
    Info = 6,
    /// For whoever looks for a fault.
    Debug = 7,
}

/// The severity that a line begins with, as a digit, and the rest of the line.
pub(super) fn split_severity(line: &[u8], default: Severity) -> (u8, &[u8]) {
    match line {
        [SEVERITY_MARK, digit @ b'0'..=b'7', rest @ ..] => (*digit, rest),
        _ => (b'0' + default as u8, line),
    }
}

/// How long a daemon may take to make room for a line before the writer looks whether it is asked for something else.
const ROOM_PATIENCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// Where datagrams go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatagramAddress {
    /// A unix socket by its path.
    Unix(PathBuf),
    /// An address of the internet.
    Udp(SocketAddr),
}

/// A socket that is connected again when it has to be.
#[derive(Debug)]
pub(super) struct Datagrams {
    to: DatagramAddress,
    socket: Option<Socket>,
}

#[derive(Debug)]
enum Socket {
    Unix(UnixDatagram),
    Udp(UdpSocket),
}

impl Datagrams {
    /// Not connected yet: a daemon that starts later is found later.
    pub(super) fn new(to: DatagramAddress) -> Self {
        Self { to, socket: None }
    }

    pub(super) fn disconnect(&mut self) {
        self.socket = None;
    }

    /// Sends the lines, each without its end as `wrap` puts it into an empty buffer.
    pub(super) fn send_lines(
        &mut self,
        lines: &[u8],
        mut wrap: impl FnMut(&mut Vec<u8>, &[u8]),
    ) -> Result<(), Refusal> {
        let (mut message, mut written) = (Vec::new(), 0);
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            message.clear();
            wrap(&mut message, line.strip_suffix(b"\n").unwrap_or(line));
            self.send(&message).map_err(|error| Refusal {
                written,
                error,
                then: Then::Retry,
            })?;
            written += line.len();
        }
        Ok(())
    }

    /// Sends one datagram, cut where the system takes none of that size.
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let (mut message, mut tries) = (message, 0);
        loop {
            match self.send_once(message) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Its queue is full: it is reading, or it is not.
                Err(error) if error.kind() == ErrorKind::WouldBlock && self.has_room_soon() => {}
                Err(error) if is_too_large(&error) && message.len() > 1 => {
                    message = &message[..message.len() / 2];
                }
                // The daemon may have been started anew since the last line.
                Err(error) if tries == 0 && is_gone(&error) => {
                    tries = 1;
                    self.disconnect();
                }
                result => return result,
            }
        }
    }

    /// Waits for room for one more datagram.
    fn has_room_soon(&self) -> bool {
        let Some(socket) = &self.socket else {
            return false;
        };
        let descriptor = match socket {
            Socket::Unix(socket) => socket.as_fd(),
            Socket::Udp(socket) => socket.as_fd(),
        };
        let mut one = [PollFd::from_borrowed_fd(descriptor, PollFlags::OUT)];
        poll(&mut one, Some(&ROOM_PATIENCE)) == Ok(1)
    }

    fn send_once(&mut self, message: &[u8]) -> io::Result<()> {
        let socket = match &mut self.socket {
            Some(socket) => socket,
            none => none.insert(connect(&self.to)?),
        };
        match socket {
            Socket::Unix(socket) => socket.send(message),
            Socket::Udp(socket) => socket.send(message),
        }
        .map(drop)
    }
}

fn connect(to: &DatagramAddress) -> io::Result<Socket> {
    match to {
        DatagramAddress::Unix(path) => {
            let socket = UnixDatagram::unbound()?;
            socket.set_nonblocking(true)?;
            socket.connect(path)?;
            Ok(Socket::Unix(socket))
        }
        DatagramAddress::Udp(address) => {
            let any: SocketAddr = match address {
                SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
                SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
            };
            let socket = UdpSocket::bind(any)?;
            socket.set_nonblocking(true)?;
            socket.connect(address)?;
            Ok(Socket::Udp(socket))
        }
    }
}

fn is_too_large(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::MSGSIZE)
}

fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::NotConnected
            | ErrorKind::BrokenPipe
    )
}
