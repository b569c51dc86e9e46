//! A request as filters, routes and handlers see it: parsed once, and what the server has found out about it.

use std::any::Any;
use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use vervet_engine::reactor::Now;
use vervet_http::h1::RequestHead;
use vervet_http::target::Scheme;

use crate::access_log::RequestId;
use crate::matching::Captures;

/// A request on its way through a site.
#[derive(Debug)]
pub struct Request<'a> {
    /// The head as it came.
    pub head: &'a RequestHead<'a>,
    /// The path, percent-encoded, as it came or as a rewrite left it. Begins with `/`; `*` of OPTIONS.
    pub raw_path: Cow<'a, [u8]>,
    /// The path decoded, without dot segments: what routes and rules are compared with. Begins with `/`; `*` of OPTIONS.
    pub path: Cow<'a, [u8]>,
    /// The query as it came, without the question mark, or as a rewrite left it.
    pub query: Option<Cow<'a, [u8]>>,
    /// The host that is asked, in lower case and without port; empty where the request names none.
    pub host: Cow<'a, [u8]>,
    /// The other end of the connection; `None` over a unix socket.
    pub peer: Option<SocketAddr>,
    /// The client: the peer, or what trusted forwarders say of it.
    pub client: Option<IpAddr>,
    /// How the client reached the server, or the outermost trusted forwarder.
    pub scheme: Scheme,
    /// What the route has found in [`Self::path`].
    pub captures: Captures<'a>,
    /// The raw path that the `*` of the route's path stands for, beginning with `/`.
    pub rest: Option<Cow<'a, [u8]>>,
    /// The id of the request, where something asks for one.
    pub request_id: Option<RequestId<'a>>,
    /// What a filter that suspended the exchange learned meanwhile.
    pub resumed: Option<u64>,
    /// The user who has proved a name, if any.
    pub user: Option<String>,
    /// What is dropped when the exchange has ended, such as the places of limits.
    pub held: Vec<Box<dyn Any + Send>>,
    /// The time of the turn.
    pub now: Now,
}
