//! Outgoing connections: the peer, the source address, and why connecting failed.
//!
//! An outgoing connection lives in the same slab as an accepted one, and its protocol gets the same
//! events. The carrier decides when to connect, between two turns.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, socket_with, sockopt,
};

use super::driver::{GateStatus, Reactor, Slot, live};
use super::io::Io;
use super::poller::Token;
use super::protocol::{Protocol, Reason};
use super::socket::{ReadSize, Socket};
use super::spare_sockets::Family;
use super::sys;

/// The peer to connect to, and the source address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    peer: Peer,
    source: Option<IpAddr>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Peer {
    Tcp(SocketAddr),
    Unix { path: PathBuf, at: SocketAddrUnix },
}

impl Outgoing {
    /// Connects to a TCP address, from an address that the system chooses.
    pub fn tcp(peer: SocketAddr) -> Self {
        Self { peer: Peer::Tcp(peer), source: None }
    }

    /// Connects to a unix socket; `@name` is one in the abstract namespace.
    ///
    /// # Errors
    ///
    /// The path is too long for the system, or contains a NUL.
    pub fn unix(path: &Path) -> Result<Self, Errno> {
        let name = path.to_str().and_then(|path| path.strip_prefix('@'));
        let at = match name {
            Some(name) => SocketAddrUnix::new_abstract_name(name.as_bytes()),
            None => SocketAddrUnix::new(path),
        }?;
        Ok(Self { peer: Peer::Unix { path: path.to_owned(), at }, source: None })
    }

    /// Connects from this source address. Has no effect for a unix socket.
    #[must_use]
    pub fn from(mut self, source: IpAddr) -> Self {
        self.source = Some(source);
        self
    }

    /// Returns the address of the peer; `None` for a unix socket.
    pub fn peer_address(&self) -> Option<SocketAddr> {
        match self.peer {
            Peer::Tcp(peer) => Some(peer),
            Peer::Unix { .. } => None,
        }
    }

    /// Returns the family whose spare sockets can be used.
    fn family(&self) -> Option<Family> {
        match (&self.peer, self.source) {
            (Peer::Tcp(peer), None) => Some(Family::new(peer)),
            _ => None,
        }
    }

    fn open(&self) -> Result<OwnedFd, Errno> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let open = |family| socket_with(family, SocketType::STREAM, flags, None);
        let Peer::Tcp(peer) = &self.peer else {
            return open(AddressFamily::UNIX);
        };
        let fd = open(match peer {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        })?;
        sockopt::set_tcp_nodelay(&fd, true)?;
        if let Some(source) = self.source {
            // Otherwise each local port could be used for one peer only.
            let _ = sys::bind_without_port(fd.as_fd());
            bind(&fd, &SocketAddr::new(source, 0))?;
        }
        Ok(fd)
    }

    /// Begins to connect. Returns whether the socket is connected already, as a unix socket is.
    fn begin(&self, fd: BorrowedFd<'_>) -> Result<Progress, Errno> {
        let outcome = match &self.peer {
            Peer::Tcp(peer) => connect(fd, peer),
            Peer::Unix { at, .. } => connect(fd, at),
        };
        match outcome {
            Ok(()) => Ok(Progress::Connected),
            Err(Errno::INPROGRESS) => Ok(Progress::UnderWay),
            Err(errno) => Err(errno),
        }
    }
}

impl fmt::Display for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.peer {
            Peer::Tcp(peer) => peer.fmt(f),
            Peer::Unix { path, .. } => write!(f, "unix:{}", path.display()),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Connected,
    UnderWay,
}

/// Why a connection failed, by cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConnectFailure {
    /// No process listens at the address.
    Refused,
    /// No response within the time limit of the system or the protocol.
    Timeout,
    /// No route to the address, or no such unix socket.
    Unreachable,
    /// This machine has no local port, descriptor or memory left for another connection.
    Exhausted,
    /// The queue of a unix socket is full: its server does not accept fast enough.
    QueueFull,
    /// Any other error of the system.
    Other,
}

