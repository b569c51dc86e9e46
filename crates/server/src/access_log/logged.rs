//! A service that writes a line for each exchange of an inner service.

use std::fmt;
use std::net::SocketAddr;

use vervet_engine::exchange::Finished;
use vervet_engine::listener::Endpoint;
use vervet_engine::{Admit, Exchange, Outcome, Service};

use super::plan::LogSet;
use super::request::RequestInfo;
use super::writer::LogWriter;

/// Logs the responses of a service, and the requests that the engine refuses before it. It uses the
/// tag of each exchange: one that the inner service sets is lost.
pub struct Logged<S> {
    inner: S,
    writer: LogWriter,
    logs: LogSet,
}

impl<S: Service> Logged<S> {
    /// Wraps the service of one reactor. Each request gets its lines in these logs.
    pub fn new(inner: S, writer: LogWriter, logs: LogSet) -> Self {
        Self {
            inner,
            writer,
            logs,
        }
    }
}

impl<S: Service> Service for Logged<S> {
    fn call(&mut self, mut exchange: Exchange<'_>) -> Outcome {
        // A suspended request has been recorded already.
        if exchange.resumed().is_none() {
            let info = RequestInfo {
                logs: self.logs,
                ..RequestInfo::from_head(exchange.head())
            };
            exchange.set_tag(self.writer.begin(&info));
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
        self.writer.finish(finished);
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
