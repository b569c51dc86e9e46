//! Determines the client address from trusted proxies: `Forwarded` (RFC 7239), or
//! `X-Forwarded-For`, `-Proto` and `-Host`.
//!
//! Each proxy appends the address of its peer, so the headers are read from the right. An address
//! is trusted if the one before it, beginning with the peer of the connection, is in a trusted
//! network. The first one that is in none is the client. Anyone may have written the rest: it is
//! not even parsed. A peer that is not trusted is the client, whatever its headers say.
//!
//! Only the kind of header that the trusted proxies write is read, because a proxy passes on the
//! other kind as the client sent it.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};

use vervet_config::{section, words};
use vervet_http::field::{Fields, Known, is_token};
use vervet_http::target::{Authority, Scheme};

use crate::access_log::RequestId;
use crate::matching::networks::{Network, Networks};
use crate::web::{Edits, Request, RequestFilter, Verdict};

words! {
    /// Which headers the trusted proxies write.
    pub enum ForwardedFields {
        /// `X-Forwarded-For`, `X-Forwarded-Proto`, `X-Forwarded-Host`.
        X = "x-forwarded",
        /// `Forwarded` (RFC 7239).
        Rfc7239 = "forwarded",
    }
}

section! {
    /// Trusted reverse proxies, whose headers determine the client address:
    /// `forwarded = ["10.0.0.0/8"]`. The addresses in the header are read from the last to the
    /// first; the first one that is not in a trusted network is the client. The headers of other
    /// peers are ignored.
    pub struct ForwardedFrom short(from) {
        /// The networks of the trusted proxies.
        pub from: Vec<Network>,
        /// Whether to trust all peers that connect to a unix socket.
        pub unix: bool = false,
        /// Which headers the proxies write. The other kind is ignored, because a proxy passes it on
        /// as the client sent it.
        pub fields: ForwardedFields = "x-forwarded",
    }
}

/// Whether peers on a unix socket, which have no address, are trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum UnixPeers {
    /// Their forwarding headers are ignored.
    #[default]
    Distrusted,
    /// Trusted: everyone who can open the socket is a proxy.
    Trusted,
}

/// The trusted reverse proxies, and counters.
#[derive(Debug)]
pub struct Forwarders {
    networks: Networks<()>,
    fields: ForwardedFields,
    unix: UnixPeers,
    disbelieved: AtomicU64,
    malformed: AtomicU64,
}

/// The request as it reached the outermost trusted proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The client address; `None` for a unix socket.
    pub client: Option<IpAddr>,
    /// The scheme of the request, if a trusted proxy reports it.
    pub scheme: Option<Scheme>,
    /// The host of the request with its port, if a trusted proxy reports it. Well-formed.
    pub host: Option<Vec<u8>>,
}

/// What one proxy reports about its peer.
#[derive(Debug, Default)]
struct Hop {
    /// `None` for `unknown` and names in place of addresses (RFC 7239 §6.2, §6.3).
    address: Option<IpAddr>,
    scheme: Option<Scheme>,
    host: Option<Vec<u8>>,
    /// A scheme or host could not be read. The address stands all the same: a client may have
    /// chosen them.
    is_flawed: bool,
}

/// An element that does not follow its grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Malformed;

impl From<&ForwardedFrom> for Forwarders {
    fn from(section: &ForwardedFrom) -> Self {
        let unix = if *section.unix { UnixPeers::Trusted } else { UnixPeers::Distrusted };
        let networks = section.from.iter().map(|network| (*network, ())).collect();
        Self::new(networks, *section.fields, unix)
    }
}

impl Forwarders {
    /// Trusts proxies of these networks, which write these headers.
    pub fn new(networks: Networks<()>, fields: ForwardedFields, unix: UnixPeers) -> Self {
        Self {
            networks,
            fields,
            unix,
            disbelieved: AtomicU64::new(0),
            malformed: AtomicU64::new(0),
        }
    }

    /// The origin of a request whose peer has this address; `None` is a unix socket.
    pub fn origin(&self, peer: Option<IpAddr>, fields: &Fields<'_>) -> Origin {
        let direct = Origin { client: peer, scheme: None, host: None };
        let says = match self.fields {
            ForwardedFields::X => fields.has(Known::XForwardedFor),
            ForwardedFields::Rfc7239 => fields.has(Known::Forwarded),
        };
        if !self.is_believed(peer) {
            if says {
                self.disbelieved.fetch_add(1, Ordering::Relaxed);
            }
            return direct;
        }
        match self.fields {
            ForwardedFields::X => self.walk(direct, x_hops(fields)),
            ForwardedFields::Rfc7239 => self.walk(direct, hops(fields)),
        }
    }

    /// Number of requests with such headers from untrusted peers.
    pub fn disbelieved(&self) -> u64 {
        self.disbelieved.load(Ordering::Relaxed)
    }

