//! What other threads may ask of a whole reactor, and how they learn that it was done.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

use rustix::io::Errno;

use super::driver::{Life, Reactor};
use super::options::Tuning;
use super::protocol::Protocol;
use crate::listener::Listener;

/// What other threads may ask of a whole reactor.
#[derive(Debug)]
pub enum Order<M> {
    /// Accept no more, finish what is in hand, then be done; at the latest after this many milliseconds.
    Drain {
        /// Milliseconds from the arrival of the order until connections that are left are cut.
        timeout_ms: u64,
    },
    /// Be done at once: connections are cut.
    Stop,
    /// Accept from this listener, too. Not done by a reactor that drains.
    Listen(Arc<Listener>),
    /// Accept no more from this listener. Done when its queue has been emptied and it is let go of.
    Unlisten(Arc<Listener>),
    /// Accept from the second listener instead of the first: the same socket with other options.
    Replace(Arc<Listener>, Arc<Listener>),
    /// Hold to other limits.
    Tune(Tuning),
    /// Tell this to the protocol.
    Tell(M),
}

/// Says that an order was carried out. One that is dropped says that its reactor has ended before.
#[derive(Clone, Debug)]
pub struct Reply(Sender<Result<(), Errno>>);

impl Reply {
    /// Says what became of the order.
    pub fn give(self, result: Result<(), Errno>) {
        // Fails when nobody waits for it, and that is right.
        let _ = self.0.send(result);
    }
}

/// Why an order was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotDone {
    /// A reactor has ended, or ends.
    Ended,
    /// The system refused.
    Refused(Errno),
}

/// Learns when the reactors that an order went to have carried it out.
#[derive(Debug)]
pub struct Receipt {
    replies: Receiver<Result<(), Errno>>,
    reactors: usize,
}

impl Receipt {
    /// A receipt of so many reactors, each of which is to be given a clone of the reply.
    pub fn of(reactors: usize) -> (Reply, Receipt) {
        let (sender, replies) = mpsc::channel();
        (Reply(sender), Receipt { replies, reactors })
    }

    /// Waits until all have done it, or have ended. Not to be called on a reactor's own thread, which would wait for itself.
    pub fn wait(self) -> Result<(), NotDone> {
        let mut done = 0;
        for result in self.replies {
            result.map_err(NotDone::Refused)?;
            done += 1;
        }
        if done < self.reactors {
            return Err(NotDone::Ended);
        }
        Ok(())
    }
}

impl<P: Protocol> Reactor<P> {
    /// Does as told, or begins to.
    pub(super) fn obey(&mut self, order: Order<P::Message>, reply: Option<Reply>) {
        let result = match order {
            Order::Drain { timeout_ms } => {
                self.begin_drain(timeout_ms);
                Ok(())
            }
            Order::Stop => {
                self.end();
                Ok(())
            }
            Order::Listen(_) if self.life != Life::Running => return,
            Order::Listen(listener) => self.listen(listener),
            Order::Unlisten(listener) => return self.unlisten(listener, reply),
            Order::Replace(old, new) => match self.replace(&old, new) {
                Some(result) => result,
                None => return,
            },
            Order::Tune(tuning) => {
                self.options.tuning = tuning;
                Ok(())
            }
            Order::Tell(message) => {
                self.protocol.on_order(message);
                Ok(())
            }
        };
        if let Some(reply) = reply {
            reply.give(result);
        }
    }
}
