//! A cache with a memory limit, which counts hits, misses, evictions and entries.
//!
//! It evicts by `quick_cache`'s S3-FIFO: entries used once, such as by a scan for pages that do not
//! exist, do not evict the others.

use std::hash::Hash;
use std::sync::Arc;

use quick_cache::unsync::Cache;
use quick_cache::{DefaultHashBuilder, Equivalent, Lifecycle, Weighter};

use crate::caches::CacheCounts;

/// Values by key. Each value is stored with its size in bytes.
#[derive(Debug)]
pub(crate) struct ByteCache<K, V> {
    table: Cache<K, (u64, V), StoredBytes, DefaultHashBuilder, CountEvictions>,
    bytes_max: u64,
    counts: Arc<CacheCounts>,
}

#[derive(Debug, Clone, Copy)]
struct StoredBytes;

impl<K, V> Weighter<K, (u64, V)> for StoredBytes {
    fn weight(&self, _: &K, (bytes, _): &(u64, V)) -> u64 {
        *bytes
    }
}

#[derive(Debug, Clone)]
struct CountEvictions(Arc<CacheCounts>);

impl<K, V> Lifecycle<K, (u64, V)> for CountEvictions {
    type RequestState = ();

    fn on_evict(&self, (): &mut (), _: K, _: (u64, V)) {
        self.0.evicted();
    }
}

impl<K: Eq + Hash, V> ByteCache<K, V> {
    /// An empty cache of at most `bytes_max` bytes. The estimate of entries only sizes the memory
    /// of what was evicted lately; the table grows with what it holds.
    pub(crate) fn new(entries_estimate: usize, bytes_max: u64, counts: Arc<CacheCounts>) -> Self {
        let evictions = CountEvictions(Arc::clone(&counts));
        let hasher = DefaultHashBuilder::default();
        Self {
            table: Cache::with(entries_estimate, bytes_max, StoredBytes, hasher, evictions),
            bytes_max,
            counts,
        }
    }

    /// The value of a key if it is still valid. Counts a hit or a miss: only one thread at a time
    /// may do so.
    #[inline]
    pub(crate) fn get_valid<Q: Hash + Equivalent<K>>(
        &self,
        key: &Q,
        is_valid: impl FnOnce(&V) -> bool,
    ) -> Option<&V> {
        let value = self.table.get(key).map(|(_, value)| value);
        let value = value.filter(|value| is_valid(value));
        match value {
            Some(_) => self.counts.hit(),
            None => self.counts.miss(),
        }
        value
    }

    /// The value of a key, without counting or marking it as used.
    pub(crate) fn peek<Q: Hash + Equivalent<K>>(&self, key: &Q) -> Option<&V> {
        self.table.peek(key).map(|(_, value)| value)
    }

    /// Whether a value of this size evicts no other.
    pub(crate) fn has_room<Q: Hash + Equivalent<K>>(&self, key: &Q, bytes: u64) -> bool {
        self.bytes() + bytes <= self.bytes_max || self.table.contains_key(key)
    }

    /// Keeps a value of this size, in place of an older one of the same key.
    pub(crate) fn insert(&mut self, key: K, bytes: u64, value: V) {
        self.table.insert(key, (bytes, value));
        self.count_content();
    }

    /// Drops the value of a key.
    pub(crate) fn remove<Q: Hash + Equivalent<K>>(&mut self, key: &Q) {
        self.table.remove(key);
        self.count_content();
    }

    /// Drops what is not wanted.
    pub(crate) fn retain(&mut self, is_wanted: impl Fn(&K, &V) -> bool) {
        self.table.retain(|key, (_, value)| is_wanted(key, value));
        self.count_content();
    }

    /// Changes the bound.
    pub(crate) fn set_bytes_max(&mut self, bytes_max: u64) {
        self.bytes_max = bytes_max;
        self.table.set_capacity(bytes_max);
    }

    /// Memory of all values.
    pub(crate) fn bytes(&self) -> u64 {
        self.table.weight()
    }

    /// The counts, for what a cache holds in addition.
    pub(crate) fn counts(&self) -> &CacheCounts {
        &self.counts
    }

    fn count_content(&self) {
        self.counts.holds(self.table.len(), self.table.weight());
    }
}
