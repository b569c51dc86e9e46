//! What happens while the server is at work, as one stream of events: signals, the end of the workers, the log's needs.

use std::sync::mpsc::{self, Receiver, Sender};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;
use vervet_server::engine::EngineError;
use vervet_server::log_sinks::Notice;

use crate::failure::Failure;

/// One thing that happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// A signal that asks for the end, by its number.
    Stop(i32),
    /// A signal that asks for the logs to be opened anew.
    Reopen,
    /// A signal that asks for the configuration to be read anew, and the logs with it.
    Reload,
    /// All workers have ended.
    Ended(Result<(), EngineError>),
    /// The log has to say something.
    Log(Notice),
}

/// Takes over the signals. From here on none of them ends the process by itself.
pub(crate) fn events() -> Result<(Sender<Event>, Receiver<Event>), Failure> {
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
    Ok((sender, receiver))
}
