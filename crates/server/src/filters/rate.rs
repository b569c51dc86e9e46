//! Limits the request rate of each client, with a burst.

use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use vervet_config::{FromText, TextShape, section};
use vervet_http::status::Status;

use super::FilterDirective;
use super::field_text::FieldName;
use super::meters::Meters;
use crate::matching::networks::client_key;
use crate::resources::{Opened, Resources};
use crate::response::refusal_for;
use crate::web::{Edits, Pipeline, Request, RequestFilter, Verdict};

/// Default number of clients in memory, 16 bytes each.
pub const CLIENTS: usize = 65_536;

/// The highest rate, in requests a second: the clock of a request counts milliseconds.
pub const PER_SECOND_MAX: u64 = 1_000_000;

section! {
    /// Limits the request rate of each client: `rate = "10/s"`. Requests above it get 429 with
    /// Retry-After.
    ///
    /// ```toml
    /// rate = { limit = "5/s", burst = 20 }
    /// ```
    pub struct RateSettings short(limit) {
        /// Requests per second, minute, hour or day: `"10/s"`, `"100/m"`, `"1000/h"`, `"5000/d"`.
        pub limit: Rate,
        /// How many requests may come at once; if not set, the number in `limit` (10 for `"10/s"`).
        pub burst: Option<u32> = _ in 1..=1000000,
        /// How clients are distinguished: by `"address"` (IPv6 by its /64), or by a request header,
        /// such as `"X-Api-Key"`. Requests without the header count by address. A client that sends
        /// random values has a rate for each of them: verify the values, or also limit the site by
        /// address.
        pub key: RateKey = "address",
        /// The maximum number of clients in memory, 16 bytes each. Above it, the clients with the
        /// fewest recent requests are forgotten.
        pub clients: u32 = 65536 in 1024..=16777216,
    }
}

/// A number of requests per period: `10/s`, `100/m`, `1000/h`, `5000/d`.
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

impl Rate {
    /// Requests per period, which is also the default burst.
    pub fn requests(self) -> u32 {
        self.requests
    }

    /// Nanoseconds from one request to the next.
    pub(super) fn interval_ns(self) -> u64 {
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
    const SHAPE: TextShape = TextShape { noun: "rate", example: "10/s", pattern: None };

    fn from_text(text: &str) -> Result<Self, String> {
        let error = || {
            format!(
                "expected a number of requests (1 or more), a slash and s, m, h or d, at most {PER_SECOND_MAX}/s"
            )
        };
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

/// How clients are distinguished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RateKey {
    /// By address; IPv6 by its /64. Those of a unix socket are one client.
    Address,
    /// By the value of this request field, such as an API key; requests without it by address.
    Field(FieldName),
}

impl FromText for RateKey {
    const SHAPE: TextShape = TextShape { noun: "key", example: "address", pattern: None };

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

/// The client of a request. Addresses and header values do not share meters.
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

impl FilterDirective for RateSettings {
    fn open(&self, resources: &mut Resources<'_>, pipeline: &mut Pipeline) -> Opened {
        let make = || Ok(RateLimit::from(self));
        let filter = resources.keeper.keep("rate", self, make)?;
        pipeline.filters.push(filter);
        Ok(())
    }
}

impl From<&RateSettings> for RateLimit {
    fn from(section: &RateSettings) -> Self {
        let rate = *section.limit.value();
        let burst = section.burst.unwrap_or(rate.requests());
        let clients = usize::try_from(*section.clients).unwrap_or(CLIENTS);
        Self::new(Meters::new(rate, burst, clients), section.key.value().clone())
    }
}

impl RateLimit {
    /// Limits clients, distinguished by `key`.
    pub fn new(meters: Meters, key: RateKey) -> Self {
        Self { meters, key, refused: AtomicU64::new(0) }
    }

    /// How many requests were refused.
    pub fn refusals(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl RequestFilter for RateLimit {
    fn name(&self) -> &'static str {
        "rate"
    }

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
            None => Client::Address(request.client().map(client_key)),
        };
        match self.meters.take(client, request.now.monotonic_ms) {
            Ok(()) => Verdict::Pass,
            Err(exceeded) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                Verdict::Answer(refusal_for(Status::TOO_MANY_REQUESTS, exceeded.retry_after_s()))
            }
        }
    }

    fn refused(&self) -> Vec<(&'static str, u64)> {
        vec![("rate", self.refusals())]
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
            let reason = Rate::from_text(text).unwrap_err();
            assert!(reason.ends_with("a slash and s, m, h or d, at most 1000000/s"), "{text}");
        }
    }

    #[test]
    fn rates_are_intervals() {
        let check = |text: &str, expected: u64| {
            assert_eq!(Rate::from_text(text).unwrap().interval_ns(), expected, "{text}");
        };
        check("1/s", 1_000_000_000);
        check("1000000/s", 1_000);
        check("60/m", 1_000_000_000);
        check("1/h", 3_600_000_000_000);
        check("2/d", 43_200_000_000_000);
    }

    #[test]
    fn a_document_has_a_rate_as_text() {
        let read = |text: &str| vervet_config::read_text::<RateSettings>("test.toml", text).value;
        for text in [
            "",
            "limit = '10'",
            "limit = '1/s'\nburst = 0",
            "limit = '1/s'\nkey = 'a b'",
            "limit = '1/s'\nclients = 10",
        ] {
            assert!(read(text).is_none(), "{text}");
        }
        let check = |text: &str, key: &str, burst: usize| {
            let section = read(text).unwrap();
            assert_eq!(section.key.to_string(), key);
            let limit = RateLimit::from(&section);
            let admitted = (0..100).take_while(|_| limit.meters.take("client", 0).is_ok());
            assert_eq!(admitted.count(), burst, "{text}");
        };
        check("limit = '10/m'", "address", 10);
        check("limit = '10/m'\nburst = 3", "address", 3);
        check("limit = '10/m'\nburst = 20\nkey = 'X-Api-Key'", "X-Api-Key", 20);
    }
}
