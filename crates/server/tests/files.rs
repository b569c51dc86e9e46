//! Paths, methods, redirects, index files, failures (FEATURES B1, B2, B6, B10).

use crate::support::{Site, text};
use vervet_engine::http::method::Method;
use vervet_server::files::options::{DotFiles, Listing, UnknownPaths};
use vervet_server::files::root::Symlinks;
use vervet_testkit::TempTree;

fn tree() -> TempTree {
    TempTree::new()
        .file("index.html", "<p>home")
        .file("a.txt", "a")
        .file("a..b", "dots")
        .file("empty.css", "")
        .file("back\\slash.txt", "backslash")
        .file("Grüne Meerkatze.txt", "gruen")
        .file("100%.txt", "percent")
        .file("docs/index.html", "<p>docs")
        .file("plain/readme", "readme")
        .file(".secret", "secret")
        .file(".git/config", "secret")
        .file(".well-known/security.txt", "contact")
        .file(".well-known/.hidden", "secret")
        .file("plain/.well-known/x", "secret")
        .file("large.bin", text(100_000))
        .symlink("link.txt", "a.txt")
        .symlink("linked", "docs")
        .symlink("passwd", "/etc/passwd")
}

fn check(site: &mut Site, target: &str, status: u16, content: &str) {
    for again in ["at first", "again"] {
        let shown = site.get(target);
        assert_eq!(shown.status, status, "{target} {again}");
        if status == 200 {
            assert_eq!(shown.text(), content, "{target} {again}");
        }
    }
}

#[test]
fn paths_out_of_the_root_or_to_nothing_are_refused() {
    let mut site = Site::with(tree(), |options| options.listing = Listing::Off);
    for (target, status) in [
        ("/../etc/passwd", 400),
        ("/%2e%2e/etc/passwd", 400),
        ("/docs/%2e%2e/../../etc/passwd", 400),
        ("/.%2e/a.txt", 400),
        ("/a.txt%00", 400),
        ("/%00", 400),
        ("/docs%2findex.html", 400),
        ("/%zz", 400),
        ("/..\\etc\\passwd", 404),
        ("/..%5cetc%5cpasswd", 404),
        ("/passwd", 404),
        ("/link.txt", 404),
        ("/linked/", 404),
        ("/linked/index.html", 404),
        ("/a.txt/", 404),
        ("/a.txt/x", 404),
        ("/index.html/x", 404),
        ("/nothing", 404),
        ("/nothing/", 404),
        ("/.secret", 404),
        ("/%2esecret", 404),
        ("/.git/config", 404),
        ("/.well-known/.hidden", 404),
        ("/plain/.well-known/x", 404),
        ("/plain/", 403),
    ] {
        check(&mut site, target, status, "");
    }
}

#[test]
fn files_are_found_by_their_names() {
    let mut site = Site::new(tree());
    for (target, content) in [
        ("/", "<p>home"),
        ("/index.html", "<p>home"),
        ("//", "<p>home"),
        ("/a.txt", "a"),
        ("/a.txt?query=/../x", "a"),
        ("/docs/../a.txt", "a"),
        ("/./a.txt", "a"),
        ("//a.txt", "a"),
        ("/%61.txt", "a"),
        ("/a..b", "dots"),
        ("/empty.css", ""),
        ("/back%5Cslash.txt", "backslash"),
        ("/Gr%C3%BCne%20Meerkatze.txt", "gruen"),
        ("/100%25.txt", "percent"),
        ("/docs/", "<p>docs"),
        ("/.well-known/security.txt", "contact"),
    ] {
        check(&mut site, target, 200, content);
    }
    assert_eq!(site.get("/large.bin").content, text(100_000));
}

#[test]
fn links_and_dot_files_are_served_where_allowed() {
    let mut site = Site::with(tree(), |options| {
        options.symlinks = Symlinks::Follow;
        options.dot_files = DotFiles::Serve;
    });
    check(&mut site, "/link.txt", 200, "a");
    check(&mut site, "/linked/", 200, "<p>docs");
    check(&mut site, "/.git/config", 200, "secret");
    check(&mut site, "/passwd", 404, "");
}

#[test]
fn a_directory_without_its_slash_is_redirected_and_nothing_else() {
    let tree = tree().dir("evil.example").dir("back\\slash").dir("a b:c");
    let mut site = Site::new(tree);
    for (target, location) in [
        ("/docs", "/docs/"),
        ("/docs?x=1&y=//z", "/docs/?x=1&y=//z"),
        ("/docs?", "/docs/?"),
        ("//evil.example", "/evil.example/"),
        ("//evil.example/../evil.example", "/evil.example/"),
        ("/back%5Cslash", "/back%5Cslash/"),
        ("/a%20b%3Ac", "/a%20b%3Ac/"),
        ("/./docs", "/docs/"),
    ] {
        let shown = site.get(target);
        assert_eq!((shown.status, shown.field("location")), (301, Some(location)), "{target}");
        assert!(shown.content.is_empty());
    }
}

