//! Counters of caches: hits, misses, evictions, and what is held.
//!
//! Each thread counts for itself; a reader gets the sums. What a cache keeps, and for how long, is
//! not known here.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vervet_engine::counters::Counter;

use crate::trace::note_cache;

/// A kind of cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CacheName {
    /// Resolved paths, with small files and open descriptors. One per reactor.
    #[default]
    Files,
    /// Results of compression. One per process.
    Compressed,
    /// Directory listings. One per process.
    Listings,
    /// Compiled templates. One per page.
    Templates,
}

impl CacheName {
    /// All kinds of caches, in the order of reports.
    pub const ALL: [Self; 4] = [Self::Files, Self::Compressed, Self::Listings, Self::Templates];

    /// The name of the cache in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Compressed => "compressed",
            Self::Listings => "listings",
            Self::Templates => "templates",
        }
    }
}

/// Counters of a kind of cache, summed over all threads of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheReport {
    /// The name of the cache, such as `files`.
    pub name: &'static str,
    /// Look-ups that found an entry.
    pub hits: u64,
    /// Look-ups that found none.
    pub misses: u64,
    /// Entries removed to make room for others.
    pub evictions: u64,
    /// The number of entries held now.
    pub entries: u64,
    /// Memory of the entries, in bytes.
    pub bytes: u64,
    /// Open file descriptors of the entries.
    pub descriptors: u64,
}

/// The counters of one owner: a thread, or a cache that its users lock.
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
    /// Counts a hit. Only one thread at a time may count hits.
    pub(crate) fn hit(&self) {
        self.hits.add(1);
        note_cache(self.name.as_str(), "hit");
    }

    /// Counts a miss.
    pub(crate) fn miss(&self) {
        self.misses.fetch_add(1, Ordering::Relaxed);
        note_cache(self.name.as_str(), "miss");
    }

    /// Counts an evicted entry.
    pub(crate) fn evicted(&self) {
        self.evictions.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets the number and memory of entries.
    pub(crate) fn holds(&self, entries: usize, bytes: u64) {
        self.entries.store(entries as u64, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Sets the number of open descriptors.
    pub(crate) fn holds_open(&self, descriptors: usize) {
        self.descriptors.store(descriptors as u64, Ordering::Relaxed);
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

/// The counters of all caches of a server. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Caches(Arc<Mutex<Holders>>);

#[derive(Debug, Default)]
struct Holders {
    counts: Vec<(CacheName, Arc<CacheCounts>)>,
    /// Counts of owners that are gone.
    gone: [CacheReport; CacheName::ALL.len()],
}

/// The counters of one thread for one server.
#[derive(Debug)]
struct ThreadCounts {
    caches: Caches,
    counts: Vec<(CacheName, Arc<CacheCounts>)>,
}

thread_local! {
    static THREAD_COUNTS: RefCell<Vec<ThreadCounts>> = const { RefCell::new(Vec::new()) };
}

impl Caches {
    /// Counters for one more owner. When it is gone, its counts stay in the sums, and its entries
    /// do not.
    pub(crate) fn counts(&self, name: CacheName) -> Arc<CacheCounts> {
        let counts = Arc::new(CacheCounts { name, ..CacheCounts::default() });
        let mut holders = self.lock();
        holders.forget_gone();
        holders.counts.push((name, Arc::clone(&counts)));
        counts
    }

    /// The counters of this thread, shared by all callers on it.
    pub(crate) fn for_thread(&self, name: CacheName) -> Arc<CacheCounts> {
        THREAD_COUNTS.with_borrow_mut(|known| {
            let at = known.iter().position(|one| one.caches.is_same(self));
            let at = at.unwrap_or_else(|| {
                known.push(ThreadCounts { caches: self.clone(), counts: Vec::new() });
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

    /// Whether both are the counters of the same server.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The counters of each kind of cache, summed over all owners.
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
    fn servers_are_counted_separately() {
        let (mine, other) = (Caches::default(), Caches::default());
        mine.for_thread(CacheName::Files).hit();
        other.for_thread(CacheName::Files).miss();
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
                // Both calls return the same counters.
                caches.for_thread(CacheName::Files).hit();
                let counts = caches.for_thread(CacheName::Files);
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
        let expected = CacheReport { entries: 0, bytes: 0, descriptors: 0, ..expected };
        assert_eq!(report(&caches, CacheName::Files), expected);
    }
}
