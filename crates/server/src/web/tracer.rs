//! Selects the requests that are traced, by the rules of the command line.
//!
//! If tracing is off, a request costs a check of an empty option; if no rule matches, the
//! comparison with the rules. [`crate::trace`] has the content of traces.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use vervet_config::FromText as _;

use super::request::Request;
use crate::access_log::PathPattern;
use crate::matching::Network;
use crate::trace::{Trace, TraceMatch};

/// Which requests are traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceRule {
    /// All requests are traced.
    All,
    /// Requests whose decoded path matches a pattern with `*` and `?`.
    Path(PathPattern),
    /// Requests of clients in a network, by the peer or the client address from a trusted proxy.
    Client(Network),
}

/// A text that is not a trace rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRuleError(String);

impl fmt::Display for TraceRuleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "invalid trace rule {:?}: expected a path that begins with / or *, an IP address or a network",
            self.0
        )
    }
}

impl std::error::Error for TraceRuleError {}

impl FromStr for TraceRule {
    type Err = TraceRuleError;

    fn from_str(text: &str) -> Result<Self, TraceRuleError> {
        if text == "*" {
            return Ok(Self::All);
        }
        if text.starts_with(['/', '*']) {
            return Ok(Self::Path(PathPattern::new(text)));
        }
        let network = Network::from_text(text);
        network.map(Self::Client).map_err(|_| TraceRuleError(text.to_owned()))
    }
}

/// Decides which requests are traced, and numbers the traces.
#[derive(Debug, Default)]
pub struct Tracer {
    rules: Vec<TraceRule>,
    count: AtomicU64,
}

impl Tracer {
    /// Traces requests that match any of the rules.
    pub fn new(rules: Vec<TraceRule>) -> Self {
        Self { rules, count: AtomicU64::new(0) }
    }

    /// Begins the trace of a request that a rule matches, or may match once the client is known: a
    /// forwarder may name another client than the peer.
    pub(super) fn begin(&self, request: &Request<'_>) -> Trace {
        let matches_request = self.rules.iter().any(|rule| match rule {
            TraceRule::All => true,
            TraceRule::Path(pattern) => pattern.fits(&request.path),
            TraceRule::Client(_) => false,
        });
        let depends_on_client = |rule: &TraceRule| matches!(rule, TraceRule::Client(_));
        let match_state = if matches_request {
            TraceMatch::Certain
        } else if self.rules.iter().any(depends_on_client) {
            TraceMatch::DependsOnClient
        } else {
            return Trace::OFF;
        };
        let trace = Trace::begin(match_state);
        trace.step(|| RequestLine(request).to_string());
        trace
    }

    /// The trace, if a rule matches the request now that the client is known.
    pub(super) fn confirm(&self, trace: &Trace, client: Option<IpAddr>) -> Trace {
        let matches_client = || {
            self.rules.iter().any(|rule| match (rule, client) {
                (TraceRule::Client(network), Some(client)) => network.contains(client),
                _ => false,
            })
        };
        match trace.match_state() {
            Some(TraceMatch::DependsOnClient) if !matches_client() => Trace::OFF,
            _ => trace.clone(),
        }
    }

    /// The number of the next trace.
    pub(super) fn number(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// The first line of a trace: the request line, and the client.
struct RequestLine<'r, 'h>(&'r Request<'h>);

impl fmt::Display for RequestLine<'_, '_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(request) = self;
        let method = request.head.method_token;
        let target = request.head.target.escape_ascii();
        write!(formatter, "{method} {target} for {}", request.host.escape_ascii())?;
        match request.peer {
            Some(peer) => write!(formatter, " from {peer}")?,
            None => formatter.write_str(" from a unix socket")?,
        }
        if request.resumed.is_some() {
            formatter.write_str(", resumed")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&TraceRule>) {
        assert_eq!(text.parse().ok().as_ref(), expected, "{text}");
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for text in ["", "shop", "example.org", "192.0.2.1/24", "192.0.2.300", "?x"] {
            check(text, None);
        }
        let error = "shop".parse::<TraceRule>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "invalid trace rule \"shop\": expected a path that begins with / or *, an IP address or a network"
        );
    }

    #[test]
    fn rules_are_paths_and_clients() {
        check("*", Some(&TraceRule::All));
        for text in ["/shop/*", "*.php"] {
            check(text, Some(&TraceRule::Path(PathPattern::new(text))));
        }
        let network = Network::from_text("192.0.2.0/24").unwrap();
        check("192.0.2.0/24", Some(&TraceRule::Client(network)));
        let one = Network::from_address("2001:db8::1".parse().unwrap());
        check("2001:db8::1", Some(&TraceRule::Client(one)));
    }
}
