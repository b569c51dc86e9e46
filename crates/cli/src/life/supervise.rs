//! One loop over all that happens while a server is at work: signals, the end of the workers, what logs could not write.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use vervet_server::engine::footprint::forget_code;
use vervet_server::engine::{EngineError, Running};
use vervet_server::log_sinks::{DropReport, Drops, Notice, Target};

use super::signals::Event;
use crate::failure::Failure;
use crate::talk;

/// How long logs may take to write their last lines after a drain.
const LOG_PATIENCE: Duration = Duration::from_secs(2);
/// The same when the user is in a hurry.
const LOG_PATIENCE_NOW: Duration = Duration::from_millis(100);

/// What a server does in its own way when it is told to.
pub(crate) trait Course {
    /// The configuration is to be read anew.
    fn reload(&mut self);

    /// Reopen the log files.
    fn reopen(&mut self);

    /// The server drains: how long that may take, in milliseconds.
    fn drain(&mut self) -> u64;

    /// Lines of logs that were not written so far.
    fn drops(&self) -> Vec<(Target, Drops)>;

    /// Ends the logs: what is not written within `patience` is counted as dropped.
    fn finish(&mut self, patience: Duration) -> Vec<(Target, Drops)>;

    /// How often somebody wants to hear that the server is alive.
    fn heartbeat(&self) -> Option<Duration> {
        None
    }

    /// Says so.
    fn beat(&mut self) {}
}

/// Watches a server until its end.
pub(crate) fn supervise(
    running: Running,
    course: impl Course,
    (sender, events): (Sender<Event>, Receiver<Event>),
) -> Result<ExitCode, Failure> {
    std::thread::Builder::new()
        .name("workers".to_owned())
        // Fails only when the program is about to end.
        .spawn(move || drop(sender.send(Event::Ended(running.wait()))))
        .map_err(EngineError::System)?;
    forget_code();
    let beat = course.heartbeat().map(|every| Instant::now() + every);
    let supervisor = Supervisor {
        course,
        draining: false,
        report: DropReport::new(),
        beat,
    };
    supervisor.watch(&events)
}

struct Supervisor<C> {
    course: C,
    draining: bool,
    report: DropReport,
    /// When the next heartbeat is due.
    beat: Option<Instant>,
}

impl<C: Course> Supervisor<C> {
    fn watch(mut self, events: &Receiver<Event>) -> Result<ExitCode, Failure> {
        loop {
            match self.next(events) {
                None => self.on_time(),
                Some(Event::Stop(signal)) if self.draining => {
                    self.end_logs(LOG_PATIENCE_NOW);
                    // What shells say of a program that a signal has ended.
                    return Ok(ExitCode::from(128 + u8::try_from(signal).unwrap_or(127)));
                }
                Some(Event::Stop(_)) => self.drain(),
                Some(Event::Reopen) => self.course.reopen(),
                // What drains takes nothing new.
                Some(Event::Reload) if self.draining => {}
                Some(Event::Reload) => self.course.reload(),
                Some(Event::Log(Notice::LinesDropped)) => self.report.note(Instant::now()),
                Some(Event::Log(notice)) => talk::say(format_args!("{notice}")),
                Some(Event::Ended(result)) => {
                    self.end_logs(LOG_PATIENCE);
                    result?;
                    return Ok(ExitCode::SUCCESS);
                }
            }
        }
    }

    /// The next event; none when something is due.
    fn next(&self, events: &Receiver<Event>) -> Option<Event> {
        let due = [self.report.due(), self.beat].into_iter().flatten().min();
        let Some(due) = due else {
            // The thread that waits for the workers holds a sender until it has sent their end.
            return events.recv().ok();
        };
        events
            .recv_timeout(due.saturating_duration_since(Instant::now()))
            .ok()
    }

    fn on_time(&mut self) {
        let now = Instant::now();
        let is_past = |due: Option<Instant>| due.is_some_and(|due| due <= now);
        if is_past(self.report.due()) {
            let drops = self.course.drops();
            self.say_drops(&drops);
        }
        if is_past(self.beat) {
            self.course.beat();
            self.beat = self.course.heartbeat().map(|every| now + every);
        }
    }

    fn drain(&mut self) {
        self.draining = true;
        let drain_ms = self.course.drain();
        talk::say(format_args!(
            "stopping: requests under way have {} to end (once more to stop at once)",
            seconds(drain_ms)
        ));
    }

    fn end_logs(&mut self, patience: Duration) {
        let drops = self.course.finish(patience);
        self.say_drops(&drops);
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