    /// Number of malformed header elements from trusted proxies.
    pub fn malformed(&self) -> u64 {
        self.malformed.load(Ordering::Relaxed)
    }

    /// Follows the hops, the nearest first, as long as each is reported by a trusted proxy.
    fn walk(&self, direct: Origin, hops: impl Iterator<Item = Result<Hop, Malformed>>) -> Origin {
        let mut origin = direct;
        for hop in hops {
            let Ok(hop) = hop else {
                self.malformed.fetch_add(1, Ordering::Relaxed);
                return origin;
            };
            if hop.is_flawed {
                self.malformed.fetch_add(1, Ordering::Relaxed);
            }
            origin.scheme = hop.scheme.or(origin.scheme);
            origin.host = hop.host.or(origin.host);
            let Some(address) = hop.address else {
                return origin;
            };
            origin.client = Some(address);
            if !self.is_believed(origin.client) {
                return origin;
            }
        }
        origin
    }

    fn is_believed(&self, address: Option<IpAddr>) -> bool {
        match address {
            Some(address) => self.networks.contains(address),
            None => self.unix == UnixPeers::Trusted,
        }
    }
}

impl RequestFilter for Forwarders {
    fn name(&self) -> &'static str {
        "forwarded"
    }

    fn check(&self, request: &mut Request<'_>, _: &mut Edits) -> Verdict {
        let peer = request.peer.map(|peer| peer.ip().to_canonical());
        let head = request.head;
        let origin = self.origin(peer, &head.fields);
        if request.request_id.is_some() && self.is_believed(peer) {
            let mut given = head.fields.named("x-request-id");
            if let Some(id) = given.next().and_then(RequestId::given) {
                request.request_id = Some(id);
            }
        }
        request.forwarded_client = origin.client;
        if let Some(scheme) = origin.scheme {
            request.scheme = scheme;
        }
        Verdict::Pass
    }
}

impl Hop {
    fn set_scheme(&mut self, value: &[u8]) {
        match value.to_ascii_lowercase().as_slice() {
            b"http" => self.scheme = Some(Scheme::Http),
            b"https" => self.scheme = Some(Scheme::Https),
            _ => self.is_flawed = true,
        }
    }

    fn set_host(&mut self, value: &[u8]) {
        if !value.is_empty() && Authority::parse(value).is_ok() {
            self.host = Some(value.to_ascii_lowercase());
        } else {
            self.is_flawed = true;
        }
    }
}

/// The hops of `X-Forwarded-For`, the nearest first, each with the scheme and host in the same
/// place of their own lists. Where those are shorter their first member counts: the outermost proxy
/// wrote it, the inner ones left it.
fn x_hops<'a>(fields: &Fields<'a>) -> impl Iterator<Item = Result<Hop, Malformed>> + use<'a> {
    let mut schemes = Nearest::new(reversed(fields, Known::XForwardedProto));
    let mut hosts = Nearest::new(reversed(fields, Known::XForwardedHost));
    reversed(fields, Known::XForwardedFor).map(move |element| {
        let mut hop = Hop { address: x_address(element)?, ..Hop::default() };
        if let Some(value) = schemes.next() {
            hop.set_scheme(value);
        }
        if let Some(value) = hosts.next() {
            hop.set_host(value);
        }
        Ok(hop)
    })
}

/// Members of a list, and its last one ever after.
struct Nearest<'a, I> {
    members: I,
    last: Option<&'a [u8]>,
}

impl<'a, I: Iterator<Item = &'a [u8]>> Nearest<'a, I> {
    fn new(members: I) -> Self {
        Self { members, last: None }
    }

    fn next(&mut self) -> Option<&'a [u8]> {
        self.last = self.members.next().or(self.last);
        self.last
    }
}

/// The members of a list without quoted strings, over all its lines, the last first.
fn reversed<'a>(fields: &Fields<'a>, name: Known) -> impl Iterator<Item = &'a [u8]> + use<'a> {
    let mut lines: Vec<_> = fields.all(name).collect();
    lines.reverse();
    let members = lines.into_iter().flat_map(|line| line.rsplit(|byte| *byte == b','));
    members.map(<[u8]>::trim_ascii).filter(|member| !member.is_empty())
}

fn x_address(element: &[u8]) -> Result<Option<IpAddr>, Malformed> {
    if element.eq_ignore_ascii_case(b"unknown") {
        return Ok(None);
    }
    let text = str::from_utf8(element).map_err(|_| Malformed)?;
    // An IPv6 address stands without brackets here, unless a port follows.
    address(text.parse().ok().or_else(|| bracketed_or_with_port(text)))
}

/// The hops of `Forwarded`, the nearest first.
fn hops<'a>(fields: &Fields<'a>) -> impl Iterator<Item = Result<Hop, Malformed>> + use<'a> {
    let mut lines: Vec<_> = fields.all(Known::Forwarded).collect();
    lines.reverse();
    let elements = lines.into_iter().flat_map(|line| Backward { rest: Some(line) });
    elements.filter(|element| !element.is_empty()).map(hop)
}

