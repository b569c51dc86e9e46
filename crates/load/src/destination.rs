//! From the address in a URL to what can be connected to: names are looked up here, once, before
//! the run.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use vervet_engine::reactor::Outgoing;

use crate::request::Peer;

/// Which addresses of a hostname are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    /// The first address that the system returns.
    #[default]
    Any,
    /// The first IPv4 address.
    V4,
    /// The first IPv6 address.
    V6,
}

/// Why a target has no usable address.
#[derive(Debug)]
pub enum DestinationError {
    /// The lookup of the hostname failed.
    Name {
        /// The hostname of the target.
        host: String,
        /// The error of the lookup.
        error: io::Error,
    },
    /// The hostname has no address of the requested family.
    Family {
        /// The hostname of the target.
        host: String,
    },
    /// A source address has another family than the target.
    Source {
        /// The local address to connect from.
        source: IpAddr,
        /// The address of the target.
        to: SocketAddr,
    },
    /// The path of a unix socket is too long.
    Unix {
        /// The path of the socket.
        path: String,
    },
}

/// The addresses to connect to, from each local address in turn.
///
/// # Errors
/// A hostname without an address, or a local address of another family.
pub fn resolve(
    peer: &Peer,
    family: Family,
    sources: &[IpAddr],
) -> Result<Vec<Outgoing>, DestinationError> {
    let (host, port) = match peer {
        Peer::Tcp { host, port } => (host.as_str(), *port),
        Peer::Unix(path) => {
            let outgoing = Outgoing::unix(path.as_ref());
            let error = |_| DestinationError::Unix { path: path.display().to_string() };
            return Ok(vec![outgoing.map_err(error)?]);
        }
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let mut found = (bare, port)
        .to_socket_addrs()
        .map_err(|error| DestinationError::Name { host: host.to_owned(), error })?;
    let wanted = |address: &SocketAddr| match family {
        Family::Any => true,
        Family::V4 => address.is_ipv4(),
        Family::V6 => address.is_ipv6(),
    };
    let to =
        found.find(wanted).ok_or_else(|| DestinationError::Family { host: host.to_owned() })?;
    if let Some(source) = sources.iter().find(|it| it.is_ipv4() != to.is_ipv4()) {
        return Err(DestinationError::Source { source: *source, to });
    }
    if sources.is_empty() {
        return Ok(vec![Outgoing::tcp(to)]);
    }
    let from = |source: &IpAddr| Outgoing::tcp(to).from(*source);
    Ok(sources.iter().map(from).collect())
}

impl fmt::Display for DestinationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { host, error } => write!(f, "cannot look up {host}: {error}"),
            Self::Family { host } => write!(f, "{host} has no address of the requested family"),
            Self::Source { source, to } => {
                write!(f, "cannot reach {to} from {source}: one is IPv4, the other IPv6")
            }
            Self::Unix { path } => write!(f, "`{path}` is too long for a unix socket"),
        }
    }
}

impl std::error::Error for DestinationError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: &str, family: Family, sources: &[&str], expected: Result<&[&str], &str>) {
        let peer = Peer::Tcp { host: host.to_owned(), port: 80 };
        let sources: Vec<IpAddr> = sources.iter().map(|it| it.parse().unwrap()).collect();
        match (resolve(&peer, family, &sources), expected) {
            (Ok(found), Ok(expected)) => {
                let found: Vec<_> = found.iter().map(ToString::to_string).collect();
                assert_eq!(found, expected);
            }
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (found, expected) => panic!("{host}: {found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn finds_addresses_or_says_why_there_are_none() {
        check("127.0.0.1", Family::V6, &[], Err("no address of the requested family"));
        check("127.0.0.1", Family::Any, &["::1"], Err("one is IPv4"));
        check("name.invalid", Family::Any, &[], Err("cannot look up name.invalid"));
        check("127.0.0.1", Family::V4, &[], Ok(&["127.0.0.1:80"]));
        check("[::1]", Family::Any, &[], Ok(&["[::1]:80"]));
        let twice = ["127.0.0.1:80", "127.0.0.1:80"];
        check("127.0.0.1", Family::Any, &["127.0.0.1", "127.0.0.2"], Ok(&twice));
    }
}
