//! A listening socket: bound with its options, or inherited.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::net::sockopt::{
    set_ipv6_v6only, set_socket_reuseaddr, set_socket_reuseport, set_tcp_nodelay,
};
use rustix::net::{
    AddressFamily, Shutdown, SocketAddrUnix, SocketFlags, SocketType, bind, getsockname, listen,
    shutdown, socket_with,
};

use super::address::ListenAddress;
use super::endpoint::Endpoint;
use super::error::BindError;
use super::inherited::{Inherited, prepare};
use super::options::ListenOptions;
use super::unix::SocketFile;
use crate::reactor::sys;

/// A listening socket and its [`Endpoint`]. Closes the socket when dropped, and removes the file of
/// a unix socket that it made.
#[derive(Debug)]
pub struct Listener {
    // The file is removed first: a peer that finds no file gets a clear error, one that finds a
    // closed socket is refused.
    file: Option<Arc<SocketFile>>,
    socket: OwnedFd,
    endpoint: Arc<Endpoint>,
    options: ListenOptions,
    shared: bool,
}

impl Listener {
    /// Binds `address`, or uses the open descriptor that it names by number.
    pub fn bind(address: &ListenAddress, options: &ListenOptions) -> Result<Listener, BindError> {
        Listener::open(address, options, &mut Inherited::default())
    }

    /// As [`Listener::bind`], with the sockets that this process inherited.
    pub fn open(
        address: &ListenAddress,
        options: &ListenOptions,
        inherited: &mut Inherited,
    ) -> Result<Listener, BindError> {
        let mut file = None;
        let socket = match address {
            ListenAddress::Tcp(ip) => {
                bind_tcp(*ip, options).map_err(|failure| failure.at(address))?
            }
            ListenAddress::Any(port) => {
                bind_any(*port, options).map_err(|failure| failure.at(address))?
            }
            ListenAddress::Unix(path) => {
                let socket =
                    new_socket(AddressFamily::UNIX).map_err(|failure| failure.at(address))?;
                file = Some(Arc::new(SocketFile::bind(&socket, path, options.mode)?));
                socket
            }
            ListenAddress::Abstract(name) => {
                bind_abstract(name).map_err(|failure| failure.at(address))?
            }
            ListenAddress::Descriptor(_) | ListenAddress::Named(_) => {
                return Listener::adopt(inherited.take(address)?, address, options);
            }
        };
        let listener = Listener { file, ..Listener::from_socket(socket, address, options)? };
        listener.begin()?;
        Ok(listener)
    }

    /// Uses a socket that listens already; `address` is its name in messages. Its backlog is not
    /// changed.
    pub fn adopt(
        socket: OwnedFd,
        address: &ListenAddress,
        options: &ListenOptions,
    ) -> Result<Listener, BindError> {
        prepare(&socket).ok_or_else(|| BindError::NotListening(address.to_string()))?;
        Ok(Listener { shared: true, ..Listener::from_socket(socket, address, options)? })
    }

    fn from_socket(
        socket: OwnedFd,
        address: &ListenAddress,
        options: &ListenOptions,
    ) -> Result<Listener, BindError> {
        let local = local_address(&socket);
        if local.is_some() {
            set_tcp_options(socket.as_fd(), options).map_err(|failure| failure.at(address))?;
        }
        Ok(Listener {
            file: None,
            socket,
            endpoint: Arc::new(Endpoint::new(address, local, options)),
            options: options.clone(),
            shared: false,
        })
    }

    /// Binds another socket at the same address, for another reactor; `None` if one socket serves
    /// all.
    pub fn another(&self) -> Option<Result<Listener, BindError>> {
        // The port may have been chosen by the kernel.
        let bound = self.local_address().filter(|_| self.spreads())?;
        Some(Listener::bind(&ListenAddress::Tcp(bound), &self.options))
    }

    /// Listens, or changes the backlog.
    fn begin(&self) -> Result<(), BindError> {
        let backlog = i32::try_from(self.options.backlog).unwrap_or(i32::MAX);
        listen(&self.socket, backlog)
            .map_err(|errno| Failure::address(errno).at(self.endpoint.address()))
    }

