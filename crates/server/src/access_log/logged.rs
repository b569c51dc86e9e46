//! A service that leaves a line for each exchange, where there is one log and no site to choose it.

use std::fmt;
use std::net::SocketAddr;

use vervet_engine::exchange::Finished;
use vervet_engine::listener::Endpoint;
use vervet_engine::{Admit, Exchange, Outcome, Service};

use super::facts::RequestFacts;
use super::plan::Choice;
use super::scribe::Scribe;

/// Logs what the service within answers, and what the engine refuses before it. It uses the tag of each exchange: one
/// that the inner service sets is lost.
pub struct Logged<S> {
    inner: S,
    scribe: Scribe,
    logs: Choice,
}

impl<S: Service> Logged<S> {
    /// Wraps the service of one reactor; each request gets its lines in these logs.
    pub fn new(inner: S, scribe: Scribe, logs: Choice) -> Self {
        Self {
            inner,
            scribe,
            logs,
        }
    }
}

impl<S: Service> Service for Logged<S> {
    fn call(&mut self, mut exchange: Exchange<'_>) -> Outcome {
        // One that was suspended has its record.
        if exchange.resumed().is_none() {
            let facts = RequestFacts {
                logs: self.logs,
                ..RequestFacts::of_head(exchange.head())
            };
            exchange.set_tag(self.scribe.begin(&facts));
        }
        self.inner.call(exchange)
    }

    fn admit(&mut self, peer: Option<SocketAddr>, listener: &Endpoint) -> Admit {
        self.inner.admit(peer, listener)
    }

    fn refresh(&mut self) {
        self.inner.refresh();
    }

    fn finished(&mut self, finished: &Finished<'_>) {
        self.scribe.finish(finished);
        self.inner.finished(&Finished {
            tag: None,
            ..*finished
        });
    }
}

impl<S> fmt::Debug for Logged<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Logged")
            .field("logs", &self.logs)
            .finish_non_exhaustive()
    }
}
