//! A request as filters, routes and handlers see it: parsed once, with what the server has learned
//! about it.

use std::any::Any;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::net::{IpAddr, SocketAddr};
use std::ops::Deref;

use vervet_engine::Exchange;
use vervet_engine::reactor::Now;
use vervet_http::h1::RequestHead;
use vervet_http::method::Method;
use vervet_http::status::Status;
use vervet_http::target::{Authority, RequestTarget, Scheme};

use crate::access_log::RequestId;
use crate::matching::hosts::lower_case;
use crate::matching::{Captures, Values, raw_rest};

/// A request on its way through a site.
#[derive(Debug)]
pub struct Request<'a> {
    /// The head as it came.
    pub head: &'a RequestHead<'a>,
    /// The path, percent-encoded, as it came or as a rewrite left it. Begins with `/`; `*` of
    /// OPTIONS.
    pub raw_path: Cow<'a, [u8]>,
    /// The path decoded, without dot segments: what routes and rules are compared with. Begins with
    /// `/`; `*` of OPTIONS.
    pub path: Cow<'a, [u8]>,
    /// The query as it came, without the question mark, or as a rewrite left it.
    pub query: Option<Cow<'a, [u8]>>,
    /// The host that was requested.
    pub host: HostName<'a>,
    /// The other end of the connection; `None` over a unix socket.
    pub peer: Option<SocketAddr>,
    /// The client, where trusted forwarders name one.
    pub forwarded_client: Option<IpAddr>,
    /// How the client reached the server, or the outermost trusted forwarder.
    pub scheme: Scheme,
    /// What the route has found in [`Self::path`].
    pub captures: Captures<'a>,
    /// Where in [`Self::path`] the part begins that the `*` of the route's path stands for.
    pub rest_at: Option<usize>,
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

impl<'a> Request<'a> {
    /// The request of an exchange whose target has been parsed, before its site is known.
    #[inline]
    pub(super) fn new<'e: 'a>(exchange: &Exchange<'e>, parsed: ParsedTarget<'a>) -> Self {
        let head = exchange.head();
        let ParsedTarget { target, path } = parsed;
        // RFC 9112 §3.2.2: the target outranks the Host field.
        let host = target.authority().map(Authority::host).or(head.host());
        Self {
            head,
            raw_path: Cow::Borrowed(target.raw_path().unwrap_or(b"/")),
            path,
            query: target.raw_query().map(Cow::Borrowed),
            host: HostName::new(host.unwrap_or_default()),
            peer: exchange.peer(),
            forwarded_client: None,
            scheme: Scheme::Http,
            captures: Captures::default(),
            rest_at: None,
            request_id: None,
            resumed: exchange.resumed(),
            user: None,
            held: Vec::new(),
            now: exchange.now(),
        }
    }

    /// The client: what trusted forwarders name, or the peer; IPv4 where it is mapped to IPv6.
    /// `None` over a unix socket.
    pub fn client(&self) -> Option<IpAddr> {
        self.forwarded_client.or_else(|| self.peer.map(|peer| peer.ip().to_canonical()))
    }

    /// The raw path that the `*` of the route's path stands for, beginning with `/`.
    #[inline]
    pub(crate) fn rest(&self) -> Option<Cow<'_, [u8]>> {
        self.rest_at.map(|at| raw_rest(&self.raw_path, &self.path, at))
    }

    /// The scheme by its name in a URI.
    pub(crate) fn scheme_name(&self) -> &'static str {
        match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    /// What the placeholders of redirects and rewrites stand for.
    /// `rest` is [`Self::rest`].
    pub(crate) fn template_values<'v>(&'v self, rest: Option<&'v [u8]>) -> Values<'v> {
        Values {
            captures: &self.captures,
            path: &self.path,
            raw_path: &self.raw_path,
            query: self.query.as_deref(),
            rest,
            host: &self.host,
            scheme: self.scheme_name(),
            method: self.head.method_token,
        }
    }
}

/// The target of a request, parsed, and its decoded path.
pub(super) struct ParsedTarget<'a> {
    target: RequestTarget<'a>,
    path: Cow<'a, [u8]>,
}

impl<'a> ParsedTarget<'a> {
    /// Parses the target of a request.
    ///
    /// # Errors
    /// The status of the answer to a request that no site can answer.
    #[inline]
    pub(super) fn parse(head: &RequestHead<'a>) -> Result<Self, Status> {
        // Tunnels are for proxies.
        if head.method == Method::Connect {
            return Err(Status::NOT_IMPLEMENTED);
        }
        let target =
            RequestTarget::parse(head.target, head.method).map_err(|_| Status::BAD_REQUEST)?;
        let path = target.decoded_path().map_err(|_| Status::BAD_REQUEST)?;
        Ok(Self { target, path })
    }
}

/// A host without port. Dereferences to the host in lower case, which is made when it is first
/// needed. Empty if the request does not name a host.
#[derive(Debug)]
pub struct HostName<'a> {
    sent: &'a [u8],
    lower: OnceCell<Cow<'a, [u8]>>,
}

impl<'a> HostName<'a> {
    /// The host of a Host field or request target, without its port.
    pub fn new(sent: &'a [u8]) -> Self {
        Self { sent, lower: OnceCell::new() }
    }

    /// The host in the case in which it was sent.
    pub(super) fn as_sent(&self) -> &'a [u8] {
        self.sent
    }
}

impl Deref for HostName<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.lower.get_or_init(|| lower_case(self.sent))
    }
}
