//! A request as filters, routes and handlers see it: parsed once, with what the server has learned about it.

use std::any::Any;
use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use vervet_engine::Exchange;
use vervet_engine::reactor::Now;
use vervet_http::h1::RequestHead;
use vervet_http::method::Method;
use vervet_http::status::Status;
use vervet_http::target::{NormalPath, RequestTarget, Scheme};

use crate::access_log::RequestId;
use crate::matching::{Captures, Values};

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

impl<'a> Request<'a> {
    /// The request of an exchange, before its site is known.
    ///
    /// # Errors
    /// The status of the answer to a request that no site can answer.
    pub(super) fn read(exchange: &Exchange<'a>) -> Result<Self, Status> {
        let head = exchange.head();
        // Tunnels are for proxies.
        if head.method == Method::Connect {
            return Err(Status::NOT_IMPLEMENTED);
        }
        let target =
            RequestTarget::parse(head.target, head.method).map_err(|_| Status::BAD_REQUEST)?;
        let raw_path = target.raw_path().unwrap_or(b"/");
        let path = match raw_path {
            b"*" => Cow::Borrowed(raw_path),
            _ => NormalPath::decode(raw_path)
                .map_err(|_| Status::BAD_REQUEST)?
                .into_bytes(),
        };
        let host = match target.authority() {
            // RFC 9112 §3.2.2: it outranks the Host field.
            Some(authority) => authority.host(),
            None => without_port(head.host().unwrap_or_default()),
        };
        Ok(Self {
            head,
            raw_path: Cow::Borrowed(raw_path),
            path,
            query: target.raw_query().map(Cow::Borrowed),
            host: lower_case(host),
            peer: exchange.peer(),
            client: exchange.peer().map(|peer| peer.ip().to_canonical()),
            scheme: Scheme::Http,
            captures: Captures::default(),
            rest: None,
            request_id: None,
            resumed: exchange.resumed(),
            user: None,
            held: Vec::new(),
            now: exchange.now(),
        })
    }

    /// The scheme by its name in a URI.
    pub(crate) fn scheme_name(&self) -> &'static str {
        match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    /// What the placeholders of redirects and rewrites stand for.
    pub(crate) fn template_values(&self) -> Values<'_> {
        Values {
            captures: &self.captures,
            path: &self.path,
            raw_path: &self.raw_path,
            query: self.query.as_deref(),
            rest: self.rest.as_deref(),
            host: &self.host,
            scheme: self.scheme_name(),
            method: self.head.method_token,
        }
    }
}

/// The host of a valid Host field.
fn without_port(host: &[u8]) -> &[u8] {
    let digits = host
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    match host[..host.len() - digits].strip_suffix(b":") {
        Some(name) => name,
        None => host,
    }
}

fn lower_case(host: &[u8]) -> Cow<'_, [u8]> {
    if host.iter().any(u8::is_ascii_uppercase) {
        Cow::Owned(host.to_ascii_lowercase())
    } else {
        Cow::Borrowed(host)
    }
}
