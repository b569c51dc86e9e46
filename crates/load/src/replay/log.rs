//! A log as it is read, line by line: the requests in it with their times, and what was left out.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use vervet_http::method::Method;

use super::line::{Clock, Line, read};
use crate::request::{Common, Draft, Message, Url};
use crate::template::Names;

/// The most requests that are replayed; lines beyond are counted.
pub const REQUESTS_MAX: usize = 10_000_000;
/// The most different requests; lines with others are counted.
pub const TARGETS_MAX: usize = 1_000_000;

/// Which requests of a log are replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Methods {
    /// Only those that change nothing by definition (RFC 9110 §9.2.1): GET, HEAD, OPTIONS.
    #[default]
    Safe,
    /// All. What was sent with them is not in the log, so they go without content.
    All,
}

/// What became of the lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of requests to replay.
    pub taken: usize,
    /// Lines of no form that is known, or without a request.
    pub odd: usize,
    /// Requests by methods that may change something.
    pub unsafe_methods: usize,
    /// Requests that cannot be written again.
    pub refused: usize,
    /// Requests beyond the most that are taken.
    pub beyond: usize,
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} requests", self.taken)?;
        let rest = [
            (self.odd, "lines that cannot be parsed"),
            (self.unsafe_methods, "requests with unsafe methods"),
            (self.refused, "requests that cannot be replayed"),
            (self.beyond, "requests above the limit"),
        ];
        for (count, what) in rest.iter().filter(|(count, _)| *count > 0) {
            write!(formatter, ", without {count} {what}")?;
        }
        Ok(())
    }
}

/// A log, as far as it has been read.
#[derive(Debug)]
pub struct Log<'a> {
    base: Url,
    common: Common<'a>,
    methods: Methods,
    tally: Tally,
    messages: Vec<Message>,
    /// Numbers of messages by method and target.
    known: HashMap<(String, String), Option<usize>>,
    entries: Vec<LoggedRequest>,
}

/// A request of the log.
#[derive(Clone, Copy, Debug)]
struct LoggedRequest {
    start_us: i64,
    clock: Clock,
    message: u32,
}

/// A request with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    /// Since the first.
    pub(super) at: Duration,
    pub(super) message: u32,
}

impl<'a> Log<'a> {
    /// Nothing read yet. All requests go to `base`.
    pub fn new(base: Url, common: Common<'a>, methods: Methods) -> Self {
        Self {
            base,
            common,
            methods,
            tally: Tally::default(),
            messages: Vec::new(),
            known: HashMap::new(),
            entries: Vec::new(),
        }
    }

    /// Takes a line, with or without its end. An empty one is none.
    pub fn line(&mut self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        match read(line) {
            Some(line) => self.request(line),
            None => self.tally.odd += 1,
        }
    }

    fn request(&mut self, line: Line) {
        // TRACE is safe and answers with what was sent: no load that anybody means.
        let is_safe = matches!(line.method.as_str(), "GET" | "HEAD" | "OPTIONS");
        if self.methods == Methods::Safe && !is_safe {
            // A line without a valid method is unreadable.
            match Method::from_token(line.method.as_bytes()) {
                Method::Unknown => self.tally.odd += 1,
                _ => self.tally.unsafe_methods += 1,
            }
            return;
        }
        if self.entries.len() == REQUESTS_MAX {
            self.tally.beyond += 1;
            return;
        }
        let (start_us, clock) = (line.start_us, line.clock);
        match self.message(line) {
            Some(message) => {
                self.tally.taken += 1;
                self.entries.push(LoggedRequest { start_us, clock, message });
            }
            None if self.messages.len() == TARGETS_MAX => self.tally.beyond += 1,
            None => self.tally.refused += 1,
        }
    }

    /// The number of the message of a line, which is made when it is seen for the first time.
    fn message(&mut self, line: Line) -> Option<u32> {
        let key = (line.method, line.target);
        if let Some(known) = self.known.get(&key) {
            return known.and_then(|number| u32::try_from(number).ok());
        }
        if self.messages.len() == TARGETS_MAX || self.known.len() >= 2 * TARGETS_MAX {
            return None;
        }
        let message = self.compile(&key.0, &key.1);
        let number = message.map(|message| {
            self.messages.push(message);
            self.messages.len() - 1
        });
        self.known.insert(key, number);
        number.and_then(|number| u32::try_from(number).ok())
    }

    fn compile(&self, method: &str, target: &str) -> Option<Message> {
        // Proxies log whole URLs.
        let target = match target.split_once("://") {
            Some(("http" | "https", rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
            _ => target,
        };
        let mut draft = Draft::get(&self.base);
        method.clone_into(&mut draft.method);
        // Braces of the log are not variables.
        draft.target = target.replace('{', "{{");
        self.common.apply(&mut draft);
        draft.compile(&Names::default()).ok()
    }

    /// What became of the lines so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// The messages, and the requests in the order of their times, faster by `speed`.
    pub(super) fn finish(mut self, speed: f64) -> (Vec<Message>, Vec<Due>) {
        // Stable: what came in one second stays in the order of the log.
        self.entries.sort_by_key(|entry| entry.start_us);
        let first = self.entries.first().map_or(0, |entry| entry.start_us);
        let mut dues = Vec::with_capacity(self.entries.len());
        let mut rest = self.entries.as_slice();
        while let Some(entry) = rest.first() {
            let same = |other: &&LoggedRequest| {
                other.start_us == entry.start_us && other.clock == Clock::Seconds
            };
            let count = rest.iter().take_while(same).count().max(1);
            let (together, after) = rest.split_at(count);
            let offset = Duration::from_micros(entry.start_us.abs_diff(first));
            for (index, entry) in together.iter().enumerate() {
                let at = offset + within_second(index, count);
                dues.push(Due { at: at.div_f64(speed), message: entry.message });
            }
            rest = after;
        }
        // Times in seconds and finer ones in one log may have crossed.
        dues.sort_by_key(|due| due.at);
        (self.messages, dues)
    }
}

/// Where in its second a request lies of which only the second is known: evenly, so that no burst
/// is made up.
fn within_second(index: usize, count: usize) -> Duration {
    let micros = 1_000_000 * index as u64 / count as u64;
    Duration::from_micros(micros)
}
