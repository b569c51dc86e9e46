//! Actions over a connection: respond, status, redirect, rewrite, and what is answered where no
//! action does.

use crate::support::routed::{Site, check, check_refused};
use vervet_testkit::RawClient;

#[test]
fn what_cannot_be_answered_is_refused() {
    let respond = |settings: &str| format!("[[route]]\nrespond = {settings}");
    check_refused(&respond("{ status = 200 }"), "`respond` has no content");
    check_refused(&respond("{ text = 'a', json = '{}' }"), "`respond` has more than one content");
    check_refused(&respond("{ text = 'a', type = '' }"), "`type` is not a valid media type");
    check_refused(&respond("{ text = 'a', type = \"a\\nb\" }"), "`type` is not a valid media type");
    check_refused(
        &respond("{ text = 'a', status = 204 }"),
        "a response with status 204 has no body: use `status` instead of `respond`",
    );
    check_refused(&respond("{ text = 'a', status = 199 }"), "`status` is out of bounds");
    let status = |code: u16| format!("[[route]]\nstatus = {code}");
    check_refused(&status(100), "`status` cannot be 100: expected a status from 200 to 999");
    check_refused(
        &status(304),
        "`status` cannot be 304: it is only for range and conditional requests",
    );
    check_refused(&status(308), "`status` cannot be 308: use `redirect`, which has a target");
    check_refused(&status(401), "`status` cannot be 401: it needs a challenge: use `auth`");
    check_refused(
        &status(405),
        "`status` cannot be 405: it lists the allowed methods: set `method` in the other routes",
    );
    check_refused(
        "[[route]]\nredirect = { to = '/', status = 300 }",
        "`status` cannot be 300: it is not a redirect status",
    );
    check_refused("[[route]]\nredirect = 'https://{method}/'", "`method` cannot be part of a host");
    check_refused(
        "[[route]]\nrewrite = 'x'",
        "the target of a rewrite is a path: it must begin with a single `/`",
    );
    check_refused(
        "[[route]]\npath = '/u/:id(int)'",
        "`path` cannot be `/u/:id(int)`: unknown type `int`: expected one of number, integer, word, slug, uuid, date, any",
    );
    check_refused(
        "[[route]]\nmethod = 'get'",
        "`method` cannot be `get`: methods are case-sensitive: write GET",
    );
    check_refused("[[route]]\nstatus = 204\nfield.x = {}", "the condition on `x` needs one test");
}

