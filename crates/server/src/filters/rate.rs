//! How many requests a client may make a second, and how many at once.
//!
//! Each client has one number, the time at which its next request would come if it came evenly (GCRA, "virtual
//! scheduling": the leaky bucket as a meter, ITU-T I.371). The numbers stand in a table of fixed size without a lock.
//! Where a bucket of it is full, the client goes out whose number is the oldest: one that has not asked for long, or asks
//! slowly. So a flood of addresses cannot free somebody who is over the limit.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use vervet_config::{FromText, TextShape, section};
use vervet_http::status::Status;

use super::field_text::FieldName;
use super::networks::client_key;
use super::refusal::refusal_for;
use crate::web::{Edits, Request, RequestFilter, Verdict};

/// Clients that are remembered where nothing else is said; 16 bytes each.
pub const CLIENTS: usize = 65_536;

/// Clients that share a bucket of the table. A bucket is two cache lines.
const WAYS: usize = 8;

/// The highest rate, in requests a second: the clock of a request counts milliseconds.
pub const PER_SECOND_MAX: u64 = 1_000_000;

section! {
    /// How many requests a client may make: `rate = "10/s"`. Above it the answer is 429 with Retry-After.
    ///
    /// ```toml
    /// rate = { limit = "5/s", burst = 20 }
    /// ```
    pub struct RateSettings short(limit) {
        /// Requests in a second, minute, hour or day: `"10/s"`, `"100/m"`, `"1000/h"`, `"5000/d"`.
        pub limit: Rate,
        /// How many of them may come at once; those of one time where it is not given (10 for `"10/s"`).
        pub burst: Option<u32> = _ in 1..=1000000,
        /// By what clients are told apart: `"address"` (IPv6 by its /64), or the name of a request field, such as `"X-Api-Key"`.
        /// Requests without the field count by address.
        pub key: RateKey = "address",
        /// Clients that are remembered at a time, 16 bytes each. Above it those who asked least are forgotten.
        pub clients: u32 = 65536 in 1024..=16777216,
    }
}

/// So many requests in so much time: `10/s`, `100/m`, `1000/h`, `5000/d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    requests: u32,
    period: Period,
}

/// The time of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Period {
    Second,
    Minute,
    Hour,
    Day,
}

/// A text that is no rate; the fault of whoever wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateError(String);

impl Rate {
    /// Requests in its time: what may come at once where nothing else is said.
    pub fn requests(self) -> u32 {
        self.requests
    }

    /// Nanoseconds from one request to the next.
    fn interval_ns(self) -> u64 {
        let seconds = match self.period {
            Period::Second => 1,
            Period::Minute => 60,
            Period::Hour => 3600,
            Period::Day => 86_400,
        };
        seconds * 1_000_000_000 / u64::from(self.requests)
    }
}

impl FromText for Rate {
    const SHAPE: TextShape = TextShape {
        noun: "rate",
        example: "10/s",
        pattern: None,
    };

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_: RateError| {
            format!(
                "it is a number of requests, a slash and s, m, h or d, at most {PER_SECOND_MAX}/s"
            )
        })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let period = match self.period {
            Period::Second => "s",
            Period::Minute => "m",
            Period::Hour => "h",
            Period::Day => "d",
        };
        write!(formatter, "{}/{period}", self.requests)
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let error = || RateError(text.to_owned());
        let (number, period) = text.split_once('/').ok_or_else(error)?;
        let period = match period {
            "s" => Period::Second,
            "m" => Period::Minute,
            "h" => Period::Hour,
            "d" => Period::Day,
            _ => return Err(error()),
        };
        let is_plain = number.bytes().all(|byte| byte.is_ascii_digit());
        let requests: u32 = number.parse().ok().filter(|_| is_plain).ok_or_else(error)?;
        let rate = Self { requests, period };
        let is_possible = requests > 0 && rate.interval_ns() >= 1_000_000_000 / PER_SECOND_MAX;
        is_possible.then_some(rate).ok_or_else(error)
    }
}

impl fmt::Display for RateError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "\"{}\" is no rate (such as 10/s, 100/m, 1000/h, 5000/d; at most {PER_SECOND_MAX} a second)",
            self.0
        )
    }
}

