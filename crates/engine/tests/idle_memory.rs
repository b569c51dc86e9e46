//! The memory of idle keep-alive connections.

use std::io::Write as _;

use crate::common::{get, start_child};
use vervet_engine::capacity::raise_files;
use vervet_testkit::{RawClient, skip};

const CONNECTIONS: usize = 10_000;
/// Over the server at rest: 524 bytes for each connection.
const BYTES_MAX: u64 = 5 << 20;
/// Open files of each process, of which an engine allows 10,087 connections.
const FILES: u64 = 11_600;

#[test]
fn ten_thousand_idle_connections_cost_5_mib() {
    let files = raise_files().unwrap();
    if files < FILES {
        skip!("needs {FILES} open files, and {files} are allowed");
    }
    let (child, address) = start_child(u32::try_from(FILES).unwrap());
    for _ in 0..100 {
        let mut client = RawClient::connect(address);
        assert_eq!(client.exchange(get("/warm")).text(), "/warm");
    }
    let before = child.rss_bytes();
    let mut clients = Vec::with_capacity(CONNECTIONS);
    while clients.len() < CONNECTIONS {
        let mut batch: Vec<_> = (0..100).map(|_| RawClient::connect(address)).collect();
        for client in &mut batch {
            client.send(get("/"));
        }
        for client in &mut batch {
            assert_eq!(client.read_response().text(), "/");
        }
        clients.append(&mut batch);
    }
    let cost = child.rss_bytes() - before;
    let each = cost / CONNECTIONS as u64;
    // Past the test harness, which keeps what a test prints while it passes.
    writeln!(
        std::io::stderr(),
        "{CONNECTIONS} idle connections: {} KiB, {each} bytes each",
        cost >> 10
    )
    .unwrap();
    assert!(cost <= BYTES_MAX, "{cost} bytes, {each} for each connection");
    // They are alive, and none of them has grown a buffer that it keeps.
    for client in clients.iter_mut().step_by(100) {
        assert_eq!(client.exchange(get("/still")).text(), "/still");
    }
    assert!(child.rss_bytes() - before <= BYTES_MAX);
}
