//! What requests and answers pass on their way, over the wire from a document (FEATURES D2, F1, F2,
//! F3, A11, G4).

use std::fs;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::common::load::Load;
use crate::common::{ADMIN, Run, get, passwd};
use vervet_testkit::{PATIENCE, RawClient, TempTree, wait_until};

const LISTEN: &str = "[[listen]]\naddress = '127.0.0.1:0'\nname = 'main'\n";

fn start(tree: TempTree, rest: &str) -> Run {
    Run::start(tree, &[ADMIN, LISTEN, rest].concat())
}

/// One site that answers with `site`, with these directives before it.
fn site(directives: &str) -> Run {
    start(TempTree::new(), &format!("[[site]]\n{directives}\n[[site.route]]\nrespond = 'site'\n"))
}

/// A request with further fields.
fn with(host: &str, target: &str, fields: &[&str]) -> String {
    let lines = [fields, &[""]].concat().join("\r\n");
    format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n{lines}\r\n")
}

/// "denied client closed before a byte is read", where a listener denies, and 403 where a site
/// does.
#[test]
fn denied_clients_are_closed_or_refused() {
    let rest = "[[listen]]\naddress = '127.0.0.1:0'\nname = 'closed'\naccess = ['deny 127.0.0.0/8']\n\
                [[site]]\nhosts = ['shut.test']\naccess = ['allow 10.0.0.0/8', 'allow 2001:db8::/32']\n[[site.route]]\nrespond = 'site'\n\
                [[site]]\n[[site.route]]\nrespond = 'open'\n";
    let mut server = start(TempTree::new(), rest);
    for _ in 0..3 {
        let mut client = RawClient::connect(server.address("closed"));
        let _ = client.try_send(get("a", "/"));
        client.expect_close();
    }
    assert_eq!(server.get("shut.test", "/").status, 403);
    assert_eq!(server.get("a", "/").text(), "open");
    assert_eq!(server.status()["refused"]["connections_by_rule"], 3);
    server.end();
}

#[test]
fn a_denied_path_is_denied_in_every_spelling() {
    let mut server = site(
        "deny = ['/.git/', { prefix = '/internal/', status = 404 }, { regex = '\\.(bak|ini)$', ignore_case = true }]",
    );
    let mut client = server.connect();
    for (target, status) in [
        ("/a/.git/config", 403),
        ("/a/%2egit/config", 403),
        ("/a/%2Egi%74/config", 403),
        ("/a/./.git//config", 403),
        ("/a/b/../.git/config", 403),
        ("/internal/x", 404),
        ("/%69nternal/x", 404),
        ("//internal/x", 404),
        ("/x/../internal/x", 404),
        ("/a.BAK", 403),
        ("/a.%62ak", 403),
        ("/a.bak?b", 403),
        ("/a.bak.txt", 200),
        ("/.gitignore", 200),
        ("/?/.git/", 200),
    ] {
        assert_eq!(client.exchange(get("a", target)).status, status, "{target}");
    }
    server.end();
}

#[test]
fn above_the_rate_clients_get_retry_after() {
    let mut server = site("rate = { limit = '2/h', key = 'X-Key' }");
    let mut client = server.connect();
    let mut ask = |key: &str| client.exchange(with("a", "/", &[&format!("X-Key: {key}")]));
    for _ in 0..2 {
        assert_eq!(ask("one").status, 200);
    }
    let refused = ask("one");
    assert_eq!(refused.status, 429);
    let seconds: u32 = refused.field("Retry-After").unwrap().parse().unwrap();
    assert!((1..=3600).contains(&seconds), "{seconds}");
    assert_eq!(ask("two").status, 200);
    assert_eq!(server.status()["refused"]["by"]["rate"], 1);
    server.end();
}

/// Downloads that nobody reads are under way.
#[test]
fn above_the_concurrency_requests_are_refused_until_one_ends() {
    let tree = TempTree::new().sparse("big", 1 << 30);
    let mut server = start(
        tree,
        "[[site]]\nconcurrency = 2\n[[site.route]]\npath = '/big'\nfiles = 'big'\n[[site.route]]\nrespond = 'site'\n",
    );
    let mut held: Vec<_> = (0..2)
        .map(|_| {
            let mut client = server.connect();
            client.send(get("a", "/big"));
            client.read_exact(1);
            client
        })
        .collect();
    let refused = server.get("a", "/");
    assert_eq!(refused.status, 429);
    assert!(refused.field("Retry-After").is_some());
    held.pop();
    assert!(wait_until(PATIENCE, || server.get("a", "/").status == 200));
    drop(held);
    server.end();
}

