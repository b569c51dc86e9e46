//! A realm: requests without a valid user name and password get 401.
//!
//! The reactor does not verify passwords. It checks whether this one was verified recently;
//! otherwise it hands the password to the [`Verifier`], and the exchange waits. The cost is limited
//! in three ways: the rate of wrong passwords of a client (429), the length of the queue (503), and
//! the low priority of the thread. An unknown user costs as much time as a wrong password, of
//! whatever kind the hash of the user is.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use vervet_engine::{Response, Resume};
use vervet_http::field::Known;
use vervet_http::status::Status;

use super::credentials::Credentials;
use super::memory::Memory;
use super::stored_hash::StoredHash;
use super::users::{Comparison, Users};
use super::verifier::{OnVerifier, QueueSlot, Verifier};
use crate::filters::meters::{Exceeded, Meters};
use crate::filters::rate::Rate;
use crate::matching::networks::client_key;
use crate::response::{refusal, refusal_for};
use crate::web::{Edits, Request, RequestFilter, Verdict};

/// Clients whose failures are counted.
const CLIENTS: usize = 16_384;

/// Value of Retry-After if the queue is full, in seconds.
const RETRY_AFTER_S: u64 = 2;

/// The result for an exchange whose password is right, added to the number of the realm.
const RIGHT: u64 = 1;

/// Options of a realm.
pub struct BasicAuthOptions {
    /// The name of the realm, which browsers show; see [`RealmError`].
    pub realm: String,
    /// The users of the realm.
    pub users: Users,
    /// How many wrong passwords a client may send; also its burst.
    pub failures: Rate,
    /// The threads that verify passwords.
    pub verifier: Arc<Verifier>,
}

/// The realm contains a control character, which a header cannot contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealmError;

/// Counters of a realm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BasicAuthCounters {
    /// Passwords verified to be right.
    pub right: u64,
    /// Passwords that were wrong, or of unknown users.
    pub wrong: u64,
    /// Requests whose password was verified recently.
    pub remembered: u64,
    /// Requests of clients that had failed too often.
    pub throttled: u64,
    /// Requests rejected because the queue was full.
    pub crowded: u64,
}

/// A realm, as a filter of requests.
#[derive(Clone, Debug)]
pub struct BasicAuth(pub(super) Arc<Realm>);

pub(super) struct Realm {
    /// Part of the result for waiting exchanges, so that the result of another realm is ignored.
    pub(super) number: u32,
    pub(super) challenge: String,
    users: Users,
    memory: Memory,
    failures: Meters,
    verifier: Arc<Verifier>,
    counted: Counted,
}

#[derive(Default)]
struct Counted {
    right: AtomicU64,
    wrong: AtomicU64,
    remembered: AtomicU64,
    throttled: AtomicU64,
    crowded: AtomicU64,
}

/// A password that is being verified.
struct Attempt {
    realm: Arc<Realm>,
    credentials: Credentials,
    comparison: Comparison,
    client: Option<IpAddr>,
    now_ms: u64,
}

impl BasicAuth {
    /// Opens a realm with its users.
    pub fn new(options: BasicAuthOptions) -> Result<Self, RealmError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        Ok(Self(Arc::new(Realm {
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            challenge: challenge(&options.realm)?,
            users: options.users,
            memory: Memory::new(),
            failures: Meters::new(options.failures, options.failures.requests(), CLIENTS),
            verifier: options.verifier,
            counted: Counted::default(),
        })))
    }

    /// The counters since the start.
    pub fn counters(&self) -> BasicAuthCounters {
        let counted = &self.0.counted;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        BasicAuthCounters {
            right: read(&counted.right),
            wrong: read(&counted.wrong),
            remembered: read(&counted.remembered),
            throttled: read(&counted.throttled),
            crowded: read(&counted.crowded),
        }
    }
}

impl RequestFilter for BasicAuth {
    fn name(&self) -> &'static str {
        "auth"
    }

    fn check(&self, request: &mut Request<'_>, _: &mut Edits) -> Verdict {
        let realm = &self.0;
        let fields = &request.head.fields;
        let value =
            fields.get(Known::Authorization).filter(|_| !fields.is_repeated(Known::Authorization));
        let Some(credentials) = value.and_then(Credentials::parse) else {
            return Verdict::Answer(realm.unauthorized());
        };
        let now_ms = request.now.monotonic_ms;
        self.look(now_ms);
        if let Some(verdict) = request.resumed.and_then(|told| realm.verdict(told)) {
            if verdict == RIGHT {
                request.user = Some(credentials.user);
                return Verdict::Pass;
            }
            return Verdict::Answer(realm.unauthorized());
        }
        let users = realm.users.table();
        let hash = users.get(&credentials.user);
        if hash.is_some_and(|hash| realm.memory.knows(&credentials, hash, now_ms)) {
            count(&realm.counted.remembered);
            request.user = Some(credentials.user);
            return Verdict::Pass;
        }
        self.attempt(Attempt {
            realm: Arc::clone(realm),
            comparison: users.comparison(&credentials.user),
            credentials,
            client: request.client(),
            now_ms,
        })
    }

    fn refused(&self) -> Vec<(&'static str, u64)> {
        let counters = self.counters();
        vec![
            ("auth", counters.wrong),
            ("auth_failures", counters.throttled),
            ("auth_queue", counters.crowded),
        ]
    }
}

