//! The ceiling answers what it is told to, in memory and from a file.
#![allow(clippy::unwrap_used)]

use std::net::SocketAddr;

use vervet_lab::ceiling::{Canned, Then, serve};
use vervet_testkit::{PATIENCE, RawClient, TempTree, free_port, wait_for};

const REQUEST: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/// A ceiling that serves as long as the test's process lives.
fn start(content: &[u8], then: Then) -> SocketAddr {
    let folder = Box::leak(Box::new(TempTree::new()));
    let path = folder.path().join("content");
    std::fs::write(&path, content).unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let canned = Canned {
        content: path,
        then,
    };
    std::thread::spawn(move || serve(address, &canned));
    let listens = wait_for(PATIENCE, || std::net::TcpStream::connect(address).ok());
    assert!(listens.is_some());
    address
}

#[test]
fn answers_as_often_as_it_is_asked() {
    for length in [0, 13, 200_000, 3_000_000] {
        let content: Vec<u8> = (0..=250).cycle().take(length).collect();
        let address = start(&content, Then::Keep);
        let mut client = RawClient::connect(address);
        for _ in 0..3 {
            let response = client.exchange(REQUEST);
            assert_eq!(response.status, 200);
            assert!(
                response.content == content,
                "{length}: {} bytes",
                response.content.len()
            );
        }
    }
}

#[test]
fn closes_when_it_is_told_to() {
    for length in [13, 200_000] {
        let content = vec![b'x'; length];
        let mut client = RawClient::connect(start(&content, Then::Close));
        let response = client.exchange(REQUEST);
        assert_eq!(response.content.len(), length);
        client.expect_close();
    }
}
