//! All open sinks of a program, the threads that write them, and the report of dropped lines.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use super::sink::{Drops, LogSink, Notice, NoticeHandler, SinkHandle, SinkState, lock};
use super::target::{OpenError, Target, WriterKey};
use super::writer_thread::{OpenSink, WriterThread};

/// The open sinks of a program. Opening a target that is open already returns the same sink, so
/// that a reload keeps its logs without a gap.
#[derive(Debug)]
pub struct LogSinks {
    notices: NoticeHandler,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    sinks: HashMap<String, Registered>,
    /// Threads that write several sinks.
    shared_writers: HashMap<WriterKey, WriterThread>,
    /// Threads that write one sink each.
    exclusive_writers: Vec<WriterThread>,
}

/// A sink that is open, or was and may have unwritten lines.
#[derive(Debug)]
struct Registered {
    handle: Weak<SinkHandle>,
    state: Arc<SinkState>,
}

impl LogSinks {
    /// No open sinks. `handle_notice` is called from several threads and must not block.
    pub fn new(handle_notice: impl Fn(Notice) + Send + Sync + 'static) -> Self {
        Self { notices: NoticeHandler::new(handle_notice), open: Mutex::default() }
    }

    /// Opens a target, or returns the open sink of an equal one. If two logs name one file with
    /// different permissions, those of the first apply.
    pub fn open(&self, target: &Target) -> Result<LogSink, OpenError> {
        let key = target.key();
        let mut open = lock(&self.open);
        let known = open.sinks.get(&key).and_then(|known| known.handle.upgrade());
        if let Some(handle) = known {
            return Ok(LogSink(handle));
        }
        let (output, writer_key) = target.open()?;
        let writer = open.writer(writer_key)?;
        let waker = Arc::clone(&writer.waker);
        let sink = LogSink::new(target.clone(), waker, self.notices.clone());
        let state = Arc::clone(sink.state());
        // A thread that has ended since the lookup is replaced by the next attempt.
        if writer.add(OpenSink::new(Arc::clone(&state), output)).is_err() {
            drop(open);
            return self.open(target);
        }
        open.forget_closed();
        let handle = Arc::downgrade(&sink.0);
        open.sinks.insert(key, Registered { handle, state });
        Ok(sink)
    }

    /// Writes all pending lines, then reopens all files by their names, as `logrotate` expects.
    /// Returns without waiting for it.
    pub fn reopen(&self) {
        for known in lock(&self.open).sinks.values() {
            known.state.request_reopen();
        }
    }

    /// The sinks in use.
    pub fn sinks(&self) -> Vec<LogSink> {
        let open = lock(&self.open);
        let handles = open.sinks.values().filter_map(|known| known.handle.upgrade());
        handles.map(LogSink).collect()
    }

    /// The lines that each sink in use has dropped so far.
    pub fn drops(&self) -> Vec<(Target, Drops)> {
        let drops = |sink: LogSink| (sink.target().clone(), sink.drops());
        self.sinks().into_iter().map(drops).collect()
    }

    /// Writes all pending lines and ends the threads. Lines that a sink does not take within
    /// `patience` are counted as dropped.
    pub fn finish(&self, patience: Duration) -> Vec<(Target, Drops)> {
        let open = std::mem::take(&mut *lock(&self.open));
        let shared = open.shared_writers.values();
        let writers: Vec<_> = shared.chain(&open.exclusive_writers).collect();
        for writer in &writers {
            writer.waker.request_close();
        }
        let end = Instant::now() + patience;
        for writer in writers {
            writer.has_ended_within(end.saturating_duration_since(Instant::now()));
        }
        let drops = |known: Registered| {
            let mut drops = known.state.drops();
            drops.lines += known.state.unwritten();
            (known.state.target.clone(), drops)
        };
        open.sinks.into_values().map(drops).collect()
    }
}

impl Open {
    /// The thread that writes targets of this key, started if there is none.
    fn writer(&mut self, key: WriterKey) -> std::io::Result<&WriterThread> {
        self.exclusive_writers.retain(WriterThread::is_running);
        self.shared_writers.retain(|_, writer| writer.is_running());
        if key == WriterKey::Exclusive {
            self.exclusive_writers.push(WriterThread::start()?);
            let last = self.exclusive_writers.len() - 1;
            return Ok(&self.exclusive_writers[last]);
        }
        Ok(match self.shared_writers.entry(key) {
            Entry::Occupied(writer) => writer.into_mut(),
            Entry::Vacant(vacant) => vacant.insert(WriterThread::start()?),
        })
    }

    fn forget_closed(&mut self) {
        self.sinks
            .retain(|_, known| known.handle.strong_count() > 0 || known.state.unwritten() > 0);
    }
}

/// Dropped lines are reported at most once in this time.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// Limits how often dropped lines are reported: at once, then at most every ten seconds.
#[derive(Debug, Default)]
pub struct DropReport {
    last: Option<Instant>,
    due: Option<Instant>,
    /// Reported lines by target.
    reported: HashMap<String, u64>,
}

impl DropReport {
    /// Creates a report without any drops.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes that lines were dropped: a report becomes due.
    pub fn note(&mut self, now: Instant) {
        let next = self.last.map_or(now, |last| last + REPORT_EVERY);
        self.due = Some(next.max(now));
    }

    /// When the next report is due; `None` when there is nothing to report.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// A sentence for each target that has dropped lines since its last report.
    pub fn sentences(&mut self, drops: &[(Target, Drops)], now: Instant) -> Vec<String> {
        self.due = None;
        let mut sentences = Vec::new();
        for (target, drops) in drops {
            let reported = self.reported.entry(target.key()).or_default();
            if drops.lines == *reported {
                continue;
            }
            *reported = drops.lines;
            self.last = Some(now);
            let reason = drops.reason.as_deref().unwrap_or("the target is too slow");
            let lines = drops.lines;
            sentences.push(format!("log to {target}: {lines} lines dropped so far: {reason}"));
        }
        sentences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dropped(lines: u64) -> [(Target, Drops); 2] {
        let none = (Target::Stdout, Drops::default());
        let reason = Some("no space".to_owned());
        [none, (Target::file("/log"), Drops { lines, reason })]
    }

    #[test]
    fn reports_are_at_once_and_then_ten_seconds_apart() {
        let (mut report, now) = (DropReport::new(), Instant::now());
        assert_eq!(report.due(), None);
        report.note(now);
        assert_eq!(report.due(), Some(now));
        let sentences = report.sentences(&dropped(3), now);
        assert_eq!(sentences, ["log to /log: 3 lines dropped so far: no space"]);
        assert_eq!(report.due(), None);
        report.note(now + Duration::from_secs(1));
        assert_eq!(report.due(), Some(now + Duration::from_secs(10)));
        assert!(report.sentences(&dropped(3), now).is_empty());
        assert_eq!(report.sentences(&dropped(4), now).len(), 1);
        report.note(now + Duration::from_secs(30));
        assert_eq!(report.due(), Some(now + Duration::from_secs(30)));
    }
}
