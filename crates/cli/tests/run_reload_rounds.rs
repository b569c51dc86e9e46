//! Reloads that are refused, and many that are not (FEATURES C4): an invalid configuration changes
//! nothing and is reported; two hundred changes leak neither descriptors nor memory.

use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;

use crate::common;
use crate::common::load::Load;
use crate::common::{ADMIN, Run, get};
use vervet_testkit::{PATIENCE, RawClient, Signal, TempTree, wait_until};

const SITE: &str = "
[limits]
requests_per_connection_max = 0
[[listen]]
address = '127.0.0.1:0'
name = 'main'
[[site]]
hosts = ['stay.test']
[[site.route]]
respond = 'same'
";

fn document(rest: &str) -> String {
    [ADMIN, SITE, rest].concat()
}

/// The document is refused for this reason, which the status and standard error tell, and all that
/// was served is served on.
#[track_caller]
fn check_refused(server: &mut Run, document: &str, reason: &str) {
    let before = server.status();
    let refused = server.refused(document);
    let expected = format!("cannot serve vervet.toml: vervet.toml:{reason}");
    assert_eq!(refused, expected, "{document}");
    let event = format!("error reload: the running configuration stays in effect: {expected}");
    assert!(server.said().contains(&event), "{}", server.said());
    let after = server.status();
    for part in ["plan_generation", "listeners", "sites"] {
        assert_eq!(after[part], before[part], "{part}");
    }
    assert_eq!(server.admin("/-/ready").status, 200);
}

#[test]
fn an_invalid_configuration_is_refused_and_the_old_one_stays() {
    let first = document("[[site]]\nhosts = ['old.test']\nroot = 'www'\n");
    let tree = TempTree::new().file("www/a", "a file");
    let mut server = Run::start(tree, &first);
    let mut kept = server.connect();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap();
    let lines = ADMIN.lines().count() + SITE.lines().count();
    let rows = [
        // What cannot be read, what means nothing, what contradicts itself, and what is not there.
        ("[[site]", format!("{}:8: ", lines + 1)),
        ("worker = 2\n", format!("{}:1: ", lines + 1)),
        ("[[site]]\nhosts = ['stay.test']\nroot = 'www'\n", format!("{}:10: ", lines + 2)),
        ("[[site]]\nhosts = ['old.test']\nroot = 'none'\n", format!("{}:8: ", lines + 3)),
        ("[log.a]\nfile = 'none/a.log'\n", format!("{}:8: ", lines + 2)),
    ];
    for (rest, place) in rows {
        let refused = server.refused(&document(rest));
        let begin = format!("cannot serve vervet.toml: vervet.toml:{place}");
        assert!(refused.starts_with(&begin), "{refused}, not {begin}");
        assert_eq!(kept.exchange(get("old.test", "/a")).text(), "a file");
    }
    let listen = format!("[[listen]]\naddress = '{taken}'\n");
    let reason = format!(
        "{}:11: cannot bind {taken}: address in use (stop the program that listens there, which ss -ltnp names, or choose another port)",
        lines + 2
    );
    check_refused(&mut server, &document(&listen), &reason);
    assert_eq!(kept.exchange(get("old.test", "/a")).text(), "a file");
    assert_eq!(server.reloads(), (0, 6));
    // A good one is taken afterwards, and the reason is gone.
    server.reload(&document(""));
    assert_eq!(server.status()["reloads"]["last_error"], serde_json::Value::Null);
    assert_eq!(kept.exchange(get("old.test", "/a")).text(), "same");
    server.end();
}

#[test]
fn a_file_that_is_gone_is_refused_too() {
    let mut server = Run::start(TempTree::new(), &document(""));
    fs::remove_file(server.tree.join("vervet.toml")).unwrap();
    server.child.signal(Signal::HUP);
    assert!(wait_until(PATIENCE, || server.reloads() == (0, 1)));
    let error = server.status()["reloads"]["last_error"].clone();
    let expected = "cannot read vervet.toml: No such file or directory (os error 2)";
    assert_eq!(error, expected);
    assert_eq!(server.get("stay.test", "/").text(), "same");
    server.end();
}

