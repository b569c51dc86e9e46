//! Messages from any thread to a reactor, through its wake-up descriptor.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::poller::Token;
use super::team::Passed;

/// What other threads may ask of a whole reactor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Accept no more, finish what is in hand, then be done; at the latest after this many milliseconds.
    Drain {
        /// Milliseconds from the arrival of the request until connections that are left are cut.
        timeout_ms: u64,
    },
    /// Be done at once: connections are cut.
    Stop,
}

/// One letter.
#[derive(Debug)]
pub(super) enum Letter<M> {
    To(Token, M),
    Adopt(Passed),
    Control(Control),
}

/// The queue of letters to one reactor. Posting from the reactor's own thread inside a turn costs no system
/// call; from elsewhere, one write for the first letter of a batch. A turn without letters takes no lock.
///
/// Two flags make sure that nothing is slept over. Whoever posts raises `stirred`, then looks at `awake`; the
/// reactor lowers `awake`, then looks at `stirred`. Both orders are sequentially consistent, so one of them sees
/// the other.
#[derive(Debug)]
pub struct Mailbox<M> {
    letters: Mutex<Vec<Letter<M>>>,
    /// Something is to be looked at: letters, or tasks.
    stirred: AtomicBool,
    /// The reactor is in a turn or about to be: nobody needs to wake it.
    awake: AtomicBool,
    wake: OwnedFd,
}

impl<M> Mailbox<M> {
    pub(super) fn new(wake: OwnedFd) -> Self {
        Self {
            letters: Mutex::new(Vec::new()),
            stirred: AtomicBool::new(false),
            awake: AtomicBool::new(false),
            wake,
        }
    }

    fn letters(&self) -> MutexGuard<'_, Vec<Letter<M>>> {
        // A panic while the lock is held can only come from the allocator; the queue is whole all the same.
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, letter: Letter<M>) {
        self.letters().push(letter);
        self.stir();
    }

    /// Sends a message to a connection; one for a connection that is gone is dropped.
    pub fn post(&self, token: Token, message: M) {
        self.push(Letter::To(token, message));
    }

    pub(super) fn pass(&self, passed: Passed) {
        self.push(Letter::Adopt(passed));
    }

    pub(super) fn control(&self, control: Control) {
        self.push(Letter::Control(control));
    }

    /// Makes the reactor look at its letters and tasks, in this turn or another.
    pub fn stir(&self) {
        self.stirred.store(true, Ordering::SeqCst);
        if !self.awake.swap(true, Ordering::SeqCst) {
            // The counter cannot overflow: one write per turn. A failure leaves nothing else to be done.
            let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
        }
    }

    /// The turn begins: nobody needs to wake the reactor until [`Self::may_sleep`].
    pub(super) fn hold(&self) {
        self.awake.store(true, Ordering::SeqCst);
    }

    /// Whether there is nothing to look at. From then on whoever stirs the mailbox wakes the reactor.
    pub(super) fn may_sleep(&self) -> bool {
        if self.stirred.swap(false, Ordering::SeqCst) {
            return false;
        }
        self.awake.store(false, Ordering::SeqCst);
        if self.stirred.swap(false, Ordering::SeqCst) {
            self.awake.store(true, Ordering::SeqCst);
            return false;
        }
        true
    }

    /// Takes all letters.
    pub(super) fn take(&self, into: &mut Vec<Letter<M>>) {
        into.append(&mut self.letters());
    }
}

/// A way to speak to a running reactor from any thread.
#[derive(Debug)]
pub struct Handle<M> {
    mailbox: Arc<Mailbox<M>>,
}

impl<M> Clone for Handle<M> {
    fn clone(&self) -> Self {
        Self {
            mailbox: Arc::clone(&self.mailbox),
        }
    }
}

impl<M> Handle<M> {
    pub(super) fn new(mailbox: Arc<Mailbox<M>>) -> Self {
        Self { mailbox }
    }

    /// Lets the reactor finish what is in hand and then end, at the latest after `timeout_ms`.
    pub fn drain(&self, timeout_ms: u64) {
        self.mailbox.control(Control::Drain { timeout_ms });
    }

    /// Ends the reactor at its next turn.
    pub fn stop(&self) {
        self.mailbox.control(Control::Stop);
    }

    /// The mailbox itself.
    pub fn mailbox(&self) -> &Arc<Mailbox<M>> {
        &self.mailbox
    }
}