impl BasicAuth {
    /// Queues an attempt, if the client and the queue allow one more.
    fn attempt(&self, attempt: Attempt) -> Verdict {
        let realm = &self.0;
        if let Err(retry_after_s) = attempt.charge() {
            count(&realm.counted.throttled);
            return Verdict::Answer(refusal_for(Status::TOO_MANY_REQUESTS, retry_after_s));
        }
        let Some(slot) = realm.verifier.slot() else {
            attempt.refund();
            count(&realm.counted.crowded);
            return Verdict::Answer(refusal_for(Status::SERVICE_UNAVAILABLE, RETRY_AFTER_S));
        };
        let verifier = Arc::clone(&realm.verifier);
        Verdict::Suspend(Box::new(move |resume| {
            wait_for(&verifier, slot, attempt, resume);
        }))
    }

    /// Queues a check of the user files, if it is due.
    fn look(&self, now_ms: u64) {
        if self.0.users.is_look_due(now_ms) {
            let realm = Arc::clone(&self.0);
            self.0.verifier.run_apart(Box::new(move |_| realm.users.look()));
        }
    }
}

fn wait_for(verifier: &Verifier, slot: QueueSlot, attempt: Attempt, resume: Resume) {
    verifier.run(slot, Box::new(move |on| resume.run(attempt.verdict(on))));
}

impl Attempt {
    /// Counts the attempt as a failure beforehand, so that many at once count too. Those of a unix
    /// socket would share one count of failures: only the queue bounds them.
    fn charge(&self) -> Result<(), u64> {
        match self.client {
            Some(client) => self
                .realm
                .failures
                .take(client_key(client), self.now_ms)
                .map_err(Exceeded::retry_after_s),
            None => Ok(()),
        }
    }

    fn refund(&self) {
        if let Some(client) = self.client {
            self.realm.failures.refund(client_key(client));
        }
    }

    /// The hash of the user, if the password is right. A wrong one takes the time of all kinds.
    fn right_hash(&self, on: &OnVerifier) -> Option<&Arc<StoredHash>> {
        let Comparison { own, others } = &self.comparison;
        let password = self.credentials.password.as_bytes();
        if let Some(own) = own.as_ref().filter(|own| own.verify(password, on)) {
            return Some(own);
        }
        for other in others {
            // Only its time matters.
            let _ = std::hint::black_box(other.verify(password, on));
        }
        None
    }

    fn verdict(&self, on: &OnVerifier) -> u64 {
        let realm = &self.realm;
        let right = self.right_hash(on);
        if let Some(hash) = right {
            count(&realm.counted.right);
            self.refund();
            realm.memory.remember(&self.credentials, hash, self.now_ms);
        } else {
            count(&realm.counted.wrong);
        }
        (u64::from(realm.number) << 32) | (u64::from(right.is_some()) * RIGHT)
    }
}

impl Realm {
    /// The result with which an exchange resumes, if it is of this realm.
    fn verdict(&self, told: u64) -> Option<u64> {
        (told >> 32 == u64::from(self.number)).then_some(told & u64::from(u32::MAX))
    }

    fn unauthorized(&self) -> Response {
        let mut response = refusal(Status::UNAUTHORIZED);
        // The realm was looked at when it was opened.
        let _ = response.set_field("WWW-Authenticate", self.challenge.as_bytes());
        response
    }
}

/// The challenge: the realm as a quoted string, and the charset that is read (RFC 7617 §2, §2.1).
fn challenge(realm: &str) -> Result<String, RealmError> {
    if realm.chars().any(char::is_control) {
        return Err(RealmError);
    }
    let quoted = realm.replace('\\', "\\\\").replace('"', "\\\"");
    Ok(format!("Basic realm=\"{quoted}\", charset=\"UTF-8\""))
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl fmt::Display for RealmError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the realm contains a control character, which a header cannot contain")
    }
}

impl std::error::Error for RealmError {}

impl fmt::Debug for Realm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Realm");
        shown
            .field("challenge", &self.challenge)
            .field("users", &self.users)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
