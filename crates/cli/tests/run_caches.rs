//! What caches tell, and that a reload leaves them what they hold where their section stays the
//! same (FEATURES C4).

use crate::common::{ADMIN, Run};
use serde_json::Value;
use vervet_testkit::TempTree;

/// One reactor, so that every request meets the same caches.
const HEAD: &str = "
workers = 1
[[listen]]
address = '127.0.0.1:0'
name = 'main'
";

const SITE: &str = "
[[site]]
hosts = ['a.test']
[[site.route]]
path = '/page'
page = 'page.html'
[[site.route]]
path = '/*'
files = 'www'
";

const OTHER: &str = "
[[site]]
hosts = ['b.test']
[[site.route]]
respond = 'b'
";

/// Reloads that are tried until one falls into no moment at which a look is due: files are believed
/// once they are two seconds old.
const ROUNDS_MAX: usize = 2000;

fn start() -> Run {
    let tree = TempTree::new()
        .file("www/a", "a file")
        .file("www/b.txt", "many words\n".repeat(500))
        .file("page.html", "a {{ 'page' }}");
    Run::start(tree, &[ADMIN, HEAD, SITE].concat())
}

/// One request to each cache.
fn ask(server: &mut Run) {
    assert_eq!(server.get("a.test", "/a").text(), "a file");
    assert_eq!(server.get("a.test", "/page").text(), "a page");
    let request = "GET /b.txt HTTP/1.1\r\nHost: a.test\r\nAccept-Encoding: gzip\r\n\r\n";
    let response = server.connect().exchange(request);
    assert_eq!(response.field("content-encoding"), Some("gzip"));
}

/// What is counted of a cache.
fn count(status: &Value, cache: &str, what: &str) -> u64 {
    let caches = status["caches"].as_array().unwrap();
    let cache = caches.iter().find(|one| one["name"] == cache).unwrap();
    cache[what].as_u64().unwrap()
}

const CACHES: [&str; 3] = ["files", "compressed", "templates"];

#[test]
fn caches_report_their_size_and_hits() {
    let mut server = start();
    let status = server.status();
    for cache in ["files", "compressed"] {
        let counts = ["hits", "misses", "entries"].map(|what| count(&status, cache, what));
        assert_eq!(counts, [0, 0, 0], "{cache}");
    }
    // A page is compiled before it is served.
    assert_eq!(count(&status, "templates", "misses"), 1);
    assert_eq!(count(&status, "templates", "hits"), 0);
    ask(&mut server);
    let status = server.status();
    for (cache, entries) in [("files", 2), ("compressed", 1), ("templates", 1)] {
        assert_eq!(count(&status, cache, "entries"), entries, "{cache}");
        assert!(count(&status, cache, "bytes") > 0, "{cache}");
        assert!(count(&status, cache, "misses") > 0, "{cache}");
        assert_eq!(count(&status, cache, "evictions"), 0, "{cache}");
    }
    assert_eq!(count(&status, "templates", "hits"), 1);
    let metrics = server.admin("/metrics").text().to_owned();
    for line in [
        "vervet_cache_misses_total{cache=\"compressed\"} 1",
        "vervet_cache_entries{cache=\"files\"} 2",
        "vervet_cache_evictions_total{cache=\"templates\"} 0",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    server.end();
}

#[test]
fn a_reload_leaves_caches_what_they_hold() {
    let mut server = start();
    let documents = [SITE, &[SITE, OTHER].concat()].map(|sites| [ADMIN, HEAD, sites].concat());
    let round = |server: &mut Run, number: usize| {
        ask(server);
        let before = server.status();
        server.reload(&documents[(number + 1) % 2]);
        ask(server);
        let after = server.status();
        for cache in CACHES {
            assert_eq!(count(&before, cache, "entries"), count(&after, cache, "entries"));
        }
        CACHES.map(|cache| count(&after, cache, "misses") - count(&before, cache, "misses"))
    };
    let mut rounds = (0..ROUNDS_MAX).map(|number| round(&mut server, number));
    let kept = rounds.find(|misses| *misses == [0, 0, 0]);
    assert!(kept.is_some(), "nothing is kept: {}", server.status());
    server.end();
}

/// Another section is another folder or page: nothing of the old one is shown.
#[test]
fn a_reload_that_changes_a_section_serves_the_new_one() {
    let mut server = start();
    ask(&mut server);
    server.tree.write("other.html", "another {{ 'page' }}");
    server.tree.write("www2/a", "another file");
    let changed = SITE.replace("page.html", "other.html").replace("'www'", "'www2'");
    server.reload(&[ADMIN, HEAD, &changed].concat());
    assert_eq!(server.get("a.test", "/a").text(), "another file");
    assert_eq!(server.get("a.test", "/page").text(), "another page");
    server.reload(&[ADMIN, HEAD, SITE].concat());
    ask(&mut server);
    server.end();
}

/// A page that is broken by now is found by a reload, though its section is the same.
#[test]
fn a_reload_finds_a_page_that_is_broken_by_now() {
    let mut server = start();
    ask(&mut server);
    server.tree.write("page.html", "{{ 'page'");
    let reason = server.refused(&[ADMIN, HEAD, SITE].concat());
    assert!(reason.contains("page.html"), "{reason}");
    // The last good one is served on.
    assert_eq!(server.get("a.test", "/page").text(), "a page");
    server.end();
}
