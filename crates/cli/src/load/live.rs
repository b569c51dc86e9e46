//! What is seen while a run is made: a line for each interval, on standard error. On a terminal the line is drawn over.

use std::io::{self, IsTerminal as _, Write as _};

use vervet_report::units::{count, percent, rate, time};
use vervet_report::{ErrorClass, Interval};

use super::arguments::OutputArguments;

/// Who looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Live {
    /// Nobody.
    Quiet,
    /// Somebody at a terminal.
    Terminal,
    /// A file or a pipe.
    Lines,
}

impl Live {
    pub(crate) fn new(arguments: &OutputArguments) -> Self {
        match (arguments.quiet, io::stderr().is_terminal()) {
            (true, _) => Self::Quiet,
            (false, true) => Self::Terminal,
            (false, false) => Self::Lines,
        }
    }

    /// Shows an interval.
    pub(crate) fn show(self, interval: &Interval) {
        let line = line(interval);
        let text = match self {
            Self::Quiet => return,
            Self::Lines => format!("{line}\n"),
            // Back to the first column, and away with what is longer.
            Self::Terminal => format!("\r{line}\x1b[K"),
        };
        // Nobody is told that nobody can be told.
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// Leaves the line as it is; the report follows.
    pub(crate) fn end(self) {
        if self == Self::Terminal {
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "times below 2^53")]
fn line(interval: &Interval) -> String {
    let end_s = (interval.start_ms + interval.length_ms) as f64 / 1000.0;
    let achieved = rate(interval.rate());
    let asked = interval
        .rate_asked()
        .map(|asked| format!(" of {}", rate(asked)))
        .unwrap_or_default();
    let busy = percent(f64::from(interval.generator_cpu_permille) / 1000.0);
    let (p50, p99) = (time(interval.p50_ns as f64), time(interval.p99_ns as f64));
    let failed = ErrorClass::ALL.iter().filter_map(|class| {
        let failed = interval.errors.of(*class);
        (failed > 0).then(|| format!(", {} {}", count(failed), class.name()))
    });
    let failed: String = failed.collect();
    format!("{end_s:7.1} s  {achieved}{asked}  p50 {p50}  p99 {p99}  generator {busy} busy{failed}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_rate_the_times_the_errors_and_the_headroom() {
        let mut interval = Interval {
            start_ms: 2000,
            length_ms: 1000,
            asked: Some(500),
            done: 450,
            generator_cpu_permille: 125,
            p50_ns: 1_200_000,
            p99_ns: 30_000_000,
            ..Interval::default()
        };
        interval.errors.add(ErrorClass::Reset);
        let line = line(&interval);
        assert_eq!(
            line,
            "    3.0 s  450/s of 500/s  p50 1.20 ms  p99 30.0 ms  generator 12.5 % busy, 1 reset"
        );
    }
}
