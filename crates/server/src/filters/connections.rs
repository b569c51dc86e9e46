//! Limits concurrent requests: of one client, and of a site or route in total.
//!
//! A request counts until its response has been sent, so a client that reads slowly keeps its
//! permit. The request owns the permit and returns it when it ends, for whatever reason. A request
//! that waits for its password to be verified has none: the queue of passwords has its own limit.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use vervet_config::section;
use vervet_http::status::Status;

use super::FilterDirective;
use crate::matching::networks::client_key;
use crate::resources::{Opened, Resources};
use crate::response::refusal_for;
use crate::web::{Edits, Pipeline, Request, RequestFilter, Verdict};

/// Parts of the table of clients, each with a lock of its own, so that two reactors seldom want the
/// same.
const SHARDS: usize = 64;

/// Seconds after which a refused client may come again.
const RETRY_AFTER_S: u64 = 1;

section! {
    /// Limits the number of concurrent requests, each until its response has been sent:
    /// `concurrency = 20` for each client.
    ///
    /// ```toml
    /// concurrency = { per_client = 20, total = 500 }
    /// ```
    pub struct ConcurrencySettings short(per_client) {
        /// For each client address, or IPv6 /64. Requests above it get 429 with Retry-After.
        pub per_client: Option<u32> = _ in 1..=1000000,
        /// For all clients together. Requests above it get 503 with Retry-After.
        pub total: Option<u32> = _ in 1..=1000000,
    }
}

/// The limit that a request exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitReached {
    /// The limit of the client: 429.
    Client,
    /// The limit of all clients together: 503.
    Total,
}

/// Limits concurrent requests to a site or route; shared by all reactors.
#[derive(Clone, Debug)]
pub struct Concurrency(Arc<Permits>);

struct Permits {
    per_client_max: Option<usize>,
    total_max: Option<usize>,
    taken: AtomicUsize,
    clients: Box<[Shard]>,
    hasher: RandomState,
    refused_client: AtomicU64,
    refused_total: AtomicU64,
}

/// The number of concurrent requests of each client of a shard.
type Shard = Mutex<HashMap<Option<IpAddr>, usize>>;

/// A permit for one request, returned on drop.
#[derive(Debug)]
pub struct Permit {
    permits: Arc<Permits>,
    client: Option<IpAddr>,
}

impl FilterDirective for ConcurrencySettings {
    fn open(&self, resources: &mut Resources<'_>, pipeline: &mut Pipeline) -> Opened {
        let make = || Ok(Concurrency::new(self));
        let filter = resources.keeper.keep("concurrency", self, make)?;
        pipeline.filters.push(filter);
        Ok(())
    }
}

impl Concurrency {
    /// Permits within the limits of a section.
    pub fn new(section: &ConcurrencySettings) -> Self {
        let limit = |limit: &Option<u32>| limit.and_then(|limit| usize::try_from(limit).ok());
        let mut clients = Vec::new();
        clients.resize_with(SHARDS, Mutex::default);
        Self(Arc::new(Permits {
            per_client_max: limit(&section.per_client),
            total_max: limit(&section.total),
            taken: AtomicUsize::new(0),
            clients: clients.into_boxed_slice(),
            hasher: RandomState::new(),
            refused_client: AtomicU64::new(0),
            refused_total: AtomicU64::new(0),
        }))
    }

    /// Takes a permit for a client; `None` is one of a unix socket.
    pub fn take(&self, client: Option<IpAddr>) -> Result<Permit, LimitReached> {
        let client = client.map(client_key);
        let permits = &self.0;
        if !permits.enter() {
            permits.refused_total.fetch_add(1, Ordering::Relaxed);
            return Err(LimitReached::Total);
        }
        if !permits.enter_client(client) {
            permits.taken.fetch_sub(1, Ordering::Relaxed);
            permits.refused_client.fetch_add(1, Ordering::Relaxed);
            return Err(LimitReached::Client);
        }
        Ok(Permit { permits: Arc::clone(permits), client })
    }

    /// Returns the number of requests under way.
    pub fn taken(&self) -> usize {
        self.0.taken.load(Ordering::Relaxed)
    }

    /// How many requests were refused because their client had too many under way.
    pub fn refused_client(&self) -> u64 {
        self.0.refused_client.load(Ordering::Relaxed)
    }

    /// How many requests were refused because all together had too many under way.
    pub fn refused_total(&self) -> u64 {
        self.0.refused_total.load(Ordering::Relaxed)
    }
}

impl Permits {
    fn enter(&self) -> bool {
        let total_max = self.total_max.unwrap_or(usize::MAX);
        let enter = |taken: usize| (taken < total_max).then_some(taken + 1);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, enter).is_ok()
    }

    fn enter_client(&self, client: Option<IpAddr>) -> bool {
        let Some(per_client_max) = self.per_client_max else {
            return true;
        };
        let mut shard = self.shard(client).lock().unwrap_or_else(PoisonError::into_inner);
        let taken = shard.entry(client).or_insert(0);
        let enters = *taken < per_client_max;
        *taken += usize::from(enters);
        enters
    }

    fn leave(&self, client: Option<IpAddr>) {
        self.taken.fetch_sub(1, Ordering::Relaxed);
        if self.per_client_max.is_none() {
            return;
        }
        let mut shard = self.shard(client).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = shard.get_mut(&client) {
            *taken -= 1;
            // Who has nothing under way costs no memory.
            if *taken == 0 {
                shard.remove(&client);
            }
        }
    }

    fn shard(&self, client: Option<IpAddr>) -> &Shard {
        let at = self.hasher.hash_one(client) % self.clients.len() as u64;
        &self.clients[usize::try_from(at).unwrap_or(0)]
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.permits.leave(self.client);
    }
}

