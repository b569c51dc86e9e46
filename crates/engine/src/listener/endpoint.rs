//! Where a listener listens: what is known of it as long as it has connections, also when the socket is closed.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

use super::address::ListenAddress;
use super::bind::ListenOptions;

/// What services know a listener by: the index of its sites, say. Whoever binds chooses it; several listeners may have the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListenerKey(pub u32);

/// Where a listener listens, and how its connections begin. They remember this and not the socket, which may close before they end.
#[derive(Debug)]
pub struct Endpoint {
    key: ListenerKey,
    address: ListenAddress,
    local: Option<SocketAddr>,
    defers_accept: bool,
    spreads: bool,
    proxy_protocol_from: Vec<IpNet>,
}

impl Endpoint {
    /// The endpoint of a socket that is bound to the IP address `local`, or is a unix socket.
    pub(super) fn new(
        address: &ListenAddress,
        local: Option<SocketAddr>,
        options: &ListenOptions,
    ) -> Endpoint {
        let is_tcp = local.is_some();
        Endpoint {
            key: options.key,
            address: address.clone(),
            local,
            defers_accept: is_tcp && options.defer_accept_s > 0,
            spreads: is_tcp && options.reuse_port && !address.is_inherited(),
            proxy_protocol_from: options.proxy_protocol_from.clone(),
        }
    }

    /// What services know the listener by.
    pub fn key(&self) -> ListenerKey {
        self.key
    }

    /// The address as it was asked for.
    pub fn address(&self) -> &ListenAddress {
        &self.address
    }

    /// The IP address and port really bound; `None` for a unix socket.
    pub fn local_address(&self) -> Option<SocketAddr> {
        self.local
    }

    /// Whether a connection that is accepted has its first bytes already (`TCP_DEFER_ACCEPT`).
    pub fn defers_accept(&self) -> bool {
        self.defers_accept
    }

    /// Whether each reactor has a socket of its own here, and the kernel spreads connections over them (`SO_REUSEPORT`).
    pub fn spreads(&self) -> bool {
        self.spreads
    }

    /// Whether a connection from `peer` (`None`: a unix peer) begins with a PROXY protocol header.
    pub fn expects_proxy_header(&self, peer: Option<IpAddr>) -> bool {
        match peer {
            Some(peer) => self
                .proxy_protocol_from
                .iter()
                .any(|network| network.contains(&peer.to_canonical())),
            None => !self.proxy_protocol_from.is_empty(),
        }
    }
}

/// The address really bound, as a listen address is written.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.local {
            Some(address) => write!(f, "{address}"),
            None => write!(f, "{}", self.address),
        }
    }
}