#[test]
fn fixed_content_is_answered_whatever_the_method() {
    let site = Site::start(
        "[[route]]\npath = '/text'\nrespond = 'hello'\n\
         [[route]]\npath = '/html'\nrespond = { html = '<p>', status = 503 }\n\
         [[route]]\npath = '/json'\nrespond = { json = '{\"a\":1}', type = 'application/problem+json' }\n",
    );
    check(
        &site,
        &[
            ("/text", "200: hello"),
            ("HEAD /text", "200"),
            ("POST /text", "200: hello"),
            ("/html", "503: <p>"),
            ("/json", "200: {\"a\":1}"),
        ],
    );
    let mut client = RawClient::connect(site.address);
    let mut types = Vec::new();
    for path in ["/text", "/html", "/json"] {
        let response = client.exchange(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"));
        assert_eq!(response.field("etag").is_some(), response.status == 200);
        types.push(response.field("content-type").unwrap().to_owned());
    }
    assert_eq!(
        types,
        ["text/plain; charset=utf-8", "text/html; charset=utf-8", "application/problem+json"]
    );
    site.stop();
}

#[test]
fn fixed_content_is_not_sent_twice_to_those_who_have_it() {
    let site = Site::start("[[route]]\nrespond = 'hello'");
    let mut client = RawClient::connect(site.address);
    let first = client.exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    let tag = first.field("etag").unwrap().to_owned();
    let row = |condition: &str, tag: &str| format!("/\n{condition}: {tag}");
    check(
        &site,
        &[
            (&row("If-None-Match", &tag), "304"),
            (&row("If-None-Match", "\"other\""), "200: hello"),
            (&row("If-Match", "\"other\""), "412"),
            (&row("If-Match", &tag), "200: hello"),
            (&format!("POST /\nIf-None-Match: {tag}"), "200: hello"),
        ],
    );
    let again =
        client.exchange(format!("GET / HTTP/1.1\r\nHost: x\r\nIf-None-Match: {tag}\r\n\r\n"));
    assert_eq!(again.field("etag"), Some(tag.as_str()));
    site.stop();
    let next = Site::start("[[route]]\nrespond = 'hello'");
    check(&next, &[(&row("If-None-Match", &tag), "304")]);
    next.stop();
}

#[test]
fn large_content_is_sent_whole() {
    let site = Site::start(&format!("[[route]]\nrespond = '{}'", "x".repeat(100_000)));
    check(&site, &[("/", &format!("200: {}", "x".repeat(100_000))), ("HEAD /", "200")]);
    site.stop();
}

#[test]
fn a_status_stands_alone() {
    let site = Site::start("[[route]]\npath = '/gone'\nstatus = 410\n[[route]]\nstatus = 204");
    check(&site, &[("/gone", "410"), ("HEAD /gone", "410"), ("/", "204")]);
    let mut client = RawClient::connect(site.address);
    let gone = client.exchange("GET /gone HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(gone.text().contains("<h1>410 Gone</h1>"), "{}", gone.text());
    site.stop();
}

#[test]
fn a_redirect_cannot_be_bent() {
    let site = Site::start(
        "[[route]]\npath = '/go/*'\nredirect = '{rest}'\n\
         [[route]]\npath = '/to/:x'\nredirect = '/new/{x}'\n\
         [[route]]\npath = '/h'\nredirect = '{scheme}://{host}/'\n\
         [[route]]\nredirect = '{path}'\n",
    );
    check(
        &site,
        &[
            ("/go//evil.org", "302 -> /evil.org"),
            // A path of this host for every browser: dot segments never reach into the host.
            ("/go/%2e%2e//evil.org", "302 -> /go/%2e%2e//evil.org"),
            ("/go/\\evil.org", "302 -> /evil.org"),
            ("//evil.org/", "302 -> /evil.org/"),
            ("/to/a%0d%0aSet-Cookie:%20b=c", "302 -> /new/a%0D%0ASet-Cookie%3A%20b=c"),
            ("/to/%5c%5cevil.org", "302 -> /new/%5C%5Cevil.org"),
            ("/h\nHost: Example.net:8080", "302 -> http://example.net/"),
        ],
    );
    let mut client = RawClient::connect(site.address);
    assert_eq!(client.exchange("GET /h HTTP/1.0\r\n\r\n").status, 400);
    site.stop();
}

#[test]
fn redirects_lead_where_they_say() {
    let site = Site::start(
        "[[route]]\npath = '/fixed'\nredirect = { to = '/new place', status = 301 }\n\
         [[route]]\npath = '/u/:id(number)'\nredirect = { to = '/users/{id}{query}', status = 303 }\n\
         [[route]]\nregex = '^/p(?<n>\\d+)/(?<rest_of_it>.*)$'\nredirect = { to = '/page/{n}/{rest_of_it}', status = 307 }\n\
         [[route]]\nredirect = { to = 'https://example.net', status = 308 }\n",
    );
    check(
        &site,
        &[
            ("/fixed?q", "301 -> /new%20place"),
            ("HEAD /fixed", "301 -> /new%20place"),
            ("/u/7?a=b", "303 -> /users/7?a=b"),
            ("/p12/a/b%20c", "307 -> /page/12/a/b%20c"),
            ("POST /a%20b/c?d=e&f", "308 -> https://example.net/a%20b/c?d=e&f"),
            ("/", "308 -> https://example.net/"),
        ],
    );
    site.stop();
}

#[test]
fn rewrites_end() {
    let site = Site::start(
        "[[route]]\npath = '/loop'\nrewrite = '/loop'\n\
         [[route]]\npath = '/n/:n(number)'\nrewrite = '/n/{n}1'\n\
         [[route]]\npath = '/up/:x'\nrewrite = '/{x}'\n",
    );
    check(&site, &[("/loop", "500"), ("/n/1", "500"), ("/up/y", "404")]);
    site.stop();
}

#[test]
fn rewritten_requests_are_routed_again() {
    let tree = vervet_testkit::TempTree::new()
        .file("shown/a b.txt", "file")
        .file("shown/q/index.html", "index");
    let site = Site::start(&format!(
        "[[route]]\npath = '/old/:name'\nrewrite = '/new/{{name}}'\n\
         [[route]]\npath = '/twice/:name'\nrewrite = '/old/{{name}}?kept=no'\n\
         [[route]]\npath = '/bare/:name'\nrewrite = '/new/{{name}}?'\n\
         [[route]]\npath = '/echo'\nredirect = '/x{{query}}'\n\
         [[route]]\npath = '/keep'\nrewrite = '/echo'\n\
         [[route]]\npath = '/own'\nrewrite = '/echo?b=1{{query}}'\n\
         [[route]]\npath = '/new/*'\nfiles = '{}/shown'\n",
        tree.path().display()
    ));
    check(
        &site,
        &[
            ("/old/a%20b.txt", "200: file"),
            ("/twice/a%20b.txt?x", "200: file"),
            ("/bare/a%20b.txt?x", "200: file"),
            ("/old/q?x", "301 -> /new/q/?x"),
            ("/twice/q?x", "301 -> /new/q/?kept=no"),
            ("/bare/q?x", "301 -> /new/q/"),
            ("/keep?a=b", "302 -> /x?a=b"),
            ("/own?a=b", "302 -> /x?b=1&a=b"),
            ("/own", "302 -> /x?b=1"),
        ],
    );
    site.stop();
}

#[test]
fn what_no_route_takes_is_told_why() {
    let site = Site::start(
        "[[route]]\npath = '/a'\nmethod = ['GET', 'PURGE']\nrespond = 'a'\n\
         [[route]]\npath = '/b/*'\ntrailing_slash = 'redirect'\nrespond = 'b'\n\
         [[route]]\npath = '/c'\ntrailing_slash = 'redirect'\nrespond = 'c'\n",
    );
    check(
        &site,
        &[
            ("/x", "404"),
            ("POST /a", "405"),
            ("HEAD /a", "200"),
            ("PURGE /a", "200: a"),
            ("/a/", "404"),
            ("/b?q", "301 -> /b/?q"),
            ("POST /b", "308 -> /b/"),
            ("/c/?q", "301 -> /c?q"),
            ("//c/", "301 -> /c"),
        ],
    );
    let mut client = RawClient::connect(site.address);
    let refused = client.exchange("POST /a HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(refused.field("allow"), Some("GET, HEAD, PURGE"));
    site.stop();
}

#[test]
fn fields_choose_among_routes() {
    let site = Site::start(
        "[[route]]\nfield = { X-Version = '2' }\nrespond = 'two'\n\
         [[route]]\nfield = { User-Agent = { matches = '^curl/\\d' }, Accept = { present = true } }\nrespond = 'curl'\n\
         [[route]]\nmethod = 'GET'\nfield.Cookie.present = false\nrespond = 'bare'\n\
         [[route]]\npath = '/x'\nrespond = 'rest'\n",
    );
    check(
        &site,
        &[
            ("/x\nx-version: 2", "200: two"),
            ("/x\nX-Version: 1\nX-Version: 2\nCookie: a", "200: two"),
            ("/x\nX-Version: 22", "200: bare"),
            ("/x\nUser-Agent: curl/8\nAccept: */*", "200: curl"),
            ("/x\nUser-Agent: curl/8", "200: bare"),
            ("/x\nUser-Agent: a curl/8\nAccept: */*\nCookie: a", "200: rest"),
            ("POST /y", "405"),
            ("POST /y\nCookie: a", "404"),
        ],
    );
    site.stop();
}