impl RequestFilter for Concurrency {
    fn name(&self) -> &'static str {
        "concurrency"
    }

    fn check(&self, request: &mut Request<'_>, _: &mut Edits) -> Verdict {
        match self.take(request.client()) {
            Ok(permit) => {
                request.held.push(Box::new(permit));
                Verdict::Pass
            }
            Err(LimitReached::Client) => {
                Verdict::Answer(refusal_for(Status::TOO_MANY_REQUESTS, RETRY_AFTER_S))
            }
            Err(LimitReached::Total) => {
                Verdict::Answer(refusal_for(Status::SERVICE_UNAVAILABLE, RETRY_AFTER_S))
            }
        }
    }

    fn refused(&self) -> Vec<(&'static str, u64)> {
        vec![("concurrency", self.refused_client()), ("concurrency_total", self.refused_total())]
    }
}

impl fmt::Debug for Permits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Permits");
        shown
            .field("per_client_max", &self.per_client_max)
            .field("total_max", &self.total_max)
            .field("taken", &self.taken)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use vervet_config::Setting;

    use super::*;

    fn permits(per_client: Option<u32>, total: Option<u32>) -> Concurrency {
        Concurrency::new(&ConcurrencySettings {
            per_client: Setting::assumed(per_client),
            total: Setting::assumed(total),
        })
    }

    /// The clients come in turn, and all stay.
    #[track_caller]
    fn check(per_client: Option<u32>, total: Option<u32>, rows: &[(&str, Option<LimitReached>)]) {
        let permits = permits(per_client, total);
        let mut held = Vec::new();
        for (client, expected) in rows {
            let found = permits.take(client.parse().ok());
            assert_eq!(
                found.as_ref().err(),
                expected.as_ref(),
                "{client} after {} others",
                held.len()
            );
            held.extend(found);
        }
        assert_eq!(permits.taken(), held.len());
        drop(held);
        assert_eq!(permits.taken(), 0);
        let left = |shard: &Mutex<HashMap<_, _>>| shard.lock().unwrap().len();
        assert_eq!(permits.0.clients.iter().map(left).sum::<usize>(), 0);
    }

    const CLIENT: Option<LimitReached> = Some(LimitReached::Client);
    const TOTAL: Option<LimitReached> = Some(LimitReached::Total);

    #[test]
    fn a_client_has_no_more_than_its_places() {
        check(
            Some(2),
            None,
            &[
                ("192.0.2.1", None),
                ("192.0.2.1", None),
                ("192.0.2.1", CLIENT),
                ("192.0.2.2", None),
                ("::ffff:192.0.2.1", CLIENT),
            ],
        );
        check(
            Some(1),
            None,
            &[("2001:db8::1", None), ("2001:db8::2", CLIENT), ("2001:db8:0:1::1", None)],
        );
        check(Some(1), None, &[("unix", None), ("unix", CLIENT)]);
    }

    #[test]
    fn all_together_have_no_more_than_theirs() {
        check(None, Some(2), &[("192.0.2.1", None), ("192.0.2.1", None), ("192.0.2.2", TOTAL)]);
        check(Some(1), Some(1), &[("192.0.2.1", None), ("192.0.2.1", TOTAL), ("192.0.2.2", TOTAL)]);
    }

    #[test]
    fn without_limits_nobody_is_refused() {
        check(None, None, &[("192.0.2.1", None), ("192.0.2.1", None), ("unix", None)]);
    }

    #[test]
    fn a_place_is_free_again_at_once() {
        let permits = permits(Some(1), Some(1));
        let permit = permits.take(None).unwrap();
        assert_eq!(permits.take(None).unwrap_err(), LimitReached::Total);
        drop(permit);
        assert!(permits.take(None).is_ok());
        assert_eq!((permits.refused_client(), permits.refused_total()), (0, 1));
    }

    /// A refused client leaves no permit taken in all.
    #[test]
    fn a_refusal_takes_nothing() {
        let permits = permits(Some(1), Some(2));
        let _held = permits.take(None).unwrap();
        for _ in 0..10 {
            assert_eq!(permits.take(None).unwrap_err(), LimitReached::Client);
        }
        assert!(permits.take("192.0.2.1".parse().ok()).is_ok());
        assert_eq!(permits.refused_client(), 10);
    }

    #[test]
    fn threads_never_hold_more_than_there_are() {
        let permits = permits(Some(3), None);
        let under_way = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        if let Ok(permit) = permits.take(None) {
                            assert!(under_way.fetch_add(1, Ordering::SeqCst) < 3);
                            under_way.fetch_sub(1, Ordering::SeqCst);
                            drop(permit);
                        }
                    }
                });
            }
        });
        assert_eq!(permits.taken(), 0);
    }
}
