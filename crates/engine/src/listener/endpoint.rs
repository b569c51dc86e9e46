//! The endpoint of a listener, which its connections keep after the socket is closed.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

use super::address::ListenAddress;
use super::options::ListenOptions;

/// Identifies a listener to services, such as by the index of its sites. Chosen by the caller that
/// binds; several listeners may have the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListenerKey(pub u32);

/// The address of a listener and how its connections begin. Connections keep this and not the
/// socket, which may close before they end.
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
    /// The endpoint of a socket bound to the IP address `local`, or of a unix socket.
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
            defers_accept: is_tcp && options.defer_accept.as_secs() > 0,
            spreads: is_tcp && options.reuse_port && !address.is_inherited(),
            proxy_protocol_from: options.proxy_protocol_from.clone(),
        }
    }

    /// Returns the key by which services identify the listener.
    pub fn key(&self) -> ListenerKey {
        self.key
    }

    /// Returns the address as configured.
    pub fn address(&self) -> &ListenAddress {
        &self.address
    }

    /// Returns the bound IP address and port; `None` for a unix socket.
    pub fn local_address(&self) -> Option<SocketAddr> {
        self.local
    }

    /// Returns whether an accepted connection already has its first bytes (`TCP_DEFER_ACCEPT`).
    pub fn defers_accept(&self) -> bool {
        self.defers_accept
    }

    /// Returns whether each reactor has a socket of its own and the kernel distributes connections
    /// (`SO_REUSEPORT`).
    pub fn spreads(&self) -> bool {
        self.spreads
    }

    /// Returns whether a connection from `peer` (`None`: a unix peer) begins with a PROXY protocol
    /// header.
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

/// Writes the bound address as a listen address.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.local {
            Some(address) => write!(f, "{address}"),
            None => write!(f, "{}", self.address),
        }
    }
}
