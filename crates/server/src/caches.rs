//! What caches count: looks that found something and looks that did not, what was given up for room, and what is held.
//!
//! Each thread counts for itself, and whoever asks gets the sums. What a cache keeps, and for how long, is its own business.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vervet_engine::counters::Counter;

use crate::web::note_look;

/// A kind of cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CacheName {
    /// What request paths lead to, with small files and open descriptors. Each reactor has one.
    #[default]
    Files,
    /// Results of compression. One for the process.
    Compressed,
    /// Listings of folders. One for the process.
    Listings,
    /// Compiled templates. One for each page.
    Templates,
}

impl CacheName {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 4] = [
        Self::Files,
        Self::Compressed,
        Self::Listings,
        Self::Templates,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Compressed => "compressed",
            Self::Listings => "listings",
            Self::Templates => "templates",
        }
    }
}

/// A kind of cache, over all threads of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheReport {
    /// What it keeps, in a word: `files`.
    pub name: &'static str,
    /// Looks that found what they looked for.
    pub hits: u64,
    /// Looks that did not, so that the work was done.
    pub misses: u64,
    /// Entries given up to make room for others.
    pub evictions: u64,
    /// Entries held now.
    pub entries: u64,
    /// Memory that they take, in bytes.
    pub bytes: u64,
    /// Descriptors kept open.
    pub descriptors: u64,
}

/// The counts of one holder: a thread, or a cache that is locked while it is used.
#[derive(Debug, Default)]
pub struct CacheCounts {
    name: CacheName,
    hits: Counter,
    misses: AtomicU64,
    evictions: AtomicU64,
    entries: AtomicU64,
    bytes: AtomicU64,
    descriptors: AtomicU64,
}

impl CacheCounts {
    /// A look that found something. Only one thread at a time may count hits.
    pub(crate) fn hit(&self) {
        self.hits.add(1);
        note_look(self.name, "hit");
    }

    /// A look that found nothing.
    pub(crate) fn miss(&self) {
        self.misses.fetch_add(1, Ordering::Relaxed);
        note_look(self.name, "miss");
    }

    /// An entry made room for another.
    pub(crate) fn evicted(&self) {
        self.evictions.fetch_add(1, Ordering::Relaxed);
    }

    /// What is held now.
    pub(crate) fn holds(&self, entries: usize, bytes: u64) {
        self.entries.store(entries as u64, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Descriptors held now.
    pub(crate) fn holds_open(&self, descriptors: usize) {
        self.descriptors
            .store(descriptors as u64, Ordering::Relaxed);
    }

    fn add_to(&self, report: &mut CacheReport) {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        report.hits += self.hits.get();
        report.misses += read(&self.misses);
        report.evictions += read(&self.evictions);
        report.entries += read(&self.entries);
        report.bytes += read(&self.bytes);
        report.descriptors += read(&self.descriptors);
    }
}

/// The caches of a server. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Caches(Arc<Mutex<Holders>>);

#[derive(Debug, Default)]
struct Holders {
    counts: Vec<(CacheName, Arc<CacheCounts>)>,
    /// What those have counted that are gone.
    gone: [CacheReport; CacheName::ALL.len()],
}

/// What one thread counts for one server.
#[derive(Debug)]
struct OfThread {
    caches: Caches,
    counts: Vec<(CacheName, Arc<CacheCounts>)>,
}

thread_local! {
    static OF_THREAD: RefCell<Vec<OfThread>> = const { RefCell::new(Vec::new()) };
}

impl Caches {
    /// The counts of one more holder. When it is gone, what it has counted stays in the sums, and what it held does not.
    pub(crate) fn counts(&self, name: CacheName) -> Arc<CacheCounts> {
        let counts = Arc::new(CacheCounts {
            name,
            ..CacheCounts::default()
        });
        let mut holders = self.lock();
        holders.forget_gone();
        holders.counts.push((name, Arc::clone(&counts)));
        counts
    }

    /// The counts of this thread, the same for all who ask on it.
    pub(crate) fn of_thread(&self, name: CacheName) -> Arc<CacheCounts> {
        OF_THREAD.with_borrow_mut(|known| {
            let at = known.iter().position(|one| one.caches.is_same(self));
            let at = at.unwrap_or_else(|| {
                known.push(OfThread {
                    caches: self.clone(),
                    counts: Vec::new(),
                });
                known.len() - 1
            });
            let counts = &mut known[at].counts;
            if let Some((_, counts)) = counts.iter().find(|(one, _)| *one == name) {
                return Arc::clone(counts);
            }
            let made = self.counts(name);
            counts.push((name, Arc::clone(&made)));
            made
        })
    }

    /// Whether both are those of one server.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Each kind of cache, summed over all holders.
    pub fn reports(&self) -> Vec<CacheReport> {
        let mut holders = self.lock();
        holders.forget_gone();
        let mut reports = holders.gone.clone();
        for (report, name) in reports.iter_mut().zip(CacheName::ALL) {
            report.name = name.as_str();
        }
        for (name, counts) in &holders.counts {
            counts.add_to(&mut reports[*name as usize]);
        }
        reports.to_vec()
    }

    fn lock(&self) -> MutexGuard<'_, Holders> {
        // Nothing that happens under the lock panics.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Holders {
    fn forget_gone(&mut self) {
        let gone = &mut self.gone;
        self.counts.retain(|(name, counts)| {
            let is_held = Arc::strong_count(counts) > 1;
            if !is_held {
                counts.holds(0, 0);
                counts.holds_open(0);
                counts.add_to(&mut gone[*name as usize]);
            }
            is_held
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(caches: &Caches, name: CacheName) -> CacheReport {
        let mut reports = caches.reports().into_iter();
        reports.find(|one| one.name == name.as_str()).unwrap()
    }

    #[test]
    fn a_server_is_told_nothing_of_another() {
        let (mine, other) = (Caches::default(), Caches::default());
        mine.of_thread(CacheName::Files).hit();
        other.of_thread(CacheName::Files).miss();
        assert_eq!(report(&mine, CacheName::Files).misses, 0);
        assert_eq!(report(&other, CacheName::Files).hits, 0);
        assert_eq!(report(&mine, CacheName::Templates).hits, 0);
    }

    #[test]
    fn threads_are_summed() {
        let caches = Caches::default();
        let (ready, wait) = std::sync::mpsc::channel();
        let threads = [1, 2, 3].map(|number| {
            let (caches, ready) = (caches.clone(), ready.clone());
            let (end, ended) = std::sync::mpsc::channel::<()>();
            let counting = move || {
                // Asked twice, it is the same.
                caches.of_thread(CacheName::Files).hit();
                let counts = caches.of_thread(CacheName::Files);
                counts.hit();
                counts.miss();
                counts.evicted();
                counts.holds(number, 100);
                counts.holds_open(number);
                ready.send(()).unwrap();
                ended.recv().unwrap();
            };
            (std::thread::spawn(counting), end)
        });
        wait.iter().take(3).for_each(drop);
        let expected = CacheReport {
            name: "files",
            hits: 6,
            misses: 3,
            evictions: 3,
            entries: 6,
            bytes: 300,
            descriptors: 6,
        };
        assert_eq!(report(&caches, CacheName::Files), expected);
        for (thread, end) in threads {
            end.send(()).unwrap();
            thread.join().unwrap();
        }
        let expected = CacheReport {
            entries: 0,
            bytes: 0,
            descriptors: 0,
            ..expected
        };
        assert_eq!(report(&caches, CacheName::Files), expected);
    }
}
