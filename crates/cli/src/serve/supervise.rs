//! From the first request to the end of the process: signals, the drain, and what the log could not write.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use vervet_server::access_log::{AccessLog, Drops, Notice};
use vervet_server::engine::{EngineControl, Running};

use super::signals::Event;
use crate::failure::Failure;
use crate::talk;

/// Dropped lines are reported at most so often.
const REPORT_EVERY: Duration = Duration::from_secs(10);
/// How long the log may take to write its last lines after a drain.
const LOG_PATIENCE: Duration = Duration::from_secs(2);
/// The same when the user is in a hurry.
const LOG_PATIENCE_NOW: Duration = Duration::from_millis(100);

/// Watches a server until its end. A drain takes at most `drain_ms`.
pub(super) fn supervise(
    running: Running,
    log: Option<AccessLog>,
    drain_ms: u64,
    (sender, events): (Sender<Event>, Receiver<Event>),
) -> Result<ExitCode, Failure> {
    let control = running.control();
    std::thread::Builder::new()
        .name("workers".to_owned())
        // Fails only when the program is about to end.
        .spawn(move || drop(sender.send(Event::Ended(running.wait()))))
        .map_err(vervet_server::engine::EngineError::System)?;
    let supervisor = Supervisor {
        control,
        log,
        drain_ms,
        draining: false,
        report: Report::default(),
    };
    supervisor.watch(&events)
}

struct Supervisor {
    control: EngineControl,
    log: Option<AccessLog>,
    drain_ms: u64,
    draining: bool,
    report: Report,
}

/// When dropped lines were and will be reported.
#[derive(Default)]
struct Report {
    last: Option<Instant>,
    due: Option<Instant>,
    lines: u64,
}

impl Supervisor {
    fn watch(mut self, events: &Receiver<Event>) -> Result<ExitCode, Failure> {
        loop {
            match self.next(events) {
                None => self.report_drops(),
                Some(Event::Stop(signal)) if self.draining => {
                    self.end_log(LOG_PATIENCE_NOW);
                    // What shells say of a program that a signal has ended.
                    return Ok(ExitCode::from(128 + u8::try_from(signal).unwrap_or(127)));
                }
                Some(Event::Stop(_)) => self.drain(),
                Some(Event::Reopen) => self.reopen(),
                Some(Event::Reload) => {
                    talk::say(format_args!(
                        "there is no configuration to read anew: only the log file is opened anew"
                    ));
                    self.reopen();
                }
                Some(Event::Log(Notice::Dropping)) => self.report.soon(),
                Some(Event::Log(Notice::NotReopened(error))) => talk::say(format_args!(
                    "cannot open the log file anew, the old one is written on: {error}"
                )),
                Some(Event::Ended(result)) => {
                    self.end_log(LOG_PATIENCE);
                    result?;
                    return Ok(ExitCode::SUCCESS);
                }
            }
        }
    }

    /// The next event; none when a report is due.
    fn next(&self, events: &Receiver<Event>) -> Option<Event> {
        let Some(due) = self.report.due else {
            // The thread that waits for the workers holds a sender until it has sent their end.
            return events.recv().ok();
        };
        events
            .recv_timeout(due.saturating_duration_since(Instant::now()))
            .ok()
    }

    fn drain(&mut self) {
        self.draining = true;
        talk::say(format_args!(
            "stopping: requests under way have {} to end (once more to stop at once)",
            seconds(self.drain_ms)
        ));
        self.control.drain(self.drain_ms);
    }

    fn reopen(&self) {
        if let Some(log) = &self.log {
            log.reopen();
        }
    }

    fn report_drops(&mut self) {
        if let Some(log) = &self.log {
            self.report.say(&log.drops());
        }
    }

    fn end_log(&mut self, patience: Duration) {
        if let Some(log) = self.log.take() {
            self.report.say(&log.finish(patience));
        }
    }
}

impl Report {
    fn soon(&mut self) {
        let now = Instant::now();
        let next = self.last.map_or(now, |last| last + REPORT_EVERY);
        self.due = Some(next.max(now));
    }

    fn say(&mut self, drops: &Drops) {
        self.due = None;
        if drops.lines == self.lines {
            return;
        }
        self.last = Some(Instant::now());
        self.lines = drops.lines;
        let reason = match &drops.reason {
            Some(reason) => reason.as_str(),
            None => "it takes lines too slowly",
        };
        talk::say(format_args!(
            "access log: {} lines dropped so far: {reason}",
            drops.lines
        ));
    }
}

fn seconds(milliseconds: u64) -> String {
    match (milliseconds / 1000, milliseconds % 1000) {
        (seconds, 0) => format!("{seconds} s"),
        _ => format!("{milliseconds} ms"),
    }
}
