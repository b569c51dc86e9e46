//! Rows of `forwarded.rs`: the sad half first.

use std::net::IpAddr;

use vervet_http::field::{FieldSlots, Known};
use vervet_http::h1::{HeadLimits, Received, Server};
use vervet_http::target::Scheme;

use super::{ForwardedFields, ForwardedFrom, Forwarders, Origin, UnixPeers};

const PROXIES: [&str; 3] = ["10.0.0.0/8", "2001:db8::/32", "127.0.0.1"];

struct Case {
    forwarders: Forwarders,
}

impl Case {
    fn new(fields: ForwardedFields, unix: UnixPeers) -> Self {
        let networks = PROXIES.iter().map(|text| (text.parse().unwrap(), ())).collect();
        Self { forwarders: Forwarders::new(networks, fields, unix) }
    }

    /// What is found for a request of this peer (an address or `unix`) with these field lines.
    fn origin(&self, peer: &str, lines: &[&str]) -> Origin {
        let request =
            format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", [lines, &[""]].concat().join("\r\n"));
        let limits = HeadLimits {
            head_bytes_max: 8192,
            fields_max: 32,
            target_bytes_max: 100,
            trailer_bytes_max: 0,
        };
        let mut slots = FieldSlots::new();
        match Server::new().receive(request.as_bytes(), &mut slots, &limits) {
            Ok(Received::Head { head, .. }) => {
                assert_eq!(head.fields.get(Known::Host), Some(&b"a"[..]));
                self.forwarders.origin(peer.parse().ok(), &head.fields)
            }
            other => panic!("{other:?} for {request:?}"),
        }
    }
}

/// The client that is found, or `unix`; whether something was malformed.
#[track_caller]
fn check_of(fields: ForwardedFields, peer: &str, lines: &[&str], expected: (&str, u64)) {
    let case = Case::new(fields, UnixPeers::Distrusted);
    let found = case.origin(peer, lines).client;
    let found = found.map_or("unix".to_owned(), |address| address.to_string());
    assert_eq!((found.as_str(), case.forwarders.malformed()), expected, "{lines:?}");
}

#[track_caller]
fn check_x(peer: &str, value: &str, client: &str) {
    check_of(ForwardedFields::X, peer, &[&format!("X-Forwarded-For: {value}")], (client, 0));
}

#[track_caller]
fn check_x_malformed(value: &str, client: &str) {
    check_of(ForwardedFields::X, "10.0.0.1", &[&format!("X-Forwarded-For: {value}")], (client, 1));
}

#[track_caller]
fn check_rfc(value: &str, client: &str) {
    check_of(ForwardedFields::Rfc7239, "10.0.0.1", &[&format!("Forwarded: {value}")], (client, 0));
}

#[track_caller]
fn check_rfc_malformed(value: &str, client: &str) {
    check_of(ForwardedFields::Rfc7239, "10.0.0.1", &[&format!("Forwarded: {value}")], (client, 1));
}

#[test]
fn a_spoofed_field_of_others_leaves_the_address_of_the_socket() {
    for peer in ["192.0.2.1", "11.0.0.1", "::1", "2001:db9::1"] {
        check_x(peer, "10.0.0.9", peer);
        check_x(peer, "203.0.113.9, 10.0.0.9", peer);
        check_of(ForwardedFields::Rfc7239, peer, &["Forwarded: for=203.0.113.9"], (peer, 0));
    }
    check_x("unix", "203.0.113.9", "unix");
}

#[test]
fn what_a_client_wrote_before_a_believed_proxy_is_not_believed() {
    check_x("10.0.0.1", "203.0.113.9, 198.51.100.7", "198.51.100.7");
    check_x("10.0.0.1", "10.0.0.9, 198.51.100.7", "198.51.100.7");
    check_x("10.0.0.1", "127.0.0.1, 198.51.100.7, 10.0.0.2", "198.51.100.7");
    check_x("10.0.0.1", "rubbish, , \", 198.51.100.7", "198.51.100.7");
    check_rfc("for=10.0.0.9, for=198.51.100.7", "198.51.100.7");
    check_rfc("rubbish, for=198.51.100.7", "198.51.100.7");
}

