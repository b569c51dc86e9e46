//! Messages from any thread to a reactor, through its wake-up descriptor.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::command::{Command, Reply};
use super::poller::Token;
use super::team::Handover;
use crate::executor::{Posted, TaskId};

/// One item in the mailbox of a reactor.
#[derive(Debug)]
pub(super) enum MailboxItem<M> {
    To(Token, M),
    Adopt(Handover),
    Command(Command<M>, Option<Reply>),
    /// A task was woken.
    Poll(TaskId),
}

/// The queue of items to one reactor. Posting from the reactor's own thread inside a turn costs no
/// system call; from elsewhere, one write for the first item of a batch. A turn without items takes
/// no lock.
///
/// Two flags make sure that no item is missed. A sender sets `pending`, then reads `awake`; the
/// reactor clears `awake`, then reads `pending`. Both orders are sequentially consistent, so one of
/// them sees the other.
#[derive(Debug)]
pub struct Mailbox<M> {
    /// `None` if the reactor has ended: new items are dropped.
    items: Mutex<Option<Vec<MailboxItem<M>>>>,
    /// There are messages or tasks to process.
    pending: AtomicBool,
    /// The reactor is in a turn or about to be: it need not be woken.
    awake: AtomicBool,
    wake: OwnedFd,
}

impl<M> Mailbox<M> {
    pub(super) fn new(wake: OwnedFd) -> Self {
        Self {
            items: Mutex::new(Some(Vec::new())),
            pending: AtomicBool::new(false),
            awake: AtomicBool::new(false),
            wake,
        }
    }

    fn items(&self) -> MutexGuard<'_, Option<Vec<MailboxItem<M>>>> {
        // A panic while the lock is held can only come from the allocator; the queue is whole all
        // the same.
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, item: MailboxItem<M>) {
        if let Some(items) = &mut *self.items() {
            items.push(item);
        } else {
            return;
        }
        self.wake();
    }

    /// Closes the mailbox: present and future items are dropped.
    pub(super) fn close(&self) {
        // Without holding the lock: an item that is dropped may post another.
        let left = self.items().take();
        drop(left);
    }

    /// Sends a message to a connection; dropped if the connection is gone.
    pub fn post(&self, token: Token, message: M) {
        self.push(MailboxItem::To(token, message));
    }

    pub(super) fn pass(&self, passed: Handover) {
        self.push(MailboxItem::Adopt(passed));
    }

    pub(super) fn command(&self, command: Command<M>, reply: Option<Reply>) {
        self.push(MailboxItem::Command(command, reply));
    }

    /// Makes the reactor poll a task, or start new ones.
    pub(super) fn post_task(&self, posted: Posted) {
        match posted {
            Posted::NewTask => self.wake(),
            Posted::Woken(task) => self.push(MailboxItem::Poll(task)),
        }
    }

    /// Makes the reactor process its messages and tasks, in this turn or the next.
    pub(super) fn wake(&self) {
        self.pending.store(true, Ordering::SeqCst);
        if !self.awake.swap(true, Ordering::SeqCst) {
            // The counter cannot overflow: one write per turn. A failure leaves nothing else to be
            // done.
            let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
        }
    }

    /// The turn begins: the reactor need not be woken until [`Self::may_sleep`]. A thread that does
    /// not see this yet only makes a needless system call, so no memory ordering is needed.
    pub(super) fn begin_turn(&self) {
        self.awake.store(true, Ordering::Relaxed);
    }

    /// Returns whether there is nothing to process. After that, new items wake the reactor.
    pub(super) fn may_sleep(&self) -> bool {
        if self.take_pending() {
            return false;
        }
        self.awake.store(false, Ordering::SeqCst);
        if self.take_pending() {
            self.awake.store(true, Ordering::SeqCst);
            return false;
        }
        true
    }

    /// Lowers the flag. In most turns it is not raised, which costs no locked instruction.
    fn take_pending(&self) -> bool {
        self.pending.load(Ordering::SeqCst) && self.pending.swap(false, Ordering::SeqCst)
    }

    /// Moves all items to `into`.
    pub(super) fn take(&self, into: &mut Vec<MailboxItem<M>>) {
        if let Some(items) = &mut *self.items() {
            into.append(items);
        }
    }
}

/// A handle for communicating with a running reactor from any thread.
#[derive(Debug)]
pub struct Handle<M> {
    mailbox: Arc<Mailbox<M>>,
}

impl<M> Clone for Handle<M> {
    fn clone(&self) -> Self {
        Self { mailbox: Arc::clone(&self.mailbox) }
    }
}

impl<M> Handle<M> {
    pub(super) fn new(mailbox: Arc<Mailbox<M>>) -> Self {
        Self { mailbox }
    }

    /// Lets the reactor complete exchanges in progress and then end, after `timeout_ms` at the
    /// latest.
    pub fn drain(&self, timeout_ms: u64) {
        self.mailbox.command(Command::Drain { timeout_ms }, None);
    }

    /// Ends the reactor at its next turn.
    pub fn stop(&self) {
        self.mailbox.command(Command::Stop, None);
    }

    /// Sends a command, and reports when it is done.
    pub fn command(&self, command: Command<M>, reply: Reply) {
        self.mailbox.command(command, Some(reply));
    }

    /// Returns the mailbox of the reactor.
    pub fn mailbox(&self) -> &Arc<Mailbox<M>> {
        &self.mailbox
    }
}
