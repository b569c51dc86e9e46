//! Folders under a path of the site: files, alias, user folders.

use std::fmt::Write;
use std::os::unix::fs::symlink;

use crate::support::routed::{Site, check, check_refused};
use vervet_testkit::{PATIENCE, RawClient, TempTree, wait_until};

fn show(tree: &TempTree, document: &str) -> String {
    document.replace("DIR", tree.path().to_str().unwrap())
}

#[test]
fn what_is_not_there_is_said_when_the_plan_is_made() {
    check_refused("[[route]]\nfiles = '/nonexistent'", "cannot serve /nonexistent: not found");
    check_refused("[[route]]\nalias = '/nonexistent'", "cannot serve /nonexistent: not found");
    check_refused("[[route]]\nfiles = {}", "the directive `root` is missing");
    check_refused("[[route]]\nfiles = { root = '/', from = 'rest' }", "`from` cannot be `rest`");
    check_refused(
        "[[route]]\nuser_folders = '../x'",
        "`folder` cannot be `../x`: it must be relative to the home directory",
    );
    check_refused(
        "[[route]]\nuser_folders = { accounts = '/nonexistent' }",
        "the file /nonexistent does not exist",
    );
}

#[test]
fn an_alias_of_a_link_to_a_file_is_refused() {
    let tree = TempTree::new().file("a.txt", "a").symlink("link", "a.txt");
    let link = tree.join("link");
    check_refused(
        &format!("[[route]]\nalias = '{}'", link.display()),
        &format!("cannot serve {}: the path contains a symbolic link", link.display()),
    );
}

#[test]
fn the_path_below_the_route_is_looked_up() {
    let tree = TempTree::new()
        .file("static/a b.txt", "static")
        .file("static/sub/index.html", "index")
        .file("static/other.htm", "other")
        .file("x.txt", "whole");
    let site = Site::start(&show(
        &tree,
        "[[route]]\npath = '/s/*'\nfiles = 'DIR/static'\n\
         [[route]]\npath = '/static/*'\nfiles = { root = 'DIR', from = 'path' }\n\
         [[route]]\npath = '/x.txt'\nfiles = 'DIR'\n\
         [[route]]\npath = '/u/:name/*'\nfiles = { root = 'DIR/static', index = ['other.htm'] }\n",
    ));
    check(
        &site,
        &[
            ("/s/a%20b.txt", "200: static"),
            ("/s/x/../a%20b.txt", "200: static"),
            ("/s/../x.txt", "200: whole"),
            ("/s/%2e%2e/x.txt", "200: whole"),
            ("/s/..%2fx.txt", "400"),
            ("/s/x.txt", "404"),
            ("/s/sub", "301 -> /s/sub/"),
            ("/s/sub/?q", "200: index"),
            ("//s/sub?q", "301 -> /s/sub/?q"),
            ("/s/", "403"),
            ("/s", "404"),
            ("/static/a%20b.txt", "200: static"),
            ("/static/sub", "301 -> /static/sub/"),
            ("/x.txt", "200: whole"),
            ("/u/\\evil.org/sub", "301 -> /u/%5Cevil.org/sub/"),
            ("/u/bob/", "200: other"),
            ("POST /s/", "405"),
            ("HEAD /s/a%20b.txt", "200"),
        ],
    );
    site.stop();
}

