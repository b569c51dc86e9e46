//! One loop over all that happens while a server is at work: signals, the end of the workers, what
//! logs could not write.

use std::process::ExitCode;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use vervet_server::engine::capacity::release_code_pages;
use vervet_server::engine::{EngineError, Running};
use vervet_server::log_sinks::{DropReport, Drops, Notice, Target};

use super::lifecycle::Lifecycle;
use super::signals::{Event, Events};
use crate::console;
use crate::failure::Failure;

/// How long logs may take to write their last lines after a drain.
const LOG_PATIENCE: Duration = Duration::from_secs(2);
/// The same when the user is in a hurry.
const LOG_PATIENCE_NOW: Duration = Duration::from_millis(100);

/// Handles signals and other events until the server has ended.
pub(super) fn supervise(
    running: Running,
    lifecycle: Lifecycle,
    events: Events,
) -> Result<ExitCode, Failure> {
    let Events { sender, receiver } = events;
    std::thread::Builder::new()
        .name("workers".to_owned())
        // Fails only when the program is about to end.
        .spawn(move || drop(sender.send(Event::Ended(running.wait()))))
        .map_err(EngineError::System)?;
    release_code_pages();
    let supervisor = Supervisor {
        next_check: Instant::now() + lifecycle.check_interval(),
        lifecycle,
        draining: false,
        report: DropReport::new(),
    };
    supervisor.run(&receiver)
}

struct Supervisor {
    lifecycle: Lifecycle,
    draining: bool,
    report: DropReport,
    /// When [`Lifecycle::check`] is due.
    next_check: Instant,
}

impl Supervisor {
    fn run(mut self, events: &Receiver<Event>) -> Result<ExitCode, Failure> {
        loop {
            match self.next_event(events) {
                None => self.run_due(),
                Some(Event::Stop(signal)) if self.draining => {
                    self.end_logs(LOG_PATIENCE_NOW);
                    // What shells say of a program that a signal has ended.
                    return Ok(ExitCode::from(128 + u8::try_from(signal).unwrap_or(127)));
                }
                Some(Event::Stop(signal)) => self.drain(signal),
                Some(Event::Reopen) => self.lifecycle.reopen_logs(),
                // What drains takes nothing new.
                Some(Event::Reload) if self.draining => {}
                Some(Event::Reload) => self.lifecycle.reload(),
                Some(Event::Log(Notice::LinesDropped)) => self.report.note(Instant::now()),
                Some(Event::Log(notice)) => console::message(format_args!("{notice}")),
                Some(Event::Ended(result)) => {
                    self.end_logs(LOG_PATIENCE);
                    result?;
                    return Ok(ExitCode::SUCCESS);
                }
            }
        }
    }

    /// The next event; `None` when something is due.
    fn next_event(&self, events: &Receiver<Event>) -> Option<Event> {
        let due = self.report.due().into_iter().chain([self.next_check]).min()?;
        events.recv_timeout(due.saturating_duration_since(Instant::now())).ok()
    }

    fn run_due(&mut self) {
        let now = Instant::now();
        if self.report.due().is_some_and(|due| due <= now) {
            let drops = self.lifecycle.drops();
            self.report_drops(&drops);
        }
        if self.next_check <= now {
            self.lifecycle.check();
            self.next_check = now + self.lifecycle.check_interval();
        }
    }

    fn drain(&mut self, signal: i32) {
        self.draining = true;
        let drain_ms = self.lifecycle.drain(signal);
        console::message(format_args!(
            "stopping: waiting up to {} for requests to end (send the signal again to stop at once)",
            seconds(drain_ms)
        ));
    }

    fn end_logs(&mut self, patience: Duration) {
        let drops = self.lifecycle.finish(patience);
        self.report_drops(&drops);
    }

    fn report_drops(&mut self, drops: &[(Target, Drops)]) {
        for sentence in self.report.sentences(drops, Instant::now()) {
            console::message(format_args!("{sentence}"));
        }
    }
}

fn seconds(milliseconds: u64) -> String {
    match (milliseconds / 1000, milliseconds % 1000) {
        (seconds, 0) => format!("{seconds} s"),
        _ => format!("{milliseconds} ms"),
    }
}
