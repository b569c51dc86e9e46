//! What a flood of passwords costs the reactor: nothing but the queue's places. No socket: the
//! filter is asked directly, and what it would hand to the verifier is held back.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use base64ct::{Base64, Encoding};
use vervet_config::FromText as _;
use vervet_engine::reactor::Now;
use vervet_http::field::FieldSlots;
use vervet_http::h1::{HeadLimits, Received, Server};
use vervet_http::target::Scheme;

use super::super::{
    BasicAuth, BasicAuthOptions, OldHashes, RealmError, StoredHash, UserSources, Users, Verifier,
    WAITING_MAX,
};
use crate::matching::Captures;
use crate::web::{Edits, Request, RequestFilter, Verdict};

const OPEN: &str = "$argon2id$v=19$m=8,t=1,p=1$YcmRZudgb9r0v/CNE9qoGg$6YeRbniYssR2I6Rw12Ksbw";

fn auth(verifier: &Arc<Verifier>, realm: &str, failures: &str) -> Result<BasicAuth, RealmError> {
    let users = vec![("ann".to_owned(), StoredHash::parse(OPEN, OldHashes::Refused).unwrap())];
    let sources = UserSources { users, ..UserSources::default() };
    BasicAuth::new(BasicAuthOptions {
        realm: realm.to_owned(),
        users: Users::load(sources, Arc::new(|said| panic!("{said}"))).unwrap(),
        failures: crate::filters::rate::Rate::from_text(failures).unwrap(),
        verifier: Arc::clone(verifier),
    })
}

/// What the filter says to a request of this client with these credentials, and the user it finds.
fn ask(
    auth: &BasicAuth,
    client: &str,
    credentials: &str,
    resumed: Option<u64>,
) -> (Verdict, Option<String>) {
    let encoded = Base64::encode_string(credentials.as_bytes());
    let text = format!("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Basic {encoded}\r\n\r\n");
    let limits = HeadLimits {
        head_bytes_max: 8192,
        fields_max: 8,
        target_bytes_max: 100,
        trailer_bytes_max: 0,
    };
    let mut slots = FieldSlots::new();
    let Ok(Received::Head { head, .. }) =
        Server::new().receive(text.as_bytes(), &mut slots, &limits)
    else {
        panic!("{text} is a head");
    };
    let mut request = Request {
        head: &head,
        raw_path: Cow::Borrowed(b"/"),
        path: Cow::Borrowed(b"/"),
        query: None,
        host: crate::web::HostName::new(b"a"),
        peer: None,
        forwarded_client: client.parse::<IpAddr>().ok(),
        captures: Captures::default(),
        rest_at: None,
        request_id: None,
        resumed,
        user: None,
        scheme: Scheme::Http,
        held: Vec::new(),
        now: Now { monotonic_ms: 1000, unix_seconds: 1000 },
    };
    let verdict = auth.check(&mut request, &mut Edits::default());
    (verdict, request.user)
}

fn status(verdict: &Verdict) -> Option<u16> {
    match verdict {
        Verdict::Answer(response) => Some(response.status().code()),
        _ => None,
    }
}

/// Ten thousand wrong passwords from as many addresses: as many wait as there are places, the
/// others get 503 at once, and none is verified on the reactor.
#[test]
fn ten_thousand_wrong_passwords_take_the_places_of_the_queue_and_no_more() {
    let verifier = Arc::new(Verifier::start(1).unwrap());
    let auth = auth(&verifier, "r", "10/m").unwrap();
    let mut waiting = Vec::new();
    let mut crowded = 0_usize;
    for number in 0..10_000_u32 {
        let client = IpAddr::V4((0x0a00_0000 + number).into()).to_string();
        let (verdict, user) = ask(&auth, &client, &format!("ann:wrong {number}"), None);
        assert_eq!(user, None);
        match status(&verdict) {
            None => waiting.push(verdict),
            Some(status) => {
                assert_eq!(status, 503);
                crowded += 1;
            }
        }
        assert!(verifier.waiting() <= WAITING_MAX);
    }
    assert_eq!((waiting.len(), crowded), (WAITING_MAX, 10_000 - WAITING_MAX));
    let counters = auth.counters();
    assert_eq!((counters.wrong, counters.right, counters.crowded), (0, 0, crowded as u64));
    // A client that gives up frees its place.
    drop(waiting);
    assert_eq!(verifier.waiting(), 0);
    assert!(matches!(ask(&auth, "192.0.2.1", "ann:wrong", None).0, Verdict::Suspend(_)));
}

/// Attempts count before they are verified: many at once are as many as one after another.
#[test]
fn a_client_has_no_more_attempts_under_way_than_failures() {
    let verifier = Arc::new(Verifier::start(1).unwrap());
    let auth = auth(&verifier, "r", "3/h").unwrap();
    let mut waiting = Vec::new();
    for _ in 0..3 {
        waiting.push(ask(&auth, "2001:db8::1", "ann:wrong", None).0);
    }
    assert!(waiting.iter().all(|verdict| matches!(verdict, Verdict::Suspend(_))));
    assert_eq!(status(&ask(&auth, "2001:db8::2", "ann:wrong", None).0), Some(429));
    assert!(matches!(ask(&auth, "192.0.2.1", "ann:wrong", None).0, Verdict::Suspend(_)));
    // Clients of a unix socket cannot be distinguished, so they share no count of failures.
    for _ in 0..10 {
        assert!(matches!(ask(&auth, "unix", "ann:wrong", None).0, Verdict::Suspend(_)));
    }
    assert_eq!(auth.counters().throttled, 1);
}

/// The verdict of one realm does not count for another.
#[test]
fn a_realm_believes_its_own_verdict_only() {
    let verifier = Arc::new(Verifier::start(1).unwrap());
    let [one, other] = ["one", "other"].map(|realm| auth(&verifier, realm, "10/m").unwrap());
    let told = |auth: &BasicAuth, verdict: u64| u64::from(auth.0.number) << 32 | verdict;
    assert_eq!(status(&ask(&one, "192.0.2.1", "ann:x", Some(told(&one, 0))).0), Some(401));
    assert!(matches!(
        ask(&one, "192.0.2.1", "ann:x", Some(told(&other, 1))).0,
        Verdict::Suspend(_)
    ));
    let (verdict, user) = ask(&one, "192.0.2.1", "ann:x", Some(told(&one, 1)));
    assert!(matches!(verdict, Verdict::Pass));
    assert_eq!(user.as_deref(), Some("ann"));
}

#[test]
fn a_realm_is_quoted_and_has_no_control_characters() {
    let verifier = Arc::new(Verifier::start(1).unwrap());
    assert_eq!(auth(&verifier, "a\r\nb: c", "1/s").err(), Some(RealmError));
    let auth = auth(&verifier, "a \"b\\", "1/s").unwrap();
    assert_eq!(auth.0.challenge, "Basic realm=\"a \\\"b\\\\\", charset=\"UTF-8\"");
}