/// The elements of one line from the right. The end of a line is what a believed proxy wrote, so
/// quotes are paired from there: an opened one that a client has sent cannot swallow what follows
/// it.
struct Backward<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Iterator for Backward<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        let mut is_quoted = false;
        for (at, byte) in rest.iter().enumerate().rev() {
            match byte {
                b'"' if !is_quoted || !is_escaped(rest, at) => is_quoted = !is_quoted,
                b',' if !is_quoted => {
                    self.rest = Some(&rest[..at]);
                    return Some(rest[at + 1..].trim_ascii());
                }
                _ => {}
            }
        }
        self.rest = None;
        Some(rest.trim_ascii())
    }
}

fn is_escaped(line: &[u8], at: usize) -> bool {
    let slashes = line[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
    slashes % 2 == 1
}

/// One element: pairs of a token and a token or quoted string, each name once (RFC 7239 §4).
fn hop(element: &[u8]) -> Result<Hop, Malformed> {
    let mut hop = Hop::default();
    let mut seen: Vec<&[u8]> = Vec::new();
    let mut rest = element;
    loop {
        // RFC 7239 §4: a pair may be left out.
        while let [b';' | b' ' | b'\t', after @ ..] = rest {
            rest = after;
        }
        if rest.is_empty() {
            return Ok(hop);
        }
        let (name, value, after) = pair(rest)?;
        if seen.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return Err(Malformed);
        }
        seen.push(name);
        if name.eq_ignore_ascii_case(b"for") {
            hop.address = node(&value)?;
        } else if name.eq_ignore_ascii_case(b"proto") {
            hop.set_scheme(&value);
        } else if name.eq_ignore_ascii_case(b"host") {
            hop.set_host(&value);
        }
        rest = after.trim_ascii_start();
        if !matches!(rest, [] | [b';', ..]) {
            return Err(Malformed);
        }
    }
}

type Pair<'a> = (&'a [u8], Cow<'a, [u8]>, &'a [u8]);

/// The pair at the beginning, and what follows it.
fn pair(rest: &[u8]) -> Result<Pair<'_>, Malformed> {
    let equals = rest.iter().position(|byte| *byte == b'=').ok_or(Malformed)?;
    let (name, value) = (&rest[..equals], &rest[equals + 1..]);
    if !is_token(name) {
        return Err(Malformed);
    }
    if let [b'"', quoted @ ..] = value {
        let (text, after) = unquote(quoted)?;
        return Ok((name, Cow::Owned(text), after));
    }
    let end = value.iter().position(|byte| *byte == b';').unwrap_or(value.len());
    let token = value[..end].trim_ascii_end();
    if !is_token(token) {
        return Err(Malformed);
    }
    Ok((name, Cow::Borrowed(token), &value[end..]))
}

/// The text of a quoted string whose first quote has been read, and what follows the last.
fn unquote(quoted: &[u8]) -> Result<(Vec<u8>, &[u8]), Malformed> {
    let mut text = Vec::new();
    let mut rest = quoted;
    loop {
        rest = match rest {
            [b'"', after @ ..] => return Ok((text, after)),
            [b'\\', byte, after @ ..] | [byte, after @ ..] => {
                text.push(*byte);
                after
            }
            [] => return Err(Malformed),
        };
    }
}

/// The address of a node; `None` where it is `unknown` or goes by an obfuscated name (RFC 7239 §6).
fn node(value: &[u8]) -> Result<Option<IpAddr>, Malformed> {
    if value.eq_ignore_ascii_case(b"unknown") || value.starts_with(b"_") {
        return Ok(None);
    }
    let text = str::from_utf8(value).map_err(|_| Malformed)?;
    let four = text.parse().ok().filter(IpAddr::is_ipv4);
    address(four.or_else(|| bracketed_or_with_port(text)))
}

fn bracketed_or_with_port(text: &str) -> Option<IpAddr> {
    if let Some(bracketed) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        return bracketed.parse().ok().filter(IpAddr::is_ipv6);
    }
    let with_port = text.parse::<SocketAddr>().ok().map(|address| address.ip());
    with_port.or_else(|| {
        // RFC 7239 §6: a port may be obfuscated.
        let (address, port) = text.rsplit_once(":_")?;
        let is_name = !port.is_empty()
            && port.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        let address = if is_name { address } else { return None };
        address.parse().ok().filter(IpAddr::is_ipv4).or_else(|| bracketed_or_with_port(address))
    })
}

fn address(read: Option<IpAddr>) -> Result<Option<IpAddr>, Malformed> {
    read.map(|address| Some(address.to_canonical())).ok_or(Malformed)
}

#[cfg(test)]
mod tests;