impl std::error::Error for RateError {}

/// Meters of many clients, shared by all reactors.
#[derive(Debug)]
pub struct Meters {
    slots: Box<[Slot]>,
    hasher: RandomState,
    interval_ns: u64,
    /// How far the number of a client may run ahead of the clock.
    ahead_ns_max: u64,
}

/// The meter of one client: two words that are changed one after the other. Where two reactors meet in that moment a
/// request is counted for nobody or for the wrong one, which a meter can bear.
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
    /// Meters for a rate of which `burst` requests (one at least) may come at once, for so many clients at a time.
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

    /// Counts a request of `client`, and says whether it may be answered. One that may not is not counted.
    pub fn take(&self, client: impl std::hash::Hash, now_ms: u64) -> Result<(), Exceeded> {
        let now = now_ms.saturating_mul(1_000_000);
        let client = self.number(client);
        let slot = self.slot(client);
        let mut due = slot.due_ns.load(Ordering::Relaxed);
        loop {
            let next = due.max(now).saturating_add(self.interval_ns);
            if let Some(wait_ns) = next
                .checked_sub(now.saturating_add(self.ahead_ns_max))
                .filter(|wait| *wait > 0)
            {
                return Err(Exceeded { wait_ns });
            }
            match slot
                .due_ns
                .compare_exchange_weak(due, next, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return Ok(()),
                Err(changed) => due = changed,
            }
        }
    }

    /// Takes back a request that was counted: it turned out to be none of those that are limited.
    pub fn give_back(&self, client: impl std::hash::Hash) {
        let client = self.number(client);
        if let Some(slot) = self.bucket(client).iter().find(|slot| slot.is_of(client)) {
            let back = |due: u64| Some(due.saturating_sub(self.interval_ns));
            // The closure always gives a value, so there is no failure to look at.
            let _ = slot
                .due_ns
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, back);
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

    /// The slot of the client: its own, or the one of whoever is the oldest in the bucket.
    fn slot(&self, client: u64) -> &Slot {
        let bucket = self.bucket(client);
        if let Some(slot) = bucket.iter().find(|slot| slot.is_of(client)) {
            return slot;
        }
        let oldest = bucket
            .iter()
            .min_by_key(|slot| slot.due_ns.load(Ordering::Relaxed));
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

/// By what clients are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RateKey {
    /// By address; IPv6 by its /64. Those of a unix socket are one client.
    Address,
    /// By the value of this request field, such as an API key; requests without it by address.
    Field(FieldName),
}

impl FromText for RateKey {
    const SHAPE: TextShape = TextShape {
        noun: "key",
        example: "address",
        pattern: None,
    };

    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "address" => Ok(Self::Address),
            name => FieldName::from_text(name).map(Self::Field),
        }
    }
}

impl fmt::Display for RateKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address => formatter.write_str("address"),
            Self::Field(name) => name.fmt(formatter),
        }
    }
}

/// What a key was found to be. Addresses and values do not share meters.
#[derive(Hash)]
enum Client<'a> {
    Address(Option<IpAddr>),
    Value(&'a [u8]),
}

/// The rate that a site or a route allows each client.
#[derive(Debug)]
pub struct RateLimit {
    meters: Meters,
    key: RateKey,
    refused: AtomicU64,
}

impl From<&RateSettings> for RateLimit {
    fn from(section: &RateSettings) -> Self {
        let rate = *section.limit.value();
        let burst = section.burst.unwrap_or(rate.requests());
        let clients = usize::try_from(*section.clients).unwrap_or(CLIENTS);
        Self::new(
            Meters::new(rate, burst, clients),
            section.key.value().clone(),
        )
    }
}

impl RateLimit {
    /// Limits clients, told apart by `key`.
    pub fn new(meters: Meters, key: RateKey) -> Self {
        Self {
            meters,
            key,
            refused: AtomicU64::new(0),
        }
    }

