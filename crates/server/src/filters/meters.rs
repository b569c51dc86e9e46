//! Rate meters of many clients in a table of fixed size.
//!
//! Each client has one number, the time at which its next request would be due at an even rate
//! (GCRA, "virtual scheduling": the leaky bucket as a meter, ITU-T I.371). The table has no lock.
//! If a bucket of the table is full, the client with the oldest number is evicted: it has sent no
//! request for long, or sends slowly. So a flood of addresses cannot evict a client that is over
//! the limit.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use super::rate::Rate;

/// Clients that share a bucket of the table. A bucket is two cache lines.
const WAYS: usize = 8;

/// Meters of many clients, shared by all reactors.
#[derive(Debug)]
pub struct Meters {
    slots: Box<[Slot]>,
    hasher: RandomState,
    interval_ns: u64,
    /// How far the number of a client may run ahead of the clock.
    ahead_ns_max: u64,
}

/// The meter of one client: two words that are changed one after the other. Where two reactors meet
/// in that moment a request is counted for nobody or for the wrong one, which a meter can bear.
#[derive(Debug, Default)]
struct Slot {
    /// A keyed hash; zero for nobody.
    client: AtomicU64,
    /// When the next request is due, in nanoseconds of the monotonic clock.
    due_ns: AtomicU64,
}

/// The client is over its rate, and may come again after this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exceeded {
    /// Nanoseconds until a request would be admitted.
    pub wait_ns: u64,
}

impl Exceeded {
    /// The value of Retry-After: whole seconds, one at least.
    pub fn retry_after_s(self) -> u64 {
        self.wait_ns.div_ceil(1_000_000_000).max(1)
    }
}

impl Meters {
    /// Meters for a rate of which `burst` requests (one at least) may come at once, for so many
    /// clients at a time.
    pub fn new(rate: Rate, burst: u32, clients: usize) -> Self {
        let buckets = clients.div_ceil(WAYS).next_power_of_two();
        let mut slots = Vec::new();
        slots.resize_with(buckets * WAYS, Slot::default);
        let interval_ns = rate.interval_ns();
        Self {
            slots: slots.into_boxed_slice(),
            hasher: RandomState::new(),
            interval_ns,
            ahead_ns_max: interval_ns.saturating_mul(u64::from(burst.max(1))),
        }
    }

    /// Counts a request of `client`, and says whether it may be answered. One that may not is not
    /// counted.
    pub fn take(&self, client: impl std::hash::Hash, now_ms: u64) -> Result<(), Exceeded> {
        let now = now_ms.saturating_mul(1_000_000);
        let client = self.number(client);
        let slot = self.slot(client);
        let mut due = slot.due_ns.load(Ordering::Relaxed);
        loop {
            let next = due.max(now).saturating_add(self.interval_ns);
            if let Some(wait_ns) =
                next.checked_sub(now.saturating_add(self.ahead_ns_max)).filter(|wait| *wait > 0)
            {
                return Err(Exceeded { wait_ns });
            }
            match slot.due_ns.compare_exchange_weak(due, next, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return Ok(()),
                Err(changed) => due = changed,
            }
        }
    }

    /// Undoes the count of a request that turns out to be exempt.
    pub fn refund(&self, client: impl std::hash::Hash) {
        let client = self.number(client);
        if let Some(slot) = self.bucket(client).iter().find(|slot| slot.is_of(client)) {
            let back = |due: u64| Some(due.saturating_sub(self.interval_ns));
            // The closure always gives a value, so there is no failure to look at.
            let _ = slot.due_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, back);
        }
    }

    fn number(&self, client: impl std::hash::Hash) -> u64 {
        self.hasher.hash_one(client).max(1)
    }

    fn bucket(&self, client: u64) -> &[Slot] {
        let buckets = self.slots.len() / WAYS;
        let at = usize::try_from(client % buckets as u64).unwrap_or(0) * WAYS;
        self.slots.get(at..at + WAYS).unwrap_or(&[])
    }

    /// The slot of the client: its own, or that of the oldest client in the bucket.
    fn slot(&self, client: u64) -> &Slot {
        let bucket = self.bucket(client);
        if let Some(slot) = bucket.iter().find(|slot| slot.is_of(client)) {
            return slot;
        }
        let oldest = bucket.iter().min_by_key(|slot| slot.due_ns.load(Ordering::Relaxed));
        let slot = oldest.unwrap_or(&self.slots[0]);
        slot.client.store(client, Ordering::Relaxed);
        slot.due_ns.store(0, Ordering::Relaxed);
        slot
    }
}

