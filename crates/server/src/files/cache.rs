//! What is known of each request path, so that a hit costs no system call, no decoding and no allocation.
//!
//! An entry remembers what was found and every look at the file system that led to it, its witnesses. For
//! [`FRESH_MS`] it is believed; then the witnesses are looked at again, and the entry holds on if all of them
//! stand. Descriptors of larger files live beside the entries, under a bound of their own. Both parts evict by
//! `quick_cache`'s S3-FIFO: paths seen once, such as a scan for pages that do not exist, do not push out the rest.
//! Entries come into a full cache only at the second question, by the word of the [`Doorkeeper`].
//! How a path is looked up is the resolver's business.
//!
//! One store may hold the entries of many roots, so that a reactor with a thousand sites keeps to one bound.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use quick_cache::unsync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Equivalent, Lifecycle, UnitWeighter, Weighter};
use vervet_http::negotiation::Encoding;
use vervet_http::status::Status;

use crate::caches::{CacheCounts, CacheName, Caches};
use crate::files::doorkeeper::Doorkeeper;
use crate::files::options::CacheLimits;
use crate::files::preference::Preference;
use crate::files::representation::Representation;
use crate::files::root::{Fingerprint, OpenError, Root, Stat};

/// How long an entry is believed without a look, in milliseconds: a change is visible within a second.
pub const FRESH_MS: u64 = 900;

/// The least that an entry counts, in bytes: its own parts, the table and the allocator.
pub const ENTRY_BYTES_MIN: u64 = 512;

/// A descriptor that no request has used for this long is closed, in milliseconds, so that a deleted file does
/// not keep its blocks.
pub const DESCRIPTOR_IDLE_MS: u64 = 60_000;

/// What a request path leads to.
#[derive(Debug, Clone)]
pub(crate) enum Found {
    /// A file to be sent.
    File(Arc<Representation>),
    /// A file to be compressed first.
    Compressible {
        identity: Arc<Representation>,
        encoding: Encoding,
    },
    /// A directory without its slash: the path with it, percent-encoded.
    Redirect(Box<str>),
    /// A directory to be listed, relative to the root.
    Listing(Box<[u8]>),
    /// Nothing; the page at `/` answers for it.
    SinglePage,
    /// Nothing that may be told.
    Missing,
    /// A failure with this status.
    Failed(Status),
}

/// One look at the file system.
#[derive(Debug, Clone)]
pub(crate) struct Witness {
    pub(crate) path: Box<[u8]>,
    pub(crate) seen: Result<Stat, OpenError>,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) found: Found,
    pub(crate) witnesses: Box<[Witness]>,
    pub(crate) checked_ms: Cell<u64>,
    /// Whether equal witnesses prove that nothing has changed. They do not for a file that had been written a
    /// moment before it was read: a second write within one tick of the clock leaves the same times.
    pub(crate) settled: bool,
}

impl Entry {
    fn holds(&self, root: &Root) -> bool {
        let stands = |witness: &Witness| match root.stat(&witness.path) {
            // No descriptor is left to look with: what was known is better than no answer.
            Err(OpenError::Exhausted) => true,
            seen => seen == witness.seen,
        };
        self.settled && self.witnesses.iter().all(stands)
    }

    fn bytes(&self) -> u64 {
        let found = match &self.found {
            Found::File(file) | Found::Compressible { identity: file, .. } => file.memory_bytes(),
            Found::Redirect(location) => location.len(),
            Found::Listing(path) => path.len(),
            Found::SinglePage | Found::Missing | Found::Failed(_) => 0,
        };
        let witnesses = self
            .witnesses
            .iter()
            .map(|witness| size_of::<Witness>() + witness.path.len());
        ENTRY_BYTES_MIN + (found + witnesses.sum::<usize>()) as u64
    }
}

/// A request path as it came, and the codings its sender accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Question<'a> {
    pub(crate) path: &'a [u8],
    pub(crate) preference: Preference,
}

/// A state of a root: another folder at the same path has another number.
pub(crate) type RootNumber = u32;

/// A question to one of the roots.
#[derive(Debug, Clone, Copy)]
struct At<'a>(RootNumber, Question<'a>);

impl Hash for At<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // No length before the path: what follows it is of one length always.
        state.write(self.1.path);
        state.write_u64(u64::from(self.0) << 8 | u64::from(self.1.preference.bits()));
    }
}

