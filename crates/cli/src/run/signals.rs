//! Everything that happens while the server runs, as one stream of events: signals, the end of the
//! workers, notices of the logs.

use std::sync::mpsc::{self, Receiver, Sender};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;
use vervet_server::engine::EngineError;
use vervet_server::log_sinks::Notice;

use crate::failure::Failure;

/// One thing that happened.
#[derive(Debug)]
pub(super) enum Event {
    /// SIGTERM, SIGINT or SIGQUIT, by its number: drain, then exit.
    Stop(i32),
    /// SIGUSR1: reopen the log files.
    Reopen,
    /// SIGHUP: reload the configuration and reopen the log files.
    Reload,
    /// All workers have ended.
    Ended(Result<(), EngineError>),
    /// A log has something to report.
    Log(Notice),
}

/// Events from several threads to the main thread.
pub(super) struct Events {
    pub(super) sender: Sender<Event>,
    pub(super) receiver: Receiver<Event>,
}

/// Takes over the signals. From here on none of them ends the process by itself.
pub(super) fn events() -> Result<Events, Failure> {
    let (sender, receiver) = mpsc::channel();
    let mut signals =
        Signals::new([SIGTERM, SIGINT, SIGQUIT, SIGUSR1, SIGHUP]).map_err(EngineError::System)?;
    let to = sender.clone();
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            let events = signals.forever().map(|signal| match signal {
                SIGUSR1 => Event::Reopen,
                SIGHUP => Event::Reload,
                signal => Event::Stop(signal),
            });
            for event in events {
                if to.send(event).is_err() {
                    return; // the program is about to end
                }
            }
        })
        .map_err(EngineError::System)?;
    Ok(Events { sender, receiver })
}
