//! Where a server listens that nobody has told where: the sockets that its parent has left, else the port that `PORT` names on
//! all addresses, else the default port of this machine alone.

use std::os::fd::RawFd;

use vervet_server::engine::listener::{Inherited, ListenAddress};

use crate::environment;
use crate::failure::Failure;

/// The port unless another is asked for, and then on this machine alone.
pub(crate) const DEFAULT_PORT: u16 = 8080;

/// What is left to listen on.
pub(crate) enum Unasked {
    /// Sockets that the parent has opened, by name and number.
    Inherited(Vec<(String, RawFd)>),
    /// The port that `PORT` names.
    Port(u16),
    /// [`DEFAULT_PORT`].
    Default,
}

impl Unasked {
    /// What is left, in this order.
    ///
    /// # Errors
    /// `PORT` is no port.
    pub(crate) fn find(inherited: &Inherited) -> Result<Self, Failure> {
        let left = inherited.remaining();
        let left: Vec<_> = left
            .map(|(name, number)| (name.to_owned(), number))
            .collect();
        if !left.is_empty() {
            return Ok(Self::Inherited(left));
        }
        Ok(environment::port()?.map_or(Self::Default, Self::Port))
    }

    /// The addresses, at least one.
    pub(crate) fn addresses(self) -> Vec<ListenAddress> {
        match self {
            Self::Inherited(left) => {
                let left = left.into_iter();
                left.map(|(_, number)| ListenAddress::Descriptor(number))
                    .collect()
            }
            Self::Port(port) => vec![ListenAddress::Any(port)],
            Self::Default => vec![local(DEFAULT_PORT)],
        }
    }
}

/// A port of this machine alone.
pub(crate) fn local(port: u16) -> ListenAddress {
    ListenAddress::Tcp(([127, 0, 0, 1], port).into())
}
