//! Samples as JSON (one document that is written sample by sample, so that an hour needs no more
//! memory than a second, or one record per line) and as CSV.
//!
//! In CSV the first line has the names; counters are sums since the first sample, and a value that
//! a sample did not read is empty. No value has a comma, so nothing is quoted.

use std::io::{self, Write};

use serde::Serialize;
use vervet_watch::{Head, Record, Sample, Summary};

use super::watch_loop::View;

/// Writes one JSON document.
#[derive(Debug)]
pub(crate) struct Document<W> {
    to: W,
    /// The text before the next sample.
    separator: &'static str,
}

impl<W: Write> Document<W> {
    /// Written to `to`.
    pub(crate) fn new(to: W) -> Self {
        Self { to, separator: "\n" }
    }
}

impl<W: Write> View for Document<W> {
    fn begin(&mut self, head: &Head) -> io::Result<()> {
        write!(self.to, "{{\"head\":{},\n\"samples\":[", text(head)?)
    }

    fn sample(&mut self, sample: &Sample) -> io::Result<()> {
        write!(self.to, "{}{}", self.separator, text(sample)?)?;
        self.separator = ",\n";
        Ok(())
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        writeln!(self.to, "\n],\n\"summary\":{}}}", text(summary)?)?;
        self.to.flush()
    }
}

/// Writes a line of JSON for each record.
#[derive(Debug)]
pub(crate) struct JsonLines<W>(W);

impl<W: Write> JsonLines<W> {
    /// Written to `to`.
    pub(crate) fn new(to: W) -> Self {
        Self(to)
    }

    fn line(&mut self, record: &Record) -> io::Result<()> {
        writeln!(self.0, "{}", text(record)?)?;
        self.0.flush()
    }
}

impl<W: Write> View for JsonLines<W> {
    fn begin(&mut self, head: &Head) -> io::Result<()> {
        self.line(&Record::Head(head.clone()))
    }

    fn sample(&mut self, sample: &Sample) -> io::Result<()> {
        self.line(&Record::Sample(Box::new(sample.clone())))
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        self.line(&Record::Summary(Box::new(summary.clone())))
    }
}

fn text(value: &impl Serialize) -> io::Result<String> {
    serde_json::to_string(value).map_err(io::Error::from)
}

/// A column: its name, and its value in a sample.
type Column = (&'static str, fn(&Sample) -> Option<u64>);

const COLUMNS: &[Column] = &[
    ("at_us", |sample| Some(sample.at_us)),
    ("cpu_user_us", |sample| Some(sample.cpu.user_us)),
    ("cpu_system_us", |sample| Some(sample.cpu.system_us)),
    ("rss_bytes", |sample| Some(sample.rss_bytes)),
    ("pss_bytes", |sample| sample.detail?.pss_bytes),
    ("swap_bytes", |sample| sample.detail?.swap_bytes),
    ("minor_faults", |sample| Some(sample.faults.minor)),
    ("major_faults", |sample| Some(sample.faults.major)),
    ("voluntary_switches", |sample| Some(sample.detail?.switches.value.voluntary)),
    ("involuntary_switches", |sample| Some(sample.detail?.switches.value.involuntary)),
    ("descriptors", |sample| Some(sample.detail?.descriptors.value.open)),
    ("sockets", |sample| Some(sample.detail?.descriptors.value.sockets)),
    ("processes", |sample| Some(sample.processes.into())),
    ("threads", |sample| Some(sample.threads.into())),
    ("cgroup_cpu_us", |sample| Some(sample.cgroup?.cpu.total_us())),
    ("cgroup_memory_bytes", |sample| sample.cgroup?.memory_bytes),
    ("cgroup_throttled_us", |sample| sample.cgroup?.throttled_us),
    ("host_user_us", |sample| Some(sample.host.as_ref()?.cpu.user_us)),
    ("host_system_us", |sample| Some(sample.host.as_ref()?.cpu.system_us)),
    ("host_idle_us", |sample| Some(sample.host.as_ref()?.cpu.idle_us)),
    ("host_memory_available_bytes", |sample| Some(sample.host.as_ref()?.memory_available_bytes)),
    ("host_swap_used_bytes", |sample| Some(sample.host.as_ref()?.swap_used_bytes)),
    ("host_received_bytes", |sample| Some(sample.host.as_ref()?.network.received_bytes)),
    ("host_sent_bytes", |sample| Some(sample.host.as_ref()?.network.sent_bytes)),
    ("listen_overflows", |sample| Some(sample.host.as_ref()?.tcp.listen_overflows)),
    ("listen_drops", |sample| Some(sample.host.as_ref()?.tcp.listen_drops)),
    ("retransmits", |sample| Some(sample.host.as_ref()?.tcp.retransmits)),
    ("watch_us", |sample| Some(sample.cost_us)),
];

/// Writes CSV.
#[derive(Debug)]
pub(crate) struct Csv<W>(W);

impl<W: Write> Csv<W> {
    /// To `to`.
    pub(crate) fn new(to: W) -> Self {
        Self(to)
    }

    fn line(&mut self, cells: impl Iterator<Item = String>) -> io::Result<()> {
        let line = cells.collect::<Vec<_>>().join(",");
        writeln!(self.0, "{line}")?;
        self.0.flush()
    }
}

impl<W: Write> View for Csv<W> {
    fn begin(&mut self, _head: &Head) -> io::Result<()> {
        self.line(COLUMNS.iter().map(|(name, _)| (*name).to_owned()))
    }

    fn sample(&mut self, sample: &Sample) -> io::Result<()> {
        let cell =
            |(_, value): &Column| value(sample).map_or_else(String::new, |value| value.to_string());
        self.line(COLUMNS.iter().map(cell))
    }

    /// The summary does not fit into the table; it is printed to standard error.
    fn end(&mut self, _summary: &Summary) -> io::Result<()> {
        Ok(())
    }
}
