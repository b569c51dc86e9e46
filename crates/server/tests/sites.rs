//! Sites as a document gives them: which one answers, what two of them differ in, and what is said
//! of documents that contradict themselves (D1 to D4).

use crate::support::served::{Served, get, plan};
use vervet_testkit::TempTree;

/// What is said of a document that was read without a mistake.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let tree = TempTree::new();
    let found = plan(tree.path(), text).err().unwrap_or_default();
    assert_eq!(found, expected, "{text}");
}

const A: &str = "[[site]]\nhosts = ['a']\nroute = [{status = 404}]\n";

#[test]
fn a_document_that_serves_nothing_is_refused() {
    check("", &["1:1: no site is configured"]);
    check("[[site]]\nhosts = ['a']\n", &["1:1: the site has no routes"]);
    check("site = [{route = [{path = '/'}]}]", &["1:19: the route has no action"]);
}

#[test]
fn a_route_does_one_thing() {
    check(
        "site = [{route = [{status = 404, respond = 'x'}]}]",
        &["1:29: a route has one action: `respond` or `status`"],
    );
    check(
        "site = [{route = [{path = '/a', regex = 'b', status = 404}]}]",
        &["1:41: both `path` and `regex` are set"],
    );
}

#[test]
fn a_name_belongs_to_one_site_of_a_listener() {
    check(
        &format!("{A}[[site]]\nhosts = ['b', 'A']\nroute = [{{status = 404}}]\n"),
        &["5:15: the host `a` belongs to two sites"],
    );
    check(
        "[[site]]\nroute = [{status = 404}]\n[[site]]\ndefault = true\nroute = [{status = 404}]\n",
        &["4:11: two default sites for one listener"],
    );
    let apart = "listen = [{address = '127.0.0.1:0', name = 'x'}, {address = '127.0.0.1:0', name = 'y'}]\n\
        [[site]]\nlisten = 'x'\nroute = [{status = 404}]\n[[site]]\nlisten = 'y'\nroute = [{status = 404}]\n";
    check(apart, &[]);
}

#[test]
fn names_that_nothing_has_are_found() {
    check(
        &format!("listen = [{{address = ':80', name = 'public'}}]\n{A}listen = 'pubic'\n"),
        &["5:10: unknown listener `pubic`"],
    );
    check(&format!("{A}log = 'main'\n"), &["4:7: unknown log `main`"]);
    check(
        &format!("log.main.stream = 'stdout'\n{A}log = ['man', 'main']\n"),
        &["5:8: unknown log `man`"],
    );
}

#[test]
fn listeners_are_told_apart() {
    check(
        &format!("listen = [':80', {{address = ':81', name = ':80'}}, ':80']\n{A}"),
        &["1:43: two listeners have the name `:80`", "1:51: two listeners have the address `:80`"],
    );
    check(
        &format!("listen = [':80', {{address = ':80', name = 'b'}}]\n{A}"),
        &["1:29: two listeners have the address `:80`"],
    );
}

#[test]
fn a_site_is_found_by_its_names_and_the_first_one_answers_for_the_rest() {
    let served = Served::start(
        TempTree::new(),
        "[[site]]\nhosts = ['a.test', 'alias.test']\nroute = [{respond = 'a'}]\n\
         [[site]]\nhosts = ['*.b.test']\nroute = [{respond = 'b'}]\n\
         [[site]]\nhosts = ['x.b.test']\nroute = [{respond = 'x'}]\n",
    );
    for (host, expected) in [
        ("a.test", "a"),
        ("ALIAS.Test.:8080", "a"),
        ("w.b.test", "b"),
        ("x.b.test", "x"),
        ("b.test", "a"),
        ("elsewhere", "a"),
    ] {
        assert_eq!(served.get(host, "/"), (200, expected.to_owned()), "{host}");
    }
    let mut client = served.connect();
    // RFC 9112 §3.2.2: what the target names outranks the Host field.
    let response = client.exchange(get("a.test", "http://w.b.test/"));
    assert_eq!(response.text(), "b");
    let response = client.exchange("GET / HTTP/1.0\r\n\r\n");
    assert_eq!(response.text(), "a");
}

