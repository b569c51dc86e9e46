//! The live view of a terminal: a few lines that are drawn over, with graphs; the summary takes
//! their place at the end.

use std::fmt::Write as _;
use std::io::{self, Write};

use vervet_report::units::bytes;
use vervet_watch::{Head, Sample, Subject, Summary};

use super::rates::{Rates, Stretch, seconds};
use super::summary::{described, text, to_f64};
use super::watch_loop::View;
use crate::terminal::{Line, Screen, with_graph};

/// The shortest time between two drawings, in microseconds.
const DRAW_EVERY_US: u64 = 250_000;

/// The most columns of a graph, and so the values that are kept.
const GRAPH_MAX: usize = 200;

/// Draws it.
#[derive(Debug)]
pub(crate) struct Live<W: Write> {
    screen: Screen<W>,
    rates: Rates,
    next_us: u64,
    subject: Option<Subject>,
    cores: Vec<f64>,
    memory: Vec<f64>,
}

impl<W: Write> Live<W> {
    /// On this screen.
    pub(crate) fn new(screen: Screen<W>) -> Self {
        Self {
            screen,
            rates: Rates::default(),
            next_us: 0,
            subject: None,
            cores: Vec::new(),
            memory: Vec::new(),
        }
    }

    fn keep(&mut self, stretch: &Stretch) {
        let pss = stretch.detail.and_then(|detail| detail.pss_bytes);
        for (values, value) in [
            (&mut self.cores, stretch.cores()),
            (&mut self.memory, to_f64(pss.unwrap_or(stretch.rss_bytes))),
        ] {
            if values.len() == GRAPH_MAX {
                values.remove(0);
            }
            values.push(value);
        }
    }

    fn frame(&self, stretch: &Stretch, columns: usize) -> Vec<Line> {
        let percent = |cores: f64| format!("{:.1} %", cores * 100.0);
        let cpu = format!(
            "cpu      {}: {} user, {} system",
            percent(stretch.cores()),
            percent(stretch.user_cores),
            percent(stretch.system_cores)
        );
        let mut lines = vec![
            format!(
                "{} for {:.0} s: {} processes, {} threads",
                self.subject.as_ref().map(described).unwrap_or_default(),
                stretch.at_s,
                stretch.processes,
                stretch.threads
            ),
            with_graph(&cpu, &self.cores, columns, 0.1),
            with_graph(&memory(stretch), &self.memory, columns, 1.0),
            format!(
                "faults   {:.0} minor/s, {:.0} major/s{}",
                stretch.minor_faults_s,
                stretch.major_faults_s,
                detail(stretch)
            ),
        ];
        lines.extend(cgroup(stretch));
        lines.extend(host(stretch));
        lines.into_iter().map(Line::plain).collect()
    }
}

impl<W: Write> View for Live<W> {
    fn begin(&mut self, head: &Head) -> io::Result<()> {
        self.subject = Some(head.subject.clone());
        self.screen.begin()
    }

    fn sample(&mut self, sample: &Sample) -> io::Result<()> {
        self.rates.pass(sample);
        if sample.at_us < self.next_us {
            return Ok(());
        }
        self.next_us = sample.at_us + DRAW_EVERY_US;
        let Some(stretch) = self.rates.end(sample) else {
            return Ok(());
        };
        self.keep(&stretch);
        let lines = self.frame(&stretch, self.screen.columns());
        self.screen.draw(&lines)
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        self.screen.end()?;
        let stream = self.screen.stream();
        if let Some(subject) = &self.subject {
            stream.write_all(text(subject, summary).as_bytes())?;
        }
        stream.flush()
    }
}

fn memory(stretch: &Stretch) -> String {
    let rss = bytes(to_f64(stretch.rss_bytes));
    match stretch.detail.and_then(|detail| detail.pss_bytes) {
        Some(pss) => format!("memory   PSS {}, RSS {rss}", bytes(to_f64(pss))),
        None => format!("memory   RSS {rss}"),
    }
}

