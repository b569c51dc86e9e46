//! The arguments of `vervet watch`.

// These comments are what users read in the help, which knows no Markdown.
#![allow(clippy::doc_markdown)]

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use vervet_server::config::Time;
use vervet_watch::Target;

/// The shortest time between two samples: below, the watch itself would be most of what is seen.
const INTERVAL_MIN: Duration = Duration::from_millis(10);

/// The longest time between two samples, and the longest watch.
const TIME_MAX: Duration = Duration::from_hours(24 * 366);

const EXAMPLES: &str = "\
Examples:
  vervet watch :8080                  the process that listens on port 8080, and its children
  vervet watch nginx -d 10s           for ten seconds, then a summary
  vervet watch 4711 -f csv -o cpu.csv
  vervet watch php-fpm.service -f json
  vervet watch -- make                run a command and monitor it

TARGET is a process ID, a process name, a port, a systemd unit, or the path of a
cgroup. Use a prefix if it is ambiguous: pid:80, port:80, name:80, cgroup:/a,
unit:php-fpm.

Stops when the last process exits, after -d or -n, or on Ctrl-C, and prints a
summary. Exit status: 0; 1 output cannot be written; 2 usage; 4 the target does
not exist, or exited before -d or -n; 130 -d or -n interrupted by Ctrl-C; with
COMMAND, its exit status.";

/// The arguments of `vervet watch`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WatchArguments {
    /// Process tree to monitor: a process ID, name, port, systemd unit or cgroup
    #[arg(value_name = "TARGET", required_unless_present = "command", conflicts_with = "command")]
    pub(crate) target: Option<Target>,
    /// Interval between samples
    #[arg(short, long, value_name = "TIME", default_value = "100ms", value_parser = interval)]
    pub(crate) interval: Duration,
    /// How long to monitor [default: until the last process exits]
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    pub(crate) duration: Option<Duration>,
    /// Number of samples to take [default: until the last process exits]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// Output format; a table is updated in place on a terminal [default: table, or json with
    /// --output]
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub(crate) format: Option<Format>,
    /// File to write to instead of standard output; a terminal then shows the live view
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print lines on a terminal instead of the live view
    #[arg(long)]
    pub(crate) plain: bool,
    /// Command to run and monitor
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<OsString>,
}

/// The output formats of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Readable lines, at most one per second
    Table,
    /// One JSON document
    Json,
    /// One JSON object per line, as samples are taken
    Ndjson,
    /// Comma-separated values, one line per sample
    Csv,
}

/// A time; a bare number is in seconds.
fn time(text: &str) -> Result<Duration, String> {
    let time = Time::with_default_unit(text, Duration::from_secs(1));
    let time =
        time.map_err(|reason| format!("{reason}: expected a time such as 500ms, 30s, 5m or 1h"))?;
    Ok(time.duration())
}

fn interval(text: &str) -> Result<Duration, String> {
    let interval = time(text)?;
    if (INTERVAL_MIN..=TIME_MAX).contains(&interval) {
        return Ok(interval);
    }
    Err(format!("invalid interval `{text}`: expected a time from 10ms to 366d"))
}

fn duration(text: &str) -> Result<Duration, String> {
    let duration = time(text)?;
    if duration > Duration::ZERO && duration <= TIME_MAX {
        return Ok(duration);
    }
    Err(format!("invalid duration `{text}`: expected a time from 1ms to 366d"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_bounded() {
        for text in ["9ms", "0", "367d", "x"] {
            assert!(interval(text).is_err(), "{text}");
        }
        for text in ["0", "367d", ""] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!(interval("10ms"), Ok(INTERVAL_MIN));
        assert_eq!(duration("1ms"), Ok(Duration::from_millis(1)));
        assert_eq!(duration("366d"), Ok(TIME_MAX));
    }
}
