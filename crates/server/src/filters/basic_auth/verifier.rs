//! Verifies passwords on threads of low priority with a bounded queue, for all realms of a process.
//!
//! A verification takes tens of milliseconds and megabytes on purpose. It needs an [`OnVerifier`],
//! which exists only on these threads, so that no reactor can run one by mistake. All realms share
//! one queue, so a flood of passwords costs at most the time of one thread, at low priority.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::nice;

/// Verifications that may wait or run: two seconds' work of one thread.
pub const WAITING_MAX: usize = 64;

/// How much more than the process itself the threads yield to others (nice(2)).
const NICE: i32 = 10;

/// Proof of being on a thread of the verifier.
#[derive(Debug)]
pub(super) struct OnVerifier(());

type Work = Box<dyn FnOnce(&OnVerifier) + Send>;

/// The threads and their queue. They end with the last handle.
#[derive(Debug)]
pub struct Verifier {
    queue: Sender<(Option<QueueSlot>, Work)>,
    taken: Arc<AtomicUsize>,
}

/// A slot in the queue, free again when dropped.
#[derive(Debug)]
pub(super) struct QueueSlot(Arc<AtomicUsize>);

impl Verifier {
    /// Starts so many threads, one at least; fewer where the system gives no more.
    ///
    /// # Errors
    /// When there is not even one.
    pub fn start(threads: usize) -> Result<Self, std::io::Error> {
        let (queue, work) = channel();
        let work = Arc::new(Mutex::new(work));
        for number in 0..threads.max(1) {
            let work = Arc::clone(&work);
            let thread = std::thread::Builder::new().name("vervet-passwords".to_owned());
            match thread.spawn(move || work_off(&work)) {
                Err(error) if number == 0 => return Err(error),
                _ => {}
            }
        }
        Ok(Self { queue, taken: Arc::default() })
    }

    /// How many verifications wait or run.
    pub fn waiting(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Takes a slot, if one of [`WAITING_MAX`] is free.
    pub(super) fn slot(&self) -> Option<QueueSlot> {
        let enter = |taken: usize| (taken < WAITING_MAX).then_some(taken + 1);
        let taken = self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, enter);
        taken.is_ok().then(|| QueueSlot(Arc::clone(&self.taken)))
    }

    /// Queues a verification.
    pub(super) fn run(&self, slot: QueueSlot, work: Work) {
        self.push(Some(slot), work);
    }

    /// Queues what each realm asks for once a second at the most.
    pub(super) fn run_apart(&self, work: Work) {
        self.push(None, work);
    }

    fn push(&self, slot: Option<QueueSlot>, work: Work) {
        // The receiver lives as long as the threads, and they as long as this sender. Should one
        // have died with a panic, what the work holds answers 500 when it is dropped.
        let _ = self.queue.send((slot, work));
    }
}

impl Drop for QueueSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn work_off(queue: &Mutex<Receiver<(Option<QueueSlot>, Work)>>) {
    // On Linux it is the thread that becomes nicer. Without it the work is as right, and less
    // polite.
    let _ = nice(NICE);
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((_slot, work)) = next else {
            return;
        };
        work(&OnVerifier(()));
    }
}

#[cfg(test)]
impl OnVerifier {
    /// For tests of what needs the proof and nothing of the threads.
    pub(super) fn run_here<T>(work: impl FnOnce(&OnVerifier) -> T) -> T {
        work(&OnVerifier(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_bounded_and_reused() {
        let verifier = Arc::new(Verifier::start(1).unwrap());
        let mut slots: Vec<_> = (0..WAITING_MAX).map(|_| verifier.slot().unwrap()).collect();
        assert!(verifier.slot().is_none());
        assert_eq!(verifier.waiting(), WAITING_MAX);
        slots.pop();
        assert!(verifier.slot().is_some());
        drop(slots);
        assert_eq!(verifier.waiting(), 0);
    }

    #[test]
    fn work_is_done_on_a_polite_thread_of_its_own() {
        let verifier = Arc::new(Verifier::start(2).unwrap());
        let (tell, told) = channel();
        for _ in 0..10 {
            let tell = tell.clone();
            let work = move |_: &OnVerifier| {
                let thread = std::thread::current().id();
                let nice = rustix::process::getpriority_process(None).unwrap();
                tell.send((thread, nice)).unwrap();
            };
            verifier.run(verifier.slot().unwrap(), Box::new(work));
        }
        drop(tell);
        let own = rustix::process::getpriority_process(None).unwrap();
        let found: Vec<_> = told.iter().collect();
        assert_eq!(found.len(), 10);
        for (thread, nice) in found {
            assert_ne!(thread, std::thread::current().id());
            assert_eq!(nice, (own + NICE).min(19));
        }
    }

    /// The threads end when nobody can give them work.
    #[test]
    fn the_threads_end_with_the_last_handle() {
        let verifier = Arc::new(Verifier::start(1).unwrap());
        let (held, ended) = channel::<()>();
        verifier.run_apart(Box::new(move |_| drop(held)));
        assert!(ended.recv().is_err());
        drop(verifier);
    }
}