impl Slot {
    fn is_of(&self, client: u64) -> bool {
        self.client.load(Ordering::Relaxed) == client
    }
}

#[cfg(test)]
mod tests {
    use vervet_config::FromText as _;

    use super::*;

    /// Requests of one client: when each comes, in milliseconds, and how many whole seconds it
    /// has to wait (0: admitted).
    #[track_caller]
    fn check(rate: &str, burst: u32, rows: &[(u64, u64)]) {
        let meters = Meters::new(Rate::from_text(rate).unwrap(), burst, 64);
        for (number, (ms, expected)) in rows.iter().enumerate() {
            let found = meters.take("client", *ms).map_or_else(Exceeded::retry_after_s, |()| 0);
            assert_eq!(found, *expected, "request {number} at {ms} ms");
        }
    }

    #[test]
    fn above_the_burst_requests_are_refused_until_the_rate_allows_one() {
        check("1/s", 1, &[(5000, 0), (5000, 1), (5999, 1), (6000, 0), (6001, 1)]);
        check(
            "10/s",
            3,
            &[
                (0, 0),
                (0, 0),
                (0, 0),
                (0, 1),
                (99, 1),
                (100, 0),
                (100, 1),
                (300, 0),
                (300, 0),
                (300, 1),
            ],
        );
        check(
            "1/m",
            2,
            &[(0, 0), (0, 0), (0, 60), (1000, 59), (59_999, 1), (60_000, 0), (60_000, 60)],
        );
    }

    #[test]
    fn what_is_refused_is_not_counted() {
        check("1/s", 1, &[(0, 0), (500, 1), (600, 1), (700, 1), (1000, 0)]);
    }

    #[test]
    fn a_pause_gives_the_burst_back_and_no_more() {
        check("10/s", 2, &[(0, 0), (0, 0), (0, 1), (3_600_000, 0), (3_600_000, 0), (3_600_000, 1)]);
    }

    #[test]
    fn a_steady_rate_is_never_refused() {
        let meters = Meters::new(Rate::from_text("1000/s").unwrap(), 1, 64);
        for ms in 0..10_000 {
            assert_eq!(meters.take("client", ms), Ok(()), "{ms}");
        }
    }

    #[test]
    fn clients_do_not_share() {
        let meters = Meters::new(Rate::from_text("1/h").unwrap(), 1, 4096);
        for number in 0..512_u32 {
            assert_eq!(meters.take(number, 1), Ok(()));
        }
        for number in 0..512_u32 {
            assert!(meters.take(number, 1).is_err(), "{number}");
        }
    }

    #[test]
    fn given_back_is_not_counted() {
        let meters = Meters::new(Rate::from_text("1/h").unwrap(), 1, 64);
        assert_eq!(meters.take("client", 1), Ok(()));
        meters.refund("client");
        meters.refund("stranger");
        assert_eq!(meters.take("client", 1), Ok(()));
        assert!(meters.take("client", 1).is_err());
    }

    /// A flood of others, each within its rate, does not free one that is over its own.
    #[test]
    fn the_table_is_bounded_and_keeps_those_who_are_over() {
        let meters = Meters::new(Rate::from_text("1/s").unwrap(), 3600, 64);
        assert_eq!(meters.slots.len(), 64);
        while meters.take("greedy", 0).is_ok() {}
        for number in 0..10_000_u32 {
            assert_eq!(meters.take(number, 0), Ok(()));
        }
        assert!(meters.take("greedy", 0).is_err());
    }

    /// What threads take together is what one could have taken.
    #[test]
    fn reactors_share_a_meter() {
        let meters = Meters::new(Rate::from_text("1/h").unwrap(), 1000, 64);
        let admitted = AtomicU64::new(0);
        meters.take("client", 0).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let is_admitted = meters.take("client", 0).is_ok();
                        admitted.fetch_add(u64::from(is_admitted), Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(admitted.into_inner(), 999);
    }
}
