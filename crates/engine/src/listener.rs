//! Stand-in until listeners with options are there: TCP without any.
#![allow(missing_docs)]
use std::net::SocketAddr;
use std::os::fd::*;
#[derive(Debug)]
pub struct Listener {
    fd: OwnedFd,
    address: ListenAddress,
}
#[derive(Debug, Clone, PartialEq)]
pub struct ListenAddress(SocketAddr);
#[derive(Debug, Clone, Default)]
pub struct ListenOptions {
    pub reuse_port: bool,
}
#[derive(Debug)]
pub struct BindError;
#[derive(Debug)]
pub struct AddressError;
impl std::fmt::Display for BindError {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}
impl std::fmt::Display for AddressError {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}
impl std::str::FromStr for ListenAddress {
    type Err = AddressError;
    fn from_str(s: &str) -> Result<Self, AddressError> {
        s.parse().map(ListenAddress).map_err(|_| AddressError)
    }
}
impl std::fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
impl ListenAddress {
    pub fn socket_address(&self) -> Option<SocketAddr> {
        Some(self.0)
    }
}
impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
impl Listener {
    pub fn bind(a: &ListenAddress, _o: &ListenOptions) -> Result<Self, BindError> {
        let l = std::net::TcpListener::bind(a.0).map_err(|_| BindError)?;
        l.set_nonblocking(true).map_err(|_| BindError)?;
        let a = l.local_addr().map_err(|_| BindError)?;
        Ok(Self {
            fd: l.into(),
            address: ListenAddress(a),
        })
    }
    pub fn address(&self) -> &ListenAddress {
        &self.address
    }
    pub fn defers_accept(&self) -> bool {
        false
    }
    pub fn refuse_handshakes(&self) -> bool {
        true
    }
    pub fn expects_proxy_header(&self, _p: Option<SocketAddr>) -> bool {
        false
    }
}
