//! Listings are made once for all who ask at once, and never hide what has changed (FEATURES B5).

use std::fs;
use std::sync::Arc;

use crate::support::wire::Wire;
use vervet_server::caches::{CacheReport, Caches};
use vervet_server::files::options::{CacheLimits, FilesOptions, Listing};
use vervet_server::{Files, FilesPool};
use vervet_testkit::{PATIENCE, RawClient, TempTree, wait_until};

/// Far more than may wait for the thread that lists.
const CLIENTS: usize = 300;

const REQUEST: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

fn start(tree: &TempTree) -> (Wire, Caches) {
    let pool = FilesPool::new();
    let options = FilesOptions { listing: Listing::On, ..FilesOptions::new(tree.path()) };
    let root = pool.root(options, CacheLimits::default()).unwrap();
    let wire = Wire::start(move |_| Files::of_reactor(&Arc::clone(&root)));
    (wire, pool.caches().clone())
}

fn listings(caches: &Caches) -> CacheReport {
    let mut reports = caches.reports().into_iter();
    reports.find(|report| report.name == "listings").unwrap()
}

#[test]
fn hundreds_who_ask_for_one_listing_at_once_get_it() {
    let tree = TempTree::new();
    for number in 0..2000 {
        tree.write(format!("file-{number}"), "");
    }
    let (wire, caches) = start(&tree);
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| RawClient::connect(wire.address)).collect();
    for client in &mut clients {
        client.send(REQUEST);
    }
    let first = clients[0].read_response();
    assert!(first.text().contains("file-1999"), "{}", first.text());
    for client in &mut clients[1..] {
        let response = client.read_response();
        assert_eq!((response.status, response.text()), (200, first.text()));
    }
    drop(clients);
    let counted = listings(&caches);
    assert_eq!(counted.hits + counted.misses, CLIENTS as u64);
    assert!(counted.hits > 0, "{counted:?}");
    wire.stop();
}

#[test]
fn names_that_come_and_go_are_seen_at_once() {
    let tree = TempTree::new().file("stays", "");
    let (wire, _) = start(&tree);
    let mut client = RawClient::connect(wire.address);
    for number in 0..100 {
        let name = format!("guest-{number}.");
        tree.write(&name, "");
        let response = client.exchange(REQUEST);
        assert!(response.text().contains(&name), "{name} is not seen");
        fs::remove_file(tree.join(&name)).unwrap();
        let response = client.exchange(REQUEST);
        assert!(!response.text().contains(&name), "{name} is still seen");
    }
    wire.stop();
}

#[test]
fn what_is_shown_of_files_is_seen_within_a_second() {
    let tree = TempTree::new().file("grows", "");
    let (wire, caches) = start(&tree);
    let mut client = RawClient::connect(wire.address);
    let mut ask = || {
        let response = client.exchange("GET /?json HTTP/1.1\r\nHost: a\r\n\r\n");
        response.text().to_owned()
    };
    assert!(ask().contains("\"size\":0"), "{}", ask());
    assert!(wait_until(PATIENCE, || {
        ask();
        listings(&caches).entries == 1
    }));
    tree.write("grows", "1234567");
    assert!(wait_until(PATIENCE, || ask().contains("\"size\":7")));
    wire.stop();
}

/// Another order, another form and another folder are other listings.
#[test]
fn only_equal_listings_are_shared() {
    let tree = TempTree::new().file("a", "12").file("b", "1").file("sub/c", "");
    let (wire, _) = start(&tree);
    let mut client = RawClient::connect(wire.address);
    for _ in 0..3 {
        for (target, first) in [
            ("/?json&sort=name", "a"),
            ("/?json&sort=name&order=desc", "b"),
            ("/?json&sort=size", "b"),
            ("/sub/?json", "c"),
        ] {
            let request = format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n");
            let response = client.exchange(&request);
            let text = response.text().to_owned();
            let files = text.lines().filter(|line| line.contains("\"file\""));
            let found = files.map(|line| line.split('"').nth(3).unwrap()).next();
            assert_eq!(found, Some(first), "{target}: {text}");
        }
        let page = client.exchange(REQUEST);
        assert!(page.text().starts_with("<!"), "{}", page.text());
    }
    wire.stop();
}