impl Equivalent<Key> for At<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        *self.1.path == *key.path && self.1.preference == key.preference && self.0 == key.root
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    root: RootNumber,
    path: Box<[u8]>,
    preference: Preference,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (path, preference) = (&*self.path, self.preference);
        At(self.root, Question { path, preference }).hash(state);
    }
}

#[derive(Debug, Clone, Copy)]
struct ByBytes;

impl Weighter<Key, (u64, Rc<Entry>)> for ByBytes {
    fn weight(&self, _: &Key, (bytes, _): &(u64, Rc<Entry>)) -> u64 {
        *bytes
    }
}

/// Counts what makes room.
#[derive(Debug, Clone)]
struct Evictions(Arc<CacheCounts>);

impl Lifecycle<Key, (u64, Rc<Entry>)> for Evictions {
    type RequestState = ();

    fn on_evict(&self, (): &mut (), _: Key, _: (u64, Rc<Entry>)) {
        self.0.evicted();
    }
}

#[derive(Debug)]
struct Descriptor {
    file: Arc<File>,
    used_ms: Cell<u64>,
}

/// Entries and open descriptors, of one root or of all roots of a reactor: the bounds hold for their sum.
#[derive(Debug, Clone)]
pub(crate) struct CacheStore(Rc<RefCell<Store>>);

#[derive(Debug)]
struct Store {
    entries: Cache<Key, (u64, Rc<Entry>), ByBytes, DefaultHashBuilder, Evictions>,
    doorkeeper: Doorkeeper,
    descriptors: Cache<Fingerprint, Descriptor>,
    limits: CacheLimits,
    swept_ms: u64,
    counts: Arc<CacheCounts>,
}

/// The part of a store that belongs to one root. Descriptors know no root: equal fingerprints are equal files.
#[derive(Debug)]
pub(crate) struct FileCache {
    store: CacheStore,
    root: RootNumber,
}

// The tables grow with what they hold. The estimate only sizes the memory of what was evicted lately.
const ENTRIES_ESTIMATE: usize = 1024;

thread_local! {
    /// The store of the reactor that this thread carries, from its first use on.
    static OF_THREAD: RefCell<Option<(Caches, CacheStore)>> = const { RefCell::new(None) };
}

impl CacheStore {
    pub(crate) fn new(limits: CacheLimits, counts: &Arc<CacheCounts>) -> Self {
        let hasher = DefaultHashBuilder::default;
        let descriptors_max = limits.descriptors_max as u64;
        Self(Rc::new(RefCell::new(Store {
            entries: Cache::with(
                ENTRIES_ESTIMATE,
                limits.bytes_max,
                ByBytes,
                hasher(),
                Evictions(Arc::clone(counts)),
            ),
            doorkeeper: Doorkeeper::default(),
            descriptors: Cache::with(
                64,
                descriptors_max,
                UnitWeighter,
                hasher(),
                DefaultLifecycle::default(),
            ),
            limits,
            swept_ms: 0,
            counts: Arc::clone(counts),
        })))
    }

    /// The one store of this thread for a server, with these limits from now on.
    pub(crate) fn of_thread(limits: CacheLimits, caches: &Caches) -> Self {
        OF_THREAD.with_borrow_mut(|known| {
            known.take_if(|(own, _)| !own.is_same(caches));
            let (_, store) = known.get_or_insert_with(|| {
                let counts = caches.of_thread(CacheName::Files);
                (caches.clone(), Self::new(limits, &counts))
            });
            store.set_limits(limits);
            store.clone()
        })
    }

    /// The part for one root.
    pub(crate) fn of_root(&self, root: RootNumber) -> FileCache {
        FileCache {
            store: self.clone(),
            root,
        }
    }

    fn set_limits(&self, limits: CacheLimits) {
        let mut store = self.0.borrow_mut();
        if store.limits != limits {
            store.limits = limits;
            store.entries.set_capacity(limits.bytes_max);
            store
                .descriptors
                .set_capacity(limits.descriptors_max as u64);
        }
    }
}

impl Store {
    /// Whether an entry of this weight may come in: in the place of an older one, where there is room, or at the second
    /// question.
    fn admits(&mut self, at: &At<'_>, bytes: u64) -> bool {
        self.entries.weight() + bytes <= self.limits.bytes_max
            || self.entries.contains_key(at)
            || self.doorkeeper.admits(at)
    }

