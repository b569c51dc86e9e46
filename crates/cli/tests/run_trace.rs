//! `vervet run --trace` tells how a request was decided (FEATURES G4), and parts of the error log
//! have levels of their own.

use crate::common;
use crate::common::{ADMIN, Run, passwd, run};
use vervet_testkit::{Child, PATIENCE, Stream, TempTree, wait_until};

const SITES: &str = "
workers = 1
[forwarded]
from = ['127.0.0.0/8']
[[listen]]
address = '127.0.0.1:0'
name = 'main'
[[site]]
name = 'shop'
hosts = ['shop.test']
[[site.route]]
path = '/files/*'
files = 'www'
rate = '1000/s'
[[site.route]]
path = '/old'
rewrite = '/files/a'
[[site.route]]
path = '/page'
page = 'page.html'
security = 'basic'
[[site.route]]
path = '/secret'
auth = { realm = 'r', files = ['users'] }
respond = 'told'
[[site.route]]
path = '/closed'
access = ['deny all']
respond = 'never'
[[site.route]]
path = '/list/*'
files = { root = 'www', listing = true, from = 'matched' }
";

fn start(rules: &[&str]) -> Run {
    let tree = TempTree::new()
        .file("www/a", "a file")
        .file("www/long.txt", "words and words\n".repeat(500))
        .file("page.html", "a page");
    passwd(tree.path(), "users", "ann", "right");
    let mut command = run(tree.path());
    command.args(rules);
    Run::spawn(tree, &[ADMIN, SITES].concat(), command)
}

/// The texts of the trace that ends with the last line there is, without times and numbers.
fn trace(server: &Run, number: u64) -> Vec<String> {
    let begin = format!(" debug trace: {number} ");
    let told = || {
        let said = server.said();
        let lines = said.lines().filter_map(|line| line.split_once(&begin));
        let texts: Vec<String> = lines
            .map(|(_, text)| match text.split_once(" us  ") {
                Some((_, text)) => text.to_owned(),
                None => text.to_owned(),
            })
            .collect();
        texts
    };
    assert!(
        wait_until(PATIENCE, || told().last().is_some_and(|last| last == "in all")),
        "{}",
        server.said()
    );
    told()
}

/// Demands these lines of the trace, in this order, with any others between.
#[track_caller]
fn check(server: &Run, number: u64, expected: &[&str]) {
    let found = trace(server, number);
    let mut rest = found.iter();
    for wanted in expected {
        assert!(rest.any(|line| line.starts_with(wanted)), "{wanted} in {found:#?}");
    }
}

#[test]
fn a_trace_shows_each_step_of_a_request() {
    let mut server = start(&["--trace"]);
    server.get("shop.test", "/files/a?x=1");
    check(
        &server,
        1,
        &[
            "GET /files/a?x=1 for shop.test from 127.0.0.1:",
            "site shop, by listener main",
            "filter forwarded: passes",
            "filter blocks: passes",
            "route /files/*",
            "filter rate: passes",
            "cache files: miss",
            "action files: answers",
            "answer: 200, head ",
            "ended: 200, 6 bytes of content",
            "in all",
        ],
    );
    server.get("shop.test", "/files/a");
    check(&server, 2, &["route /files/*", "cache files: hit", "ended: 200"]);
    server.get("shop.test", "/old");
    check(&server, 3, &["route /old", "rewritten to /files/a", "route /files/*", "ended: 200"]);
    server.get("shop.test", "/page");
    check(
        &server,
        4,
        &[
            "route /page",
            "security: edits the answer",
            "cache templates: hit",
            "action page: answers",
            "after edits: 200",
        ],
    );
    server.end();
}

