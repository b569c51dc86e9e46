//! The error log of a running server.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use vervet_engine::exchange::Finished;
use vervet_engine::reactor::Reason;

use super::budget::{Budget, Verdict};
use super::line::{Event, Level, LineFormat};
use super::settings::ErrorLogSettings;
use crate::log_sinks::{LineSender, LogSink, Target};

/// The error log of a server. Clones share it; any thread may write, and writing never blocks.
#[derive(Clone, Debug)]
pub struct ErrorLog {
    state: Arc<Mutex<State>>,
    /// The index of the least severe level that any kind of event is written at.
    least: Arc<AtomicUsize>,
    /// Events by level, written or left out because of their rate; not those below the level of
    /// the log.
    counts: Arc<[AtomicU64; Level::ALL.len()]>,
}

#[derive(Debug)]
struct State {
    level: Level,
    /// Levels for kinds of events, which override `level`.
    parts: Vec<(&'static str, Level)>,
    format: LineFormat,
    is_stderr: bool,
    sender: Arc<LineSender>,
    budgets: BTreeMap<&'static str, Budget>,
    recent: VecDeque<String>,
}

/// Events that are kept in memory.
pub const RECENT_EVENTS_MAX: usize = 50;

impl ErrorLog {
    /// A log of events of this level and more severe ones.
    pub fn new(sink: &LogSink, level: Level) -> Self {
        let state = State {
            level,
            parts: Vec::new(),
            format: LineFormat::for_target(sink.target()),
            is_stderr: *sink.target() == Target::Stderr,
            sender: Arc::new(sink.sender()),
            budgets: BTreeMap::new(),
            recent: VecDeque::new(),
        };
        let log = Self {
            state: Arc::new(Mutex::new(state)),
            least: Arc::default(),
            counts: Arc::default(),
        };
        log.set_least();
        log
    }

    fn set_least(&self) {
        let state = self.state();
        let parts = state.parts.iter().map(|(_, level)| *level);
        let least = parts.chain([state.level]).map(Level::index).max();
        self.least.store(least.unwrap_or_default(), Ordering::Relaxed);
    }

    /// Whether events of this level may be written. Takes no lock.
    pub fn takes(&self, level: Level) -> bool {
        level.index() <= self.least.load(Ordering::Relaxed)
    }

    /// Replaces sink and level. Lines that were written before still reach the old sink.
    pub fn set_sink(&self, sink: &LogSink, level: Level) {
        let mut state = self.state();
        state.level = level;
        state.format = LineFormat::for_target(sink.target());
        state.is_stderr = *sink.target() == Target::Stderr;
        state.sender = Arc::new(sink.sender());
        drop(state);
        self.set_least();
    }

    /// Applies the settings of a document, whose target is open.
    pub fn apply(&self, settings: &ErrorLogSettings, sink: &LogSink) {
        // An invalid rotation was reported when the target was opened.
        sink.set_rotation(settings.rotation().unwrap_or_default());
        self.set_sink(sink, *settings.level);
        let parts = settings.parts.value().as_ref();
        self.state().parts = parts.map_or_else(Vec::new, |parts| parts.own().collect());
        self.set_least();
    }

    /// Whether the lines go to standard error, where the program itself reports start and stop.
    pub fn is_on_stderr(&self) -> bool {
        self.state().is_stderr
    }

    /// Writes an event. Its kind is one word, such as `page`, `limit` or `reload`. Events of one
    /// kind share a rate limit.
    pub fn write(&self, level: Level, kind: &'static str, text: fmt::Arguments<'_>) {
        if !self.takes(level) {
            return;
        }
        let mut state = self.state();
        if level.index() > state.level_of(kind).index() {
            return;
        }
        self.counts[level.index()].fetch_add(1, Ordering::Relaxed);
        let now_ms = monotonic_ms();
        let mut texts = state.summaries(kind, now_ms);
        let budget = state.budgets.entry(kind).or_insert_with(|| Budget::new(now_ms));
        match budget.take(now_ms) {
            Verdict::LeftOut => {}
            Verdict::Written { left_out: 0 } => texts.push((level, kind, text.to_string())),
            Verdict::Written { left_out } => texts.push((
                level,
                kind,
                format!("{text} ({left_out} more like this were left out)"),
            )),
        }
        let (sender, lines) = state.lines(&texts);
        // A sink that drops lines sends a notice, which may become an event.
        drop(state);
        for line in lines {
            sender.send(|out| out.extend_from_slice(&line));
        }
    }