/// `ann:one`, `ann:two`, and a user who is not there, as browsers send them.
const RIGHT: &str = "Authorization: Basic YW5uOm9uZQ==";
const WRONG: &str = "Authorization: Basic YW5uOnR3bw==";
const NOBODY: &str = "Authorization: Basic bm9ib2R5Om9uZQ==";

#[test]
fn users_of_a_file_come_in() {
    let tree = TempTree::new();
    passwd(tree.path(), "users", "ann", "one");
    let rest =
        "[[site]]\nauth = { files = 'users', realm = 'staff' }\n[[site.route]]\nrespond = 'site'\n";
    let mut server = start(tree, rest);
    let mut client = server.connect();
    for (field, status) in
        [("X: y", 401), (WRONG, 401), (NOBODY, 401), (RIGHT, 200), ("Authorization: Basic !", 401)]
    {
        let response = client.exchange(with("a", "/", &[field]));
        assert_eq!(response.status, status, "{field}");
        let challenge = response.field("WWW-Authenticate");
        assert_eq!(challenge.is_some(), status == 401, "{field}");
        assert!(
            challenge.is_none_or(|challenge| challenge.contains("realm=\"staff\"")),
            "{challenge:?}"
        );
    }
    server.end();
}

const WRONG_PASSWORDS: u64 = 10_000;
/// Wrong passwords that an attacker sends at a time.
const PIPELINED: usize = 25;

/// Other clients are answered all the while, on connections that were open and on new ones, and so
/// is the user who has the password.
#[test]
fn ten_thousand_wrong_passwords_refuse_nobody_else() {
    let tree = TempTree::new();
    passwd(tree.path(), "users", "ann", "one");
    let rest = "[limits]\nrequests_per_connection_max = 0\n[forwarded]\nfrom = ['127.0.0.1']\n[[site]]\nhosts = ['stay.test']\n\
                [[site.route]]\nrespond = 'same'\n\
                [[site]]\nhosts = ['door.test']\nauth = 'users'\n[[site.route]]\nrespond = 'door'\n";
    let mut server = start(tree, rest);
    let address = server.address("main");
    let load = Load::start(address, 30, &[("stay.test", "same")]);
    let tried = AtomicU64::new(0);
    thread::scope(|scope| {
        for attacker in 0..16 {
            let tried = &tried;
            scope.spawn(move || {
                let mut client = RawClient::connect(address);
                // Each address may try ten in a minute, so that a hundred and sixty are looked at.
                let from = format!("X-Forwarded-For: 192.0.2.{attacker}");
                let batch = with("door.test", "/", &[WRONG, &from]).repeat(PIPELINED);
                while tried.fetch_add(PIPELINED as u64, Ordering::Relaxed) < WRONG_PASSWORDS {
                    client.send(&batch);
                    for _ in 0..PIPELINED {
                        let status = client.read_response().status;
                        assert!(matches!(status, 401 | 429), "{status}");
                    }
                }
            });
        }
        let mut asked = 0;
        while tried.load(Ordering::Relaxed) < WRONG_PASSWORDS {
            assert_eq!(RawClient::connect(address).exchange(get("stay.test", "/")).text(), "same");
            asked += 1;
        }
        assert!(asked > 0);
    });
    load.go_on();
    load.end();
    assert_eq!(server.connect().exchange(with("door.test", "/", &[RIGHT])).text(), "door");
    server.end();
}

/// Of one client only so many are tried; others from elsewhere come in.
#[test]
fn a_client_that_guesses_passwords_gets_retry_after() {
    let tree = TempTree::new();
    passwd(tree.path(), "users", "ann", "one");
    let rest = "forwarded = ['127.0.0.1']\n";
    let site = "[[site]]\nauth = { files = 'users', failures = '3/h' }\n[[site.route]]\nrespond = 'door'\n";
    let mut server = Run::start(tree, &[rest, ADMIN, LISTEN, site].concat());
    let mut client = server.connect();
    let mut try_from = |address: &str, field: &str| {
        let from = format!("X-Forwarded-For: {address}");
        client.exchange(with("a", "/", &[field, &from])).status
    };
    let statuses: Vec<_> = (0..5).map(|_| try_from("192.0.2.1", WRONG)).collect();
    assert_eq!(statuses, [401, 401, 401, 429, 429]);
    assert_eq!(try_from("192.0.2.2", RIGHT), 200);
    server.end();
}

