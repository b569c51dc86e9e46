//! An engine that changes while it serves: listeners are added and removed, limits change, services
//! reload their shared state.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::common::{LATE, Server, echo_target, get, load, noise, target_of};
use rustix::net::sockopt::set_socket_linger;
use vervet_engine::limits::Limits;
use vervet_engine::listener::{Endpoint, ListenAddress, ListenOptions, ListenerKey};
use vervet_engine::{Engine, EngineError, Exchange, Outcome, Response, Service};
use vervet_testkit::{PATIENCE, RawClient, TempTree, wait_until};

fn options(key: u32) -> ListenOptions {
    ListenOptions { key: ListenerKey(key), ..ListenOptions::default() }
}

fn any_port() -> ListenAddress {
    "127.0.0.1:0".parse().unwrap()
}

/// Answers with the key of the listener.
#[allow(clippy::needless_pass_by_value, reason = "what a handler is")]
fn echo_key(exchange: Exchange<'_>) -> Outcome {
    Response::text(exchange.listener().key().0.to_string()).into()
}

fn keys(server: &Server) -> Vec<u32> {
    let listeners = server.running().listeners();
    listeners.iter().map(|listener| listener.key().0).collect()
}

/// Whether the address accepts connections. It may ignore handshakes for a while, or be closed.
fn is_open(address: SocketAddr) -> bool {
    TcpStream::connect_timeout(&address, LATE).is_ok()
}

#[test]
fn an_address_that_cannot_be_had_changes_nothing() {
    let server = Server::with(Engine::builder().workers(2), echo_key);
    let control = server.running().control();
    let held = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = ListenAddress::Tcp(held.local_addr().unwrap());
    for reuse_port in [false, true] {
        let options = ListenOptions { reuse_port, ..options(1) };
        let error = control.listen(&taken, &options).unwrap_err();
        assert!(matches!(error, EngineError::Bind(_)), "{error}");
    }
    assert_eq!(keys(&server), [0]);
    assert_eq!(server.connect().exchange(get("/")).text(), "0");
}

#[test]
fn an_engine_that_ends_takes_no_listener() {
    let server = Server::with(Engine::builder().workers(2), echo_key);
    let control = server.running().control();
    control.stop();
    server.ended();
    let address = vervet_testkit::free_port();
    let address = ListenAddress::Tcp(([127, 0, 0, 1], address).into());
    for _ in 0..2 {
        let error = control.listen(&address, &options(1)).unwrap_err();
        assert!(matches!(error, EngineError::Ended), "{error}");
    }
    assert!(control.listeners().is_empty());
    assert!(control.refresh().wait().is_err());
    // The socket that was bound in vain is closed.
    std::net::TcpListener::bind(address.to_string()).unwrap();
}

#[test]
fn limits_that_are_out_of_bounds_change_nothing() {
    let server = Server::start(Limits::default(), echo_target);
    let limits = Limits { head_bytes_max: 1, connections_max: 1, ..Limits::default() };
    let control = server.running().control();
    control.set_limits(limits).unwrap_err();
    let mut clients = [server.connect(), server.connect()];
    for client in &mut clients {
        assert_eq!(client.exchange(get("/")).text(), "/");
    }
}

