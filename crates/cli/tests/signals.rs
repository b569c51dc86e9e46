//! How the server ends: nothing that was accepted is lost, and nobody waits for longer than was
//! said.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use vervet_testkit::{PATIENCE, RawClient, Signal, TempTree, Vervet, wait_until};

const BINARY: &str = env!("CARGO_BIN_EXE_vervet");

const REQUEST: &[u8] = b"GET /a.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

/// Connections that one client opens at most, so that a server that does not end leaves the test to
/// fail.
const CONNECTIONS_MAX: usize = 100_000;

fn serve(arguments: &[&str]) -> (TempTree, Vervet) {
    let tree = TempTree::new().file("a.txt", "all of the content").sparse("big", 1 << 30);
    let server = Vervet::serve(BINARY, tree.path(), [arguments, &["--log", "none"]].concat());
    (tree, server)
}

/// What a client has seen until nobody listened any more.
#[derive(Debug, Default)]
struct Seen {
    answered: usize,
    lost: Vec<String>,
}

/// One connection a request, until a connection is refused.
fn short_connections(address: SocketAddr, answered: &AtomicUsize) -> Seen {
    let mut seen = Seen::default();
    for _ in 0..CONNECTIONS_MAX {
        let Ok(mut stream) = TcpStream::connect(address) else {
            break;
        };
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut answer = Vec::new();
        let result = stream.write_all(REQUEST).and_then(|()| stream.read_to_end(&mut answer));
        if answer.ends_with(b"all of the content") {
            seen.answered += 1;
            answered.fetch_add(1, Ordering::Relaxed);
        } else {
            seen.lost.push(format!("{result:?}: {}", String::from_utf8_lossy(&answer)));
        }
    }
    seen
}

#[track_caller]
fn check_no_loss(arguments: &[&str]) {
    let (_tree, mut server) = serve(arguments);
    let address = server.address;
    let answered = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let client = || short_connections(address, &answered);
        let clients: Vec<_> = (0..6).map(|_| scope.spawn(client)).collect();
        let enough = || answered.load(Ordering::Relaxed) >= 300;
        assert!(wait_until(PATIENCE, enough), "{answered:?} answers under load");
        server.child.signal(Signal::TERM);
        let exit = server.child.wait_exit(PATIENCE);
        assert_eq!(exit.code(), Some(0), "{:?}", server.child.lines());
        for client in clients {
            let seen = client.join().unwrap();
            assert!(seen.lost.is_empty(), "after {} answers: {:?}", seen.answered, seen.lost);
        }
    });
}

#[test]
fn term_under_load_loses_no_accepted_request() {
    for _ in 0..5 {
        check_no_loss(&["--workers", "2"]);
    }
}

#[test]
fn term_under_load_loses_no_accepted_request_with_sockets_of_their_own_or_without_deferring() {
    check_no_loss(&["--workers", "1"]);
    check_no_loss(&["--workers", "2", "--no-defer-accept"]);
    check_no_loss(&["--workers", "2", "--reuse-port"]);
    check_no_loss(&["--workers", "2", "--carrier", "tokio"]);
}

/// A download that its client does not read: the drain has something to wait for.
fn stuck(server: &Vervet) -> RawClient {
    let mut client = server.connect();
    client.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n");
    client.read_exact(1);
    client
}

#[test]
fn a_second_signal_ends_at_once_with_the_status_that_shells_give() {
    for (first, second, code) in [
        (Signal::TERM, Signal::TERM, 143),
        (Signal::TERM, Signal::INT, 130),
        (Signal::INT, Signal::INT, 130),
        (Signal::INT, Signal::QUIT, 131),
    ] {
        let (_tree, mut server) = serve(&[]);
        let _client = stuck(&server);
        server.child.signal(first);
        server.child.wait_for_line(|line| {
            line.starts_with("vervet: stopping: waiting up to 30 s for requests to end")
        });
        let begin = Instant::now();
        server.child.signal(second);
        assert_eq!(server.child.wait_exit(PATIENCE).code(), Some(code));
        assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    }
}

#[test]
fn a_drain_ends_at_its_limit() {
    let (_tree, mut server) = serve(&["--drain-timeout", "400ms"]);
    let _client = stuck(&server);
    let begin = Instant::now();
    server.child.signal(Signal::TERM);
    assert_eq!(server.child.wait_exit(PATIENCE).code(), Some(0));
    let took = begin.elapsed();
    assert!(took >= Duration::from_millis(350) && took < Duration::from_secs(3), "{took:?}");
}

#[test]
fn idle_connections_do_not_delay_the_end() {
    let (_tree, mut server) = serve(&[]);
    let mut kept: Vec<_> = (0..50).map(|_| server.connect()).collect();
    for client in &mut kept {
        let answer = client.exchange("GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(answer.status, 200);
    }
    let begin = Instant::now();
    server.child.signal(Signal::TERM);
    assert_eq!(server.child.wait_exit(PATIENCE).code(), Some(0));
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    kept.iter_mut().for_each(RawClient::expect_close);
}

#[test]
fn a_download_under_way_is_completed() {
    let tree = TempTree::new().sparse("big", 64 << 20);
    let mut server = Vervet::serve(BINARY, tree.path(), ["--log", "none"]);
    let mut client = server.connect();
    client.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n");
    let head = client.read_exact(16);
    assert!(head.starts_with(b"HTTP/1.1 200 OK"));
    server.child.signal(Signal::TERM);
    server.child.wait_for_line(|line| line.starts_with("vervet: stopping"));
    let rest = client.read_to_close();
    assert!(rest.len() > 64 << 20, "{} bytes", rest.len());
    assert_eq!(server.child.wait_exit(PATIENCE).code(), Some(0));
}

#[test]
fn a_reload_signal_without_a_configuration_is_reported_and_ignored() {
    let (_tree, mut server) = serve(&[]);
    server.child.signal(Signal::HUP);
    server
        .child
        .wait_for_line(|line| line == "vervet: no configuration file to reload; log file reopened");
    server.child.signal(Signal::USR1);
    server.child.signal(Signal::PIPE);
    let answer = server.connect().exchange(REQUEST);
    assert_eq!(answer.status, 200);
    server.child.signal(Signal::QUIT);
    assert_eq!(server.child.wait_exit(PATIENCE).code(), Some(0));
    let refused = TcpStream::connect(server.address).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
}