    #[inline]
    fn entry(&self, at: &At<'_>, root: &Root, now_ms: u64) -> Option<&Rc<Entry>> {
        let (_, entry) = self.entries.get(at)?;
        if now_ms.saturating_sub(entry.checked_ms.get()) >= FRESH_MS {
            if !entry.holds(root) {
                return None;
            }
            entry.checked_ms.set(now_ms);
        }
        Some(entry)
    }

    /// Tells what is held, where it may have changed.
    fn tell(&self) {
        self.counts.holds(self.entries.len(), self.entries.weight());
        self.counts.holds_open(self.descriptors.len());
    }
}

impl FileCache {
    /// What was found at a path, if it is still so.
    #[inline]
    pub(crate) fn entry(
        &self,
        question: Question<'_>,
        root: &Root,
        now_ms: u64,
    ) -> Option<Rc<Entry>> {
        let store = self.store.0.borrow();
        let entry = store.entry(&At(self.root, question), root, now_ms);
        match entry {
            Some(_) => store.counts.hit(),
            None => store.counts.miss(),
        }
        entry.map(Rc::clone)
    }

    /// Keeps what was found, unless the cache is full and the question is asked for the first time.
    pub(crate) fn keep(&mut self, question: Question<'_>, entry: Rc<Entry>) {
        let bytes = entry.bytes() + question.path.len() as u64;
        let mut store = self.store.0.borrow_mut();
        if !store.admits(&At(self.root, question), bytes) {
            return;
        }
        let key = Key {
            root: self.root,
            path: Box::from(question.path),
            preference: question.preference,
        };
        store.entries.insert(key, (bytes, entry));
        store.tell();
    }

    /// Puts what has been found out since in the place of what was found, with the same witnesses.
    pub(crate) fn refine(&mut self, question: Question<'_>, entry: &Entry, found: Found) {
        let entry = Entry {
            found,
            witnesses: entry.witnesses.clone(),
            checked_ms: entry.checked_ms.clone(),
            settled: entry.settled,
        };
        self.keep(question, Rc::new(entry));
    }

    pub(crate) fn forget(&mut self, question: Question<'_>) {
        let mut store = self.store.0.borrow_mut();
        store.entries.remove(&At(self.root, question));
        store.tell();
    }

    /// Forgets all of this root and goes on with its next state, as when the root has been replaced.
    pub(crate) fn replace_root(&mut self, root: RootNumber) {
        let mut store = self.store.0.borrow_mut();
        store.entries.retain(|key, _| key.root != self.root);
        store.descriptors.clear();
        store.tell();
        self.root = root;
    }

    pub(crate) fn descriptor(&self, fingerprint: &Fingerprint, now_ms: u64) -> Option<Arc<File>> {
        let store = self.store.0.borrow();
        let descriptor = store.descriptors.get(fingerprint)?;
        descriptor.used_ms.set(now_ms);
        Some(Arc::clone(&descriptor.file))
    }

    pub(crate) fn keep_descriptor(
        &mut self,
        fingerprint: Fingerprint,
        file: Arc<File>,
        now_ms: u64,
    ) {
        let used_ms = Cell::new(now_ms);
        let mut store = self.store.0.borrow_mut();
        store
            .descriptors
            .insert(fingerprint, Descriptor { file, used_ms });
        store.tell();
    }

    /// Closes what has not been used for long. Cheap: it looks once in [`DESCRIPTOR_IDLE_MS`].
    pub(crate) fn sweep(&mut self, now_ms: u64) {
        if now_ms.saturating_sub(self.store.0.borrow().swept_ms) < DESCRIPTOR_IDLE_MS {
            return;
        }
        let mut store = self.store.0.borrow_mut();
        store.swept_ms = now_ms;
        let is_idle = |descriptor: &Descriptor| {
            now_ms.saturating_sub(descriptor.used_ms.get()) >= DESCRIPTOR_IDLE_MS
        };
        store
            .descriptors
            .retain(|_, descriptor| !is_idle(descriptor));
        store.tell();
    }

    /// Closes every descriptor that no answer under way needs.
    pub(crate) fn close_descriptors(&mut self) {
        let mut store = self.store.0.borrow_mut();
        store.descriptors.clear();
        store.tell();
    }

    /// Memory of the entries of all roots of the store.
    pub(crate) fn bytes(&self) -> u64 {
        self.store.0.borrow().entries.weight()
    }

    /// Descriptors of all roots of the store.
    pub(crate) fn descriptors(&self) -> usize {
        self.store.0.borrow().descriptors.len()
    }
}
