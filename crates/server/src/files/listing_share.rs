//! Shares listings: each is rendered once for all requests that arrive meanwhile, and cached for a
//! moment.
//!
//! A request for a listing that is being rendered waits for that one: a thousand requests for one
//! folder take one slot in the queue of [`crate::offload`]. A listing is cached for [`FRESH_MS`]
//! and sent only while its folder is in the same state, which is checked each time: added and
//! removed names are visible at once, sizes and times of files within a second, as with files
//! themselves.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use vervet_engine::exchange::Responder;
use vervet_engine::{Content, Exchange, Outcome, Response};
use vervet_http::status::Status;

use crate::caches::{CacheCounts, CacheName, Caches};
use crate::files::byte_cache::ByteCache;
use crate::files::cache::FRESH_MS;
use crate::files::decision::{Job, Work};
use crate::files::listing::{ListJob, Shape};
use crate::files::options::FilesOptions;
use crate::files::root::{Fingerprint, Root};
use crate::offload::Offload;

/// Memory for listings, in bytes, of the process.
pub const LISTINGS_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// A folder that was changed so long before it is read, in nanoseconds, has another state after the
/// next change: two within one tick of the kernel's clock, 10 ms at most, leave the same times.
const TICK_NS: i64 = 20_000_000;

/// A listing of a folder in one state, in one format and order.
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

/// A response that can be sent many times.
#[derive(Debug, Clone)]
struct Rendered {
    status: Status,
    head: Bytes,
    content: Bytes,
    /// When it was requested, by the clock of the reactors.
    requested_ms: u64,
}

impl Rendered {
    fn new(response: &Response, requested_ms: u64) -> Self {
        Self {
            status: response.status(),
            head: Bytes::copy_from_slice(response.head_bytes()),
            content: match response.content_ref() {
                Content::Bytes(bytes) => bytes.clone(),
                _ => Bytes::new(),
            },
            requested_ms,
        }
    }

    fn response(&self) -> Response {
        Response::encoded(self.status, self.head.clone()).content(self.content.clone())
    }

    fn is_fresh(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.requested_ms) < FRESH_MS
    }

    fn bytes(&self) -> u64 {
        const OVERHEAD: usize = 256;
        (OVERHEAD + self.head.len() + self.content.len()) as u64
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
    kept: ByteCache<Key, Rendered>,
    /// Exchanges that wait for a listing in progress. Each is of another connection, whose number
    /// is bounded.
    waiting: HashMap<Key, Vec<Responder>>,
    swept_ms: u64,
}

impl Listings {
    pub(crate) fn new(caches: &Caches) -> Self {
        let counts = caches.counts(CacheName::Listings);
        let state = State {
            kept: ByteCache::new(64, LISTINGS_BYTES_MAX, Arc::clone(&counts)),
            waiting: HashMap::new(),
            swept_ms: 0,
        };
        Self { state: Mutex::new(state), counts }
    }

    /// Answers with a listing: one that is kept, one that is being made, or one that is made for
    /// this.
    pub(crate) fn answer(
        self: &Arc<Self>,
        job: ListJob,
        exchange: Exchange<'_>,
        offload: &Offload,
    ) -> Outcome {
        let now_ms = exchange.now().monotonic_ms;
        let Ok(stat) = job.root.stat(&job.shape.path) else {
            // The job finds the same error, and answers with it.
            return Job(Work::List(job)).answer(exchange, offload);
        };
        let key = Key {
            root: Arc::downgrade(&job.root),
            options: Arc::downgrade(&job.options),
            shape: job.shape.clone(),
            state: stat.fingerprint,
        };
        let mut state = self.state();
        state.sweep(now_ms);
        if let Some(waiting) = state.waiting.get_mut(&key) {
            self.counts.hit();
            let (responder, outcome) = exchange.later();
            waiting.push(responder);
            return outcome;
        }
        let is_fresh = |rendered: &Rendered| rendered.is_fresh(now_ms);
        if let Some(rendered) = state.kept.get_valid(&key, is_fresh) {
            return Outcome::Done(rendered.response());
        }
        let Some(slot) = offload.slot() else {
            return Outcome::Done(job.decline());
        };
        let (responder, outcome) = exchange.later();
        state.waiting.insert(key.clone(), vec![responder]);
        drop(state);
        let listings = Arc::clone(self);
        let work = move || listings.make(&key, job, now_ms);
        offload.run(slot, Box::new(work));
        outcome
    }

    /// Makes a listing, caches it, and sends it to all exchanges that wait for it.
    fn make(&self, key: &Key, job: ListJob, requested_ms: u64) {
        let begun_ns = SystemTime::now().duration_since(UNIX_EPOCH);
        let begun_ns = begun_ns.map_or(0, |time| i64::try_from(time.as_nanos()).unwrap_or(0));
        let rendered = Rendered::new(&job.run(), requested_ms);
        let is_settled = begun_ns.saturating_sub(key.state.changed_ns) >= TICK_NS;
        let mut state = self.state();
        if is_settled && rendered.status == Status::OK {
            let bytes = rendered.bytes() + key.shape.bytes() as u64;
            state.kept.insert(key.clone(), bytes, rendered.clone());
        }
        let waiting = state.waiting.remove(key).unwrap_or_default();
        drop(state);
        for responder in waiting {
            responder.send(rendered.response());
        }
    }

    // A panic ends the process.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Lets go of what is too old to be shown, once in [`FRESH_MS`].
    fn sweep(&mut self, now_ms: u64) {
        if now_ms.saturating_sub(self.swept_ms) >= FRESH_MS {
            self.swept_ms = now_ms;
            self.kept.retain(|_, rendered| rendered.is_fresh(now_ms));
        }
    }
}