/// A client that opens a quote, or escapes one, swallows nothing of what the proxy appends.
#[test]
fn an_open_quote_swallows_nothing() {
    check_rfc("for=\", for=198.51.100.7", "198.51.100.7");
    check_rfc("for=\"\\, for=198.51.100.7", "198.51.100.7");
    check_rfc("for=\"10.0.0.5, for=\"[2001:db9::1]:80\"", "2001:db9::1");
    check_rfc("host=\"a, for=198.51.100.7;host=\"b.example\"", "198.51.100.7");
}

/// The field of the other kind comes from the client: a proxy that writes the one lets the other
/// pass.
#[test]
fn the_other_kind_is_not_read() {
    check_of(ForwardedFields::X, "10.0.0.1", &["Forwarded: for=203.0.113.9"], ("10.0.0.1", 0));
    let both = ["Forwarded: for=203.0.113.9", "X-Forwarded-For: 198.51.100.7"];
    check_of(ForwardedFields::X, "10.0.0.1", &both, ("198.51.100.7", 0));
    check_of(ForwardedFields::Rfc7239, "10.0.0.1", &both, ("203.0.113.9", 0));
}

/// A proxy that reports something unreadable is the last that is believed.
#[test]
fn malformed_members_end_the_walk_and_are_counted() {
    for value in [
        "rubbish",
        "198.51.100",
        "198.51.100.7:99999",
        "[::1",
        "::1]",
        "fe80::1%eth0",
        "198.51.100.7 x",
        "010.0.0.1",
        "\"198.51.100.7\"",
    ] {
        check_x_malformed(value, "10.0.0.1");
        check_x_malformed(&format!("{value}, 10.0.0.2"), "10.0.0.2");
    }
    for value in [
        "for",
        "for=",
        "=198.51.100.7",
        "for=198.51.100.7;for=203.0.113.9",
        "for=2001:db9::1",
        "for=[2001:db9::1]",
        "for=\"198.51.100.7",
        "for=\"198.51.100.7\"x",
        "for =198.51.100.7",
        "for=\"2001:db9::1\"",
        "for=\"198.51.100.7:99999\"",
        "for=\"198.51.100.7:_\"",
        "198.51.100.7",
        "for=a/b",
    ] {
        check_rfc_malformed(value, "10.0.0.1");
        check_rfc_malformed(&format!("{value}, for=10.0.0.2"), "10.0.0.2");
    }
}

/// A proxy may pass on what the client wrote there: it must not hide the client.
#[test]
fn a_malformed_scheme_or_host_does_not_hide_the_client() {
    for flaw in ["proto=gopher", "host=\"a b\"", "host=\"\""] {
        check_rfc_malformed(&format!("for=198.51.100.7;{flaw}"), "198.51.100.7");
    }
    for flaw in ["Proto: gopher", "Host: a b", "Host: a@b"] {
        let lines = ["X-Forwarded-For: 198.51.100.7", &format!("X-Forwarded-{flaw}")];
        check_of(ForwardedFields::X, "10.0.0.1", &lines, ("198.51.100.7", 1));
    }
}

#[test]
fn an_unknown_client_is_the_proxy_that_hides_it() {
    check_x("10.0.0.1", "unknown", "10.0.0.1");
    check_x("10.0.0.1", "203.0.113.9, unknown, 10.0.0.3", "10.0.0.3");
    check_rfc("for=unknown", "10.0.0.1");
    check_rfc("for=_hidden, for=10.0.0.3", "10.0.0.3");
    check_rfc("proto=https", "10.0.0.1");
}

