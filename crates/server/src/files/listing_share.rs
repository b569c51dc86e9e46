//! Listings that are made once for all who ask meanwhile, and kept for a moment.
//!
//! Who asks for a listing that is being made waits for that one: a thousand connections at one folder take one place in
//! the queue of [`crate::offload`], whose bound is for folders that differ. A listing is kept for [`FRESH_MS`] and shown
//! only while its folder is in the same state, which is looked at each time: names that come and go are seen at once,
//! sizes and times of files within a second, as with files themselves.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use quick_cache::unsync::Cache;
use quick_cache::{DefaultHashBuilder, Lifecycle, Weighter};
use vervet_engine::exchange::Responder;
use vervet_engine::{Content, Exchange, Outcome, Response};
use vervet_http::status::Status;

use crate::caches::{CacheCounts, CacheName, Caches};
use crate::files::cache::FRESH_MS;
use crate::files::listing::{ListJob, Shape};
use crate::files::options::FilesOptions;
use crate::files::root::{Fingerprint, Root};
use crate::offload::Offload;

/// Memory for listings, in bytes, of the process.
pub const LISTINGS_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// A folder that was changed so long before it is read, in nanoseconds, has another state after the next change: two
/// within one tick of the kernel's clock, 10 ms at most, leave the same times.
const TICK_NS: i64 = 20_000_000;

/// One look of one folder in one state.
#[derive(Debug, Clone)]
struct Key {
    // The places of both are not used again while they are named here.
    root: Weak<Root>,
    options: Weak<FilesOptions>,
    shape: Shape,
    state: Fingerprint,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
            && self.shape == other.shape
            && Weak::ptr_eq(&self.root, &other.root)
            && Weak::ptr_eq(&self.options, &other.options)
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.state.hash(state);
        self.shape.hash(state);
    }
}

/// An answer that can be given many times.
#[derive(Debug, Clone)]
struct Made {
    status: Status,
    head: Bytes,
    content: Bytes,
    /// When it was asked for, by the clock of the reactors.
    asked_ms: u64,
}

impl Made {
    fn of(response: &Response, asked_ms: u64) -> Self {
        Self {
            status: response.status(),
            head: Bytes::copy_from_slice(response.head_bytes()),
            content: match response.content_ref() {
                Content::Bytes(bytes) => bytes.clone(),
                _ => Bytes::new(),
            },
            asked_ms,
        }
    }

    fn response(&self) -> Response {
        Response::encoded(self.status, self.head.clone()).content(self.content.clone())
    }
}

#[derive(Debug, Clone, Copy)]
struct ByBytes;

impl Weighter<Key, Made> for ByBytes {
    fn weight(&self, key: &Key, made: &Made) -> u64 {
        const OVERHEAD: usize = 256;
        (OVERHEAD + key.shape.bytes() + made.head.len() + made.content.len()) as u64
    }
}

/// Counts what makes room.
#[derive(Debug, Clone)]
struct Evictions(Arc<CacheCounts>);

impl Lifecycle<Key, Made> for Evictions {
    type RequestState = ();

    fn on_evict(&self, (): &mut (), _: Key, _: Made) {
        self.0.evicted();
    }
}

/// The listings of a process.
#[derive(Debug)]
pub(crate) struct Listings {
    state: Mutex<State>,
    counts: Arc<CacheCounts>,
}

#[derive(Debug)]
struct State {
    kept: Cache<Key, Made, ByBytes, DefaultHashBuilder, Evictions>,
    /// Who waits for what is being made. Each is an exchange of another connection, whose number is bounded.
    waiting: HashMap<Key, Vec<Responder>>,
    swept_ms: u64,
}

impl Listings {
    pub(crate) fn new(caches: &Caches) -> Self {
        let counts = caches.counts(CacheName::Listings);
        let hasher = DefaultHashBuilder::default();
        let evictions = Evictions(Arc::clone(&counts));
        let kept = Cache::with(64, LISTINGS_BYTES_MAX, ByBytes, hasher, evictions);
        let state = State {
            kept,
            waiting: HashMap::new(),
            swept_ms: 0,
        };
        Self {
            state: Mutex::new(state),
            counts,
        }
    }

    /// Answers with a listing: one that is kept, one that is being made, or one that is made for this.
    pub(crate) fn answer(
        self: &Arc<Self>,
        job: ListJob,
        exchange: Exchange<'_>,
        offload: &Offload,
    ) -> Outcome {
        let now_ms = exchange.now().monotonic_ms;
        let Ok(stat) = job.root.stat(&job.shape.path) else {
            // What is wrong is found again, and told, by who reads the folder.
            return alone(job, exchange, offload);
        };
        let key = Key {
            root: Arc::downgrade(&job.root),
            options: Arc::downgrade(&job.options),
            shape: job.shape.clone(),
            state: stat.fingerprint,
        };
        let mut state = self.state();
        state.sweep(now_ms);
        if let Some(made) = state.kept.get(&key).filter(|made| made.is_fresh(now_ms)) {
            self.counts.hit();
            return Outcome::Done(made.response());
        }
        if let Some(waiting) = state.waiting.get_mut(&key) {
            self.counts.hit();
            let (responder, outcome) = exchange.later();
            waiting.push(responder);
            return outcome;
        }
        self.counts.miss();
        let Some(place) = offload.place() else {
            return Outcome::Done(job.decline());
        };
        let (responder, outcome) = exchange.later();
        state.waiting.insert(key.clone(), vec![responder]);
        drop(state);
        let listings = Arc::clone(self);
        let work = move || listings.make(&key, job, now_ms);
        offload.run(place, Box::new(work));
        outcome
    }

    /// Makes a listing, keeps it, and gives it to all who have asked meanwhile.
    fn make(&self, key: &Key, job: ListJob, asked_ms: u64) {
        let begun_ns = SystemTime::now().duration_since(UNIX_EPOCH);
        let begun_ns = begun_ns.map_or(0, |time| i64::try_from(time.as_nanos()).unwrap_or(0));
        let made = Made::of(&job.run(), asked_ms);
        let is_settled = begun_ns.saturating_sub(key.state.changed_ns) >= TICK_NS;
        let mut state = self.state();
        if is_settled && made.status == Status::OK {
            state.kept.insert(key.clone(), made.clone());
        }
        let waiting = state.waiting.remove(key).unwrap_or_default();
        self.counts.holds(state.kept.len(), state.kept.weight());
        drop(state);
        for responder in waiting {
            responder.send(made.response());
        }
    }

    // A panic ends the process.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers by a listing of its own.
fn alone(job: ListJob, exchange: Exchange<'_>, offload: &Offload) -> Outcome {
    let Some(place) = offload.place() else {
        return Outcome::Done(job.decline());
    };
    let (responder, outcome) = exchange.later();
    offload.run(place, Box::new(move || responder.send(job.run())));
    outcome
}

impl Made {
    fn is_fresh(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.asked_ms) < FRESH_MS
    }
}

impl State {
    /// Lets go of what is too old to be shown, once in [`FRESH_MS`].
    fn sweep(&mut self, now_ms: u64) {
        if now_ms.saturating_sub(self.swept_ms) >= FRESH_MS {
            self.swept_ms = now_ms;
            self.kept.retain(|_, made| made.is_fresh(now_ms));
        }
    }
}