#[test]
fn two_sites_of_a_listener_differ_in_root_log_pages_rules_and_handlers() {
    let tree = TempTree::new()
        .file("one/index.html", "first")
        .file("two/index.html", "second")
        .file("two/404.txt", "");
    let served = Served::start(
        tree,
        "log.one = {file = 'one.log', format = '{site} {route} {status} {target}'}\n\
         log.two = {file = 'two.log', format = '{site} {status} {target}'}\n\
         [[site]]\nhosts = ['one']\nroot = 'one'\nlog = 'one'\nsecurity = 'basic'\n\
         route = [{path = '/what', respond = 'one'}]\n\
         [[site]]\nhosts = ['two']\nroot = 'two'\nlog = 'two'\nerror_pages = {404 = {text = 'gone'}}\n\
         route = [{path = '/what', status = 410}]\n",
    );
    assert_eq!(served.get("one", "/"), (200, "first".to_owned()));
    assert_eq!(served.get("two", "/"), (200, "second".to_owned()));
    assert_eq!(served.get("two", "/none"), (404, "gone".to_owned()));
    assert_ne!(served.get("one", "/none").1, "gone");
    assert_eq!(served.get("one", "/what").0, 200);
    assert_eq!(served.get("two", "/what").0, 410);
    let mut client = served.connect();
    let field =
        |response: &vervet_testkit::Response| response.field("x-content-type-options").is_some();
    assert!(field(&client.exchange(get("one", "/"))));
    assert!(!field(&client.exchange(get("two", "/"))));
    let tree = served.tree.path().to_owned();
    served.server.tools().logs.reopen();
    let lines = |name: &str| std::fs::read_to_string(tree.join(name)).unwrap_or_default();
    let one = "one root 200 /\none root 404 /none\none /what 200 /what\none root 200 /\n";
    let two = "two 200 /\ntwo 404 /none\ntwo 410 /what\ntwo 200 /\n";
    let written = || (lines("one.log"), lines("two.log"));
    vervet_testkit::wait_until(vervet_testkit::PATIENCE, || {
        written() == (one.to_owned(), two.to_owned())
    });
    assert_eq!(written(), (one.to_owned(), two.to_owned()));
}

#[test]
fn routes_lead_to_actions_in_file_order() {
    let tree =
        TempTree::new().file("static/a.txt", "file").file("page.html", "Hello {{ query.name }}");
    let served = Served::start(
        tree,
        "[[site]]\n\
         [[site.route]]\npath = '/static/*'\nfiles = 'static'\n\
         [[site.route]]\npath = '/u/:id(number)'\nredirect = '/users/{id}'\n\
         [[site.route]]\npath = '/old/*'\nrewrite = '/static{rest}'\n\
         [[site.route]]\npath = '/round'\nrewrite = '/round'\n\
         [[site.route]]\npath = '/only'\nmethod = 'POST'\nstatus = 204\n\
         [[site.route]]\npath = '/page'\npage = 'page.html'\n",
    );
    assert_eq!(served.get("h", "/static/a.txt"), (200, "file".to_owned()));
    assert_eq!(served.get("h", "/old/a.txt"), (200, "file".to_owned()));
    assert_eq!(served.get("h", "/page?name=%3Cb%3E"), (200, "Hello &lt;b&gt;".to_owned()));
    let errors = || served.server.tools().error_log.events().map(|(_, count)| count).sum::<u64>();
    let before = errors();
    assert_eq!(served.get("h", "/round").0, 500);
    assert_eq!(errors(), before + 1, "a circle is reported");
    assert_eq!(served.get("h", "/u/x").0, 404);
    assert_eq!(served.get("h", "/static/%00").0, 400);
    let mut client = served.connect();
    let response = client.exchange(get("h", "/u/7"));
    assert_eq!((response.status, response.field("location")), (302, Some("/users/7")));
    let response = client.exchange(get("h", "/only"));
    assert_eq!((response.status, response.field("allow")), (405, Some("POST")));
    let response = client.exchange("BREW /only HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_eq!(response.status, 501);
}

#[test]
fn an_error_page_replaces_no_content_that_a_route_says_itself() {
    let served = Served::start(
        TempTree::new(),
        "[[site]]\nerror_pages = {404 = {text = 'page'}, 5xx = {text = 'trouble'}}\nsecurity = 'basic'\n\
         [[site.route]]\npath = '/own'\nrespond = {status = 503, text = 'back at noon'}\n\
         [[site.route]]\npath = '/bare'\nstatus = 503\n\
         [[site.route]]\npath = '/kept'\nrespond = 'kept'\nfield = {X-Never = '1'}\n",
    );
    for (path, status, text) in [
        ("/own", 503, "back at noon"),
        ("/bare", 503, "trouble"),
        ("/kept", 404, "page"),
        ("/none", 404, "page"),
    ] {
        assert_eq!(served.get("h", path), (status, text.to_owned()), "{path}");
    }
}
