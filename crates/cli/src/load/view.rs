//! The state of the live view of a run, and its lines. Draws nothing.

use std::fmt::Write as _;
use std::time::Duration;

use vervet_report::escape::Printable;
use vervet_report::units::{count, percent, rate, time};
use vervet_report::{Errors, Interval, Mode, RunSettings};

use crate::terminal::{Line, Paint, condensed, with_graph};

/// From here on the generator has little to spare: a share of a core.
const BUSY_WARNING: f64 = 0.8;
/// From here on it is the limit, as the audit has it.
const BUSY_ALARM: f64 = 0.9;

/// What has been seen of a run.
#[derive(Debug)]
pub(crate) struct ViewState {
    asked: RunSettings,
    /// One value an interval, of the whole run.
    rates: Vec<f64>,
    p50s_ns: Vec<f64>,
    p99s_ns: Vec<f64>,
    busy: Vec<f64>,
    done: u64,
    errors: Errors,
    last: Option<Last>,
    /// Problems that are not failed requests.
    notes: Vec<String>,
}

/// The figures of the last interval.
#[derive(Clone, Copy, Debug)]
struct Last {
    rate_asked: Option<f64>,
    lag_ns: u64,
    connections: u64,
}

impl ViewState {
    /// The view of a run with these settings, before its start.
    pub(crate) fn new(asked: RunSettings) -> Self {
        Self {
            asked,
            rates: Vec::new(),
            p50s_ns: Vec::new(),
            p99s_ns: Vec::new(),
            busy: Vec::new(),
            done: 0,
            errors: Errors::default(),
            last: None,
            notes: Vec::new(),
        }
    }

    /// An interval is over.
    pub(crate) fn take(&mut self, interval: &Interval) {
        self.rates.push(interval.rate());
        let known = |time_ns: Option<u64>| time_ns.map_or(f64::NAN, float);
        self.p50s_ns.push(known(interval.p50_ns));
        self.p99s_ns.push(known(interval.p99_ns));
        self.busy.push(busy(interval));
        self.done += interval.done;
        self.errors.merge(&interval.errors);
        self.last = Some(Last {
            rate_asked: interval.rate_asked(),
            lag_ns: interval.generator_lag_ns,
            connections: interval.connections,
        });
    }