#[test]
fn a_listener_comes_to_all_reactors_and_goes_while_its_connections_stay() {
    let server = Server::with(Engine::builder().workers(2), echo_key);
    let control = server.running().control();
    for reuse_port in [false, true] {
        let options = ListenOptions { reuse_port, ..options(7) };
        let endpoint = control.listen(&any_port(), &options).unwrap();
        let address = endpoint.local_address().unwrap();
        assert_eq!(keys(&server), [0, 7]);
        let mut clients: Vec<_> = (0..40).map(|_| RawClient::connect(address)).collect();
        for client in &mut clients {
            assert_eq!(client.exchange(get("/")).text(), "7");
        }
        let loads = control.loads();
        assert_eq!(loads.iter().sum::<usize>(), 40);
        assert!(loads.iter().all(|load| *load > 0), "{loads:?}");
        let gone = control.unlisten(&endpoint);
        assert_eq!(keys(&server), [0]);
        gone.wait().unwrap();
        // Connections do not keep the socket: others may have the address now.
        let next = control.listen(&ListenAddress::Tcp(address), &options);
        let next = next.unwrap();
        control.unlisten(&next).wait().unwrap();
        assert!(!is_open(address));
        for client in &mut clients {
            assert_eq!(client.exchange(get("/")).text(), "7");
        }
        drop(clients);
        server.wait_for_connections(0);
        assert!(wait_until(PATIENCE, || control.loads() == [0, 0]));
        // Once more is not too much.
        control.unlisten(&endpoint).wait().unwrap();
    }
    assert_eq!(server.connect().exchange(get("/")).text(), "0");
}

/// A listener that is taken out of the configuration may not reset the connections in its queue.
#[test]
fn no_connection_in_the_queue_is_lost_when_a_listener_goes() {
    let server = Server::with(Engine::builder().workers(2), echo_key);
    let control = server.running().control();
    for round in 0..6 {
        let options = ListenOptions { reuse_port: round % 2 == 1, ..options(7) };
        let endpoint = control.listen(&any_port(), &options).unwrap();
        let address = endpoint.local_address().unwrap();
        let before = server.count(|counters| &counters.requests);
        let clients: Vec<_> =
            (0..4).map(|_| thread::spawn(move || load(address, "/", "\r\n\r\n7"))).collect();
        server.wait_for_count(|counters| &counters.requests, before + 200);
        control.unlisten(&endpoint).wait().unwrap();
        let answers: u64 = clients.into_iter().map(|client| client.join().unwrap()).sum();
        assert!(answers >= 200, "{answers} answers");
    }
}

/// Clients that have connected are served, and later ones are refused at once.
#[test]
fn a_unix_listener_goes_with_its_file_and_an_empty_queue() {
    let tree = TempTree::new();
    let server = Server::with(Engine::builder().workers(2), echo_key);
    let control = server.running().control();
    for key in 0..20 {
        let path = tree.join("socket");
        let address = ListenAddress::Unix(path.clone());
        let endpoint = control.listen(&address, &options(key)).unwrap();
        let before = server.count(|counters| &counters.requests);
        let clients: Vec<_> = (0..4)
            .map(|_| {
                let path = path.clone();
                thread::spawn(move || {
                    let mut answers = 0;
                    while let Ok(mut stream) = std::os::unix::net::UnixStream::connect(&path) {
                        let request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
                        stream.write_all(request.as_bytes()).unwrap();
                        let mut answer = String::new();
                        stream.read_to_string(&mut answer).unwrap();
                        assert!(answer.ends_with(&format!("\r\n\r\n{key}")), "{answer:?}");
                        answers += 1;
                    }
                    answers
                })
            })
            .collect();
        server.wait_for_count(|counters| &counters.requests, before + 50);
        control.unlisten(&endpoint).wait().unwrap();
        assert!(!path.exists());
        let answers: u64 = clients.into_iter().map(|client| client.join().unwrap()).sum();
        assert!(answers >= 50, "{answers} answers");
    }
}

