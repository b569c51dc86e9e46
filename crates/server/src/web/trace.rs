//! How one request was decided, told to who asked for it: each part that it passed, what that part said, and how long it took.
//!
//! Whoever runs the server switches this on, for all requests or for those of a rule. Where it is off, a request costs one
//! look at an empty place; where a rule does not fit, the look at the rule. A trace is told when its request has ended,
//! each line under its number.

use std::fmt;
use std::net::IpAddr;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use vervet_config::FromText as _;

use super::request::Request;
use crate::access_log::PathPattern;
use crate::filters::networks::Network;
use crate::trace::{Fit, Trace};

/// Which requests are traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceRule {
    /// All of them.
    All,
    /// Those whose path, decoded, fits a pattern with `*` and `?`.
    Path(PathPattern),
    /// Those of clients in a network: whom the connection comes from, or whom a trusted forwarder names.
    Client(Network),
}

/// Why a text says of no request whether it is traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRuleError(String);

impl fmt::Display for TraceRuleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:?} is neither a path (it begins with / or *), nor an address or network",
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
        network
            .map(Self::Client)
            .map_err(|_| TraceRuleError(text.to_owned()))
    }
}

/// Says which requests are traced, and numbers them.
#[derive(Debug, Default)]
pub struct Tracer {
    rules: Vec<TraceRule>,
    count: AtomicU64,
}

impl Tracer {
    /// Traces requests that fit any of the rules.
    pub fn new(rules: Vec<TraceRule>) -> Self {
        Self {
            rules,
            count: AtomicU64::new(0),
        }
    }

    /// Begins a trace, where a rule fits or may turn out to fit.
    pub(super) fn begin(&self, request: &Request<'_>) -> Option<Rc<Trace>> {
        let may_fit = |rule: &TraceRule| match rule {
            // Of a client it is known later: a forwarder may name another than the peer.
            TraceRule::All | TraceRule::Client(_) => true,
            TraceRule::Path(pattern) => pattern.fits(&request.path),
        };
        self.rules.iter().any(may_fit).then(|| {
            let is_known = self.fits(&request.path, None);
            let fit = if is_known { Fit::Known } else { Fit::Open };
            let trace = Rc::new(Trace::new(fit));
            trace.step(format_args!("{}", First(request)));
            trace
        })
    }

    /// Whether a trace is told, now that the client is known.
    pub(super) fn is_wanted(&self, trace: &Trace, client: Option<IpAddr>) -> bool {
        trace.fit == Fit::Known || self.fits(b"", client)
    }

    fn fits(&self, path: &[u8], client: Option<IpAddr>) -> bool {
        self.rules.iter().any(|rule| match rule {
            TraceRule::All => true,
            TraceRule::Path(pattern) => !path.is_empty() && pattern.fits(path),
            TraceRule::Client(network) => client.is_some_and(|client| network.contains(client)),
        })
    }

    /// What the next trace is called.
    pub(super) fn number(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// The first line of a trace: what is asked, and by whom.
struct First<'r>(&'r Request<'r>);

impl fmt::Display for First<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(request) = self;
        let method = request.head.method_token;
        let target = request.head.target.escape_ascii();
        write!(
            formatter,
            "{method} {target} for {}",
            request.host.escape_ascii()
        )?;
        match request.peer {
            Some(peer) => write!(formatter, " from {peer}")?,
            None => formatter.write_str(" from a unix socket")?,
        }
        if request.resumed.is_some() {
            formatter.write_str(", goes on")?;
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
        for text in [
            "",
            "shop",
            "example.org",
            "192.0.2.1/24",
            "192.0.2.300",
            "?x",
        ] {
            check(text, None);
        }
        let error = "shop".parse::<TraceRule>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"shop\" is neither a path (it begins with / or *), nor an address or network"
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
        let one = Network::of("2001:db8::1".parse().unwrap());
        check("2001:db8::1", Some(&TraceRule::Client(one)));
    }
}
