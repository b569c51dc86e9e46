//! Messages from any thread to a reactor, through its wake-up descriptor.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::order::{Order, Reply};
use super::poller::Token;
use super::team::Passed;

/// One letter.
#[derive(Debug)]
pub(super) enum Letter<M> {
    To(Token, M),
    Adopt(Passed),
    Order(Order<M>, Option<Reply>),
}

/// The queue of letters to one reactor. Posting from the reactor's own thread inside a turn costs no system
/// call; from elsewhere, one write for the first letter of a batch. A turn without letters takes no lock.
///
/// Two flags make sure that nothing is slept over. Whoever posts raises `stirred`, then looks at `awake`; the
/// reactor lowers `awake`, then looks at `stirred`. Both orders are sequentially consistent, so one of them sees
/// the other.
#[derive(Debug)]
pub struct Mailbox<M> {
    /// `None` when the reactor has ended and nobody reads them any more.
    letters: Mutex<Option<Vec<Letter<M>>>>,
    /// Something is to be looked at: letters, or tasks.
    stirred: AtomicBool,
    /// The reactor is in a turn or about to be: nobody needs to wake it.
    awake: AtomicBool,
    wake: OwnedFd,
}

impl<M> Mailbox<M> {
    pub(super) fn new(wake: OwnedFd) -> Self {
        Self {
            letters: Mutex::new(Some(Vec::new())),
            stirred: AtomicBool::new(false),
            awake: AtomicBool::new(false),
            wake,
        }
    }

    fn letters(&self) -> MutexGuard<'_, Option<Vec<Letter<M>>>> {
        // A panic while the lock is held can only come from the allocator; the queue is whole all the same.
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, letter: Letter<M>) {
        if let Some(letters) = &mut *self.letters() {
            letters.push(letter);
        } else {
            return;
        }
        self.stir();
    }

    /// Nobody will read letters any more: those that are there are dropped, and those that come.
    pub(super) fn close(&self) {
        // Apart from the lock: a letter that is dropped may post another.
        let left = self.letters().take();
        drop(left);
    }

    /// Sends a message to a connection; one for a connection that is gone is dropped.
    pub fn post(&self, token: Token, message: M) {
        self.push(Letter::To(token, message));
    }

    pub(super) fn pass(&self, passed: Passed) {
        self.push(Letter::Adopt(passed));
    }

    pub(super) fn order(&self, order: Order<M>, reply: Option<Reply>) {
        self.push(Letter::Order(order, reply));
    }

    /// Makes the reactor look at its letters and tasks, in this turn or another.
    pub fn stir(&self) {
        self.stirred.store(true, Ordering::SeqCst);
        if !self.awake.swap(true, Ordering::SeqCst) {
            // The counter cannot overflow: one write per turn. A failure leaves nothing else to be done.
            let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
        }
    }

    /// The turn begins: nobody needs to wake the reactor until [`Self::may_sleep`]. Whoever does not see it yet writes once
    /// for nothing, so no order is asked of it.
    pub(super) fn hold(&self) {
        self.awake.store(true, Ordering::Relaxed);
    }

    /// Whether there is nothing to look at. From then on whoever stirs the mailbox wakes the reactor.
    pub(super) fn may_sleep(&self) -> bool {
        if self.was_stirred() {
            return false;
        }
        self.awake.store(false, Ordering::SeqCst);
        if self.was_stirred() {
            self.awake.store(true, Ordering::SeqCst);
            return false;
        }
        true
    }

    /// Lowers the flag. Most turns find it lowered, which costs no locked instruction.
    fn was_stirred(&self) -> bool {
        self.stirred.load(Ordering::SeqCst) && self.stirred.swap(false, Ordering::SeqCst)
    }

    /// Takes all letters.
    pub(super) fn take(&self, into: &mut Vec<Letter<M>>) {
        if let Some(letters) = &mut *self.letters() {
            into.append(letters);
        }
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
        self.mailbox.order(Order::Drain { timeout_ms }, None);
    }

    /// Ends the reactor at its next turn.
    pub fn stop(&self) {
        self.mailbox.order(Order::Stop, None);
    }

    /// Asks for something else, and is told when it is done.
    pub fn order(&self, order: Order<M>, reply: Reply) {
        self.mailbox.order(order, Some(reply));
    }

    /// The mailbox itself.
    pub fn mailbox(&self) -> &Arc<Mailbox<M>> {
        &self.mailbox
    }
}
