//! The example that shows how little a server in a Rust program takes, run as it stands.

use std::path::PathBuf;

use vervet_testkit::{Child, RawClient};

/// Most lines the example may have, from `fn main` to its end.
const LINES_MAX: usize = 20;

fn binary() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("examples/embed")
}

#[test]
fn a_server_with_a_handler_takes_twenty_lines() {
    let source = include_str!("../examples/embed.rs");
    let main = source.lines().skip_while(|line| !line.starts_with("fn main"));
    assert!(main.count() <= LINES_MAX);
}

#[test]
fn the_example_serves() {
    let mut child = Child::start(binary(), ["127.0.0.1:0"]);
    let mut client = RawClient::connect(child.wait_for_address());
    let response = client.exchange("GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!((response.status, response.text()), (200, "Hello from /a?b\n"));
    assert_eq!(response.field("Content-Type"), Some("text/plain; charset=utf-8"));
}
