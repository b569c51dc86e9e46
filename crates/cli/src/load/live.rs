//! The progress of a run on standard error: a live view on a terminal, a line for each interval
//! elsewhere.

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use vervet_report::units::{count, percent, rate, time};
use vervet_report::{ErrorClass, Interval, RunSettings};

use super::arguments::OutputArguments;
use super::view::{ViewState, busy};
use crate::console;
use crate::terminal::{Colours, Output, Screen, show_cursor_on_panic};

/// How often the elapsed time is updated, and the shortest time between two drawings.
pub(crate) const DRAW_EVERY: Duration = Duration::from_millis(250);

/// Where progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgressMode {
    /// No progress.
    Quiet,
    /// A live view on a terminal.
    Terminal,
    /// A file or a pipe, or a terminal that cannot draw over lines.
    Lines,
}

/// What one run is shown by.
#[derive(Debug)]
pub(crate) enum ProgressDisplay {
    Quiet,
    Lines,
    Terminal(Box<View>),
}

/// The view of a run at a terminal.
#[derive(Debug)]
pub(crate) struct View {
    screen: Screen<Output>,
    seen: ViewState,
    begun: Instant,
    /// When it may be drawn again.
    next: Instant,
}

impl ProgressMode {
    pub(crate) fn new(arguments: &OutputArguments) -> Self {
        // What is streamed to the same terminal would be drawn over.
        let is_streamed = arguments.format.stream.is_some() && Output::Stdout.is_screen();
        match (arguments.quiet, Output::Stderr.is_screen()) {
            (true, _) => Self::Quiet,
            (false, true) if !is_streamed => Self::Terminal,
            (false, _) => Self::Lines,
        }
    }

    /// A run begins.
    pub(crate) fn begin(self, asked: RunSettings) -> ProgressDisplay {
        match self {
            Self::Quiet => ProgressDisplay::Quiet,
            Self::Lines => ProgressDisplay::Lines,
            Self::Terminal => ProgressDisplay::Terminal(Box::new(View::begin(asked))),
        }
    }

    /// The program ends here and now.
    pub(crate) fn leave(self) {
        if self == Self::Terminal {
            Output::Stderr.show_cursor();
        }
    }
}

impl ProgressDisplay {
    /// An interval is over.
    pub(crate) fn interval(&mut self, interval: &Interval) {
        match self {
            Self::Quiet => {}
            Self::Lines => {
                // A failure to write to standard error cannot be reported anywhere.
                let _ = io::stderr().write_all(line(interval).as_bytes());
            }
            Self::Terminal(view) => {
                view.seen.take(interval);
                view.draw();
            }
        }
    }

    /// Something has gone wrong that the report will have, too.
    pub(crate) fn note(&mut self, text: &str) {
        match self {
            Self::Quiet => {}
            Self::Lines => console::message(format_args!("{text}")),
            Self::Terminal(view) => {
                view.seen.note(text);
                view.draw();
            }
        }
    }

    /// Time has passed.
    pub(crate) fn time(&mut self) {
        if let Self::Terminal(view) = self {
            view.draw();
        }
    }

    /// Removes the view, so that the report takes its rows; lines stay.
    pub(crate) fn end(self) {
        if let Self::Terminal(mut view) = self {
            let _ = view.screen.end();
        }
    }
}

impl View {
    fn begin(asked: RunSettings) -> Self {
        show_cursor_on_panic(Output::Stderr);
        let size = || Output::Stderr.size();
        let mut screen = Screen::new(Output::Stderr, size, Colours::from_environment());
        let _ = screen.begin();
        let now = Instant::now();
        let mut view = Self { screen, seen: ViewState::new(asked), begun: now, next: now };
        view.draw();
        view
    }

    fn draw(&mut self) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + DRAW_EVERY;
        let lines = self.seen.lines(now - self.begun, self.screen.columns());
        let _ = self.screen.draw(&lines);
    }
}

#[expect(clippy::cast_precision_loss, reason = "times below 2^53")]
fn line(interval: &Interval) -> String {
    let end_s = (interval.start_ms + interval.length_ms) as f64 / 1000.0;
    let achieved = rate(interval.rate());
    let asked =
        interval.rate_asked().map(|asked| format!(" of {}", rate(asked))).unwrap_or_default();
    let busy = percent(busy(interval));
    let known = |time_ns: Option<u64>| {
        time_ns.map_or_else(|| "-".to_owned(), |time_ns| time(time_ns as f64))
    };
    let (p50, p99) = (known(interval.p50_ns), known(interval.p99_ns));
    let failed = ErrorClass::ALL.iter().filter_map(|class| {
        let failed = interval.errors.count(*class);
        (failed > 0).then(|| format!(", {} {}", count(failed), class.name()))
    });
    let failed: String = failed.collect();
    format!(
        "{end_s:7.1} s  {achieved}{asked}  p50 {p50}  p99 {p99}  generator {busy} busy{failed}\n"
    )
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
            p50_ns: Some(1_200_000),
            p99_ns: Some(30_000_000),
            ..Interval::default()
        };
        interval.errors.add(ErrorClass::Reset);
        assert_eq!(
            line(&interval),
            "    3.0 s  450/s of 500/s  p50 1.20 ms  p99 30.0 ms  generator 12.5 % busy, 1 reset\n"
        );
        // A dead server is not the fastest.
        (interval.done, interval.p50_ns, interval.p99_ns) = (0, None, None);
        assert_eq!(
            line(&interval),
            "    3.0 s  0/s of 500/s  p50 -  p99 -  generator 12.5 % busy, 1 reset\n"
        );
    }
}
