//! The admin service: five targets, GET and HEAD.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use vervet_engine::{Exchange, Outcome, Response, Service};
use vervet_http::field::Known;
use vervet_http::method::Method;
use vervet_http::openmetrics;
use vervet_http::status::Status;

use super::blocks;
use super::report::{Phase, StatusSource};
use super::{prometheus, status};

/// Which hosts the service answers for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hosts {
    /// Over TCP, requests whose Host is an address or `localhost`, so that a web page in a browser
    /// on this machine cannot read responses by DNS rebinding. No browser reaches a unix socket.
    Local,
    /// All: the service is on an address that others reach.
    Any,
}

/// Answers requests of operators and their tools.
#[derive(Clone)]
pub struct Admin {
    source: Arc<dyn StatusSource>,
    hosts: Hosts,
}

impl Admin {
    /// For a unix socket or a loopback address.
    pub fn new(source: Arc<dyn StatusSource>) -> Self {
        Self { source, hosts: Hosts::Local }
    }

    /// For an address that others reach.
    pub fn exposed(source: Arc<dyn StatusSource>) -> Self {
        Self { source, hosts: Hosts::Any }
    }

    /// The response to a request for the blocks. Only a unix socket accepts changes, because its
    /// permissions restrict access.
    fn blocks(&self, exchange: &Exchange<'_>, query: &[u8]) -> Answer {
        let method = exchange.head().method;
        let changes = matches!(method, Method::Post | Method::Put | Method::Delete);
        if !changes && !matches!(method, Method::Get | Method::Head) {
            return Answer::text(Status::METHOD_NOT_ALLOWED, "use GET, PUT or DELETE\n");
        }
        if changes && exchange.peer().is_some() {
            return Answer::text(Status::FORBIDDEN, "changes are accepted on a unix socket only\n");
        }
        match self.source.blocks() {
            Some(blocks) => blocks::answer(&blocks, method, query, exchange.now()),
            None => Answer::text(Status::NOT_FOUND, "blocks are not supported here\n"),
        }
    }

    /// The response to a method and a path without its query.
    fn answer(&self, method: Method, path: &[u8]) -> Answer {
        if !matches!(method, Method::Get | Method::Head) {
            return Answer::text(Status::METHOD_NOT_ALLOWED, "use GET or HEAD\n");
        }
        match path {
            b"/-/live" => Answer::text(Status::OK, "live\n"),
            b"/-/ready" => probe(self.source.phase(), &[Phase::Ready]),
            b"/-/startup" => probe(self.source.phase(), &[Phase::Ready, Phase::Draining]),
            b"/metrics" => Answer {
                status: Status::OK,
                media_type: openmetrics::CONTENT_TYPE,
                content: prometheus::metrics(&self.source.report()),
            },
            b"/-/status" => Answer {
                status: Status::OK,
                media_type: "application/json",
                content: status::status(&self.source.report()),
            },
            _ => Answer::text(
                Status::NOT_FOUND,
                "not found: try /-/live, /-/ready, /-/startup, /-/status, /-/blocks or /metrics\n",
            ),
        }
    }
}

impl Service for Admin {
    fn call(&mut self, exchange: Exchange<'_>) -> Outcome {
        let head = exchange.head();
        let is_local = self.hosts == Hosts::Any
            || exchange.peer().is_none()
            || is_local(head.host().unwrap_or_default());
        let answer = if is_local {
            let end = memchr::memchr(b'?', head.target).unwrap_or(head.target.len());
            let query = head.target.get(end + 1..).unwrap_or_default();
            match &head.target[..end] {
                b"/-/blocks" => self.blocks(&exchange, query),
                path => self.answer(head.method, path),
            }
        } else {
            Answer::text(Status::MISDIRECTED_REQUEST, "Host must be an IP address or localhost\n")
        };
        Outcome::Done(answer.response())
    }
}

impl fmt::Debug for Admin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Admin").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

/// A response of the service.
#[derive(Debug)]
pub(super) struct Answer {
    status: Status,
    media_type: &'static str,
    content: String,
}

impl Answer {
    pub(super) fn json(document: &serde_json::Value) -> Self {
        Self {
            status: Status::OK,
            media_type: "application/json",
            content: format!("{document:#}\n"),
        }
    }

    pub(super) fn text(status: Status, content: &str) -> Self {
        Self { status, media_type: "text/plain; charset=utf-8", content: content.to_owned() }
    }

    fn response(self) -> Response {
        let fields = [
            (Known::ContentType, self.media_type),
            (Known::CacheControl, "no-store"),
            (Known::Allow, "GET, HEAD"),
        ];
        // Allow goes with 405 alone (RFC 9110 §15.5.6).
        let count = if self.status == Status::METHOD_NOT_ALLOWED { 3 } else { 2 };
        let mut response = Response::new(self.status);
        for (name, value) in &fields[..count] {
            response = match response.field(*name, value.as_bytes()) {
                Ok(response) => response,
                // Its own fields are well formed: this does not happen.
                Err(_) => return Response::new(Status::INTERNAL_SERVER_ERROR),
            };
        }
        response.content(self.content)
    }
}

/// 200 in one of these phases, otherwise 503.
fn probe(phase: Phase, healthy: &[Phase]) -> Answer {
    let status = if healthy.contains(&phase) { Status::OK } else { Status::SERVICE_UNAVAILABLE };
    Answer::text(status, &format!("{}\n", phase.as_str()))
}

/// Whether a host is an address or `localhost`, or empty.
fn is_local(host: &[u8]) -> bool {
    let Ok(name) = std::str::from_utf8(host) else {
        return false;
    };
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    name.is_empty()
        || name.eq_ignore_ascii_case("localhost")
        || address.unwrap_or(name).parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_and_localhost_are_local() {
        for host in ["", "localhost", "LocalHost", "127.0.0.1", "10.1.2.3", "[::1]"] {
            assert!(is_local(host.as_bytes()), "{host}");
        }
        for host in ["example.org", "localhost.example.org", "127.0.0.1.example.org", "\u{ff}"] {
            assert!(!is_local(host.as_bytes()), "{host}");
        }
    }
}