#[test]
fn the_first_that_is_not_listed_is_the_client() {
    check_x("10.0.0.1", "", "10.0.0.1");
    check_x("10.0.0.1", "198.51.100.7", "198.51.100.7");
    check_x("10.0.0.1", "198.51.100.7, 10.0.0.3, 2001:db8::9", "198.51.100.7");
    check_x("2001:db8::1", "2001:db9::7", "2001:db9::7");
    check_x("10.0.0.1", "198.51.100.7:4711, 127.0.0.1:80", "198.51.100.7");
    check_x("10.0.0.1", "[2001:db9::7]:4711, [2001:db8::2]", "2001:db9::7");
    check_x("10.0.0.1", "::ffff:198.51.100.7, ::ffff:10.0.0.2", "198.51.100.7");
    check_x("10.0.0.1", ",198.51.100.7,,10.0.0.2,", "198.51.100.7");
    // All are listed: the outermost is the client.
    check_x("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3");
}

#[test]
fn lines_follow_each_other() {
    let lines = ["X-Forwarded-For: 203.0.113.9, 198.51.100.7", "X-Forwarded-For: 10.0.0.2"];
    check_of(ForwardedFields::X, "10.0.0.1", &lines, ("198.51.100.7", 0));
    let lines = ["Forwarded: for=203.0.113.9, for=198.51.100.7", "Forwarded: for=10.0.0.2"];
    check_of(ForwardedFields::Rfc7239, "10.0.0.1", &lines, ("198.51.100.7", 0));
}

/// The examples of RFC 7239 §4 and §6, and their escapes.
#[test]
fn elements_of_rfc_7239() {
    check_rfc("for=192.0.2.43", "192.0.2.43");
    check_rfc("For=\"[2001:db9:cafe::17]:4711\"", "2001:db9:cafe::17");
    check_rfc("for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60");
    check_rfc("for=192.0.2.43, for=10.51.100.17", "192.0.2.43");
    check_rfc("for=\"192.0.2.43:47011\"", "192.0.2.43");
    check_rfc("for=\"192.0.2.43:_port.a-b\"", "192.0.2.43");
    check_rfc("for=\"[2001:db9::1]\"; by=\"_a, b\\\"\"", "2001:db9::1");
    check_rfc(";for=192.0.2.43;;", "192.0.2.43");
    check_rfc("by=x;FOR=\"1\\92.0.2.43\"", "192.0.2.43");
}

#[test]
fn a_unix_socket_is_believed_by_its_switch() {
    let case = Case::new(ForwardedFields::X, UnixPeers::Trusted);
    let origin = case.origin("unix", &["X-Forwarded-For: 203.0.113.9, 198.51.100.7"]);
    assert_eq!(origin.client, Some(IpAddr::from([198, 51, 100, 7])));
    assert_eq!(case.origin("unix", &[]).client, None);
}

#[test]
fn those_who_are_not_believed_are_counted() {
    let case = Case::new(ForwardedFields::X, UnixPeers::Distrusted);
    case.origin("192.0.2.1", &[]);
    case.origin("10.0.0.1", &["X-Forwarded-For: 192.0.2.1"]);
    assert_eq!(case.forwarders.disbelieved(), 0);
    case.origin("192.0.2.1", &["X-Forwarded-For: 10.0.0.1"]);
    case.origin("unix", &["X-Forwarded-For: 10.0.0.1"]);
    assert_eq!(case.forwarders.disbelieved(), 2);
}

