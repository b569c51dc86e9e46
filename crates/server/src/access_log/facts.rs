//! What the log is told of a request: one struct that the server fills, of things it has found out anyway.

use std::net::IpAddr;

use vervet_engine::http::h1::RequestHead;

use super::plan::{Choice, Origin};
use super::request_id::RequestId;

/// A request as its line will have it. Nothing of it is kept beyond the call.
#[derive(Clone, Copy, Debug)]
pub struct RequestFacts<'a> {
    /// The head.
    pub head: &'a RequestHead<'a>,
    /// The path, decoded, as the routes were asked for it: for the lines and for rules by path.
    pub path: &'a [u8],
    /// The query without its question mark.
    pub query: Option<&'a [u8]>,
    /// The host in lower case and without port; empty where none was sent.
    pub host: &'a [u8],
    /// `http` or `https`.
    pub scheme: &'static str,
    /// Name of the listener.
    pub listener: &'a str,
    /// The client as trusted forwarders say; `None` for the socket's peer.
    pub client: Option<IpAddr>,
    /// Who signed in.
    pub user: Option<&'a [u8]>,
    /// The request id.
    pub request_id: Option<RequestId<'a>>,
    /// Which request of its connection it is, from 1; `None` where nobody counts.
    pub connection_requests: Option<u64>,
    /// The site and the route that answer.
    pub origin: Origin,
    /// Which logs get a line.
    pub logs: Choice,
}

impl<'a> RequestFacts<'a> {
    /// What the head alone tells: the target is taken apart at its question mark and not decoded.
    pub fn of_head(head: &'a RequestHead<'a>) -> Self {
        let at = memchr::memchr(b'?', head.target);
        let (path, query) = match at {
            Some(at) => (&head.target[..at], Some(&head.target[at + 1..])),
            None => (head.target, None),
        };
        Self {
            head,
            path,
            query,
            host: head.host().unwrap_or_default(),
            scheme: "http",
            listener: "",
            client: None,
            user: None,
            request_id: None,
            connection_requests: None,
            origin: Origin::default(),
            logs: Choice::default(),
        }
    }
}