    /// Adds a problem that is not a failed request.
    pub(crate) fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }

    /// The lines after the elapsed time, for a terminal with this number of columns.
    pub(crate) fn lines(&self, elapsed: Duration, columns: usize) -> Vec<Line> {
        let over_time = |text: &str, values: &[f64], join: fn(&[f64]) -> f64, scale_min: f64| {
            let values = condensed(values, columns, join);
            Line::plain(with_graph(text, &values, columns, scale_min))
        };
        let mut generator = over_time(&self.generator(), &self.busy, greatest, 1.0);
        generator.paint = match self.busy.last() {
            Some(busy) if *busy > BUSY_ALARM => Paint::Alarm,
            Some(busy) if *busy > BUSY_WARNING => Paint::Warning,
            _ => Paint::Plain,
        };
        let mut lines = vec![
            Line::plain(self.title()),
            Line::plain(self.phase(elapsed)),
            over_time(&self.rate(), &self.rates, mean, 0.0),
            over_time(&times("p50", &self.p50s_ns), &self.p50s_ns, greatest, 0.0),
            over_time(&times("p99", &self.p99s_ns), &self.p99s_ns, greatest, 0.0),
            self.failed(),
            generator,
            Line::plain(self.connections()),
        ];
        lines.extend(
            self.notes
                .iter()
                .map(|note| Line { text: Printable(note).to_string(), paint: Paint::Alarm }),
        );
        lines
    }

    fn title(&self) -> String {
        let mode = match &self.asked.mode {
            Mode::Closed => "closed load".to_owned(),
            Mode::Open { pacers, .. } => {
                let pacers: Vec<&str> = pacers.iter().map(String::as_str).collect();
                format!("open load, {}", pacers.join("; "))
            }
        };
        format!("{}: {mode}", Printable(&self.asked.target))
    }

    /// Warm-up or steady, and how long it still takes.
    fn phase(&self, elapsed: Duration) -> String {
        let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let stop = self.asked.stop;
        let Some(steady_ms) = elapsed_ms.checked_sub(self.asked.warm_up_ms) else {
            let (passed, whole) = (seconds(elapsed_ms), seconds(self.asked.warm_up_ms));
            return format!("warm-up    {passed} of {whole}, not counted");
        };
        let mut text = format!("steady     {}", seconds(steady_ms));
        if let Some(after_ms) = stop.after_ms {
            let left = after_ms.saturating_sub(steady_ms);
            // Writing to a String does not fail.
            let _ = write!(text, " of {}, {} left", seconds(after_ms), seconds(left));
        }
        if let Some(requests) = stop.after_requests {
            let finished = self.done + self.errors.total();
            let _ = write!(text, ", {} of {} requests", count(finished), count(requests));
            let left = float(requests.saturating_sub(finished));
            if let (None, Some(rate)) = (stop.after_ms, self.rates.last().filter(|it| **it > 0.0)) {
                let _ = write!(text, ", about {:.1} s left", left / rate);
            }
        }
        text
    }

    fn rate(&self) -> String {
        let asked = match (&self.asked.mode, self.last) {
            (_, Some(last)) => last.rate_asked,
            // Before the first interval: what it comes to at most.
            (Mode::Open { rate_max_milli, .. }, None) => Some(float(*rate_max_milli) / 1000.0),
            (Mode::Closed, None) => None,
        };
        let asked =
            asked.map_or_else(String::new, |asked| format!(" of {} requested", rate(asked)));
        match self.rates.last() {
            Some(reached) => format!("rate       {}{asked}", rate(*reached)),
            None => format!("rate       -{asked}"),
        }
    }

    fn failed(&self) -> Line {
        let failed = self.errors.total();
        if failed == 0 {
            return Line::plain("failed     none");
        }
        let share = percent(float(failed) / float(self.done + failed));
        let classes = self.errors.occurred();
        let classes: Vec<String> = classes
            .into_iter()
            .map(|(class, many)| format!("{} {}", count(many), class.name()))
            .collect();
        let classes = classes.join(", ");
        Line {
            text: format!("failed     {} ({share}): {classes}", count(failed)),
            paint: Paint::Alarm,
        }
    }

    fn generator(&self) -> String {
        let (Some(busy), Some(last)) = (self.busy.last(), self.last) else {
            return "generator  -".to_owned();
        };
        let lag = time(float(last.lag_ns));
        format!("generator  {} busy, lag {lag}", percent(*busy))
    }

    fn connections(&self) -> String {
        let asked = count(self.asked.connections);
        match self.last {
            Some(last) => format!("connected  {} of {asked}", count(last.connections)),
            None => format!("connected  - of {asked}"),
        }
    }
}

/// How busy the generator was, as a share of a core.
pub(crate) fn busy(interval: &Interval) -> f64 {
    f64::from(interval.generator_cpu_permille) / 1000.0
}

fn times(name: &str, values: &[f64]) -> String {
    match values.last() {
        Some(value) if value.is_finite() => format!("{name}        {}", time(*value)),
        _ => format!("{name}        -"),
    }
}

fn seconds(time_ms: u64) -> String {
    format!("{:.1} s", float(time_ms) / 1000.0)
}

fn mean(values: &[f64]) -> f64 {
    let count = u32::try_from(values.len()).unwrap_or(u32::MAX);
    values.iter().sum::<f64>() / f64::from(count.max(1))
}

fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

#[expect(clippy::cast_precision_loss, reason = "counts and times below 2^53")]
fn float(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests;