impl ConnectFailure {
    /// Classifies an error of the system.
    pub fn from_errno(errno: Errno) -> Self {
        match errno {
            Errno::CONNREFUSED | Errno::CONNRESET => Self::Refused,
            Errno::TIMEDOUT => Self::Timeout,
            Errno::NETUNREACH | Errno::HOSTUNREACH | Errno::NOENT | Errno::NETDOWN => {
                Self::Unreachable
            }
            Errno::ADDRNOTAVAIL
            | Errno::ADDRINUSE
            | Errno::MFILE
            | Errno::NFILE
            | Errno::NOBUFS
            | Errno::NOMEM => Self::Exhausted,
            Errno::AGAIN => Self::QueueFull,
            _ => Self::Other,
        }
    }
}

impl<P: Protocol> Reactor<P> {
    /// Begins to connect. [`Protocol::on_connect`] is called in a later turn, or
    /// [`Protocol::on_close`] with [`Reason::Failed`]. The protocol sets a deadline if it needs
    /// one.
    ///
    /// # Errors
    ///
    /// If the system rejects the attempt at once; then no call follows.
    /// [`ConnectFailure::from_errno`] classifies both kinds of errors.
    pub fn connect(
        &mut self,
        outgoing: &Outgoing,
        connection: P::Connection,
    ) -> Result<Token, Errno> {
        let family = outgoing.family();
        let spare = self.spares.take(family);
        let registered = spare.is_some();
        let fd = spare.map_or_else(|| outgoing.open(), Ok)?;
        let progress = outgoing.begin(fd.as_fd())?;
        self.generation = self.generation.wrapping_add(1);
        let entry = self.slots.vacant_entry();
        let token = Token {
            index: u32::try_from(entry.key()).map_err(|_| Errno::NFILE)?,
            generation: self.generation,
        };
        if registered {
            self.poller.rename_connection(fd.as_fd(), token)?;
        } else {
            self.poller.add_connection(fd.as_fd(), token)?;
        }
        let mut socket = Socket::new(fd, token.generation);
        socket.family = family;
        if outgoing.peer_address().is_some() {
            socket.read_size = ReadSize::Whole;
        }
        socket.connecting = true;
        entry.insert(Slot { socket, counted: GateStatus::Outgoing, connection: Some(connection) });
        self.open.fetch_add(1, Ordering::Relaxed);
        if progress == Progress::Connected {
            // Its edge has passed already, but the protocol is called within a turn.
            self.shared.again.push(token);
        }
        Ok(token)
    }

    /// Calls the protocol for one connection without an event, such as to send a request that is
    /// due. `None` if the connection is closed.
    pub fn visit<T>(
        &mut self,
        token: Token,
        work: impl FnOnce(&mut P, &mut Io<'_>, &mut P::Connection) -> T,
    ) -> Option<T> {
        let slot = live(&mut self.slots, token)?;
        let connection = slot.connection.as_mut()?;
        let mut io = Io::new(&mut slot.socket, &mut self.shared, token);
        let result = work(&mut self.protocol, &mut io, connection);
        self.conclude(token);
        Some(result)
    }

    /// Handles the first event of an outgoing connection.
    #[cold]
    pub(super) fn connected(&mut self, token: Token, flags: EventFlags) {
        let Some(slot) = live(&mut self.slots, token) else {
            return;
        };
        if flags.intersects(EventFlags::ERR | EventFlags::HUP)
            && let Ok(Err(errno)) | Err(errno) = sockopt::socket_error(&slot.socket)
        {
            return self.remove(token, Reason::Failed(errno));
        }
        slot.socket.connecting = false;
        if let Some(connection) = &mut slot.connection {
            let mut io = Io::new(&mut slot.socket, &mut self.shared, token);
            self.protocol.on_connect(&mut io, connection);
        }
        self.conclude(token);
        // Data of a peer that sends first, or output that waited for the connection.
        self.connection_ready(token, flags);
    }
}
