//! The state of a server at one moment, and the source of it for the admin service.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::sync::Arc;

use rustix::time::{ClockId, clock_gettime};
use vervet_engine::EngineControl;
use vervet_engine::counters::Totals;
use vervet_engine::listener::Endpoint;

use crate::caches::CacheReport;
use crate::error_log::{ErrorLog, Level};
use crate::filters::blocks::Blocks;
use crate::log_sinks::{LogSink, LogSinks};
use crate::metrics::{Metrics, SiteTotals};

/// Where the admin service gets the state of the server. It is called for each request, on the
/// thread of the admin service.
pub trait StatusSource: Send + Sync {
    /// The phase of the server.
    fn phase(&self) -> Phase;

    /// The state of the server.
    fn report(&self) -> Report;

    /// The blocked networks; `None` if blocking is not supported.
    fn blocks(&self) -> Option<Arc<Blocks>> {
        None
    }
}

/// The phase of a server's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Phase {
    /// The server does not answer requests yet.
    #[default]
    Starting,
    /// The server accepts and answers requests.
    Ready,
    /// The server finishes active requests and accepts no more connections.
    Draining,
}

impl Phase {
    /// Returns the name in status documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Draining => "draining",
        }
    }
}

/// The state of a server at one moment.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The version of the program.
    pub version: &'static str,
    /// The phase of the server.
    pub phase: Phase,
    /// When the server started, in seconds since 1970.
    pub started_unix: u64,
    /// How long the server has been running, in seconds.
    pub uptime_seconds: u64,
    /// The number of the current plan: 1 at the start, increased by each reload.
    pub generation: u64,
    /// Reloads of the configuration so far.
    pub reloads: Reloads,
    /// Resources of the process.
    pub process: ProcessReport,
    /// Counters of the engine, summed over all reactors.
    pub engine: Totals,
    /// Connections open now in each reactor.
    pub reactor_connections: Vec<usize>,
    /// The listeners and their addresses.
    pub listeners: Vec<ListenerReport>,
    /// Counters of each site.
    pub sites: Vec<SiteTotals>,
    /// Requests and connections refused by a limit or rule, by its short name, such as `rate`; not
    /// those that [`Report::engine`] counts.
    pub refused: Vec<(String, u64)>,
    /// Counters of each kind of cache.
    pub caches: Vec<CacheReport>,
    /// The sinks of logs.
    pub logs: Vec<LogReport>,
    /// Events of the error log by level.
    pub events: Vec<(Level, u64)>,
    /// The last events, oldest first.
    pub recent_events: Vec<String>,
}

impl Report {
    /// Reads the counters of a running engine, its sites and its logs. The caller fills in the
    /// rest: the phase, the plan, the names of listeners, counters of filters and caches.
    pub fn collect(
        engine: &EngineControl,
        metrics: &Metrics,
        sinks: &LogSinks,
        error_log: &ErrorLog,
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
            logs: LogReport::all(sinks),
            events: error_log.events().collect(),
            recent_events: error_log.recent(),
            ..Self::default()
        }
    }
}

/// Reloads of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reloads {
    /// The number of successful reloads.
    pub done: u64,
    /// Reloads refused because of errors in the document.
    pub refused: u64,
    /// Why the last one was refused; `None` if it succeeded.
    pub last_error: Option<String>,
}

/// A listener and its bound address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListenerReport {
    /// The name of the listener in the configuration.
    pub name: String,
    /// The address that it is bound to.
    pub address: String,
}

/// A sink of logs and its counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogReport {
    /// The target, as the configuration names it.
    pub target: String,
    /// The number of lines written.
    pub written: u64,
    /// The number of lines dropped.
    pub dropped: u64,
    /// The last error of the system, if it refused to write.
    pub reason: Option<String>,
    /// The last lines, if the target is memory.
    pub recent: Vec<String>,
}

impl LogReport {
    /// All sinks in use, by name. Sinks of one name, such as one daemon with two tags, are summed:
    /// a metric must not have two samples with equal labels.
    pub fn all(sinks: &LogSinks) -> Vec<Self> {
        let mut reports: BTreeMap<String, Self> = BTreeMap::new();
        for report in sinks.sinks().iter().map(Self::new) {
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

    fn new(sink: &LogSink) -> Self {
        let drops = sink.drops();
        Self {
            target: sink.target().to_string(),
            written: sink.written(),
            dropped: drops.lines,
            reason: drops.reason,
            recent: sink.recent(),
        }
    }
}

/// Resources of this process; zero if the kernel does not report them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessReport {
    /// The ID of the process.
    pub id: u32,
    /// Resident memory, in bytes.
    pub resident_bytes: u64,
    /// CPU time of all threads, including those that have ended, in milliseconds.
    pub cpu_ms: u64,
    /// The number of open file descriptors.
    pub descriptors: u64,
}

impl ProcessReport {
    /// Reads them from the kernel.
    pub fn read() -> Self {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        Self {
            id: std::process::id(),
            resident_bytes: resident_bytes().unwrap_or(0),
            cpu_ms: u64::try_from(cpu.tv_sec * 1000 + cpu.tv_nsec / 1_000_000).unwrap_or(0),
            descriptors: fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64),
        }
    }
}

fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use vervet_config::read_text;

    use super::*;
    use crate::log_sinks::{Syslog, Target};

    #[test]
    fn targets_of_one_name_are_reported_once() {
        let logs = LogSinks::new(|notice| panic!("{notice:?}"));
        let tagged = |tag: &str| {
            let syslog = read_text::<Syslog>("vervet.toml", &format!("tag = '{tag}'"));
            logs.open(&Target::Syslog(syslog.value.unwrap())).unwrap()
        };
        let _open = [tagged("a"), tagged("b"), logs.open(&Target::Memory).unwrap()];
        let names: Vec<_> = LogReport::all(&logs).into_iter().map(|log| log.target).collect();
        assert_eq!(names, ["memory", "syslog at /dev/log"]);
    }

    #[test]
    fn this_process_has_memory_and_descriptors() {
        let process = ProcessReport::read();
        assert!(process.resident_bytes > 100_000, "{process:?}");
        assert!(process.descriptors >= 3, "{process:?}");
    }
}
