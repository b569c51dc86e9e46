//! A service that leaves a line for each exchange.

use std::fmt;
use std::net::SocketAddr;

use rustix::time::{ClockId, clock_gettime};
use vervet_engine::exchange::Finished;
use vervet_engine::listener::Endpoint;
use vervet_engine::{Admit, Exchange, Outcome, Service};

use super::format::{Format, LineParts};
use super::lines::Lines;
use super::record::Records;
use super::when::SecondText;

/// Logs what the service within answers, and what the engine refuses before it. It uses the tag of each exchange: one
/// that the inner service sets is lost.
pub struct Logged<S> {
    inner: S,
    format: Format,
    lines: Lines,
    records: Records,
    second: SecondText,
}

impl<S: Service> Logged<S> {
    /// Wraps the service of one reactor.
    pub fn new(inner: S, format: Format, lines: Lines) -> Self {
        Self {
            inner,
            second: format.clock(),
            format,
            lines,
            records: Records::default(),
        }
    }
}

impl<S: Service> Service for Logged<S> {
    fn call(&mut self, mut exchange: Exchange<'_>) -> Outcome {
        // One that was suspended has its record.
        if exchange.resumed().is_none() {
            exchange.set_tag(self.records.add(self.format, exchange.head()));
        }
        self.inner.call(exchange)
    }

    fn admit(&mut self, peer: Option<SocketAddr>, listener: &Endpoint) -> Admit {
        self.inner.admit(peer, listener)
    }

    fn finished(&mut self, finished: &Finished<'_>) {
        let parts = LineParts {
            record: finished.tag.and_then(|tag| self.records.get(tag)),
            finished,
            second: self.second.at(finished.now.unix_seconds),
            millisecond: millisecond(self.format),
        };
        let format = self.format;
        self.lines.push(|out| format.push_line(out, &parts));
        if let Some(tag) = finished.tag {
            self.records.release(tag);
        }
        self.inner.finished(&Finished {
            tag: None,
            ..*finished
        });
    }
}

/// Milliseconds of the coarse clock, where the format has them. The turn's own time has seconds only; where the two
/// reads fall into different seconds, the line keeps the turn's second and is off by less than a turn.
fn millisecond(format: Format) -> u32 {
    if format != Format::Json {
        return 0;
    }
    let nanoseconds = clock_gettime(ClockId::RealtimeCoarse).tv_nsec;
    u32::try_from(nanoseconds / 1_000_000).unwrap_or(0)
}

impl<S> fmt::Debug for Logged<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Logged")
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}