#[test]
fn the_first_index_that_exists_is_served() {
    let tree = TempTree::new()
        .file("both/a.htm", "a")
        .file("both/b.htm", "b")
        .file("one/b.htm", "b")
        .dir("x/a.htm");
    let mut site = Site::with(tree, |options| {
        options.index = vec!["a.htm".to_owned(), "b.htm".to_owned()];
        options.listing = Listing::Off;
    });
    check(&mut site, "/both/", 200, "a");
    check(&mut site, "/one/", 200, "b");
    check(&mut site, "/x/", 403, "");
    check(&mut site, "/", 403, "");
}

#[test]
fn methods_are_answered_by_what_they_may_do() {
    let mut site = Site::new(tree());
    for (method, status, allow) in [
        (Method::Unknown, 501, None),
        (Method::Put, 405, Some("GET, HEAD, OPTIONS")),
        (Method::Post, 405, Some("GET, HEAD, OPTIONS")),
        (Method::Delete, 405, Some("GET, HEAD, OPTIONS")),
        (Method::Trace, 405, Some("GET, HEAD, OPTIONS")),
        (Method::Connect, 405, Some("GET, HEAD, OPTIONS")),
        (Method::Options, 204, Some("GET, HEAD, OPTIONS")),
        (Method::Head, 200, None),
    ] {
        let shown = site.request(method, "/a.txt", &[]);
        assert_eq!((shown.status, shown.field("allow")), (status, allow), "{method:?}");
    }
    assert_eq!(site.request(Method::Options, "*", &[]).status, 204);
}

#[test]
fn media_types_come_from_the_extension() {
    let tree = tree().file("x.WASM", "").file("x.weird", "").file("README", "").file("x.txt", "");
    let mut site = Site::with(tree, |options| {
        options.media_types.push(("txt".to_owned(), "text/x-own".to_owned()));
        options.default_media_type = "application/x-default".to_owned();
    });
    for (target, expected) in [
        ("/x.weird", "application/x-default"),
        ("/README", "application/x-default"),
        ("/x.txt", "text/x-own"),
        ("/x.WASM", "application/wasm"),
        ("/", "text/html; charset=utf-8"),
    ] {
        assert_eq!(site.get(target).field("content-type"), Some(expected), "{target}");
    }
}

#[test]
fn the_sites_own_404_page_is_sent_with_404() {
    let mut site = Site::new(tree().file("404.html", "<p>lost"));
    let shown = site.get("/nothing");
    assert_eq!((shown.status, shown.text()), (404, "<p>lost"));
    assert_eq!(shown.field("etag"), None);
    assert_eq!(site.ask("/nothing", &[("range", "bytes=0-1"), ("if-none-match", "*")]).status, 404);
    site.tree.write("404.html", text(50_000));
    site.pass_ms(1000);
    assert_eq!(site.get("/nothing").content, text(50_000));
}

#[test]
fn a_single_page_answers_for_unknown_paths_without_extension() {
    let mut site = Site::with(tree(), |options| {
        options.unknown_paths = UnknownPaths::SinglePage;
        options.listing = Listing::Off;
    });
    for target in ["/users", "/users/7/", "/users/7", "/plain/", "/"] {
        check(&mut site, target, 200, "<p>home");
    }
    check(&mut site, "/docs/", 200, "<p>docs");
    check(&mut site, "/a.txt", 200, "a");
    for target in ["/app.js", "/.secret", "/link.txt", "/plain/x.png"] {
        check(&mut site, target, 404, "");
    }
    let etag = site.get("/users").etag().to_owned();
    assert_eq!(site.ask("/users", &[("if-none-match", &etag)]).status, 304);
    let mut without = Site::with(TempTree::new(), |options| {
        options.unknown_paths = UnknownPaths::SinglePage;
        options.listing = Listing::Off;
    });
    check(&mut without, "/", 404, "");
    check(&mut without, "/users", 404, "");
}

#[test]
fn one_file_can_be_the_whole_site() {
    let mut site = Site::with(tree(), |options| options.root.push("a.txt"));
    check(&mut site, "/", 200, "a");
    check(&mut site, "/a.txt", 200, "a");
    for target in ["/index.html", "/docs/", "/a.txt/", "/a.txt/x", "/nothing"] {
        check(&mut site, target, 404, "");
    }
}

#[test]
fn an_empty_folder_is_a_site() {
    let mut site = Site::new(TempTree::new());
    assert!(site.get("/").text().contains("This folder is empty"));
}

#[test]
fn files_beyond_four_gigabytes_are_described_and_cut_right() {
    const SIZE: u64 = 5 << 30;
    let mut site = Site::new(TempTree::new().sparse("huge.bin", SIZE));
    let end = site.ask("/huge.bin", &[("range", "bytes=-2")]);
    let expected = format!("bytes {}-{}/{SIZE}", SIZE - 2, SIZE - 1);
    assert_eq!(end.field("content-range"), Some(expected.as_str()));
    assert_eq!(end.content, [0, 0]);
    let vervet_server::Decision::Done(response) = site.decide(Method::Get, "/huge.bin", &[]) else {
        panic!("files are answered at once");
    };
    assert_eq!(response.content_ref().length(), Some(SIZE));
}