#[test]
fn scripts_of_other_origins_get_cors_headers() {
    let mut server = site(
        "cors = { origins = ['https://app.example'], methods = ['PUT'], expose = ['X-Total'], max_age = '5m' }",
    );
    let mut client = server.connect();
    let preflight = |origin: &str| {
        format!(
            "OPTIONS / HTTP/1.1\r\nHost: a\r\nOrigin: {origin}\r\nAccess-Control-Request-Method: PUT\r\n\r\n"
        )
    };
    let answer = client.exchange(preflight("https://app.example"));
    assert_eq!(answer.status, 204);
    assert_eq!(answer.field("Access-Control-Allow-Origin"), Some("https://app.example"));
    assert!(answer.field("Access-Control-Allow-Methods").unwrap().contains("PUT"));
    assert_eq!(answer.field("Access-Control-Max-Age"), Some("300"));
    let answer = client.exchange(preflight("https://evil.example"));
    assert_eq!(answer.field("Access-Control-Allow-Origin"), None);
    let answer = client.exchange(with("a", "/", &["Origin: https://app.example"]));
    assert_eq!(answer.text(), "site");
    assert_eq!(answer.field("Access-Control-Allow-Origin"), Some("https://app.example"));
    assert_eq!(answer.field("Access-Control-Expose-Headers"), Some("X-Total"));
    server.end();
}

/// Whatever answers: a route, a file that is not there, a rule, or the server itself.
#[test]
fn fields_are_changed_whatever_answers() {
    let tree = TempTree::new().file("www/a", "a file");
    let rest = "[[site]]\nroot = 'www'\nsecurity = 'strict'\ndeny = ['/no/']\n\
                fields = { response = { set = { X-For = '{client}', X-Id = '{request_id}' }, remove = ['Last-Modified'] } }\n\
                [[site.route]]\npath = '/own'\nfields = { response = { add = { X-For = 'route' } } }\nrespond = 'own'\n";
    let mut server = start(tree, rest);
    let mut client = server.connect();
    let mut ids = Vec::new();
    for (target, status, clients) in [
        ("/a", 200, vec!["127.0.0.1"]),
        ("/none", 404, vec!["127.0.0.1"]),
        ("/no/x", 403, vec!["127.0.0.1"]),
        ("/own", 200, vec!["127.0.0.1", "route"]),
    ] {
        let answer = client.exchange(get("a", target));
        assert_eq!(answer.status, status, "{target}");
        assert_eq!(answer.field_values("X-For"), clients, "{target}");
        assert_eq!(answer.field("Last-Modified"), None, "{target}");
        assert_eq!(answer.field("X-Content-Type-Options"), Some("nosniff"), "{target}");
        assert_eq!(answer.field("X-Frame-Options"), Some("DENY"), "{target}");
        assert_eq!(answer.field("Strict-Transport-Security"), None, "only over TLS");
        ids.push(answer.field("X-Id").unwrap().to_owned());
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4, "{ids:?}");
    server.end();
}

/// The id of a request stands in its answer and in its line.
#[test]
fn a_request_has_one_id_in_field_and_log() {
    let rest = "[log.a]\nfile = 'a.log'\nformat = '{request_id} {path}'\n[[site]]\nlog = ['a']\nfields = { response = { set = { X-Id = '{request_id}' } } }\n\
                [[site.route]]\nrespond = 'site'\n";
    let mut server = start(TempTree::new(), rest);
    let mut client = server.connect();
    let mut expected = String::new();
    for number in 0..20 {
        let target = format!("/{number}");
        let answer = client.exchange(get("a", &target));
        let id = answer.field("X-Id").unwrap();
        expected.push_str(&[id, &target].join(" "));
        expected.push('\n');
    }
    let log = server.tree.join("a.log");
    assert!(
        wait_until(PATIENCE, || fs::read_to_string(&log).unwrap_or_default() == expected),
        "{expected}"
    );
    server.end();
}

