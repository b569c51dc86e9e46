//! Sends lines as datagrams, one each, to a daemon that may be slow, stop and start again.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::settings::from_text;
use super::target::{OnError, WriteError};

/// A line that begins with this byte states its severity: a digit of [`Severity`] follows. Other
/// lines do not begin with it, because control bytes are escaped.
pub(crate) const SEVERITY_MARK: u8 = 0x1f;

/// The severity of an entry, by the number that syslog and the journal use (RFC 5424 §6.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// An error that needs attention.
    Error = 3,
    /// A warning of possible problems.
    Warning = 4,
    /// Normal but significant conditions.
    Notice = 5,
    /// Informational messages. Lines that state no severity have this one.
    Info = 6,
    /// A message for debugging only.
    Debug = 7,
}

/// The severity of a line, as a digit, and the rest of the line.
pub(super) fn split_severity(line: &[u8]) -> (u8, &[u8]) {
    match line {
        [SEVERITY_MARK, digit @ b'0'..=b'7', rest @ ..] => (*digit, rest),
        _ => (b'0' + Severity::Info as u8, line),
    }
}

/// How long a daemon may take to make room for a line before the writer thread checks whether
/// there is something else to do.
const ROOM_PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// The address of a daemon that takes datagrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatagramAddress {
    /// A unix socket by its path.
    Unix(PathBuf),
    /// An IP address and a port.
    Udp(SocketAddr),
}

impl DatagramAddress {
    /// The path or address without its kind.
    pub(super) fn location(&self) -> String {
        match self {
            Self::Unix(path) => path.display().to_string(),
            Self::Udp(address) => address.to_string(),
        }
    }
}

from_text!(
    DatagramAddress,
    "address of a syslog daemon",
    "unix:/dev/log",
    |text: &str| match text.split_once(':') {
        Some(("unix", path)) if path.starts_with('/') => Ok(DatagramAddress::Unix(path.into())),
        Some(("udp", address)) => match address.parse() {
            Ok(address) => Ok(DatagramAddress::Udp(address)),
            Err(_) => Err("`udp:` must be followed by an IP address and a port".to_owned()),
        },
        _ => Err("it must begin with `unix:/` or `udp:`".to_owned()),
    },
    |address: &DatagramAddress| match address {
        DatagramAddress::Unix(_) => format!("unix:{}", address.location()),
        DatagramAddress::Udp(_) => format!("udp:{}", address.location()),
    }
);

/// A socket that is connected again when necessary.
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
    /// Connects with the first datagram, so that the daemon may start later.
    pub(super) fn new(to: DatagramAddress) -> Self {
        Self { to, socket: None }
    }

    pub(super) fn disconnect(&mut self) {
        self.socket = None;
    }

    /// Sends each line, without its line feed, as `write_message` writes it to an empty buffer.
    pub(super) fn send_lines(
        &mut self,
        lines: &[u8],
        mut write_message: impl FnMut(&mut Vec<u8>, &[u8]),
    ) -> Result<(), WriteError> {
        let (mut message, mut written) = (Vec::new(), 0);
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            message.clear();
            write_message(&mut message, line.strip_suffix(b"\n").unwrap_or(line));
            self.send(&message).map_err(|error| WriteError {
                written,
                error,
                then: OnError::Retry,
            })?;
            written += line.len();
        }
        Ok(())
    }

    /// Sends one datagram, cut if the system refuses its size.
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let (mut message, mut attempts) = (message, 0);
        loop {
            match self.send_once(message) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The queue of the daemon is full.
                Err(error) if error.kind() == ErrorKind::WouldBlock && self.has_room_soon() => {}
                Err(error) if is_too_large(&error) && message.len() > 1 => {
                    message = &message[..message.len() / 2];
                }
                // The daemon may have restarted since the last line.
                Err(error) if attempts == 0 && is_disconnected(&error) => {
                    attempts = 1;
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

fn is_disconnected(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::NotConnected
            | ErrorKind::BrokenPipe
    )
}
