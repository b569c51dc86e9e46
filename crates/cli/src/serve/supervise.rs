//! From the first request to the end of the process: signals, the drain, and what the log could not write.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use vervet_server::access_log::{DropReport, Drops, Logs, Notice, Target};
use vervet_server::engine::{EngineControl, Running};

use super::signals::Event;
use crate::failure::Failure;
use crate::talk;

/// How long the log may take to write its last lines after a drain.
const LOG_PATIENCE: Duration = Duration::from_secs(2);
/// The same when the user is in a hurry.
const LOG_PATIENCE_NOW: Duration = Duration::from_millis(100);

/// Watches a server until its end. A drain takes at most `drain_ms`.
pub(super) fn supervise(
    running: Running,
    log: Option<Logs>,
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
        report: DropReport::new(),
    };
    supervisor.watch(&events)
}

struct Supervisor {
    control: EngineControl,
    log: Option<Logs>,
    drain_ms: u64,
    draining: bool,
    report: DropReport,
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
                Some(Event::Log(Notice::Dropping)) => self.report.note(Instant::now()),
                Some(Event::Log(Notice::Trouble { trouble, .. })) => {
                    talk::say(format_args!("{trouble}"));
                }
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
        let Some(due) = self.report.due() else {
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
            let drops = log.drops();
            self.say_drops(&drops);
        }
    }

    fn end_log(&mut self, patience: Duration) {
        if let Some(log) = self.log.take() {
            self.say_drops(&log.finish(patience));
        }
    }

    fn say_drops(&mut self, drops: &[(Target, Drops)]) {
        for sentence in self.report.sentences(drops, Instant::now()) {
            talk::say(format_args!("{sentence}"));
        }
    }
}

fn seconds(milliseconds: u64) -> String {
    match (milliseconds / 1000, milliseconds % 1000) {
        (seconds, 0) => format!("{seconds} s"),
        _ => format!("{milliseconds} ms"),
    }
}
