//! The parts of a request that a page uses, borrowed from it, so that rendering needs no socket.

use std::borrow::Cow;
use std::net::IpAddr;

use vervet_http::field::Fields;

/// The parts of a request that pages use.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The method as sent.
    pub method: &'a str,
    /// The host of the request, in lower case, without port.
    pub host: &'a [u8],
    /// Path and query as sent.
    pub target: &'a [u8],
    /// The query after the `?`, not decoded.
    pub query: Option<&'a [u8]>,
    /// Names and decoded values of the route's pattern.
    pub captures: &'a [(&'a str, Cow<'a, [u8]>)],
    /// The field lines of the request.
    pub fields: &'a Fields<'a>,
    /// The client's address; `None` over a unix socket.
    pub client: Option<IpAddr>,
}

impl<'a> Input<'a> {
    /// A GET of `target` without fields.
    pub fn get(target: &'a str) -> Self {
        const NONE: &Fields<'static> = &Fields::EMPTY;
        let query = target.split_once('?').map(|(_, query)| query.as_bytes());
        Self {
            method: "GET",
            host: b"localhost",
            target: target.as_bytes(),
            query,
            captures: &[],
            fields: NONE,
            client: None,
        }
    }
}
