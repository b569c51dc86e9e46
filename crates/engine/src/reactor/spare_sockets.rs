//! Sockets whose connection was aborted here, kept for the next connection, which needs no new
//! descriptor and no new registration with epoll.
//!
//! Connecting a TCP socket to no address (`AF_UNSPEC`) ends its connection like closing without
//! lingering: the peer sees a reset, nothing is left in TIME-WAIT, and the local port is free.
//! Socket options stay set.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::net::connect_unspec;

use super::socket::Socket;

/// The maximum number of descriptors kept per address family: as many as one turn can close.
const SPARE_SOCKETS_MAX: usize = super::poller::EVENTS_PER_TURN_MAX;

/// The address family of a socket that can be reused. Sockets bound to a source address cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    V4,
    V6,
}

impl Family {
    pub(super) fn new(address: &SocketAddr) -> Self {
        match address {
            SocketAddr::V4(_) => Self::V4,
            SocketAddr::V6(_) => Self::V6,
        }
    }
}

/// Sockets without a connection, still in the epoll set under an invalid token.
#[derive(Default)]
pub(super) struct SpareSockets {
    v4: Vec<OwnedFd>,
    v6: Vec<OwnedFd>,
}

impl SpareSockets {
    fn pool(&mut self, family: Family) -> &mut Vec<OwnedFd> {
        match family {
            Family::V4 => &mut self.v4,
            Family::V6 => &mut self.v6,
        }
    }

    /// Returns a socket for a new connection.
    pub(super) fn take(&mut self, family: Option<Family>) -> Option<OwnedFd> {
        self.pool(family?).pop()
    }

    /// Ends a connection by a reset. Its socket is kept if it can be reused and there is room.
    pub(super) fn reset(&mut self, socket: Socket) {
        let Some(family) = socket.family else {
            return socket.reset_on_close();
        };
        let spares = self.pool(family);
        let has_room = spares.len() < SPARE_SOCKETS_MAX;
        if has_room && connect_unspec(&socket).is_ok() {
            spares.push(socket.into_fd());
        } else {
            socket.reset_on_close();
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, SocketType, socket};

    use super::*;

    #[test]
    fn keeps_what_may_be_used_again_and_no_more_than_a_turn_needs() {
        let mut spares = SpareSockets::default();
        let mut end = |family| {
            let fd = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
            let mut socket = Socket::new(fd, 0);
            socket.family = family;
            spares.reset(socket);
            spares.v4.len()
        };
        assert_eq!(end(None), 0);
        let kept: Vec<usize> = (0..=SPARE_SOCKETS_MAX).map(|_| end(Some(Family::V4))).collect();
        let expected: Vec<usize> = (1..=SPARE_SOCKETS_MAX).chain([SPARE_SOCKETS_MAX]).collect();
        assert_eq!(kept, expected);
        assert!(spares.take(None).is_none());
        assert!(spares.take(Some(Family::V6)).is_none());
        assert!(spares.take(Some(Family::V4)).is_some());
    }
}
