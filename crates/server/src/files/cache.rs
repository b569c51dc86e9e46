//! The file cache: a hit costs no system call, no decoding and no allocation.
//!
//! An entry holds the result of a look-up and the state of every file that the look-up depended on.
//! For [`FRESH_MS`] it is used without a check; then the files are checked again, and the entry
//! stays if none has changed. Descriptors of larger files are stored separately, with their own
//! limit. A full cache admits entries only at the second request ([`AdmissionFilter`]). Look-ups
//! are in [`crate::files::lookup`].
//!
//! One cache may hold the entries of many roots, so that a reactor with a thousand sites keeps to
//! one limit.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use quick_cache::unsync::Cache;
use quick_cache::{Equivalent, UnitWeighter};
use vervet_http::negotiation::Encoding;
use vervet_http::status::Status;

use crate::caches::{CacheCounts, CacheName, Caches};
use crate::compression::Preference;
use crate::files::admission::AdmissionFilter;
use crate::files::byte_cache::ByteCache;
use crate::files::options::CacheLimits;
use crate::files::representation::Representation;
use crate::files::root::{Fingerprint, OpenError, Root, Stat};

/// How long an entry is used without a check, in milliseconds: a change is visible within a second.
pub const FRESH_MS: u64 = 900;

/// The least that an entry counts, in bytes: its own fields, the table and the allocator.
pub const ENTRY_BYTES_MIN: u64 = 512;

/// A descriptor that no request has used for this long is closed, in milliseconds, so that a
/// deleted file does not keep its blocks.
pub const DESCRIPTOR_IDLE_MS: u64 = 60_000;

/// What a request path leads to.
#[derive(Debug, Clone)]
pub(crate) enum LookupResult {
    /// A file to be sent.
    File(Arc<Representation>),
    /// A file to be compressed first.
    Compressible { identity: Arc<Representation>, encoding: Encoding },
    /// A directory without its slash: the path with it, percent-encoded.
    Redirect(Box<str>),
    /// A directory to be listed, relative to the root.
    Listing(Box<[u8]>),
    /// Nothing; the page at `/` answers for it.
    SinglePage,
    /// Nothing, or nothing whose existence may be known.
    Missing,
    /// A failure with this status.
    Failed(Status),
}

/// The state of a path when it was looked up.
#[derive(Debug, Clone)]
pub(crate) struct PathState {
    pub(crate) path: Box<[u8]>,
    pub(crate) stat: Result<Stat, OpenError>,
}

/// The result of a look-up, and what it depends on.
#[derive(Debug)]
pub(crate) struct CacheEntry {
    pub(crate) result: LookupResult,
    pub(crate) dependencies: Box<[PathState]>,
    pub(crate) checked_ms: Cell<u64>,
    /// Whether equal states prove that nothing has changed. They do not for a file that had been
    /// written just before it was read: a second write within one tick of the clock leaves the same
    /// times.
    pub(crate) is_settled: bool,
}

impl CacheEntry {
    /// Whether the entry may be used, after a check of its files where it is no longer fresh.
    #[inline]
    fn is_valid(&self, root: &Root, now_ms: u64) -> bool {
        if now_ms.saturating_sub(self.checked_ms.get()) < FRESH_MS {
            return true;
        }
        let is_valid = self.is_unchanged(root);
        if is_valid {
            self.checked_ms.set(now_ms);
        }
        is_valid
    }

    fn is_unchanged(&self, root: &Root) -> bool {
        let is_same = |state: &PathState| match root.stat(&state.path) {
            // No descriptor is left to check with: the old answer is better than none.
            Err(OpenError::Exhausted) => true,
            stat => stat == state.stat,
        };
        self.is_settled && self.dependencies.iter().all(is_same)
    }

    fn bytes(&self) -> u64 {
        let result = match &self.result {
            LookupResult::File(file) | LookupResult::Compressible { identity: file, .. } => {
                file.memory_bytes()
            }
            LookupResult::Redirect(location) => location.len(),
            LookupResult::Listing(path) => path.len(),
            LookupResult::SinglePage | LookupResult::Missing | LookupResult::Failed(_) => 0,
        };
        let dependencies = self.dependencies.iter();
        let dependencies = dependencies.map(|state| size_of::<PathState>() + state.path.len());
        ENTRY_BYTES_MIN + (result + dependencies.sum::<usize>()) as u64
    }
}

/// A state of a root: another folder at the same path has another number.
pub(crate) type RootNumber = u32;

/// A request path as it came, its root, and the codings that the client accepts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CacheKey<'a> {
    pub(crate) root: RootNumber,
    pub(crate) path: &'a [u8],
    pub(crate) preference: Preference,
}

impl Hash for CacheKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // No length before the path: what follows it always has the same length.
        state.write(self.path);
        state.write_u64(u64::from(self.root) << 8 | u64::from(self.preference.bits()));
    }
}

impl Equivalent<StoredKey> for CacheKey<'_> {
    fn equivalent(&self, key: &StoredKey) -> bool {
        *self.path == *key.path && self.preference == key.preference && self.root == key.root
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct StoredKey {
    root: RootNumber,
    path: Box<[u8]>,
    preference: Preference,
}

impl Hash for StoredKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { root, ref path, preference } = *self;
        let key = CacheKey { root, path, preference };
        key.hash(state);
    }
}

#[derive(Debug)]
struct Descriptor {
    file: Arc<File>,
    used_ms: Cell<u64>,
}

/// Entries and open descriptors, of one root or of all roots of a reactor: the bounds hold for
/// their sum. Clones are the same cache.
#[derive(Debug, Clone)]
pub(crate) struct FileCache(Rc<RefCell<Store>>);

