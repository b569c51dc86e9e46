//! Basic authentication over a connection: the challenge, users, files that change, and floods of
//! wrong passwords.

use std::sync::{Arc, Mutex};

use crate::support;
use crate::support::filtered::{Filtered, Plan};
use crate::support::wire::Wire;
use vervet_config::FromText as _;
use vervet_engine::Response as Answer;
use vervet_server::filters::basic_auth::{
    BasicAuth, BasicAuthOptions, OldHashes, StoredHash, UserSources, Users, Verifier, WAITING_MAX,
};
use vervet_server::filters::rate::Rate;
use vervet_testkit::{PATIENCE, RawClient, Response, TempTree, wait_until};

/// `open sesame`, cheap to verify.
const OPEN: &str = "$argon2id$v=19$m=8,t=1,p=1$YcmRZudgb9r0v/CNE9qoGg$6YeRbniYssR2I6Rw12Ksbw";
/// `open sesame`, by bcrypt.
const BCRYPT: &str = "$2b$04$AFDc5nZYJFJtqgNUybCbFOPCn5u4nEsZyH7vVLPjGPd1OZtbZ11Em";
const CHALLENGE: &str = "Basic realm=\"the \\\"back\\\" room\", charset=\"UTF-8\"";

struct Realm {
    wire: Wire,
    auth: BasicAuth,
    verifier: Arc<Verifier>,
    said: Arc<Mutex<Vec<String>>>,
}

impl Realm {
    fn with(sources: UserSources, failures: &str) -> Self {
        let said = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&said);
        let report = Arc::new(move |text: &str| sink.lock().unwrap().push(text.to_owned()));
        let verifier = Arc::new(Verifier::start(1).unwrap());
        let auth = BasicAuth::new(BasicAuthOptions {
            realm: "the \"back\" room".to_owned(),
            users: Users::load(sources, report).unwrap(),
            failures: Rate::from_text(failures).unwrap(),
            verifier: Arc::clone(&verifier),
        })
        .unwrap();
        let mut plan = Plan::of(vec![Arc::new(auth.clone())]);
        let inner = Arc::clone(&plan.answer);
        plan.answer = Arc::new(move |request, exchange| {
            // A handler sees the content of a request that waited.
            if exchange.head().method_token == "POST" {
                return Answer::text("posted\n").into();
            }
            inner(request, exchange)
        });
        Self { wire: Wire::start(move |_| Filtered::new(&plan)), auth, verifier, said }
    }

    fn of(users: &[(&str, &str)]) -> Self {
        let entry = |text: &str| StoredHash::parse(text, OldHashes::Allowed).unwrap();
        let users = users.iter().map(|(name, text)| ((*name).to_owned(), entry(text))).collect();
        Self::with(UserSources { users, ..UserSources::default() }, "1000/h")
    }

    fn connect(&self) -> RawClient {
        RawClient::connect(self.wire.address)
    }

    /// The answer to these credentials (`name:password`), or to none.
    fn ask(&self, credentials: Option<&str>) -> Response {
        self.connect().exchange(request(credentials))
    }

    #[track_caller]
    fn check(&self, credentials: &str, expected: u16) {
        assert_eq!(self.ask(Some(credentials)).status, expected, "{credentials}");
    }
}

fn request(credentials: Option<&str>) -> String {
    let field = credentials.map_or(String::new(), support::basic);
    format!("GET / HTTP/1.1\r\nHost: a\r\n{field}\r\n")
}

#[test]
fn who_proves_nothing_is_challenged() {
    let realm = Realm::of(&[("ann", OPEN)]);
    for credentials in
        [None, Some("ann:wrong"), Some("nobody:open sesame"), Some(":"), Some("ann:")]
    {
        let response = realm.ask(credentials);
        assert_eq!(
            (response.status, response.field("www-authenticate")),
            (401, Some(CHALLENGE)),
            "{credentials:?}"
        );
    }
    for field in ["Basic !", "Bearer abc", "Basic YW5u", "Basic"] {
        let response = realm
            .connect()
            .exchange(format!("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: {field}\r\n\r\n"));
        assert_eq!(response.status, 401, "{field}");
    }
    let twice = request(Some("ann:open sesame"))
        .replace("\r\n\r\n", "\r\nAuthorization: Basic YTpi\r\n\r\n");
    assert_eq!(realm.connect().exchange(twice).status, 401);
    assert_eq!(realm.auth.counters().right, 0);
}

#[test]
fn users_enter_by_either_kind_of_entry_and_are_named() {
    let realm = Realm::of(&[
        ("ann", OPEN),
        ("bob", BCRYPT),
        ("c\u{e4}c", "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g="),
    ]);
    for (credentials, user) in
        [("ann:open sesame", "ann"), ("bob:open sesame", "bob"), ("c\u{e4}c:password", "c\u{e4}c")]
    {
        let response = realm.ask(Some(credentials));
        assert_eq!(
            (response.status, response.text()),
            (200, format!("127.0.0.1 {user} Http\n").as_str())
        );
    }
    realm.check("bob:open", 401);
    realm.check("c\u{e4}c:Password", 401);
}

