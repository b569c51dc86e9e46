//! Text lines without a terminal, at most one per second, and the summary.

use std::io::{self, Write};

use vervet_report::units::bytes;
use vervet_watch::{Head, Sample, Subject, Summary};

use super::rates::{Rates, Stretch};
use super::summary::{text, to_f64};
use super::watch_loop::View;

/// The shortest time between two lines, in microseconds.
const LINE_EVERY_US: u64 = 1_000_000;

const HEADING: &str = "    TIME   CPU%  USER%   SYS%         RSS         PSS  MINFLT/s  MAJFLT/s  VOLSW/s  INVSW/s   FDS  SOCKS  PROCS  THREADS";

/// Whether to print lines during the watch, or only the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// They do.
    AsTheyCome,
    /// What is watched has the screen for itself.
    Summary,
}

/// Writes them.
#[derive(Debug)]
pub(crate) struct Table<W> {
    to: W,
    lines: Lines,
    rates: Rates,
    next_us: u64,
    subject: Option<Subject>,
}

impl<W: Write> Table<W> {
    /// To `to`.
    pub(crate) fn new(to: W, lines: Lines) -> Self {
        Self { to, lines, rates: Rates::default(), next_us: 0, subject: None }
    }
}

impl<W: Write> View for Table<W> {
    fn begin(&mut self, head: &Head) -> io::Result<()> {
        self.subject = Some(head.subject.clone());
        if self.lines == Lines::AsTheyCome {
            writeln!(self.to, "{HEADING}")?;
        }
        self.to.flush()
    }

    fn sample(&mut self, sample: &Sample) -> io::Result<()> {
        self.rates.pass(sample);
        if self.lines == Lines::Summary || sample.at_us < self.next_us {
            return Ok(());
        }
        self.next_us = (sample.at_us / LINE_EVERY_US + 1) * LINE_EVERY_US;
        if let Some(stretch) = self.rates.end(sample) {
            writeln!(self.to, "{}", line(&stretch))?;
        }
        self.to.flush()
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        if let Some(subject) = &self.subject {
            self.to.write_all(text(subject, summary).as_bytes())?;
        }
        self.to.flush()
    }
}

fn line(stretch: &Stretch) -> String {
    let unknown = || "-".to_owned();
    let detail = stretch.detail;
    let pss = detail.and_then(|detail| detail.pss_bytes);
    let switches = |part: fn((f64, f64)) -> f64| {
        let rate = stretch.switches_s.map(part);
        rate.map_or_else(unknown, |rate| format!("{rate:.0}"))
    };
    let descriptors = detail.map(|detail| detail.descriptors.value);
    let count = |count: Option<u64>| count.map_or_else(unknown, |count| count.to_string());
    format!(
        "{:>7.1}s {:>6.1} {:>6.1} {:>6.1} {:>11} {:>11} {:>9.0} {:>9.0} {:>8} {:>8} {:>5} {:>6} {:>6} {:>8}",
        stretch.at_s,
        stretch.cores() * 100.0,
        stretch.user_cores * 100.0,
        stretch.system_cores * 100.0,
        bytes(to_f64(stretch.rss_bytes)),
        pss.map_or_else(unknown, |pss| bytes(to_f64(pss))),
        stretch.minor_faults_s,
        stretch.major_faults_s,
        switches(|(voluntary, _)| voluntary),
        switches(|(_, involuntary)| involuntary),
        count(descriptors.map(|descriptors| descriptors.open)),
        count(descriptors.map(|descriptors| descriptors.sockets)),
        stretch.processes,
        stretch.threads,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(samples: &[Sample]) -> Vec<String> {
        let mut table = Table::new(Vec::new(), Lines::AsTheyCome);
        for sample in samples {
            table.sample(sample).unwrap();
        }
        let text = String::from_utf8(table.to).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn at(at_us: u64) -> Sample {
        let mut sample = Sample { at_us, rss_bytes: at_us, ..Sample::default() };
        sample.cpu.user_us = at_us / 2;
        sample
    }

    #[test]
    fn tenths_of_seconds_make_a_line_a_second() {
        let samples: Vec<_> = (0..=25).map(|tenth| at(tenth * 100_000)).collect();
        let lines = lines_of(&samples);
        assert_eq!(lines.len(), 2, "{lines:#?}");
        assert!(lines[0].starts_with("    1.0s   50.0   50.0    0.0     977 KiB           - "));
        assert!(lines[1].starts_with("    2.0s "));
        assert_eq!(lines[0].chars().count(), HEADING.chars().count());
    }

    #[test]
    fn longer_intervals_make_a_line_each() {
        let samples: Vec<_> = (0..=3).map(|number| at(number * 1_500_000)).collect();
        assert_eq!(lines_of(&samples).len(), 3);
    }
}