#[test]
fn every_action_is_traced() {
    let mut server = start(&["--trace"]);
    server.get("shop.test", "/nowhere");
    check(&server, 1, &["no route: 404", "answer: 404", "ended: 404"]);
    server.get("shop.test", "/closed");
    check(&server, 2, &["filter access: answers 403", "ended: 403"]);
    server.get("shop.test", "/list/");
    check(&server, 3, &["action files: answers later", "answer: 200", "ended: 200"]);
    let request =
        "GET /files/long.txt HTTP/1.1\r\nHost: shop.test\r\nAccept-Encoding: gzip\r\n\r\n";
    server.connect().exchange(request);
    check(&server, 4, &["cache compressed: miss", "action files: answers later", "ended: 200"]);
    server.end();
}

#[test]
fn a_suspended_request_continues_in_its_own_trace() {
    let mut server = start(&["--trace=/secret"]);
    let request =
        "GET /secret HTTP/1.1\r\nHost: shop.test\r\nAuthorization: Basic YW5uOnJpZ2h0\r\n\r\n";
    assert_eq!(server.connect().exchange(request).text(), "told");
    check(&server, 1, &["route /secret", "filter auth: waits for another thread"]);
    check(&server, 2, &["GET /secret ", "filter auth: passes", "action respond: answers"]);
    // What it has proved is not told.
    assert!(!server.said().contains("YW5uOnJpZ2h0"));
    server.end();
}

#[test]
fn only_matching_requests_are_traced() {
    let mut server = start(&["--trace=/page", "--trace=192.0.2.0/24"]);
    let forwarded = |target: &str, client: &str| {
        format!("GET {target} HTTP/1.1\r\nHost: shop.test\r\nX-Forwarded-For: {client}\r\n\r\n")
    };
    let mut client = server.connect();
    for (target, from) in [
        ("/files/a", "198.51.100.1"),
        ("/page", "198.51.100.1"),
        ("/files/long.txt", "198.51.100.2"),
        ("/files/a", "192.0.2.7"),
    ] {
        client.exchange(forwarded(target, from));
    }
    check(&server, 1, &["GET /page "]);
    check(&server, 2, &["GET /files/a "]);
    let said = server.said();
    assert!(!said.contains("/files/long.txt") && !said.contains("trace: 3"), "{said}");
    // After a reload, too.
    server.get("shop.test", "/page");
    check(&server, 3, &["GET /page ", "cache templates: hit"]);
    server.end();
}

#[test]
fn without_a_rule_there_is_no_trace_and_an_invalid_rule_is_refused() {
    let mut server = start(&[]);
    server.get("shop.test", "/files/a");
    server.get("shop.test", "/nowhere");
    assert!(!server.said().contains("trace"));
    let tree = server.end();
    let mut command = run(tree.path());
    command.arg("--trace=shop");
    let mut child = Child::spawn(command);
    assert_eq!(child.wait_exit(PATIENCE).code(), Some(2));
    let said = child.text(Stream::Stderr);
    assert!(said.contains("invalid trace rule \"shop\""), "{said}");
}

/// One part tells more than the others, and another less.
#[test]
fn parts_have_levels_of_their_own() {
    let parts =
        "error_log = { level = 'notice', parts = { request = 'info', reload = 'error' } }\n";
    let tree = TempTree::new().file("www/a", "").file("page.html", "");
    passwd(tree.path(), "users", "ann", "right");
    let admin = common::ADMIN;
    let mut server = Run::start(tree, &[admin, parts, SITES].concat());
    let mut bad = server.connect();
    bad.send("GET / HTTP/1.1\r\n\r\n");
    assert_eq!(bad.read_response().status, 400);
    assert!(wait_until(PATIENCE, || { server.said().contains("info request: 127.0.0.1:") }));
    server.reload(&[admin, parts, SITES, "\n"].concat());
    let refused = server.refused("nonsense = 1");
    assert!(refused.contains("nonsense"), "{refused}");
    assert!(wait_until(PATIENCE, || server.said().contains("error reload: ")));
    assert!(!server.said().contains("notice reload: "), "{}", server.said());
    let unknown = [admin, &parts.replace("request", "requests"), SITES].concat();
    let refused = server.refused(&unknown);
    assert!(refused.contains("`requests`"), "{refused}");
    assert!(server.said().contains("`request`"), "{}", server.said());
    server.end();
}
