//! Error pages: what people see in place of a failure.

use crate::support::routed::{Site, check, check_refused};
use vervet_testkit::{RawClient, TempTree};

#[test]
fn what_is_no_page_is_refused() {
    let pages = |line: &str| format!("[error_pages]\n{line}");
    check_refused(&pages("200 = { text = 'x' }"), "`200` is not an error status");
    check_refused(&pages("3xx = { text = 'x' }"), "`3xx` is not an error status");
    check_refused(&pages("600 = { text = 'x' }"), "`600` is not an error status");
    check_refused(&pages("nothing = { text = 'x' }"), "`nothing` is not an error status");
    check_refused(&pages("404 = {}"), "`404` needs exactly one content");
    check_refused(&pages("404 = { text = 'a', html = 'b' }"), "`404` needs exactly one content");
    check_refused(&pages("404 = '404.html'"), "an error page from a file needs a `root`");
    let tree = TempTree::new().dir("404.html");
    let document =
        format!("root = '{}'\nerror_pages = {{ 404 = '404.html' }}", tree.path().display());
    check_refused(&document, "the file /404.html does not exist in the `root` of the site");
}

#[test]
fn pages_replace_content_and_nothing_else() {
    let tree = TempTree::new()
        .file("errors/not found.html", "<p>lost</p>")
        .file("big.html", "x".repeat(200_000))
        .file("site/a.txt", "a");
    let site = Site::start(&format!(
        "root = '{0}'\n\
         [error_pages]\n404 = 'errors/not found.html'\n410 = './big.html'\n4xx = {{ text = 'client' }}\n5xx = {{ html = '<p>server</p>' }}\n\
         [[route]]\npath = '/site/*'\nfiles = '{0}/site'\n\
         [[route]]\npath = '/gone'\nstatus = 410\n\
         [[route]]\npath = '/get'\nmethod = 'GET'\nrespond = 'got'\n\
         [[route]]\npath = '/own'\nrespond = {{ status = 503, text = 'back at noon' }}\n\
         [[route]]\npath = '/broken'\nstatus = 503\n\
         [[route]]\npath = '/moved'\nredirect = '/get'\n",
        tree.path().display()
    ));
    check(
        &site,
        &[
            ("/nothing", "404: <p>lost</p>"),
            ("HEAD /nothing", "404"),
            ("/site/nothing", "404: <p>lost</p>"),
            ("/site/", "403: client"),
            ("POST /get", "405: client"),
            ("/broken", "503: <p>server</p>"),
            ("/own", "503: back at noon"),
            ("/gone", &format!("410: {}", "x".repeat(200_000))),
            ("/get", "200: got"),
            ("/moved", "302 -> /get"),
            ("/site/a.txt", "200: a"),
            ("/site/a.txt\nRange: bytes=9-", "416: client"),
        ],
    );
    let mut client = RawClient::connect(site.address);
    let refused = client.exchange("POST /get HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(refused.field("allow"), Some("GET, HEAD, OPTIONS"));
    assert_eq!(refused.field("content-type"), Some("text/plain; charset=utf-8"));
    let range = client.exchange("GET /site/a.txt HTTP/1.1\r\nHost: x\r\nRange: bytes=9-\r\n\r\n");
    assert_eq!(range.field("content-range"), Some("bytes */1"));
    let missing = client.exchange(
        "GET /nothing HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\nRange: bytes=0-0\r\n\r\n",
    );
    assert_eq!(
        (missing.status, missing.field("content-type")),
        (404, Some("text/html; charset=utf-8"))
    );
    assert_eq!((missing.field("etag"), missing.field("accept-ranges")), (None, None));
    site.stop();
}

#[test]
fn a_page_that_is_gone_leads_to_no_other() {
    let tree = TempTree::new().file("lost.html", "lost").dir("empty");
    let site = Site::start(&format!(
        "root = '{0}'\n[error_pages]\n404 = 'lost.html'\n4xx = {{ text = 'client' }}\n[[route]]\npath = '/x/*'\nfiles = '{0}/empty'\n",
        tree.path().display()
    ));
    std::fs::remove_file(tree.join("lost.html")).unwrap();
    let mut client = RawClient::connect(site.address);
    for path in ["/lost.html", "/x/y"] {
        let response = client.exchange(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"));
        assert_eq!(response.status, 404, "{path}");
        assert!(response.text().contains("<h1>404 Not Found</h1>"), "{path}: {}", response.text());
    }
    site.stop();
}
