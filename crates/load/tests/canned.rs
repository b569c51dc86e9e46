//! The canned-response server answers with its content, from memory and from a file.
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use vervet_load::canned::{Canned, CannedAnswer, CannedConnection, CannedContent};
use vervet_testkit::{PATIENCE, RawClient, TempTree, wait_for};

const REQUEST: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/// A server that runs as long as the test's process.
fn start(content: &[u8], connection: CannedConnection) -> SocketAddr {
    let folder = Box::leak(Box::new(TempTree::new()));
    let path = folder.path().join("content");
    std::fs::write(&path, content).unwrap();
    let answer =
        CannedAnswer { content: CannedContent::File(path), connection, ..CannedAnswer::default() };
    let canned = Canned::start(&"127.0.0.1:0".parse().unwrap(), &answer).unwrap();
    let canned = Box::leak(Box::new(canned));
    canned.address().unwrap()
}

#[test]
fn answers_each_request() {
    for length in [0, 13, 200_000, 3_000_000] {
        let content: Vec<u8> = (0..=250).cycle().take(length).collect();
        let address = start(&content, CannedConnection::AsRequested);
        let mut client = RawClient::connect(address);
        for _ in 0..3 {
            let response = client.exchange(REQUEST);
            assert_eq!(response.status, 200);
            assert!(response.content == content, "{length}: {} bytes", response.content.len());
        }
    }
}

#[test]
fn answers_requests_that_come_together() {
    // More than one send takes, and more than one read.
    const REQUESTS: usize = 3000;
    for length in [13, 20_000] {
        let content = vec![b'x'; length];
        let address = start(&content, CannedConnection::AsRequested);
        let whole = RawClient::connect(address).exchange(REQUEST).head.len() + length;
        let mut client = TcpStream::connect(address).unwrap();
        let mut sender = client.try_clone().unwrap();
        let sending =
            std::thread::spawn(move || sender.write_all(REQUEST.repeat(REQUESTS).as_bytes()));
        let mut answers = vec![0; whole * REQUESTS];
        client.read_exact(&mut answers).unwrap();
        assert!(answers.chunks(whole).all(|answer| answer == &answers[..whole]), "{length}");
        sending.join().unwrap().unwrap();
    }
}

#[test]
fn closes_after_each_response() {
    for length in [13, 200_000] {
        let content = vec![b'x'; length];
        let mut client = RawClient::connect(start(&content, CannedConnection::Close));
        let response = client.exchange(REQUEST);
        assert_eq!(response.content.len(), length);
        client.expect_close();
    }
}

#[test]
fn a_request_may_come_late_and_in_pieces() {
    for then in [CannedConnection::AsRequested, CannedConnection::Close] {
        let mut client = RawClient::connect(start(b"hello", then));
        client.send("GET / HTTP/1.1\r\nHost: x\r\n");
        client.send("\r\n");
        let response = client.read_response();
        assert_eq!((response.status, response.content.as_slice()), (200, &b"hello"[..]));
    }
}

/// The state of the server's end of a connection, as /proc/net/tcp has it.
fn state(server: SocketAddr, client: SocketAddr) -> Option<String> {
    let end = |address: SocketAddr| format!("0100007F:{:04X}", address.port());
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let rows = table.lines().map(|row| row.split_whitespace().collect::<Vec<_>>());
    let mut rows = rows.filter(|row| row.len() > 3);
    let row = rows.find(|row| row[1] == end(server) && row[2] == end(client));
    row.map(|row| row[3].to_owned())
}

#[test]
fn accepts_connections_with_their_first_bytes() {
    const SYN_RECEIVED: &str = "03";
    for connection in [CannedConnection::AsRequested, CannedConnection::Close] {
        let server = start(b"hello", connection);
        let client = TcpStream::connect(server).unwrap();
        let found = wait_for(PATIENCE, || state(server, client.local_addr().unwrap()));
        assert_eq!(found.as_deref(), Some(SYN_RECEIVED), "{connection:?}");
    }
}