fn detail(stretch: &Stretch) -> String {
    let mut text = String::new();
    if let Some((voluntary, involuntary)) = stretch.switches_s {
        text = format!("; switches {voluntary:.0}+{involuntary:.0}/s");
    }
    if let Some(detail) = stretch.detail {
        let descriptors = detail.descriptors.value;
        let (open, sockets) = (descriptors.open, descriptors.sockets);
        // Writing to a String does not fail.
        let _ = write!(text, "; {open} descriptors, {sockets} sockets");
    }
    text
}

fn cgroup(stretch: &Stretch) -> Option<String> {
    let cgroup = stretch.cgroup?;
    let memory = bytes(to_f64(cgroup.memory_bytes?));
    let held_back = seconds(cgroup.throttled_us.unwrap_or_default());
    Some(format!("cgroup   memory {memory}, throttled {held_back:.1} s"))
}

fn host(stretch: &Stretch) -> Option<String> {
    let host = stretch.host.as_ref()?;
    let busy = stretch.host_busy.unwrap_or_default() * 100.0;
    Some(format!(
        "machine  {busy:.0} % busy, load {}, {} free; {} listen overflows, {} retransmits",
        host.load[0],
        bytes(to_f64(host.memory_available_bytes)),
        host.tcp.listen_overflows,
        host.tcp.retransmits
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{Colours, Size};
    use vervet_watch::{Account, Root};

    const SHOW_CURSOR: &str = "\x1b[?25h";

    fn live(to: &mut Vec<u8>, columns: fn() -> Size) -> Live<&mut Vec<u8>> {
        let mut live = Live::new(Screen::new(to, columns, Colours::Shown));
        let root = Root { pid: 7, name: "a\x1b[31m".to_owned() };
        live.subject = Some(Subject {
            target: "port:80".to_owned(),
            roots: vec![root],
            cgroup: None,
            account: Account::Processes,
        });
        live
    }

    fn wide(columns: usize) -> Size {
        Size { columns, rows: 24 }
    }

    fn drawn(size: fn() -> Size, quarters: u64) -> String {
        let mut bytes = Vec::new();
        let mut live = live(&mut bytes, size);
        for quarter in 0..=quarters {
            let mut sample = Sample {
                at_us: quarter * DRAW_EVERY_US,
                rss_bytes: 1 << 20,
                processes: 2,
                threads: 3,
                ..Sample::default()
            };
            sample.cpu.user_us = quarter * quarter * 10_000;
            live.sample(&sample).unwrap();
        }
        live.end(&Summary::default()).unwrap();
        drop(live);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn nothing_of_a_name_reaches_the_terminal_raw() {
        assert!(!drawn(|| wide(80), 2).contains("\x1b[31m"));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for size in [|| wide(0), || wide(20), || wide(80), || wide(500)] {
            let text = drawn(size, 300);
            // The summary, which follows when the cursor is back, is plain text.
            let live = text.split(SHOW_CURSOR).next().unwrap();
            let lines = live.split("\x1b[K\n");
            let frames = lines.filter(|line| line.contains("cpu "));
            for line in frames {
                let shown = line.rsplit("\x1b[J").next().unwrap();
                assert!(shown.chars().count() <= size().columns, "{shown:?}");
            }
        }
    }

    #[test]
    fn a_frame_is_drawn_over_and_the_summary_stays() {
        let text = drawn(|| wide(80), 3);
        assert!(text.contains("\x1b[4A"), "{text}");
        assert!(text.contains("cpu      12.0 %: 12.0 % user, 0.0 % system"), "{text}");
        assert!(text.contains('█'), "{text}");
        let end = text.rsplit(SHOW_CURSOR).next().unwrap();
        assert!(end.starts_with("watched port:80 [7 (a\\u{1b}[31m)]"), "{end}");
    }
}
