//! Commands from other threads to a reactor, and their results.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

use rustix::io::Errno;

use super::driver::{Lifecycle, Reactor};
use super::options::Tuning;
use super::protocol::Protocol;
use crate::listener::Listener;

/// A command from another thread to a reactor.
#[derive(Debug)]
pub enum Command<M> {
    /// Stop accepting, complete exchanges in progress, then end; after this many milliseconds at
    /// the latest.
    Drain {
        /// Milliseconds from the arrival of the command until remaining connections are closed.
        timeout_ms: u64,
    },
    /// End at once: connections are closed.
    Stop,
    /// Accept from this listener too. Fails for a reactor that drains.
    Listen(Arc<Listener>),
    /// Stop accepting from this listener. Done when its queue is empty and it is removed.
    Unlisten(Arc<Listener>),
    /// Accept from the second listener instead of the first: the same socket with other options.
    Replace(Arc<Listener>, Arc<Listener>),
    /// Use other limits from now on.
    Tune(Tuning),
    /// Pass this message to the protocol.
    Tell(M),
}

/// Reports that a command was executed. If it is dropped, its reactor has ended before.
#[derive(Clone, Debug)]
pub struct Reply(Sender<Result<(), Errno>>);

impl Reply {
    /// Reports the result of the command.
    pub fn send(self, result: Result<(), Errno>) {
        // Fails if nobody waits for it, which is fine.
        let _ = self.0.send(result);
    }
}

/// Why a command was not executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandError {
    /// A reactor has ended, or is ending.
    Ended,
    /// The system reported an error.
    Refused(Errno),
}

/// Waits until all reactors have executed a command.
#[derive(Debug)]
pub struct Receipt {
    replies: Receiver<Result<(), Errno>>,
    reactors: usize,
}

impl Receipt {
    /// Creates a receipt for this many reactors, each of which gets a clone of the reply.
    pub fn new(reactors: usize) -> (Reply, Receipt) {
        let (sender, replies) = mpsc::channel();
        (Reply(sender), Receipt { replies, reactors })
    }

    /// Waits until all have executed it, or have ended. Must not be called on a reactor's thread,
    /// which would wait for itself.
    pub fn wait(self) -> Result<(), CommandError> {
        let mut done = 0;
        for result in self.replies {
            result.map_err(CommandError::Refused)?;
            done += 1;
        }
        if done < self.reactors {
            return Err(CommandError::Ended);
        }
        Ok(())
    }
}

impl<P: Protocol> Reactor<P> {
    /// Executes a command, or begins to.
    pub(super) fn execute(&mut self, command: Command<P::Message>, reply: Option<Reply>) {
        let result = match command {
            Command::Drain { timeout_ms } => {
                self.begin_drain(timeout_ms);
                Ok(())
            }
            Command::Stop => {
                self.end();
                Ok(())
            }
            Command::Listen(_) if self.life != Lifecycle::Running => return,
            Command::Listen(listener) => self.listen(listener),
            Command::Unlisten(listener) => return self.unlisten(listener, reply),
            Command::Replace(old, new) => match self.replace(&old, new) {
                Some(result) => result,
                None => return,
            },
            Command::Tune(tuning) => {
                self.options.tuning = tuning;
                Ok(())
            }
            Command::Tell(message) => {
                self.protocol.on_command(message);
                Ok(())
            }
        };
        if let Some(reply) = reply {
            reply.send(result);
        }
    }
}
