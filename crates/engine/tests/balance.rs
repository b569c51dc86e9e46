//! Many listeners and workers: which worker serves a connection, and the peer that a handler sees.

use std::net::{Ipv6Addr, SocketAddr, TcpListener};

use crate::common::{Server, echo_target, get};
use vervet_engine::listener::ListenOptions;
use vervet_engine::{Engine, Exchange, Outcome, Response};
use vervet_testkit::{RawClient, TempTree, skip};

fn shares(server: &Server) -> Vec<u64> {
    let counters = server.running().counters();
    counters.map(|counters| counters.connections.get()).collect()
}

/// FEATURES A7: "with 4 workers and 400 keep-alive clients max/min accepts ≤ 2 in shared mode".
#[test]
fn workers_on_a_shared_listener_have_even_shares() {
    let server = Server::with(Engine::builder().workers(4), echo_target);
    let mut clients: Vec<_> = (0..400).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.send(get("/"));
    }
    for client in &mut clients {
        assert_eq!(client.read_response().text(), "/");
    }
    let shares = shares(&server);
    assert_eq!(shares.iter().sum::<u64>(), 400);
    let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
    assert!(*most <= 2 * least, "{shares:?}");
    for client in &mut clients {
        assert_eq!(client.exchange(get("/again")).text(), "/again");
    }
}

#[test]
fn workers_with_listeners_of_their_own_serve_one_port() {
    let options = ListenOptions { reuse_port: true, ..ListenOptions::default() };
    let server = Server::listening(Engine::builder().workers(4), &options, echo_target);
    let mut clients: Vec<_> = (0..200).map(|_| server.connect()).collect();
    for client in &mut clients {
        assert_eq!(client.exchange(get("/")).text(), "/");
    }
    let shares = shares(&server);
    assert_eq!(shares.iter().sum::<u64>(), 200);
    // The kernel spreads by a hash: that all 200 miss a worker has a chance of 10^-25.
    assert!(shares.iter().all(|share| *share > 0), "{shares:?}");
    server.running().control().drain(60_000);
    server.ended();
}

/// Answers with the address of the peer.
#[allow(clippy::needless_pass_by_value, reason = "what a handler is")]
fn echo_peer(exchange: Exchange<'_>) -> Outcome {
    let peer = exchange.peer();
    Response::text(peer.map_or("none".to_owned(), |peer| peer.to_string())).into()
}

#[test]
fn ipv4_ipv6_and_unix_listeners_serve_at_once() {
    if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
        skip!("needs ::1");
    }
    let tree = TempTree::new();
    let path = tree.join("socket");
    let builder = Engine::builder().workers(2);
    let builder = builder.listen("127.0.0.1:0").unwrap();
    let builder = builder.listen("[::1]:0").unwrap();
    let builder = builder.listen("[::]:0").unwrap();
    let builder = builder.listen(&format!("unix:{}", path.display())).unwrap();
    let server = Server::new(builder.serve(echo_peer).unwrap());
    let ports: Vec<SocketAddr> = server
        .running()
        .listeners()
        .iter()
        .filter_map(|listener| listener.local_address())
        .collect();
    for _ in 0..10 {
        for address in [ports[0], ports[1]] {
            let mut client = RawClient::connect(address);
            let answer = client.exchange(get("/"));
            assert_eq!(answer.text(), client.local_address().to_string());
        }
        // An IPv4 peer of the listener of both is an IPv4 peer.
        let mut client = RawClient::connect(([127, 0, 0, 1], ports[2].port()).into());
        let answer = client.exchange(get("/"));
        assert_eq!(answer.text(), client.local_address().to_string());
        let mut client = RawClient::connect_unix(&path);
        assert_eq!(client.exchange(get("/")).text(), "none");
    }
    drop(server);
    assert!(!path.exists());
}

fn proxied(networks: &[&str]) -> Server {
    let options = ListenOptions {
        proxy_protocol_from: networks.iter().map(|network| network.parse().unwrap()).collect(),
        ..ListenOptions::default()
    };
    Server::listening(Engine::builder(), &options, echo_peer)
}

/// The answer to a request after this header; none if the connection is closed without an answer.
#[track_caller]
fn check(networks: &[&str], preface: &[u8], expected: Option<&str>) {
    let server = proxied(networks);
    for split in [0, 1, preface.len() / 2, preface.len()].map(|at| at.min(preface.len())) {
        let mut client = server.connect();
        client.send(&preface[..split]);
        // May meet a close already.
        let _ = client.try_send([&preface[split..], get("/").as_bytes()].concat());
        let answer = client.try_read_response();
        let own = client.local_address().to_string();
        let text = answer.as_ref().map(|answer| answer.text());
        let expected = expected.map(|text| if text == "own" { own.as_str() } else { text });
        assert_eq!(text, expected, "{:?}", String::from_utf8_lossy(preface));
        if text.is_some() {
            assert_eq!(client.exchange(get("/")).text(), expected.unwrap());
        }
    }
}

const V1: &[u8] = b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n";

fn v2(command: u8, family: u8, addresses: &[u8]) -> Vec<u8> {
    let length = u16::try_from(addresses.len()).unwrap().to_be_bytes();
    let signature: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
    [signature, &[command, family], &length, addresses].concat()
}

/// FEATURES A11: PROXY protocol headers are accepted only from listed networks.
#[test]
fn the_proxy_protocol_is_read_from_listed_networks() {
    let listed = &["10.0.0.0/8", "127.0.0.0/8"];
    check(listed, V1, Some("192.0.2.1:56324"));
    check(listed, b"PROXY TCP6 2001:db8::1 2001:db8::2 1 2\r\n", Some("[2001:db8::1]:1"));
    check(listed, b"PROXY UNKNOWN\r\n", Some("own"));
    let addresses = [192, 0, 2, 1, 198, 51, 100, 1, 0xdc, 0x04, 0x01, 0xbb];
    check(listed, &v2(0x21, 0x11, &addresses), Some("192.0.2.1:56324"));
    let with_extension = [&addresses[..], &[0x04, 0, 1, 0]].concat();
    check(listed, &v2(0x21, 0x11, &with_extension), Some("192.0.2.1:56324"));
    check(listed, &v2(0x20, 0x00, &[]), Some("own"));
}

#[test]
fn an_invalid_proxy_header_closes_the_connection() {
    let listed = &["127.0.0.0/8"];
    check(listed, b"", None);
    check(listed, b"PROXY TCP4 192.0.2.1\r\n", None);
    check(listed, b"PROXY TCP4 999.0.2.1 198.51.100.1 1 2\r\n", None);
    check(listed, &v2(0x31, 0x11, &[0; 12]), None);
    check(listed, &v2(0x21, 0x11, &[0; 4]), None);
}

/// From another network, a PROXY protocol header is an invalid request.
#[test]
fn a_proxy_header_from_another_network_is_an_invalid_request() {
    let server = proxied(&["10.0.0.0/8"]);
    let mut client = server.connect();
    let answer = client.exchange([V1, get("/").as_bytes()].concat());
    assert_eq!(answer.status, 400);
    client.finish();
    client.expect_close();
    let mut client = server.connect();
    let answer = client.exchange(v2(0x21, 0x11, &[1; 12]));
    assert_eq!(answer.status, 400);
    let mut client = server.connect();
    let own = client.local_address().to_string();
    assert_eq!(client.exchange(get("/")).text(), own);
}