#[test]
fn other_limits_hold_for_new_requests_and_new_connections() {
    let server = Server::start(Limits::default(), |mut exchange: Exchange<'_>| {
        let Some(mut content) = exchange.content() else {
            return echo_target(exchange);
        };
        let spawner = exchange.spawner().clone();
        let (responder, outcome) = exchange.later();
        spawner.spawn(async move {
            let mut length = 0;
            while let Some(Ok(bytes)) = content.read().await {
                length += bytes.len();
            }
            responder.send(Response::text(length.to_string()));
        });
        outcome
    });
    let control = server.running().control();
    let long_target = get(&format!("/{}", "x".repeat(100)));
    let mut client = server.connect();
    assert_eq!(client.exchange(&long_target).status, 200);
    let mut sending = server.connect();
    sending.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000\r\n\r\n");
    sending.send(noise(5000));
    server.wait_for_count(|counters| &counters.requests, 2);
    let limits = Limits {
        target_bytes_max: 64,
        content_bytes_max: 100,
        connections_max: 2,
        ..Limits::default()
    };
    control.set_limits(limits).unwrap().wait().unwrap();
    // Both were there before, and what was promised to the one holds.
    sending.send(noise(5000));
    assert_eq!(sending.read_response().text(), "10000");
    assert_eq!(client.exchange(get("/")).status, 200);
    assert_eq!(server.connect().exchange(get("/")).status, 503);
    assert_eq!(client.exchange(&long_target).status, 414);
    let request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n";
    assert_eq!(sending.exchange(request).status, 413);
    control.set_limits(Limits::default()).unwrap().wait().unwrap();
    let mut clients = [server.connect(), server.connect(), server.connect()];
    for client in &mut clients {
        assert_eq!(client.exchange(&long_target).status, 200);
    }
}

/// Counts how often it was told, and on which thread.
#[derive(Clone, Default)]
struct Told {
    plan: Arc<AtomicUsize>,
    seen: usize,
    threads: Arc<Mutex<Vec<thread::ThreadId>>>,
}

impl Service for Told {
    fn call(&mut self, exchange: Exchange<'_>) -> Outcome {
        Response::text(format!("{} {}", target_of(&exchange), self.seen)).into()
    }

    fn refresh(&mut self) {
        self.seen = self.plan.load(Ordering::SeqCst);
        let mut threads = self.threads.lock().unwrap();
        threads.push(thread::current().id());
    }
}

#[test]
fn every_service_is_told_once_on_its_own_thread() {
    let told = Told::default();
    let service = told.clone();
    let builder = Engine::builder().workers(3).listen("127.0.0.1:0").unwrap();
    let server = Server::new(builder.start(move |_| service.clone()).unwrap());
    let control = server.running().control();
    let mut clients: Vec<_> = (0..12).map(|_| server.connect()).collect();
    for round in 1..=50 {
        told.plan.store(round, Ordering::SeqCst);
        control.refresh().wait().unwrap();
        for client in &mut clients {
            // Connections are kept, and each reactor answers by what it was told.
            assert_eq!(client.exchange(get("/a")).text(), format!("/a {round}"));
        }
    }
    let threads = told.threads.lock().unwrap().clone();
    let mut own = threads[..3].to_vec();
    own.dedup();
    assert_eq!(threads.len(), 150);
    assert_eq!(own.len(), 3);
    for id in own {
        assert_eq!(threads.iter().filter(|thread| **thread == id).count(), 50);
    }
    assert!(!threads.contains(&thread::current().id()));
}

/// `Running` and its hand see the same, and an engine that has ended listens nowhere.
#[test]
fn what_is_listened_on_is_told_truly() {
    let server = Server::with(Engine::builder().workers(2), echo_key);
    let control = server.running().control();
    let endpoint = control.listen(&any_port(), &options(1)).unwrap();
    let address = endpoint.local_address().unwrap();
    let told = |listeners: Vec<Arc<Endpoint>>| {
        let addresses = listeners.iter();
        let addresses = addresses.filter_map(|listener| listener.local_address());
        addresses.collect::<Vec<_>>()
    };
    let expected = [server.address, address];
    assert_eq!(told(control.listeners()), expected);
    assert_eq!(told(server.running().listeners()), expected);
    let held = TcpStream::connect(address).unwrap();
    // Else the address would be in use for a minute.
    set_socket_linger(&held, Some(std::time::Duration::ZERO)).unwrap();
    control.drain(0);
    server.ended();
    assert!(control.listeners().is_empty());
    drop(held);
    std::net::TcpListener::bind(address).unwrap();
}
