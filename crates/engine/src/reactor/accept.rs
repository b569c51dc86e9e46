//! Taking connections from listeners, and what happens when there are too many.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::{SocketAddrAny, SocketFlags, acceptfrom_with};

use crate::gate::TooMany;
use crate::listener::{Endpoint, Listener};

/// What is known of a connection when it is accepted.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// The peer's address; `None` over a unix socket.
    pub peer: Option<SocketAddr>,
    /// The listener it came in by.
    pub listener: Arc<Endpoint>,
    /// Set when the connection is one too many: the protocol may say so, and must refuse it.
    pub overload: Option<TooMany>,
}

/// Whether a protocol takes a connection.
pub enum Admission<C> {
    /// Yes, with this state.
    Admit(C),
    /// No: what the protocol wrote to [`Io::out`](super::Io::out) is sent, then the connection lingers and ends.
    Refuse,
    /// No: it is closed without a byte.
    Drop,
}

/// What to do with connections above the cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Overload {
    /// Accept, answer 503 with `Retry-After`, close.
    #[default]
    Reject,
    /// Leave them in the kernel's queue until others have ended.
    Wait,
}

pub(super) enum AcceptOutcome {
    Connection(OwnedFd, Option<SocketAddr>),
    /// The queue is empty.
    Empty,
    /// This one connection failed before it was taken; the next may be good.
    Broken,
    /// No descriptor or memory is left.
    Exhausted,
}

pub(super) fn accept_one(listener: &Listener) -> AcceptOutcome {
    match acceptfrom_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
        Ok((fd, address)) => AcceptOutcome::Connection(fd, peer_of(address)),
        // A unix socket that was shut for new connections says INVAL when nobody is left.
        Err(Errno::AGAIN | Errno::INVAL) => AcceptOutcome::Empty,
        Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => AcceptOutcome::Exhausted,
        // accept(2): errors that are already pending on the new socket are handed over here.
        Err(_) => AcceptOutcome::Broken,
    }
}

fn peer_of(address: Option<SocketAddrAny>) -> Option<SocketAddr> {
    SocketAddr::try_from(address?).ok().map(unmapped)
}

/// An IPv4 peer of a dual-stack listener is an IPv4 peer.
fn unmapped(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => SocketAddr::new(IpAddr::V4(v4), address.port()),
            None => address,
        },
        IpAddr::V4(_) => address,
    }
}