#[test]
fn directives_of_files_do_what_they_say() {
    let tree = TempTree::new()
        .file("a.txt", "text")
        .file(".hidden", "hidden")
        .symlink("link.txt", "a.txt")
        .file("index.html", "page");
    let site = Site::start(&show(
        &tree,
        "[[route]]\npath = '/strict/*'\nfiles = 'DIR'\n\
         [[route]]\npath = '/open/*'\nfiles = { root = 'DIR', hidden = true, symlinks = 'follow', spa = true, max_age = '1h' }\n\
         [[route]]\npath = '/listed/*'\nfiles = { root = 'DIR', index = [], listing = true, max_age = '0s' }\n",
    ));
    check(
        &site,
        &[
            ("/strict/.hidden", "404"),
            ("/strict/link.txt", "404"),
            ("/strict/no/page", "404"),
            ("/open/.hidden", "200: hidden"),
            ("/open/link.txt", "200: text"),
            ("/open/no/page", "200: page"),
            ("/open/no.txt", "404"),
        ],
    );
    let mut client = RawClient::connect(site.address);
    let mut get = |path: &str| client.exchange(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_eq!(get("/strict/a.txt").field("cache-control"), None);
    assert_eq!(get("/open/a.txt").field("cache-control"), Some("max-age=3600"));
    let listing = get("/listed/");
    assert!(listing.text().contains("<a href=\"a.txt\">"), "{}", listing.text());
    assert_eq!(get("/listed/a.txt").field("cache-control"), Some("no-cache"));
    site.stop();
}

#[test]
fn an_alias_cannot_be_left() {
    let tree =
        TempTree::new().file("in/a.txt", "in").file("out.txt", "out").file("in/icon.png", "png");
    symlink(tree.join("out.txt"), tree.join("in/out.txt")).unwrap();
    let site = Site::start(&show(
        &tree,
        "[[route]]\npath = '/manual/*'\nalias = 'DIR/in'\n\
         [[route]]\npath = '/favicon.ico'\nalias = 'DIR/in/icon.png'\n\
         [[route]]\npath = '/all/*'\nalias = { to = 'DIR/in/icon.png', max_age = '1m' }\n",
    ));
    check(
        &site,
        &[
            ("/manual/a.txt", "200: in"),
            ("/manual/out.txt", "404"),
            ("/manual/../out.txt", "404"),
            ("/manual/%2e%2e/out.txt", "404"),
            ("/manual/..%2fout.txt", "400"),
            ("/manual/../../out.txt", "400"),
            ("/manual/a.txt/../../out.txt", "404"),
            ("/favicon.ico", "200: png"),
            ("/favicon.ico/", "404"),
            ("/all/of/it", "200: png"),
        ],
    );
    site.stop();
}

/// Accounts with their homes in the tree: the owner of the tests may be anybody.
fn accounts(tree: &TempTree, lines: &[(&str, u32, &str)]) -> String {
    let mut text = String::from("# accounts\nbroken line\n");
    for (name, uid, home) in lines {
        writeln!(text, "{name}:x:{uid}:{uid}::{}:/bin/sh", tree.join(home).display()).unwrap();
    }
    text
}

#[test]
fn user_folders_are_those_of_users() {
    let homes = [
        "bob/public_html",
        "root/public_html",
        "daemon/public_html",
        "ann/public_html",
        "eve/public_html",
        "dot/public_html",
    ];
    let tree = homes.into_iter().fold(TempTree::new(), |tree, home| {
        tree.file(format!("{home}/index.html"), home).file(format!("{home}/sub/x y.txt"), "x")
    });
    let tree = tree.file("bob/secret.txt", "secret").dir("mallory").dir("none");
    // In place of the folder stands a link to the home; and one to a neighbour's folder is in a
    // folder.
    symlink(".", tree.join("mallory/public_html")).unwrap();
    tree.write("mallory/secret.txt", "secret");
    symlink(tree.join("ann/public_html"), tree.join("bob/public_html/ann")).unwrap();
    let lines = [
        ("bob", 1000, "bob"),
        ("root", 0, "root"),
        ("daemon", 999, "daemon"),
        ("ann", 1001, "ann"),
        ("eve", 1002, "eve"),
        (".dot", 1003, "dot"),
        ("mallory", 1004, "mallory"),
        ("none", 1005, "none"),
    ];
    tree.write("passwd", accounts(&tree, &lines));
    let site = Site::start(&show(
        &tree,
        "[[route]]\npath = '/~*'\nuser_folders = { accounts = 'DIR/passwd', except = ['eve'], symlinks = 'follow' }\n",
    ));
    check(
        &site,
        &[
            ("/~root/", "404"),
            ("/~daemon/", "404"),
            ("/~eve/", "404"),
            ("/~.dot/", "404"),
            ("/~mallory/", "404"),
            ("/~mallory/secret.txt", "404"),
            ("/~none/", "404"),
            ("/~nobody/", "404"),
            ("/~nobody", "404"),
            ("/~/", "404"),
            ("/~bob/../../secret.txt", "400"),
            ("/~bob/../secret.txt", "404"),
            ("/~bob/%2e%2e/secret.txt", "404"),
            ("/~bob/..%2fsecret.txt", "400"),
            ("/~bob/ann/", "404"),
            ("/~bob?q", "301 -> /~bob/?q"),
            ("/~bob/", "200: bob/public_html"),
            ("/%7Ebob/sub?q", "301 -> /~bob/sub/?q"),
            ("/~bob/sub/x%20y.txt", "200: x"),
            ("/~ann/index.html", "200: ann/public_html"),
        ],
    );
    site.stop();
}

#[test]
fn only_some_users_and_new_ones_at_once() {
    let tree = TempTree::new().file("bob/www/a.txt", "bob").file("ann/www/a.txt", "ann");
    tree.write("passwd", accounts(&tree, &[("ann", 500, "ann")]));
    let site = Site::start(&show(
        &tree,
        "[[route]]\npath = '/~*'\nuser_folders = { folder = 'www', accounts = 'DIR/passwd', uid_min = 500, only = ['bob'] }\n",
    ));
    check(&site, &[("/~ann/a.txt", "404"), ("/~bob/a.txt", "404")]);
    tree.write("passwd", accounts(&tree, &[("ann", 500, "ann"), ("bob", 501, "bob")]));
    let mut client = RawClient::connect(site.address);
    let seen = wait_until(PATIENCE, || {
        client.exchange("GET /~bob/a.txt HTTP/1.1\r\nHost: x\r\n\r\n").status == 200
    });
    assert!(seen, "the new account");
    check(&site, &[("/~ann/a.txt", "404")]);
    site.stop();
}
