//! Takes samples on schedule and shows them, until something ends the watch.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use vervet_watch::{FORMAT_VERSION, Head, Machine, Sample, Summary, Tally, Watcher};

/// An output of samples.
pub(crate) trait View {
    /// Called once, before the first sample.
    fn begin(&mut self, head: &Head) -> io::Result<()>;
    /// Called for each sample.
    fn sample(&mut self, sample: &Sample) -> io::Result<()>;
    /// Called once, after the last sample.
    fn end(&mut self, summary: &Summary) -> io::Result<()>;
}

/// When samples are taken, and when that ends by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub(crate) interval: Duration,
    pub(crate) duration: Option<Duration>,
    /// Samples after the first.
    pub(crate) count: Option<u64>,
}

impl Schedule {
    /// When a sample is due, counted from the first.
    fn due(&self, number: u64) -> Duration {
        let factor = u32::try_from(number).unwrap_or(u32::MAX);
        let due = self.interval.saturating_mul(factor);
        self.duration.map_or(due, |end| due.min(end))
    }

    /// Whether the sample of this number, taken so long after the first, is the last.
    fn is_over(&self, number: u64, after: Duration) -> bool {
        let all_taken = self.count.is_some_and(|count| number >= count);
        all_taken || self.duration.is_some_and(|end| after >= end)
    }

    /// The next to be taken: those whose time has passed are left out.
    fn next(&self, number: u64, after: Duration) -> u64 {
        let passed = after.as_nanos() / self.interval.as_nanos().max(1);
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        match self.count {
            // A number of samples was asked for: none is left out.
            Some(_) => number + 1,
            None => (number + 1).max(passed.saturating_add(1)),
        }
    }

    /// Whether it ends by itself.
    pub(crate) fn is_bounded(&self) -> bool {
        self.duration.is_some() || self.count.is_some()
    }
}

/// What ended a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The time (`-d`) or the number of samples (`-n`) was reached.
    Over,
    /// The last process of the tree.
    TreeEnded,
    /// A signal, by its number.
    Signal(i32),
    /// The reader closed the output.
    Unread,
}

/// Signals that end the watch. From here on, none of them terminates the process directly.
pub(crate) fn signals() -> io::Result<Receiver<i32>> {
    let (sender, receiver) = mpsc::channel();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            if sender.send(signal).is_err() {
                return; // the watch is over
            }
        }
    })?;
    Ok(receiver)
}

/// Takes samples and passes them to all views.
pub(crate) struct WatchLoop<'a> {
    pub(crate) watcher: &'a mut Watcher,
    pub(crate) schedule: Schedule,
    pub(crate) signals: &'a Receiver<i32>,
    pub(crate) views: Vec<Box<dyn View + 'a>>,
}

impl WatchLoop<'_> {
    /// Takes samples until the watch ends, and passes the summary to the views.
    pub(crate) fn run(mut self) -> io::Result<(Ending, Summary)> {
        let begin = Instant::now();
        let mut tally = Tally::default();
        let first = self.watcher.sample_all(begin);
        tally.add(&first);
        let head = self.head();
        let shown = self.each_view(|view| view.begin(&head));
        let shown = shown.and_then(|()| self.each_view(|view| view.sample(&first)));
        let ending = match shown {
            Ok(()) => self.sample_until_end(begin, &mut tally),
            Err(error) => Err(error),
        };
        let ending = match ending {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ending::Unread,
            ending => ending?,
        };
        let summary = tally.summary();
        match self.each_view(|view| view.end(&summary)) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok((ending, summary)),
        }
    }

    fn sample_until_end(&mut self, begin: Instant, tally: &mut Tally) -> io::Result<Ending> {
        let mut number = 1;
        loop {
            let signal = self.wait_until(begin + self.schedule.due(number));
            let now = Instant::now();
            let after = now.duration_since(begin);
            let is_last = signal.is_some() || self.schedule.is_over(number, after);
            let sample =
                if is_last { self.watcher.sample_all(now) } else { self.watcher.sample(now) };
            tally.add(&sample);
            self.show_sample(&sample)?;
            if let Some(signal) = signal {
                return Ok(Ending::Signal(signal));
            }
            if self.watcher.has_ended() {
                // The machine once more: the sample that found the end was not known to be the
                // last.
                let last = self.watcher.sample_all(Instant::now());
                tally.add(&last);
                self.show_sample(&last)?;
                return Ok(Ending::TreeEnded);
            }
            if is_last {
                return Ok(Ending::Over);
            }
            number = self.schedule.next(number, after);
        }
    }

    /// None when the time has come, or the number of the signal that came before.
    fn wait_until(&self, due: Instant) -> Option<i32> {
        loop {
            let rest = due.saturating_duration_since(Instant::now());
            match self.signals.recv_timeout(rest) {
                Ok(signal) => return Some(signal),
                Err(RecvTimeoutError::Timeout) if Instant::now() >= due => return None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Some(SIGTERM),
            }
        }
    }

    fn show_sample(&mut self, sample: &Sample) -> io::Result<()> {
        self.each_view(|view| view.sample(sample))
    }

    fn each_view(&mut self, show: impl Fn(&mut dyn View) -> io::Result<()>) -> io::Result<()> {
        let mut views = self.views.iter_mut();
        views.try_for_each(|view| show(view.as_mut()))
    }

    fn head(&self) -> Head {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Head {
            version: FORMAT_VERSION,
            program: concat!("vervet ", env!("CARGO_PKG_VERSION")).to_owned(),
            machine: Machine::here(),
            subject: self.watcher.subject(),
            begin_unix_ms: now.map_or(0, millis),
            interval_us: u64::try_from(self.schedule.interval.as_micros()).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn samples_that_are_late_are_left_out_unless_they_were_counted() {
        let schedule = |count| Schedule { interval: ms(100), duration: Some(ms(250)), count };
        assert_eq!(schedule(None).next(1, ms(101)), 2);
        assert_eq!(schedule(None).next(1, ms(520)), 6);
        assert_eq!(schedule(Some(9)).next(1, ms(520)), 2);
        assert_eq!(schedule(None).due(2), ms(200));
        assert_eq!(schedule(None).due(3), ms(250));
        assert_eq!(schedule(None).due(u64::MAX), ms(250));
        assert!(!schedule(None).is_over(2, ms(249)));
        assert!(schedule(None).is_over(3, ms(250)));
        assert!(schedule(Some(2)).is_over(2, ms(1)));
    }
}
