//! Which connections a service admits: it decides before a byte is read, by the address of the peer
//! and the listener.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::{Server, get};
use vervet_engine::limits::Limits;
use vervet_engine::listener::{Endpoint, ListenAddress, ListenOptions, ListenerKey};
use vervet_engine::{Admit, Builder, Engine, Exchange, Outcome, Response, Service};
use vervet_testkit::{PATIENCE, RawClient, TempTree, wait_until};

/// Rejects all connections from one address, and all at one listener.
#[derive(Clone)]
struct AddressFilter {
    address: IpAddr,
    key: ListenerKey,
    asked: Arc<AtomicUsize>,
}

impl Service for AddressFilter {
    fn call(&mut self, exchange: Exchange<'_>) -> Outcome {
        let peer = exchange.peer().map(|peer| peer.ip().to_string());
        let key = exchange.listener().key().0;
        Response::text(format!("{} {key}", peer.unwrap_or_default())).into()
    }

    fn admit(&mut self, peer: Option<SocketAddr>, listener: &Endpoint) -> Admit {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if listener.key() == self.key || peer.is_some_and(|peer| peer.ip() == self.address) {
            return Admit::Close;
        }
        Admit::Accept
    }
}

/// Rejects 192.0.2.1 and listener 2.
fn address_filter() -> AddressFilter {
    AddressFilter { address: [192, 0, 2, 1].into(), key: ListenerKey(2), asked: Arc::default() }
}

fn options(key: u32) -> ListenOptions {
    ListenOptions {
        key: ListenerKey(key),
        defer_accept: Duration::ZERO,
        ..ListenOptions::default()
    }
}

fn any_port() -> ListenAddress {
    "127.0.0.1:0".parse().unwrap()
}

fn start(builder: Builder, address_filter: &AddressFilter) -> Server {
    let service = address_filter.clone();
    Server::new(builder.start(move |_| service.clone()).unwrap())
}

fn addresses(server: &Server) -> Vec<SocketAddr> {
    let listeners = server.running().listeners();
    let addresses = listeners.iter();
    addresses.filter_map(|listener| listener.local_address()).collect()
}

/// The number of rejected connections, once all that were opened have ended.
#[track_caller]
fn denied(server: &Server) -> u64 {
    server.wait_for_connections(0);
    server.count(|counters| &counters.denied)
}

#[test]
fn a_rejected_connection_is_closed_without_a_byte() {
    let builder = Engine::builder().workers(2);
    let builder = builder.listen_with(&any_port(), &options(2)).unwrap();
    let builder = builder.listen_with(&any_port(), &options(3)).unwrap();
    let server = start(builder, &address_filter());
    let addresses = addresses(&server);
    for _ in 0..5 {
        // No byte was sent on this one.
        RawClient::connect(addresses[0]).expect_close();
        let mut client = RawClient::connect(addresses[0]);
        // The connection may be closed already.
        let _ = client.try_send(get("/"));
        assert!(client.try_read_response().is_none());
        let mut client = RawClient::connect(addresses[1]);
        assert_eq!(client.exchange(get("/")).text(), "127.0.0.1 3");
    }
    assert_eq!(denied(&server), 10);
    assert_eq!(server.count(|counters| &counters.connections), 5);
    assert_eq!(server.count(|counters| &counters.requests), 5);
}

/// The kernel has taken the request before the connection was accepted.
#[test]
fn a_request_of_a_rejected_connection_is_not_read() {
    let deferred = ListenOptions { key: ListenerKey(2), ..ListenOptions::default() };
    let builder = Engine::builder().listen_with(&any_port(), &deferred);
    let server = start(builder.unwrap(), &address_filter());
    for _ in 0..5 {
        let mut client = server.connect();
        client.send(get("/"));
        assert!(client.try_read_response().is_none());
    }
    assert_eq!(denied(&server), 5);
    assert_eq!(server.count(|counters| &counters.requests), 0);
}

/// Sends a request after this PROXY protocol header and expects the answer, or none.
#[track_caller]
fn check_proxied(refused: &str, preface: &[u8], expected: Option<&str>) {
    let options =
        ListenOptions { proxy_protocol_from: vec!["127.0.0.0/8".parse().unwrap()], ..options(1) };
    let address_filter = AddressFilter { address: refused.parse().unwrap(), ..address_filter() };
    let builder = Engine::builder().listen_with(&any_port(), &options);
    let server = start(builder.unwrap(), &address_filter);
    let mut client = server.connect();
    let half = preface.len() / 2;
    client.send(&preface[..half]);
    assert_eq!(address_filter.asked.load(Ordering::SeqCst), 0);
    client.send([&preface[half..], get("/").as_bytes()].concat());
    let answer = client.try_read_response();
    assert_eq!(answer.as_ref().map(|answer| answer.text()), expected);
    drop(client);
    assert_eq!(denied(&server), u64::from(expected.is_none()));
    assert_eq!(address_filter.asked.load(Ordering::SeqCst), 1);
}

#[test]
fn behind_a_proxy_the_forwarded_address_is_checked() {
    let from = |address: &str| format!("PROXY TCP4 {address} 198.51.100.1 1 2\r\n");
    let (one, two) = (from("192.0.2.1"), from("192.0.2.2"));
    check_proxied("192.0.2.1", one.as_bytes(), None);
    check_proxied("192.0.2.1", two.as_bytes(), Some("192.0.2.2 1"));
    check_proxied("127.0.0.1", one.as_bytes(), Some("192.0.2.1 1"));
    // The proxy itself, which forwards no other address.
    let own: &[u8] = b"PROXY UNKNOWN\r\n";
    check_proxied("127.0.0.1", own, None);
    check_proxied("192.0.2.1", own, Some("127.0.0.1 1"));
}

/// Above the connection limit, too, a client that is not admitted gets no answer.
#[test]
fn overload_is_answered_only_to_admitted_clients() {
    let limits = Limits { connections_max: 1, ..Limits::default() };
    let builder = Engine::builder().limits(limits);
    let builder = builder.listen_with(&any_port(), &options(2)).unwrap();
    let builder = builder.listen_with(&any_port(), &options(3)).unwrap();
    let server = start(builder, &address_filter());
    let addresses = addresses(&server);
    let mut held = RawClient::connect(addresses[1]);
    held.exchange(get("/"));
    RawClient::connect(addresses[0]).expect_close();
    let mut extra = RawClient::connect(addresses[1]);
    assert_eq!(extra.read_response().status, 503);
    let counted = |which| server.count(which);
    assert_eq!(counted(|counters| &counters.denied), 1);
    assert!(wait_until(PATIENCE, || counted(|counters| &counters.refused) == 1));
}

#[test]
fn unix_peers_are_checked_without_an_address() {
    let tree = TempTree::new();
    let paths = ["open", "shut"].map(|name| tree.join(name));
    let mut builder = Engine::builder();
    for (path, key) in paths.iter().zip([1, 2]) {
        let address = ListenAddress::Unix(path.clone());
        builder = builder.listen_with(&address, &options(key)).unwrap();
    }
    let address_filter = address_filter();
    let running = builder.start({
        let service = address_filter.clone();
        move |_| service.clone()
    });
    let running = running.unwrap();
    let mut client = RawClient::connect_unix(&paths[0]);
    assert_eq!(client.exchange(get("/")).text(), " 1");
    RawClient::connect_unix(&paths[1]).expect_close();
    assert_eq!(address_filter.asked.load(Ordering::SeqCst), 2);
    running.control().stop();
    running.wait().unwrap();
}
