//! What can be typed after `vervet watch`.

// These comments are what users read in the help, which knows no Markdown.
#![allow(clippy::doc_markdown)]

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use vervet_watch::Target;

use crate::serve::quantity;

/// The shortest time between two samples: below, the watch itself would be most of what is seen.
const INTERVAL_MIN: Duration = Duration::from_millis(10);

/// The longest time between two samples, and the longest watch.
const TIME_MAX: Duration = Duration::from_hours(24 * 366);

const EXAMPLES: &str = "\
Examples:
  vervet watch :8080                  whoever listens on port 8080, and all below
  vervet watch nginx -d 10s           ten seconds, then the summary
  vervet watch 4711 -f csv -o cpu.csv
  vervet watch php-fpm.service -f json
  vervet watch -- make                a command, from its start to its end

A TARGET is a process number, a name, a port, a unit of systemd, or the path of
a cgroup. What could be two things takes a prefix: pid:80, port:80, name:80,
cgroup:/a, unit:php-fpm.

Ends with the last process of the tree, by -d or -n, or by Ctrl-C; the summary
is written in each case. Status: 0; 1 when nothing can be written; 2 for wrong
usage; 4 when there is no such target, or when it ended before -d or -n; 130
when -d or -n was cut short by Ctrl-C; with a COMMAND, the status of that.";

/// What is watched, how often, and how it is told.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WatchArguments {
    /// Tree of processes: a process number, name, port, unit or cgroup
    #[arg(
        value_name = "TARGET",
        required_unless_present = "command",
        conflicts_with = "command"
    )]
    pub(crate) target: Option<Target>,
    /// Time between two samples
    #[arg(short, long, value_name = "TIME", default_value = "100ms", value_parser = interval)]
    pub(crate) interval: Duration,
    /// How long to watch [default: until the last process has ended]
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    pub(crate) duration: Option<Duration>,
    /// How many samples to take [default: until the last process has ended]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// How to tell it; a table is a live view on a terminal [default: table, or json with --output]
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub(crate) format: Option<Format>,
    /// File to write to instead of standard output, where a terminal then shows the live view
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write lines on a terminal, too, instead of the live view
    #[arg(long)]
    pub(crate) plain: bool,
    /// Command to start and to watch
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<OsString>,
}

/// How samples are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Lines for people, at most one a second
    Table,
    /// One JSON document
    Json,
    /// One JSON object a line, as they come
    Ndjson,
    /// Comma-separated values, a line for each sample
    Csv,
}

fn interval(text: &str) -> Result<Duration, String> {
    let interval = quantity::duration(text)?;
    if (INTERVAL_MIN..=TIME_MAX).contains(&interval) {
        return Ok(interval);
    }
    Err(format!(
        "\"{text}\" is no interval: it lies between 10ms and 366d"
    ))
}

fn duration(text: &str) -> Result<Duration, String> {
    let duration = quantity::duration(text)?;
    if duration > Duration::ZERO && duration <= TIME_MAX {
        return Ok(duration);
    }
    Err(format!(
        "\"{text}\" is no time to watch: it lies between 1ms and 366d"
    ))
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
