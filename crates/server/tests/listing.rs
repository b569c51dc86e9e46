//! Directory listings, as a page and as JSON (FEATURES B5).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::support;
use crate::support::{Shown, Site};
use vervet_server::files::listing::LISTING_ENTRIES_MAX;
use vervet_server::files::options::{DotFiles, Listing};
use vervet_server::files::root::Symlinks;
use vervet_testkit::TempTree;

fn tree() -> TempTree {
    TempTree::new()
        .file("<script>alert(1)<.txt", "x")
        .file("a:b", "x")
        .file("100% & \"more\"'.txt", "x")
        .file("big.bin", vec![0; 1536])
        .file("page10", "")
        .file("page9", "1")
        .file("tab\tname", "")
        .file(".hidden", "")
        .file("dir/inner.txt", "x")
        .file("dir/sub dir/x", "x")
        .dir("empty")
        .symlink("link", "dir/inner.txt")
        .symlink("outside", "/etc/passwd")
        .file(OsStr::from_bytes(b"latin\xe9.txt"), "x")
}

fn names(shown: &Shown) -> Vec<String> {
    let text = shown.text();
    let rows = text.lines().filter(|line| line.starts_with("{\"name\":\""));
    rows.map(|row| row["{\"name\":\"".len()..].split("\",\"kind\"").next().unwrap().to_owned())
        .collect()
}

#[test]
fn off_gives_403() {
    let mut site = Site::with(tree(), |options| options.listing = Listing::Off);
    for target in ["/", "/dir/", "/empty/", "/?json"] {
        assert_eq!(site.get(target).status, 403);
    }
}

#[test]
fn names_cannot_become_markup() {
    let mut site = Site::new(tree());
    let page = site.get("/");
    assert_eq!(page.status, 200);
    let policy = page.field("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'unsafe-inline'"));
    let text = page.text();
    assert!(!text.contains("<script"));
    for expected in [
        "href=\"%3Cscript%3Ealert(1)%3C.txt\"",
        "&lt;script&gt;alert(1)&lt;.txt",
        "href=\"a%3Ab\"",
        "href=\"100%25%20%26%20%22more%22%27.txt\"",
        "100% &amp; &quot;more&quot;&#x27;.txt",
        "href=\"latin%E9.txt\"",
        "href=\"dir/\"",
        "title=\"1,536 bytes\">1.50 KiB",
        "tab\u{2409}name",
        "<time datetime=\"2027-01-14T08:00:00Z\"",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    let nested = site.get("/dir/sub%20dir/");
    assert!(nested.text().contains("<a href=\"/dir/\"><bdi>dir</bdi></a>"), "{}", nested.text());
    assert!(nested.text().contains("href=\"../\""));
    assert!(!text.contains("href=\"../\""), "nothing is above the root");
}

#[test]
fn every_link_of_a_listing_leads_somewhere() {
    let mut site = Site::new(tree());
    let listed = site.get("/?json");
    let links = listed.text().lines().filter_map(|row| row.split("\"link\":\"").nth(1));
    let links: Vec<_> = links.map(|rest| rest.split('"').next().unwrap().to_owned()).collect();
    assert_eq!(links.len(), 10);
    for link in links {
        assert_eq!(site.get(&format!("/{link}")).status, 200, "{link}");
    }
}

#[test]
fn what_would_not_be_served_is_not_listed() {
    let shown = |site: &mut Site, name: &str| {
        site.get("/?json").text().contains(&format!("\"name\":\"{name}\""))
    };
    let mut strict = Site::new(tree());
    let mut open = Site::with(tree(), |options| {
        options.symlinks = Symlinks::Follow;
        options.dot_files = DotFiles::Serve;
    });
    for (name, in_strict, in_open) in [
        (".hidden", false, true),
        ("link", false, true),
        ("outside", false, false),
        ("page9", true, true),
    ] {
        assert_eq!(shown(&mut strict, name), in_strict, "{name}");
        assert_eq!(shown(&mut open, name), in_open, "{name}");
    }
}

#[test]
fn the_query_sorts() {
    let tree = TempTree::new()
        .file("page10", "333")
        .file("page9", "4444")
        .file("b", "")
        .dir("zoo")
        .dir("Ape");
    let mut site = Site::new(tree);
    support::date(&site.tree.join("b"), support::NOW_S);
    for (query, expected) in [
        ("?json", ["Ape", "zoo", "b", "page9", "page10"]),
        ("?json&sort=nonsense&order=nonsense", ["Ape", "zoo", "b", "page9", "page10"]),
        ("?json&order=desc", ["zoo", "Ape", "page10", "page9", "b"]),
        ("?json&sort=size&order=desc", ["Ape", "zoo", "page9", "page10", "b"]),
        ("?json&sort=size&order=asc", ["Ape", "zoo", "b", "page10", "page9"]),
    ] {
        assert_eq!(names(&site.get(&format!("/{query}"))), expected, "{query}");
    }
    assert_eq!(names(&site.get("/?json&sort=time&order=desc"))[2], "b");
    let page = site.get("/?sort=size&order=desc");
    assert!(page.text().contains("aria-sort=\"descending\"><a href=\"?sort=size&amp;order=asc\">"));
}

#[test]
fn json_is_given_to_who_asks() {
    let mut site = Site::new(tree());
    for (target, accept, media_type) in [
        ("/", "*/*", "text/html; charset=utf-8"),
        ("/", "text/html,application/xhtml+xml,*/*;q=0.8", "text/html; charset=utf-8"),
        ("/", "application/json", "application/json"),
        ("/?json", "text/html", "application/json"),
    ] {
        let shown = site.ask(target, &[("accept", accept)]);
        assert_eq!(shown.field("content-type"), Some(media_type), "{target} {accept}");
        assert_eq!(shown.field("vary"), Some("Accept"));
    }
    let listed = site.get("/dir/?json");
    assert_eq!(listed.text().lines().last().unwrap(), "]}",);
    assert!(listed.text().contains("{\"name\":\"sub dir\",\"kind\":\"directory\",\"modified\":\""));
    assert!(listed.text().contains(
        "{\"name\":\"inner.txt\",\"kind\":\"file\",\"size\":1,\"modified\":\"2027-01-14T08:00:00Z\",\"link\":\"inner.txt\"}"
    ));
    assert_eq!(
        site.get("/empty/?json").text(),
        "{\"path\":\"/empty/\",\"complete\":true,\"entries\":[\n]}\n"
    );
}

#[test]
fn a_huge_folder_is_cut_with_a_note() {
    let tree = TempTree::new().dir("huge");
    for number in 0..=LISTING_ENTRIES_MAX {
        std::fs::File::create(tree.join(format!("huge/{number}"))).unwrap();
    }
    let mut site = Site::new(tree);
    let cut = site.get("/huge/?json");
    assert_eq!(names(&cut).len(), LISTING_ENTRIES_MAX);
    assert!(cut.text().contains("\"complete\":false"));
    assert!(site.get("/huge/").text().contains("more than 10,000 entries"));
    std::fs::remove_file(site.tree.join("huge/0")).unwrap();
    assert!(site.get("/huge/?json").text().contains("\"complete\":true"));
}