#[derive(Debug)]
struct Store {
    entries: ByteCache<StoredKey, Rc<CacheEntry>>,
    admission: AdmissionFilter,
    /// By the state of the file, whatever its root.
    descriptors: Cache<Fingerprint, Descriptor>,
    limits: CacheLimits,
    swept_ms: u64,
}

const ENTRIES_ESTIMATE: usize = 1024;

thread_local! {
    /// The cache of the reactor that this thread carries, since its first use.
    static OF_THREAD: RefCell<Option<(Caches, FileCache)>> = const { RefCell::new(None) };
}

impl FileCache {
    pub(crate) fn new(limits: CacheLimits, counts: Arc<CacheCounts>) -> Self {
        Self(Rc::new(RefCell::new(Store {
            entries: ByteCache::new(ENTRIES_ESTIMATE, limits.bytes_max, counts),
            admission: AdmissionFilter::default(),
            descriptors: Cache::with_weighter(64, limits.descriptors_max as u64, UnitWeighter),
            limits,
            swept_ms: 0,
        })))
    }

    /// The one cache of this thread for a server, with these limits from now on.
    pub(crate) fn of_thread(limits: CacheLimits, caches: &Caches) -> Self {
        OF_THREAD.with_borrow_mut(|known| {
            known.take_if(|(own, _)| !own.is_same(caches));
            let (_, cache) = known.get_or_insert_with(|| {
                let counts = caches.for_thread(CacheName::Files);
                (caches.clone(), Self::new(limits, counts))
            });
            cache.set_limits(limits);
            cache.clone()
        })
    }

    fn set_limits(&self, limits: CacheLimits) {
        let mut store = self.0.borrow_mut();
        if store.limits != limits {
            store.limits = limits;
            store.entries.set_bytes_max(limits.bytes_max);
            store.descriptors.set_capacity(limits.descriptors_max as u64);
        }
    }

    /// The entry of a path, if it is still valid.
    #[inline]
    pub(crate) fn get(
        &self,
        key: CacheKey<'_>,
        root: &Root,
        now_ms: u64,
    ) -> Option<Rc<CacheEntry>> {
        let store = self.0.borrow();
        let is_valid = |entry: &Rc<CacheEntry>| entry.is_valid(root, now_ms);
        store.entries.get_valid(&key, is_valid).map(Rc::clone)
    }

    /// Keeps an entry, unless the cache is full and the path is requested for the first time.
    pub(crate) fn insert(&self, key: CacheKey<'_>, entry: Rc<CacheEntry>) {
        let bytes = entry.bytes() + key.path.len() as u64;
        let mut store = self.0.borrow_mut();
        if store.entries.has_room(&key, bytes) || store.admission.admits(&key) {
            let key =
                StoredKey { root: key.root, path: Box::from(key.path), preference: key.preference };
            store.entries.insert(key, bytes, entry);
        }
    }

    /// Replaces the result of an entry; its dependencies stay.
    pub(crate) fn refine(&self, key: CacheKey<'_>, entry: &CacheEntry, result: LookupResult) {
        let entry = CacheEntry {
            result,
            dependencies: entry.dependencies.clone(),
            checked_ms: entry.checked_ms.clone(),
            is_settled: entry.is_settled,
        };
        self.insert(key, Rc::new(entry));
    }

    pub(crate) fn remove(&self, key: CacheKey<'_>) {
        self.0.borrow_mut().entries.remove(&key);
    }

    /// Removes all entries of a root that has been replaced.
    pub(crate) fn remove_root(&self, root: RootNumber) {
        let mut store = self.0.borrow_mut();
        store.entries.retain(|key, _| key.root != root);
        store.descriptors.clear();
        store.count_descriptors();
    }

    pub(crate) fn descriptor(&self, fingerprint: &Fingerprint, now_ms: u64) -> Option<Arc<File>> {
        let store = self.0.borrow();
        let descriptor = store.descriptors.get(fingerprint)?;
        descriptor.used_ms.set(now_ms);
        Some(Arc::clone(&descriptor.file))
    }

    pub(crate) fn keep_descriptor(&self, fingerprint: Fingerprint, file: Arc<File>, now_ms: u64) {
        let used_ms = Cell::new(now_ms);
        let mut store = self.0.borrow_mut();
        let descriptor = Descriptor { file, used_ms };
        store.descriptors.insert(fingerprint, descriptor);
        store.count_descriptors();
    }

    /// Closes what has not been used for [`DESCRIPTOR_IDLE_MS`]; checks once in that time.
    pub(crate) fn close_idle_descriptors(&self, now_ms: u64) {
        let is_idle = |used_ms: u64| now_ms.saturating_sub(used_ms) >= DESCRIPTOR_IDLE_MS;
        if !is_idle(self.0.borrow().swept_ms) {
            return;
        }
        let mut store = self.0.borrow_mut();
        store.swept_ms = now_ms;
        store.descriptors.retain(|_, descriptor| !is_idle(descriptor.used_ms.get()));
        store.count_descriptors();
    }

    /// Closes every descriptor that no answer under way needs.
    pub(crate) fn close_descriptors(&self) {
        let mut store = self.0.borrow_mut();
        store.descriptors.clear();
        store.count_descriptors();
    }

    /// Memory of the entries of all roots, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.borrow().entries.bytes()
    }

    /// Open descriptors of all roots.
    pub(crate) fn descriptors(&self) -> usize {
        self.0.borrow().descriptors.len()
    }
}

impl Store {
    fn count_descriptors(&self) {
        self.entries.counts().holds_open(self.descriptors.len());
    }
}
