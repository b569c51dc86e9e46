//! The registry of report formats, used by the command line of `vervet load`.

use super::{csv_intervals, hgrm, html, json, openmetrics, text};
use super::{stream_interval, stream_run};
use crate::interval::Interval;
use crate::run::Run;

/// A report format of `vervet load --format` and `--output`. To add one, write its file and its row
/// in [`FORMS`].
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The name on the command line.
    pub name: &'static str,
    /// The line of `--help`.
    pub about: &'static str,
    /// Writes a whole run.
    pub write: fn(&Run) -> String,
    /// Functions to write the report during the run; `None` if only a whole run can be written.
    pub stream: Option<FormStream>,
    /// Whether files are replaced atomically, because other programs read them at any time.
    pub replaces_file: bool,
}

/// A report format that is written during the run.
#[derive(Clone, Copy, Debug)]
pub struct FormStream {
    /// Writes an interval that has just ended.
    pub interval: fn(&Interval) -> String,
    /// Writes the end, after the last interval.
    pub end: fn(&Run) -> String,
}

const fn form(name: &'static str, about: &'static str, write: fn(&Run) -> String) -> Form {
    Form { name, about, write, stream: None, replaces_file: false }
}

/// All report formats, the default first.
pub const FORMS: &[Form] = &[
    form("text", "Readable text", text),
    form("json", "Full results as one JSON document", json),
    form("csv", "Time series, one interval per line", csv_intervals),
    Form {
        stream: Some(FormStream { interval: stream_interval, end: stream_run }),
        ..form(
            "ndjson",
            "One JSON object per interval while running, then the results",
            json::ndjson,
        )
    },
    form("hgrm", "Latency percentiles in the format of HdrHistogram", |run| {
        hgrm(&run.timings.response)
    }),
    form("html", "One self-contained page", html),
    Form {
        replaces_file: true,
        ..form(
            "openmetrics",
            "OpenMetrics, for the textfile collector of node_exporter",
            openmetrics,
        )
    },
];
