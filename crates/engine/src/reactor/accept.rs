//! Accepting connections, and what happens when there are too many.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::{SocketAddrAny, SocketFlags, acceptfrom_with};

use crate::gate::ConnectionLimit;
use crate::listener::{Endpoint, Listener};

/// What is known of a connection when it is accepted.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// The peer's address; `None` over a unix socket.
    pub peer: Option<SocketAddr>,
    /// The listener that accepted it.
    pub listener: Arc<Endpoint>,
    /// Set if a connection limit is exceeded: the protocol may send a response, and must reject the
    /// connection.
    pub overload: Option<ConnectionLimit>,
}

/// Whether a protocol accepts a connection.
pub enum Admission<C> {
    /// The connection is accepted, with this state.
    Admit(C),
    /// The connection is rejected: what the protocol wrote to [`Io::out`](super::Io::out) is sent,
    /// then the connection lingers and closes.
    Refuse,
    /// The connection is closed without a byte.
    Drop,
}

/// What to do with connections above the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Overload {
    /// Accept, respond with 503 and `Retry-After`, and close.
    #[default]
    Reject,
    /// Leave them in the kernel's queue until others have ended.
    Wait,
}

pub(super) enum AcceptOutcome {
    Connection(OwnedFd, Option<SocketAddr>),
    /// The queue is empty.
    Empty,
    /// This connection failed before it was accepted; the next may succeed.
    Broken,
    /// No descriptor or memory is left.
    Exhausted,
}

pub(super) fn accept_one(listener: &Listener) -> AcceptOutcome {
    match acceptfrom_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
        Ok((fd, address)) => AcceptOutcome::Connection(fd, peer_of(address)),
        // A unix socket that was shut down for new connections reports INVAL when its queue is
        // empty.
        Err(Errno::AGAIN | Errno::INVAL) => AcceptOutcome::Empty,
        Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => AcceptOutcome::Exhausted,
        // accept(2): pending errors of the new socket are reported here.
        Err(_) => AcceptOutcome::Broken,
    }
}

fn peer_of(address: Option<SocketAddrAny>) -> Option<SocketAddr> {
    SocketAddr::try_from(address?).ok().map(unmapped)
}

/// Returns an IPv4 peer of a dual-stack listener as IPv4.
fn unmapped(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => SocketAddr::new(IpAddr::V4(v4), address.port()),
            None => address,
        },
        IpAddr::V4(_) => address,
    }
}
