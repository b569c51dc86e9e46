//! What there is to tell of a server at one moment.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use vervet_engine::EngineControl;
use vervet_engine::counters::Totals;
use vervet_engine::listener::Endpoint;

use super::process::ProcessReport;
use crate::access_log::{Logs, Outlet};
use crate::caches::CacheReport;
use crate::error_log::{ErrorLog, Level};
use crate::filters::blocks::Blocks;
use crate::metrics::{Metrics, SiteTotals};

/// Where the admin service takes what it tells from. Asked on its own thread, for each request.
pub trait Facts: Send + Sync {
    /// What the server is doing.
    fn phase(&self) -> Phase;

    /// All that there is to tell.
    fn report(&self) -> Report;

    /// Who is blocked for now; none where nobody can be.
    fn blocks(&self) -> Option<Arc<Blocks>> {
        None
    }
}

/// What the server is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Phase {
    /// It is not answering yet.
    #[default]
    Starting,
    /// It answers.
    Ready,
    /// It answers what it has taken and takes no more.
    Draining,
}

impl Phase {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Draining => "draining",
        }
    }
}

/// A server at one moment.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The version of the program.
    pub version: &'static str,
    /// What it is doing.
    pub phase: Phase,
    /// When it began, in seconds since 1970.
    pub started_unix: u64,
    /// How long it has been running, in seconds.
    pub uptime_seconds: u64,
    /// Which plan is in force: 1 at the start, and one more with each reload.
    pub generation: u64,
    /// Reloads so far.
    pub reloads: Reloads,
    /// What the kernel says of the process.
    pub process: ProcessReport,
    /// What all reactors have counted together.
    pub engine: Totals,
    /// Connections open now in each reactor.
    pub reactor_connections: Vec<usize>,
    /// Where connections come from.
    pub listeners: Vec<ListenerReport>,
    /// What each site has answered.
    pub sites: Vec<SiteTotals>,
    /// Requests and connections that a limit or rule has refused, by a short name of it, such as `rate`, besides those that
    /// [`Report::engine`] has.
    pub refused: Vec<(String, u64)>,
    /// What is kept for speed.
    pub caches: Vec<CacheReport>,
    /// Where logs go.
    pub logs: Vec<LogReport>,
    /// Events of the error log by level.
    pub events: Vec<(Level, u64)>,
    /// The last of them, the oldest first.
    pub recent_events: Vec<String>,
}

impl Report {
    /// What an engine at work, its meters and its logs tell. The rest is whoever's who steers the server: the phase, the plan,
    /// the names of listeners, what filters have refused, caches.
    pub fn of(
        engine: &EngineControl,
        metrics: &Metrics,
        (logs, error_log): (&Logs, &ErrorLog),
    ) -> Self {
        let listener = |endpoint: &Arc<Endpoint>| ListenerReport {
            name: endpoint.address().to_string(),
            address: endpoint.to_string(),
        };
        Self {
            version: env!("CARGO_PKG_VERSION"),
            process: ProcessReport::read(),
            engine: engine.totals(),
            reactor_connections: engine.loads(),
            listeners: engine.listeners().iter().map(listener).collect(),
            sites: metrics.sites(),
            logs: LogReport::all(logs),
            events: error_log.events().collect(),
            recent_events: error_log.recent(),
            ..Self::default()
        }
    }
}

/// Reloads of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reloads {
    /// Those that took effect.
    pub done: u64,
    /// Those that were refused because of mistakes in the document.
    pub refused: u64,
    /// Why the last one was refused, if it was.
    pub last_error: Option<String>,
}

/// A listener.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListenerReport {
    /// What sites call it.
    pub name: String,
    /// Its address.
    pub address: String,
}

/// Where a log goes, and how it fares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogReport {
    /// The target.
    pub target: String,
    /// Lines written.
    pub written: u64,
    /// Lines dropped.
    pub dropped: u64,
    /// What the system said last of one that it did not take.
    pub reason: Option<String>,
    /// The last lines, where the target is memory.
    pub recent: Vec<String>,
}

impl LogReport {
    /// All targets in use, by name. Those of one name, such as one daemon under two tags, are one: no number may be told
    /// twice.
    pub fn all(logs: &Logs) -> Vec<Self> {
        let mut reports: BTreeMap<String, Self> = BTreeMap::new();
        for report in logs.outlets().iter().map(Self::of) {
            match reports.entry(report.target.clone()) {
                Entry::Vacant(place) => {
                    place.insert(report);
                }
                Entry::Occupied(mut known) => {
                    let known = known.get_mut();
                    known.written += report.written;
                    known.dropped += report.dropped;
                    known.reason = known.reason.take().or(report.reason);
                }
            }
        }
        reports.into_values().collect()
    }

    fn of(outlet: &Outlet) -> Self {
        let drops = outlet.drops();
        Self {
            target: outlet.target().to_string(),
            written: outlet.written(),
            dropped: drops.lines,
            reason: drops.reason,
            recent: outlet.recent(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access_log::{Syslog, Target};

    #[test]
    fn targets_of_one_name_are_told_once() {
        let logs = Logs::new(|notice| panic!("{notice:?}"));
        let tagged = |tag: &str| {
            let tag = tag.to_owned();
            let syslog = Syslog {
                tag,
                ..Syslog::local()
            };
            logs.open(&Target::Syslog(syslog)).unwrap()
        };
        let _open = [
            tagged("a"),
            tagged("b"),
            logs.open(&Target::Memory).unwrap(),
        ];
        let names: Vec<_> = LogReport::all(&logs)
            .into_iter()
            .map(|log| log.target)
            .collect();
        assert_eq!(names, ["memory", "syslog at /dev/log"]);
    }
}