    /// Returns the same socket with other options for future connections. Connections in its queue
    /// stay there.
    ///
    /// # Errors
    ///
    /// If an option cannot change on an open socket, or the system reports an error.
    pub fn changed(&self, options: &ListenOptions) -> Result<Listener, BindError> {
        let address = self.endpoint.address();
        if let Some(option) = self.options.first_fixed(options) {
            let address = address.to_string();
            return Err(BindError::Fixed { address, option });
        }
        let socket = fcntl_dupfd_cloexec(&self.socket, 0)
            .map_err(|errno| Failure::address(errno).at(address))?;
        if let (Some(file), Some(mode)) = (&self.file, options.mode) {
            file.set_mode(mode)?;
        }
        let listener = Listener {
            file: self.file.clone(),
            shared: self.shared,
            ..Listener::from_socket(socket, address, options)?
        };
        if !listener.shared {
            listener.begin()?;
        }
        Ok(listener)
    }

    /// Returns the endpoint, which connections keep.
    pub fn endpoint(&self) -> &Arc<Endpoint> {
        &self.endpoint
    }

    /// Rejects new handshakes, so that all connections that have begun can be accepted before the
    /// socket closes. Returns whether handshakes may be in progress, which is only over the
    /// network. A socket shared with other processes is not changed.
    pub fn refuse_handshakes(&self) -> bool {
        if self.shared {
            return false;
        }
        if self.local_address().is_none() {
            // Connections in the queue of a unix socket stay there, and new ones are refused.
            let _ = shutdown(&self.socket, Shutdown::Read);
            return false;
        }
        sys::drop_handshakes(self.socket.as_fd()).is_ok()
    }
}

impl Deref for Listener {
    type Target = Endpoint;

    fn deref(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Writes the bound address as a listen address.
impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.endpoint.fmt(f)
    }
}

/// An error without its address.
struct Failure {
    option: Option<&'static str>,
    errno: Errno,
}

impl Failure {
    fn address(errno: Errno) -> Failure {
        Failure { option: None, errno }
    }

    fn at(self, address: &ListenAddress) -> BindError {
        let address = address.to_string();
        match self.option {
            None => BindError::Address { address, errno: self.errno },
            Some(option) => BindError::Option { address, option, errno: self.errno },
        }
    }
}

fn option<E: Into<std::io::Error>>(
    option: &'static str,
    result: Result<(), E>,
) -> Result<(), Failure> {
    result.map_err(|error| {
        let errno = Errno::from_io_error(&error.into()).unwrap_or(Errno::INVAL);
        Failure { option: Some(option), errno }
    })
}

fn new_socket(family: AddressFamily) -> Result<OwnedFd, Failure> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(family, SocketType::STREAM, flags, None).map_err(Failure::address)
}

fn bind_tcp(address: SocketAddr, options: &ListenOptions) -> Result<OwnedFd, Failure> {
    let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let socket = new_socket(family)?;
    // A restart must not wait for connections of the previous run in TIME_WAIT.
    option("reuse_address", set_socket_reuseaddr(&socket, true))?;
    if address.is_ipv6() {
        option("v6only", set_ipv6_v6only(&socket, options.v6only))?;
    }
    if options.reuse_port {
        option("reuse_port", set_socket_reuseport(&socket, true))?;
    }
    bind(&socket, &address).map_err(Failure::address)?;
    Ok(socket)
}

/// Every address: IPv6 including IPv4, or IPv4 only if the kernel has no IPv6.
fn bind_any(port: u16, options: &ListenOptions) -> Result<OwnedFd, Failure> {
    let both = ListenOptions { v6only: false, ..options.clone() };
    match bind_tcp(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)), &both) {
        Err(Failure { errno: Errno::AFNOSUPPORT | Errno::ADDRNOTAVAIL, .. }) => {
            bind_tcp(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)), options)
        }
        result => result,
    }
}

fn bind_abstract(name: &str) -> Result<OwnedFd, Failure> {
    let socket = new_socket(AddressFamily::UNIX)?;
    let address = SocketAddrUnix::new_abstract_name(name.as_bytes()).map_err(Failure::address)?;
    bind(&socket, &address).map_err(Failure::address)?;
    Ok(socket)
}

fn set_tcp_options(socket: BorrowedFd<'_>, options: &ListenOptions) -> Result<(), Failure> {
    // Without it the end of a large answer may wait 40 ms for a delayed acknowledgement.
    option("nodelay", set_tcp_nodelay(socket, true))?;
    options.set_on(socket).or_else(|(name, error)| option(name, Err(error)))
}

fn local_address(socket: &OwnedFd) -> Option<SocketAddr> {
    SocketAddr::try_from(getsockname(socket).ok()?).ok()
}