    /// How many requests were refused.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl RequestFilter for RateLimit {
    fn check(&self, request: &mut Request<'_>, _: &mut Edits) -> Verdict {
        // It was counted before it was suspended.
        if request.resumed.is_some() {
            return Verdict::Pass;
        }
        let value = match &self.key {
            RateKey::Address => None,
            RateKey::Field(name) => request.head.fields.named(name.as_str()).next(),
        };
        let client = match value {
            Some(value) => Client::Value(value),
            None => Client::Address(request.client.map(client_key)),
        };
        match self.meters.take(client, request.now.monotonic_ms) {
            Ok(()) => Verdict::Pass,
            Err(exceeded) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                Verdict::Answer(refusal_for(
                    Status::TOO_MANY_REQUESTS,
                    exceeded.retry_after_s(),
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_rate_is_refused() {
        for text in [
            "",
            "10",
            "/s",
            "10/",
            "0/s",
            "-1/s",
            "+1/s",
            "1.5/s",
            "10/S",
            "10/week",
            "10 /s",
            "1000001/s",
            "99999999999/s",
        ] {
            let expected = format!(
                "\"{text}\" is no rate (such as 10/s, 100/m, 1000/h, 5000/d; at most 1000000 a second)"
            );
            assert_eq!(text.parse::<Rate>().unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn rates_are_intervals() {
        let check = |text: &str, expected: u64| {
            assert_eq!(
                text.parse::<Rate>().unwrap().interval_ns(),
                expected,
                "{text}"
            );
        };
        check("1/s", 1_000_000_000);
        check("1000000/s", 1_000);
        check("60/m", 1_000_000_000);
        check("1/h", 3_600_000_000_000);
        check("2/d", 43_200_000_000_000);
    }

    /// Requests of one client: when each comes, in milliseconds, and how many whole seconds it is told to wait (0: admitted).
    #[track_caller]
    fn check(rate: &str, burst: u32, rows: &[(u64, u64)]) {
        let meters = Meters::new(rate.parse().unwrap(), burst, 64);
        for (number, (ms, expected)) in rows.iter().enumerate() {
            let found = meters
                .take("client", *ms)
                .map_or_else(Exceeded::retry_after_s, |()| 0);
            assert_eq!(found, *expected, "request {number} at {ms} ms");
        }
    }

    #[test]
    fn above_the_burst_requests_are_refused_until_the_rate_allows_one() {
        check(
            "1/s",
            1,
            &[(5000, 0), (5000, 1), (5999, 1), (6000, 0), (6001, 1)],
        );
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
            &[
                (0, 0),
                (0, 0),
                (0, 60),
                (1000, 59),
                (59_999, 1),
                (60_000, 0),
                (60_000, 60),
            ],
        );
    }

    #[test]
    fn what_is_refused_is_not_counted() {
        check("1/s", 1, &[(0, 0), (500, 1), (600, 1), (700, 1), (1000, 0)]);
    }

    #[test]
    fn a_pause_gives_the_burst_back_and_no_more() {
        check(
            "10/s",
            2,
            &[
                (0, 0),
                (0, 0),
                (0, 1),
                (3_600_000, 0),
                (3_600_000, 0),
                (3_600_000, 1),
            ],
        );
    }

    #[test]
    fn a_steady_rate_is_never_refused() {
        let meters = Meters::new("1000/s".parse().unwrap(), 1, 64);
        for ms in 0..10_000 {
            assert_eq!(meters.take("client", ms), Ok(()), "{ms}");
        }
    }

    #[test]
    fn clients_do_not_share() {
        let meters = Meters::new("1/h".parse().unwrap(), 1, 4096);
        for number in 0..512_u32 {
            assert_eq!(meters.take(number, 1), Ok(()));
        }
        for number in 0..512_u32 {
            assert!(meters.take(number, 1).is_err(), "{number}");
        }
    }

    #[test]
    fn given_back_is_not_counted() {
        let meters = Meters::new("1/h".parse().unwrap(), 1, 64);
        assert_eq!(meters.take("client", 1), Ok(()));
        meters.give_back("client");
        meters.give_back("stranger");
        assert_eq!(meters.take("client", 1), Ok(()));
        assert!(meters.take("client", 1).is_err());
    }

    /// A flood of others, each within its rate, does not free one that is over its own.
    #[test]
    fn the_table_is_bounded_and_keeps_those_who_are_over() {
        let meters = Meters::new("1/s".parse().unwrap(), 3600, 64);
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
        let meters = Meters::new("1/h".parse().unwrap(), 1000, 64);
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
