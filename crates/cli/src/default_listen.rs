//! The addresses to listen on where neither a flag nor the configuration names any: the sockets
//! that the parent process left open, else the port in `PORT` on all addresses, else port 8080 on
//! the loopback address.

use std::os::fd::RawFd;

use vervet_server::engine::listener::{
    BindError, Inherited, ListenAddress, ListenOptions, Listener,
};

use crate::environment;
use crate::failure::Failure;

/// The port if no other is configured.
const DEFAULT_PORT: u16 = 8080;

/// What a server listens on by default.
pub(crate) enum DefaultListen {
    /// Sockets that the parent process opened (`LISTEN_FDS`), by name and descriptor.
    Inherited(Vec<(String, RawFd)>),
    /// The port that `PORT` names, on all addresses.
    Port(u16),
    /// [`DEFAULT_PORT`] on the loopback address.
    Loopback,
}

/// An address to listen on.
#[derive(Clone, Debug)]
pub(crate) struct ListenerAddress {
    pub(crate) address: ListenAddress,
    /// Where the address comes from, if that is not obvious: printed in parentheses after it.
    pub(crate) note: Option<String>,
}

impl From<ListenAddress> for ListenerAddress {
    fn from(address: ListenAddress) -> Self {
        let note = None;
        Self { address, note }
    }
}

impl DefaultListen {
    /// The choice according to the environment of this process.
    ///
    /// # Errors
    /// `PORT` is not a port number.
    pub(crate) fn from_environment(inherited: &Inherited) -> Result<Self, Failure> {
        let sockets = inherited.remaining();
        let sockets: Vec<_> =
            sockets.map(|(name, descriptor)| (name.to_owned(), descriptor)).collect();
        if !sockets.is_empty() {
            return Ok(Self::Inherited(sockets));
        }
        Ok(environment::port()?.map_or(Self::Loopback, Self::Port))
    }

    /// The addresses, at least one.
    pub(crate) fn addresses(self) -> Vec<ListenAddress> {
        match self {
            Self::Inherited(sockets) => {
                let sockets = sockets.into_iter();
                sockets.map(|(_, descriptor)| ListenAddress::Descriptor(descriptor)).collect()
            }
            Self::Port(port) => vec![ListenAddress::Any(port)],
            Self::Loopback => vec![loopback(DEFAULT_PORT)],
        }
    }

    /// The same, with a free port in place of the default port if another program listens there.
    ///
    /// # Errors
    /// The default port cannot be bound for another reason.
    pub(crate) fn available(self) -> Result<Vec<ListenerAddress>, Failure> {
        match self {
            Self::Inherited(sockets) => {
                let sockets = sockets.into_iter();
                let place = |(name, descriptor)| ListenerAddress {
                    address: ListenAddress::Descriptor(descriptor),
                    note: Some(format!("inherited as {name}")),
                };
                Ok(sockets.map(place).collect())
            }
            Self::Loopback => Ok(vec![available_port()?]),
            port @ Self::Port(_) => {
                Ok(port.addresses().into_iter().map(ListenerAddress::from).collect())
            }
        }
    }
}

fn available_port() -> Result<ListenerAddress, Failure> {
    let address = loopback(DEFAULT_PORT);
    // The test socket is closed at once: the server binds with its own options.
    match Listener::bind(&address, &ListenOptions::default()) {
        Ok(_) => Ok(address.into()),
        Err(BindError::Address { .. }) => Ok(ListenerAddress {
            address: loopback(0),
            note: Some(format!("port {DEFAULT_PORT} is in use")),
        }),
        Err(error) => Err(error.into()),
    }
}

fn loopback(port: u16) -> ListenAddress {
    ListenAddress::Tcp(([127, 0, 0, 1], port).into())
}