/// A password that was right a moment ago costs no second verification, and a wrong one is not
/// remembered.
#[test]
fn a_verified_password_is_remembered() {
    let realm = Realm::of(&[("ann", OPEN)]);
    let mut client = realm.connect();
    for _ in 0..10 {
        assert_eq!(client.exchange(request(Some("ann:open sesame"))).status, 200);
        assert_eq!(client.exchange(request(Some("ann:open barley"))).status, 401);
    }
    let counters = realm.auth.counters();
    assert_eq!((counters.right, counters.remembered, counters.wrong), (1, 9, 10));
}

/// What follows a request that waits keeps its order, and its content reaches the handler.
#[test]
fn requests_behind_one_that_waits_keep_their_order() {
    let realm = Realm::of(&[("ann", OPEN)]);
    let mut client = realm.connect();
    let post = request(Some("ann:open sesame"))
        .replace("GET", "POST")
        .replace("\r\n\r\n", "\r\nContent-Length: 3\r\n\r\nabc");
    client.send([request(Some("ann:open sesame")), request(None), post].concat());
    let statuses: Vec<_> = (0..3).map(|_| client.read_response().status).collect();
    assert_eq!(statuses, [200, 401, 200]);
}

/// Each user of a client that has failed too often waits, and no verification is made for them.
#[test]
fn failures_of_a_client_are_throttled() {
    let sources = UserSources {
        users: vec![("ann".into(), StoredHash::parse(OPEN, OldHashes::Refused).unwrap())],
        ..UserSources::default()
    };
    let realm = Realm::with(sources, "5/h");
    for _ in 0..4 {
        realm.check("ann:open sesame", 200);
    }
    for _ in 0..5 {
        realm.check("ann:wrong", 401);
    }
    let response = realm.ask(Some("ann:wrong"));
    assert_eq!((response.status, response.field("retry-after")), (429, Some("720")));
    realm.check("bob:wrong", 429);
    assert_eq!(realm.auth.counters().wrong, 5);
    assert_eq!(realm.auth.counters().throttled, 2);
    // A user who is inside already does not count as a failure.
    realm.check("ann:open sesame", 200);
}

/// A hundred clients with a hundred wrong passwords each: all are answered, no more than the
/// queue's places are ever taken, and the requests of another client pass meanwhile. That the
/// reactor itself verifies nothing is shown next to the filter.
#[test]
fn ten_thousand_wrong_passwords_are_answered_beside_others() {
    let realm = Realm::of(&[("ann", OPEN)]);
    let mut other = realm.connect();
    assert_eq!(other.exchange(request(Some("ann:open sesame"))).status, 200);
    let wrong = request(Some("ann:wrong")).repeat(100);
    let mut clients: Vec<_> = (0..100).map(|_| realm.connect()).collect();
    for client in &mut clients {
        client.send(&wrong);
    }
    for _ in 0..100 {
        assert_eq!(other.exchange(request(Some("ann:open sesame"))).status, 200);
        assert!(realm.verifier.waiting() <= WAITING_MAX);
    }
    for client in &mut clients {
        for _ in 0..100 {
            let status = client.read_response().status;
            assert!([401, 429, 503].contains(&status), "{status}");
        }
    }
    let counters = realm.auth.counters();
    assert_eq!(counters.wrong + counters.crowded + counters.throttled, 10_000);
    assert_eq!((counters.right, counters.remembered), (1, 100));
}

#[test]
fn a_changed_user_file_is_live_and_a_broken_one_is_not() {
    let tree = TempTree::new()
        .file("first", format!("ann:{OPEN}\n"))
        .file("second", format!("# more\nbob:{BCRYPT}\n"));
    let files = vec![tree.join("first"), tree.join("second")];
    let realm = Realm::with(UserSources { files, ..UserSources::default() }, "1000/s");
    realm.check("ann:open sesame", 200);
    realm.check("bob:open sesame", 200);
    let becomes = |credentials: &str, status| {
        wait_until(PATIENCE, || realm.ask(Some(credentials)).status == status)
    };

    tree.write("first", "ann:rubbish\n");
    assert!(wait_until(PATIENCE, || {
        realm.check("ann:open sesame", 200);
        !realm.said.lock().unwrap().is_empty()
    }));

    tree.write("first", format!("cid:{OPEN}\n"));
    tree.write("second", "");
    assert!(becomes("cid:open sesame", 200));
    // Remembered or not: a removed user stays outside.
    realm.check("ann:open sesame", 401);
    realm.check("bob:open sesame", 401);
    std::fs::remove_file(tree.join("first")).unwrap();
    assert!(wait_until(PATIENCE, || {
        realm.check("cid:open sesame", 200);
        realm.said.lock().unwrap().len() == 2
    }));
    let said = realm.said.lock().unwrap().clone();
    let first = tree.join("first").display().to_string();
    assert!(
        said[0].starts_with(&format!("cannot use the user file {first}, line 1: not an Argon2id")),
        "{said:?}"
    );
    assert!(
        said[1].starts_with(&format!("cannot use the user file {first}: No such file")),
        "{said:?}"
    );
}