/// Scheme and host as the outermost believed proxy saw them.
#[test]
fn scheme_and_host_come_from_the_outermost_believed_proxy() {
    let check = |fields, lines: &[&str], scheme: Option<Scheme>, host: Option<&str>| {
        let origin = Case::new(fields, UnixPeers::Distrusted).origin("10.0.0.1", lines);
        assert_eq!(
            (origin.scheme, origin.host.as_deref()),
            (scheme, host.map(str::as_bytes)),
            "{lines:?}"
        );
    };
    let (http, https) = (Some(Scheme::Http), Some(Scheme::Https));
    let two = "X-Forwarded-For: 203.0.113.9, 198.51.100.7";
    check(ForwardedFields::X, &["X-Forwarded-Proto: https"], None, None);
    check(ForwardedFields::X, &[two, "X-Forwarded-Proto: https, http"], http, None);
    check(
        ForwardedFields::X,
        &[two, "X-Forwarded-Proto: HTTPS", "X-Forwarded-Host: A.example:81"],
        https,
        Some("a.example:81"),
    );
    let through = "X-Forwarded-For: 198.51.100.7, 10.0.0.2";
    check(ForwardedFields::X, &[through, "X-Forwarded-Proto: https, http"], https, None);
    check(ForwardedFields::X, &[through, "X-Forwarded-Proto: https"], https, None);
    check(ForwardedFields::X, &[through, "X-Forwarded-Host: evil, a, b"], None, Some("a"));
    let value = "Forwarded: for=203.0.113.9;proto=https, for=198.51.100.7;proto=http;host=\"A:81\", for=10.0.0.2;proto=https";
    check(ForwardedFields::Rfc7239, &[value], http, Some("a:81"));
    check(
        ForwardedFields::X,
        &["X-Forwarded-For: 198.51.100.7", "X-Forwarded-Host: a b"],
        None,
        None,
    );
}

#[test]
fn a_document_lists_the_proxies() {
    let read = |text: &str| vervet_config::read_text::<ForwardedFrom>("test.toml", text).value;
    assert!(read("from = ['10.0.0.1/8']").is_none());
    assert!(read("fields = 'both'").is_none());
    let with = |text: &str| Case { forwarders: Forwarders::from(&read(text).unwrap()) };
    let x = ["X-Forwarded-For: 198.51.100.7", "Forwarded: for=203.0.113.9"];
    let client =
        |case: &Case, peer: &str| case.origin(peer, &x).client.map(|client| client.to_string());
    assert_eq!(client(&with(""), "10.0.0.1").as_deref(), Some("10.0.0.1"));
    assert_eq!(client(&with("from = '10.0.0.0/8'"), "10.0.0.1").as_deref(), Some("198.51.100.7"));
    assert_eq!(
        client(&with("unix = true\nfields = 'forwarded'"), "unix").as_deref(),
        Some("203.0.113.9")
    );
    assert_eq!(client(&with("from = '10.0.0.0/8'"), "unix"), None);
}

proptest::proptest! {
    /// Whatever a client has sent, what a believed proxy appends to it is found.
    #[test]
    fn nothing_that_a_client_sends_hides_it(sent in "[ -~\\t]{0,60}") {
        let line = |name: &str, own: &str| format!("{name}: {sent},{own}");
        for own in ["for=198.51.100.7", "for=\"198.51.100.7:80\";proto=https", "host=\"a,b\";for=198.51.100.7"] {
            let case = Case::new(ForwardedFields::Rfc7239, UnixPeers::Distrusted);
            let found = case.origin("10.0.0.1", &[&line("Forwarded", own)]).client;
            assert_eq!(found, "198.51.100.7".parse().ok());
        }
        let case = Case::new(ForwardedFields::X, UnixPeers::Distrusted);
        let found = case.origin("10.0.0.1", &[&line("X-Forwarded-For", "198.51.100.7")]).client;
        assert_eq!(found, "198.51.100.7".parse().ok());
    }

    /// Nothing that a proxy passes on breaks the walk.
    #[test]
    fn any_bytes_give_some_client(sent in "[ -~\\t]{0,80}") {
        for (fields, name) in [(ForwardedFields::X, "X-Forwarded-For"), (ForwardedFields::Rfc7239, "Forwarded")] {
            let case = Case::new(fields, UnixPeers::Distrusted);
            assert!(case.origin("10.0.0.1", &[&format!("{name}: {sent}")]).client.is_some());
        }
    }
}
