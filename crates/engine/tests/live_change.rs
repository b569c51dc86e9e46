//! A listener that gets other options while it listens: nobody in its queue is lost, and what
//! cannot change says so.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::common::{Server, get};
use vervet_engine::listener::{BindError, ListenAddress, ListenOptions, ListenerKey};
use vervet_engine::{Engine, EngineError, Exchange, Outcome, Response};
use vervet_testkit::{PATIENCE, RawClient, TempTree, open_fds, own_process};

/// Answers with the key of the listener and the address of the peer.
#[allow(clippy::needless_pass_by_value, reason = "what a handler is")]
fn echo(exchange: Exchange<'_>) -> Outcome {
    let peer = exchange.peer().map(|peer| peer.ip().to_string());
    let key = exchange.listener().key().0;
    Response::text(format!("{key} {}", peer.unwrap_or_default())).into()
}

fn server() -> Server {
    Server::with(Engine::builder().workers(2), echo)
}

fn options(key: u32) -> ListenOptions {
    ListenOptions { key: ListenerKey(key), ..ListenOptions::default() }
}

/// Changes from these options to those cannot be made, because of this one.
#[track_caller]
fn check_fixed(from: &ListenOptions, to: &ListenOptions, fixed: &str) {
    let server = server();
    let control = server.running().control();
    let address: ListenAddress = "127.0.0.1:0".parse().unwrap();
    let endpoint = control.listen(&address, from).unwrap();
    let error = control.change(&endpoint, to).unwrap_err();
    let EngineError::Bind(BindError::Fixed { option, .. }) = &error else {
        panic!("{error}");
    };
    assert_eq!(*option, fixed);
    let mut client = RawClient::connect(endpoint.local_address().unwrap());
    assert_eq!(client.exchange(get("/")).text(), "1 127.0.0.1");
    assert!(Arc::ptr_eq(&control.listeners()[1], &endpoint));
}

#[test]
fn an_option_that_cannot_change_is_named() {
    let plain = options(1);
    let other = |change: fn(&mut ListenOptions)| {
        let mut options = options(1);
        change(&mut options);
        options
    };
    let reuse_port = other(|options| options.reuse_port = true);
    check_fixed(&plain, &reuse_port, "reuse_port");
    check_fixed(&reuse_port, &plain, "reuse_port");
    check_fixed(&plain, &other(|options| options.v6only = true), "v6only");
    check_fixed(&other(|options| options.fastopen = 16), &plain, "fastopen");
    check_fixed(&other(|options| options.send_buffer = Some(65_536)), &plain, "send_buffer");
}

#[test]
fn a_closed_listener_cannot_change() {
    let server = server();
    let control = server.running().control();
    let address: ListenAddress = "127.0.0.1:0".parse().unwrap();
    let endpoint = control.listen(&address, &options(1)).unwrap();
    let gone = control.unlisten(&endpoint);
    let error = control.change(&endpoint, &options(2)).unwrap_err();
    assert!(matches!(error, EngineError::Ended), "{error}");
    gone.wait().unwrap();
    assert_eq!(control.listeners().len(), 1);
}

#[test]
fn new_connections_have_the_new_options_and_old_ones_the_old() {
    let server = server();
    let control = server.running().control();
    for reuse_port in [false, true] {
        let first = ListenOptions { reuse_port, ..options(1) };
        let second = ListenOptions {
            proxy_protocol_from: vec!["127.0.0.0/8".parse().unwrap()],
            key: ListenerKey(2),
            backlog: 16,
            ..first.clone()
        };
        let address: ListenAddress = "127.0.0.1:0".parse().unwrap();
        let endpoint = control.listen(&address, &first).unwrap();
        let address = endpoint.local_address().unwrap();
        let mut old = RawClient::connect(address);
        assert_eq!(old.exchange(get("/")).text(), "1 127.0.0.1");
        let changed = control.change(&endpoint, &second).unwrap();
        assert_eq!(changed.local_address(), Some(address));
        for _ in 0..20 {
            let mut new = RawClient::connect(address);
            let preface = "PROXY TCP4 192.0.2.1 198.51.100.1 1 2\r\n";
            let answer = new.exchange(format!("{preface}{}", get("/")));
            assert_eq!(answer.text(), "2 192.0.2.1");
        }
        assert_eq!(old.exchange(get("/")).text(), "1 127.0.0.1");
        // It goes by the endpoint that it has now.
        control.unlisten(&endpoint).wait().unwrap();
        assert_eq!(control.listeners().len(), 2);
        control.unlisten(&changed).wait().unwrap();
        assert_eq!(control.listeners().len(), 1);
        std::net::TcpListener::bind(address).unwrap();
    }
}

#[test]
fn the_file_of_a_unix_socket_stays_and_has_other_permissions() {
    let tree = TempTree::new();
    let path = tree.join("socket");
    let server = server();
    let control = server.running().control();
    let with_mode = |key, mode| ListenOptions { mode: Some(mode), ..options(key) };
    let address = ListenAddress::Unix(path.clone());
    let mut endpoint = control.listen(&address, &with_mode(0, 0o600)).unwrap();
    for (key, mode) in [(1, 0o660), (2, 0o666), (3, 0o600)] {
        endpoint = control.change(&endpoint, &with_mode(key, mode)).unwrap();
        let permissions = fs::metadata(&path).unwrap().permissions();
        assert_eq!(permissions.mode() & 0o777, mode);
        let mut client = RawClient::connect_unix(&path);
        assert_eq!(client.exchange(get("/")).text(), format!("{key} "));
    }
    control.unlisten(&endpoint).wait().unwrap();
    assert!(!path.exists());
}

/// Requests on connections of their own until told to stop.
fn load(address: SocketAddr, stop: &AtomicBool) -> u64 {
    let mut answers = 0;
    while !stop.load(Ordering::SeqCst) {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        stream.write_all(request).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.ends_with(" 127.0.0.1"), "{answer:?}");
        answers += 1;
    }
    answers
}

#[test]
fn two_hundred_changes_under_load_lose_nobody() {
    own_process!();
    let server = server();
    let control = server.running().control();
    let stop = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let (address, stop) = (server.address, Arc::clone(&stop));
            thread::spawn(move || load(address, &stop))
        })
        .collect();
    let mut endpoint = control.listeners().remove(0);
    let mut most = 0;
    for round in 1..=200 {
        endpoint = control.change(&endpoint, &options(round)).unwrap();
        most = most.max(open_fds(std::process::id()).unwrap());
    }
    stop.store(true, Ordering::SeqCst);
    let answers = clients.into_iter().map(|client| client.join().unwrap());
    assert!(answers.sum::<u64>() > 0);
    assert_eq!(server.connect().exchange(get("/")).text(), "200 127.0.0.1");
    // Each change has a descriptor more only until it is made, and the other tests have some.
    assert!(most < 150, "{most} descriptors");
}