    /// Writes an event for an exchange that the engine refused or that was incomplete. Clients that
    /// leave before the end of a response are details.
    pub fn write_fault(&self, finished: &Finished<'_>) {
        let Some(fault) = finished.fault.filter(|_| self.takes(Level::Info)) else {
            return;
        };
        let (level, fault) = if is_disconnect(fault) {
            (Level::Debug, "the client closed the connection before the end of the response")
        } else {
            (Level::Info, fault)
        };
        let status = finished.status.code();
        match finished.peer {
            Some(peer) => self.write(level, "request", format_args!("{peer}: {status}: {fault}")),
            None => self.write(level, "request", format_args!("unix: {status}: {fault}")),
        }
    }

    /// Writes the lines of one trace, whatever the level of the log. They have no rate limit, and
    /// are neither kept in memory nor counted.
    pub fn write_trace(&self, texts: &[String]) {
        let (sender, format) = {
            let state = self.state();
            (Arc::clone(&state.sender), state.format)
        };
        let unix_ms = unix_ms();
        for text in texts {
            let event = Event { level: Level::Debug, kind: "trace", text, unix_ms };
            sender.send(|out| event.push(out, format));
        }
    }

    /// The last events that were written, oldest first.
    pub fn recent(&self) -> Vec<String> {
        self.state().recent.iter().cloned().collect()
    }

    /// Events since the start by level, written or left out.
    pub fn events(&self) -> impl Iterator<Item = (Level, u64)> + '_ {
        let counts = Level::ALL.iter().zip(&*self.counts);
        counts.map(|(level, count)| (*level, count.load(Ordering::Relaxed)))
    }

