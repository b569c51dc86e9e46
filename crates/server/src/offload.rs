//! One thread per process for work that would block a reactor: compressing and listing.
//!
//! The thread starts with the first piece of work. At most [`WORK_MAX`] pieces wait; if there is no
//! slot, the response is sent without that work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};

/// Pieces of work that may wait or run.
pub const WORK_MAX: usize = 64;

type Work = Box<dyn FnOnce() + Send>;

/// The thread, and the slots in its queue.
#[derive(Debug, Default)]
pub struct Offload {
    taken: Arc<AtomicUsize>,
    queue: OnceLock<Option<Sender<(QueueSlot, Work)>>>,
}

/// A slot in the queue, returned on drop.
#[derive(Debug)]
pub(crate) struct QueueSlot(Arc<AtomicUsize>);

impl Offload {
    /// Takes a slot, if one is free.
    pub(crate) fn slot(&self) -> Option<QueueSlot> {
        let mut taken = self.taken.load(Ordering::Relaxed);
        while taken < WORK_MAX {
            let next = taken + 1;
            match self.taken.compare_exchange_weak(
                taken,
                next,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(QueueSlot(Arc::clone(&self.taken))),
                Err(now) => taken = now,
            }
        }
        None
    }

    /// Runs the work on the thread. Where no thread can be started it runs here: slow, but right.
    pub(crate) fn run(&self, slot: QueueSlot, work: Work) {
        let queue = self.queue.get_or_init(start);
        let unsent = match queue {
            Some(queue) => queue.send((slot, work)).err().map(|refused| refused.0),
            None => Some((slot, work)),
        };
        if let Some((_slot, work)) = unsent {
            work();
        }
    }
}

impl Drop for QueueSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn start() -> Option<Sender<(QueueSlot, Work)>> {
    let (sender, receiver) = channel();
    let thread = std::thread::Builder::new().name("vervet-offload".to_owned());
    thread.spawn(move || work_off(&receiver)).ok().map(|_| sender)
}

fn work_off(queue: &Receiver<(QueueSlot, Work)>) {
    while let Ok((_slot, work)) = queue.recv() {
        work();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_bounded_and_reused() {
        let offload = Offload::default();
        let mut slots: Vec<_> = (0..WORK_MAX).map(|_| offload.slot().unwrap()).collect();
        assert!(offload.slot().is_none());
        slots.pop();
        let slot = offload.slot().unwrap();
        let (done, wait) = channel();
        offload.run(slot, Box::new(move || done.send(std::thread::current().id()).unwrap()));
        assert_ne!(wait.recv().unwrap(), std::thread::current().id());
    }
}