/// FEATURES A11: header fields of a client that is not listed as a proxy are ignored.
#[test]
fn only_listed_proxies_set_the_client_address() {
    let site = "[[site]]\nfields = { response = { set = { X-Client = '{client}', X-Scheme = '{scheme}' } } }\naccess = ['deny 192.0.2.9']\n\
                [[site.route]]\nrespond = 'site'\n";
    let ask = |server: &mut Run, forwarded: &str| {
        let fields = [&format!("X-Forwarded-For: {forwarded}"), "X-Forwarded-Proto: https"];
        let answer = server.connect().exchange(with("a", "/", &fields));
        (
            answer.status,
            answer.field("X-Client").unwrap().to_owned(),
            answer.field("X-Scheme").unwrap().to_owned(),
        )
    };
    let expected =
        |status: u16, client: &str, scheme: &str| (status, client.to_owned(), scheme.to_owned());
    let mut server = start(TempTree::new(), site);
    assert_eq!(ask(&mut server, "192.0.2.9"), expected(200, "127.0.0.1", "http"));
    server.end();
    let document = ["forwarded = ['127.0.0.0/8', '10.0.0.0/8']\n", ADMIN, LISTEN, site].concat();
    let mut server = Run::start(TempTree::new(), &document);
    assert_eq!(ask(&mut server, "192.0.2.1"), expected(200, "192.0.2.1", "https"));
    assert_eq!(ask(&mut server, "192.0.2.9, 10.1.1.1"), expected(403, "192.0.2.9", "https"));
    // What the client itself has put before is not believed.
    assert_eq!(ask(&mut server, "192.0.2.9, 192.0.2.1").0, 200);
    assert_eq!(ask(&mut server, "192.0.2.9, 192.0.2.1").1, "192.0.2.1");
    server.end();
}

/// FEATURES D2: "error page keeps the original status"; two sites of one listener differ.
#[test]
fn error_pages_keep_the_status_and_are_the_sites_own() {
    let tree = TempTree::new().file("www/404.html", "<h1>not here</h1>").file("www/a", "a file");
    let rest = "[[site]]\nhosts = ['one.test']\nroot = 'www'\ndeny = ['/no/']\nerror_pages = { 404 = '404.html', 4xx = { text = 'ours' } }\n\
                [[site]]\nhosts = ['two.test']\nerror_pages = { 5xx = { html = '<h1>soon</h1>' } }\n\
                [[site.route]]\npath = '/broken'\nstatus = 503\n[[site.route]]\nmethod = ['POST']\nrespond = 'posted'\n";
    let mut server = start(tree, rest);
    let mut client = server.connect();
    for (host, target, status, text) in [
        ("one.test", "/none", 404, "<h1>not here</h1>"),
        ("one.test", "/no/x", 403, "ours"),
        ("one.test", "/a", 200, "a file"),
        ("two.test", "/broken", 503, "<h1>soon</h1>"),
    ] {
        let answer = client.exchange(get(host, target));
        assert_eq!((answer.status, answer.text()), (status, text), "{host}{target}");
    }
    let answer = client.exchange(get("two.test", "/"));
    assert_eq!((answer.status, answer.field("Allow")), (405, Some("POST")));
    server.end();
}

#[test]
fn answers_are_compressed_for_those_who_take_it() {
    let text = "text ".repeat(1000);
    let rest = format!(
        "[[site]]\ncompression = true\n[[site.route]]\npath = '/plain'\ncompression = false\nrespond = '{text}'\n[[site.route]]\nrespond = '{text}'\n"
    );
    let mut server = start(TempTree::new(), &rest);
    let mut client = server.connect();
    for (target, field, coding) in [
        ("/", "Accept-Encoding: gzip", Some("gzip")),
        ("/", "Accept-Encoding: br;q=0.5, zstd", Some("zstd")),
        ("/", "X: y", None),
        ("/", "Accept-Encoding: gzip;q=0", None),
        ("/plain", "Accept-Encoding: gzip", None),
    ] {
        let answer = client.exchange(with("a", target, &[field]));
        assert_eq!(answer.status, 200);
        assert_eq!(answer.field("Content-Encoding"), coding, "{target} {field}");
        assert_eq!(answer.content.len() < text.len(), coding.is_some(), "{target} {field}");
    }
    server.end();
}

/// FEATURES F1: "foreign-Referer image 403, own or empty by setting".
#[test]
fn pages_of_others_do_not_show_our_images() {
    let mut server = site("referer = { extensions = ['jpg'], allow = ['*.friend.test'] }");
    let mut client = server.connect();
    for (target, referer, status) in [
        ("/a.jpg", "Referer: http://evil.test/page", 403),
        ("/a.JPG", "Referer: http://evil.test/page", 403),
        ("/a.jpg", "Referer: http://our.test/page", 200),
        ("/a.jpg", "Referer: https://www.friend.test/", 200),
        ("/a.jpg", "X: y", 200),
        ("/a.html", "Referer: http://evil.test/page", 200),
    ] {
        let answer = client.exchange(with("our.test", target, &[referer]));
        assert_eq!(answer.status, status, "{target} {referer}");
    }
    drop(TcpStream::connect(server.address("main")));
    server.end();
}