    /// Events since the start that were left out because of their rate, by kind.
    pub fn left_out(&self) -> Vec<(&'static str, u64)> {
        let state = self.state();
        let counts = state.budgets.iter();
        counts
            .map(|(kind, budget)| (*kind, budget.left_out_ever()))
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    /// Holders of the lock never leave the state half changed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Receives problems of pages. Called on the threads of reactors, so it must not block.
pub trait ProblemLog: Send + Sync + fmt::Debug {
    /// Reports a problem in one line without line feed.
    fn report(&self, line: &str);
}

impl ProblemLog for ErrorLog {
    fn report(&self, line: &str) {
        let text = line.strip_prefix("page ").unwrap_or(line);
        self.write(Level::Error, "page", format_args!("{text}"));
    }
}

/// Whether a connection ended because the peer closed it.
fn is_disconnect(fault: &str) -> bool {
    let mut errors = [Errno::CONNRESET, Errno::PIPE].into_iter();
    errors.any(|errno| Reason::Failed(errno).to_string() == fault)
}

type Text = (Level, &'static str, String);

impl State {
    /// The level of a kind of events.
    fn level_of(&self, kind: &str) -> Level {
        let own = self.parts.iter().find(|(part, _)| *part == kind);
        own.map_or(self.level, |(_, level)| *level)
    }

    /// Reports of events left out of other kinds that may be written again.
    fn summaries(&mut self, now: &'static str, now_ms: u64) -> Vec<Text> {
        let summary = |(kind, budget): (&&'static str, &mut Budget)| {
            let left_out = budget.summary(now_ms)?;
            let text = format!("{left_out} events of this kind were left out");
            Some((Level::Notice, *kind, text))
        };
        let others = self.budgets.iter_mut().filter(|(kind, _)| **kind != now);
        others.filter_map(summary).collect()
    }

    /// Formats events as lines and keeps them in memory; also returns where to send the lines.
    fn lines(&mut self, texts: &[Text]) -> (Arc<LineSender>, Vec<Vec<u8>>) {
        let unix_ms = unix_ms();
        let mut lines = Vec::with_capacity(texts.len());
        for (level, kind, text) in texts {
            let event = Event { level: *level, kind, text, unix_ms };
            let mut line = Vec::new();
            event.push(&mut line, self.format);
            lines.push(line);
            self.remember(&event);
        }
        (Arc::clone(&self.sender), lines)
    }

    fn remember(&mut self, event: &Event<'_>) {
        let mut line = Vec::new();
        event.push(&mut line, LineFormat::Plain);
        if self.recent.len() >= RECENT_EVENTS_MAX {
            self.recent.pop_front();
        }
        let line = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
        self.recent.push_back(line);
    }
}

fn monotonic_ms() -> u64 {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    u64::try_from(now.tv_sec * 1000 + now.tv_nsec / 1_000_000).unwrap_or(0)
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;
    use std::time::Duration;

    use vervet_engine::http::status::Status;
    use vervet_engine::reactor::Now;

    use super::super::budget::BURST_MAX;
    use super::*;
    use crate::log_sinks::LogSinks;

    fn memory() -> (LogSinks, LogSink) {
        let logs = LogSinks::new(|notice| panic!("{notice:?}"));
        let sink = logs.open(&Target::Memory).unwrap();
        (logs, sink)
    }

    /// What was written, without the times.
    fn written(logs: &LogSinks, sink: &LogSink) -> Vec<String> {
        logs.finish(Duration::from_secs(20));
        let lines = sink.recent();
        lines.iter().map(|line| line["2026-11-20T19:29:59.007Z ".len()..].to_owned()).collect()
    }

    #[test]
    fn events_below_the_level_are_not_written_and_not_counted() {
        let (logs, sink) = memory();
        let log = ErrorLog::new(&sink, Level::Notice);
        log.write(Level::Info, "request", format_args!("bad"));
        log.write(Level::Notice, "reload", format_args!("done"));
        log.write(Level::Error, "page", format_args!("a.html:{}: broken", 3));
        log.set_sink(&sink, Level::Info);
        log.write(Level::Info, "request", format_args!("worse"));
        let counts: Vec<_> = log.events().map(|(_, count)| count).collect();
        assert_eq!(counts, [1, 0, 1, 1, 0]);
        let recent = log.recent();
        assert!(recent.len() == 3 && recent[0].ends_with("Z notice reload: done"), "{recent:?}");
        drop(log);
        let expected =
            ["notice reload: done", "error page: a.html:3: broken", "info request: worse"];
        assert_eq!(written(&logs, &sink), expected);
    }

    #[test]
    fn problems_of_pages_and_requests_are_events() {
        let (logs, sink) = memory();
        let log = ErrorLog::new(&sink, Level::Info);
        ProblemLog::report(&log, "page hello.html: line 3: no such name");
        let mut finished = Finished {
            tag: None,
            status: Status::BAD_REQUEST,
            content_bytes: 0,
            duration_ms: 0,
            peer: Some(([192, 0, 2, 9], 4711).into()),
            now: Now::default(),
            fault: Some("peer sent no Host"),
        };
        log.write_fault(&finished);
        let left = Reason::Failed(Errno::CONNRESET).to_string();
        for fault in [None, Some(left.as_str())] {
            finished.fault = fault;
            log.write_fault(&finished);
        }
        log.set_sink(&sink, Level::Debug);
        log.write_fault(&finished);
        drop(log);
        let expected = [
            "error page: hello.html: line 3: no such name",
            "info request: 192.0.2.9:4711: 400: peer sent no Host",
            "debug request: 192.0.2.9:4711: 400: the client closed the connection before the end of the response",
        ];
        assert_eq!(written(&logs, &sink), expected);
    }

    #[test]
    fn a_sink_that_drops_lines_may_cause_an_event() {
        let tree = tempfile::tempdir().unwrap();
        let pipe = tree.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()));
        let own: Arc<OnceLock<ErrorLog>> = Arc::default();
        let told = Arc::clone(&own);
        let logs = LogSinks::new(move |notice| {
            if let Some(log) = told.get() {
                log.write(Level::Warning, "log", format_args!("{notice}"));
            }
        });
        let sink = logs.open(&Target::file(&pipe)).unwrap();
        let log = own.get_or_init(|| ErrorLog::new(&sink, Level::Info));
        // As many kinds as it takes to fill the buffers with what each may write at once, long
        // before the writer's own attempts could drop a line.
        let text = "x".repeat(8000);
        for kind in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"] {
            for _ in 0..BURST_MAX {
                log.write(Level::Error, kind, format_args!("{text}"));
            }
        }
        let warnings = log.events().find(|(level, _)| *level == Level::Warning);
        assert_eq!(warnings, Some((Level::Warning, 1)));
    }

    #[test]
    fn a_flood_of_one_kind_leaves_room_for_others() {
        let (logs, sink) = memory();
        let log = ErrorLog::new(&sink, Level::Info);
        for _ in 0..BURST_MAX * 100 {
            log.write(Level::Info, "request", format_args!("bad"));
        }
        log.write(Level::Error, "page", format_args!("broken"));
        let left_out = log.left_out();
        let [("request", left_out)] = left_out[..] else {
            panic!("{left_out:?}");
        };
        let lines = written(&logs, &sink);
        assert_eq!(lines.last().unwrap(), "error page: broken");
        assert_eq!(lines.len() as u64, u64::from(BURST_MAX) * 100 - left_out + 1);
        // A slow machine may take some seconds for the flood, and be given a line for each.
        assert!(lines.len() < 2 * BURST_MAX as usize, "{}", lines.len());
    }
}