/// Without `[[listen]]` it listens where the environment says, and goes on to after a reload.
#[test]
fn a_listener_that_no_document_names_stays() {
    let tree = TempTree::new();
    let mut command = common::run(tree.path());
    command.env("PORT", vervet_testkit::free_port().to_string());
    let document = [ADMIN, "[[site]]\n[[site.route]]\nrespond = 'one'\n"].concat();
    let mut server = Run::spawn(tree, &document, command);
    let listeners = server.status()["listeners"].clone();
    let address = listeners[0]["address"].as_str().unwrap();
    let port = address.rsplit_once(':').unwrap().1.parse().unwrap();
    let mut kept = RawClient::connect(([127, 0, 0, 1], port).into());
    assert_eq!(kept.exchange(get("a", "/")).text(), "one");
    server.reload(&document.replace("one", "two"));
    assert_eq!(server.status()["listeners"], listeners);
    assert_eq!(kept.exchange(get("a", "/")).text(), "two");
    RawClient::connect(([127, 0, 0, 1], port).into());
    server.end();
}

const ROUNDS: u32 = 200;
/// Rounds after which caches and pools have what they will have.
const WARM: u32 = 40;
/// What memory may grow by from there to the end: what the allocator keeps back differs by some
/// megabytes from moment to moment. A plan of this document takes half a megabyte, so that one in
/// ten that stayed would be seen.
const GROWTH_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// A document in which everything differs from the one before.
fn round(number: u32) -> String {
    let mut text = document("");
    let (log, folder) = (number % 3, number % 2);
    write!(text, "[log.a]\nfile = 'log{log}'\nrotate = {{ size = '1MiB' }}\n").unwrap();
    if number.is_multiple_of(2) {
        text.push_str("[[listen]]\naddress = '127.0.0.1:0'\nname = 'second'\n");
    }
    if number.is_multiple_of(5) {
        text.push_str("[[listen]]\naddress = 'unix:second.sock'\n");
    }
    writeln!(
        text,
        "[[site]]\nhosts = ['turn.test']\nlog = ['a']\nrate = {{ limit = '{}/s', burst = 1000000 }}\nerror_pages = {{ 404 = {{ html = 'no {number}' }} }}\n\
         [[site.route]]\npath = '/files/*'\nfiles = 'www{folder}'\n[[site.route]]\npath = '/page'\npage = 'page{folder}.html'\n\
         [[site.route]]\nauth = 'users{folder}'\npath = '/door'\nstatus = 204\n[[site.route]]\nrespond = 'turn {number}'",
        500_000 + number
    )
    .unwrap();
    // Enough to be seen if it stayed.
    for site in 0..20 {
        writeln!(text, "[[site]]\nhosts = ['{site}.test']\nroot = 'www{folder}'").unwrap();
    }
    text
}

#[test]
fn two_hundred_reloads_under_load_leak_nothing() {
    let tree = TempTree::new();
    for folder in 0..2 {
        common::passwd(tree.path(), &format!("users{folder}"), "ann", "one");
        tree.write(format!("www{folder}/a"), "a file");
        tree.write(format!("page{folder}.html"), "page");
    }
    let mut server = Run::start(tree, &round(0));
    let pid = server.child.id();
    let address = server.address("main");
    let load = Load::start(address, 30, &[("stay.test", "same"), ("turn.test", "turn")]);
    let mut kept = server.connect();
    let mut warm = (0, 0);
    for number in 1..=ROUNDS {
        server.reload(&round(number));
        let turned = format!("turn {number}");
        assert_eq!(kept.exchange(get("turn.test", "/")).text(), turned);
        assert_eq!(kept.exchange(get("turn.test", "/files/a")).text(), "a file");
        assert_eq!(kept.exchange(get("turn.test", "/page")).text(), "page");
        assert_eq!(kept.exchange(get("turn.test", "/door")).status, 401);
        if number == WARM {
            warm = (descriptors(pid), vervet_testkit::rss_bytes(pid).unwrap());
        }
    }
    load.go_on();
    let (warm_descriptors, warm_bytes) = warm;
    assert!(
        wait_until(PATIENCE, || descriptors(pid) <= warm_descriptors),
        "{warm_descriptors} descriptors after {WARM} reloads, {} after {ROUNDS}",
        descriptors(pid)
    );
    let bytes = vervet_testkit::rss_bytes(pid).unwrap();
    assert!(
        bytes <= warm_bytes + GROWTH_BYTES_MAX,
        "{warm_bytes} bytes after {WARM} reloads, {bytes} after {ROUNDS}"
    );
    load.end();
    assert_eq!(server.reloads(), (u64::from(ROUNDS), 0));
    server.end();
}

fn descriptors(pid: u32) -> usize {
    vervet_testkit::open_fds(pid).unwrap()
}
