//! Files over a connection: what the engine adds, what it leaves out, and what it does when a file
//! fails it.

use std::fs::OpenOptions;

use crate::support::wire::Wire;
use crate::support::{text, unpacked};
use vervet_server::{Files, FilesOptions, FilesShared};
use vervet_testkit::{RawClient, TempTree};

const LARGE_BYTES: usize = 8 << 20;

fn start(tree: &TempTree) -> Wire {
    let shared = FilesShared::new(FilesOptions::new(tree.path())).unwrap();
    Wire::start(move |_| Files::new(&shared))
}

fn tree() -> TempTree {
    TempTree::new()
        .file("a.txt", "hello")
        .file("empty.txt", "")
        .file("page.html", text(20_000))
        .file("large.bin", text(LARGE_BYTES))
        .dir("folder")
}

/// Sends a request line and fields on a connection of its own; status, Content-Length, content.
fn check(wire: &Wire, request: &str, expected: (u16, Option<&str>, &[u8])) {
    let mut client = RawClient::connect(wire.address);
    client.send(format!("{request}\r\nHost: x\r\n\r\n"));
    let is_head = request.starts_with("HEAD");
    let response = if is_head { client.read_head_response() } else { client.read_response() };
    let length = response.field("content-length");
    assert_eq!((response.status, length), (expected.0, expected.1), "{request}");
    assert!(response.content == expected.2, "{request}");
    assert!(response.field("date").is_some() && response.field("server") == Some("Vervet"));
}

#[test]
fn refusals_leave_the_connection_usable() {
    let tree = tree();
    let wire = start(&tree);
    let mut client = RawClient::connect(wire.address);
    for (request, status) in [
        ("GET /nothing HTTP/1.1", 404),
        ("GET /%2e%2e/x HTTP/1.1", 400),
        ("PUT /a.txt HTTP/1.1", 405),
        ("BREW /a.txt HTTP/1.1", 501),
        ("GET /folder HTTP/1.1", 301),
        ("GET /a.txt HTTP/1.1\r\nRange: bytes=9-", 416),
        ("GET /a.txt HTTP/1.1\r\nIf-Match: \"x\"", 412),
        ("OPTIONS * HTTP/1.1", 204),
        ("GET /a.txt HTTP/1.1", 200),
    ] {
        let response = client.exchange(format!("{request}\r\nHost: x\r\n\r\n"));
        assert_eq!(response.status, status, "{request}");
    }
    wire.stop();
}

#[test]
fn lengths_are_told_and_kept() {
    let tree = tree();
    let wire = start(&tree);
    check(&wire, "GET /a.txt HTTP/1.1", (200, Some("5"), b"hello"));
    check(&wire, "GET http://x/a.txt HTTP/1.1", (200, Some("5"), b"hello"));
    check(&wire, "HEAD /empty.txt HTTP/1.1", (200, Some("0"), b""));
    check(&wire, "GET /empty.txt HTTP/1.1", (200, Some("0"), b""));
    let (large, length) = (text(LARGE_BYTES), LARGE_BYTES.to_string());
    check(&wire, "GET /large.bin HTTP/1.1", (200, Some(&length), &large));
    check(
        &wire,
        "GET /large.bin HTTP/1.1\r\nRange: bytes=4097-",
        (206, Some(&(LARGE_BYTES - 4097).to_string()), &large[4097..]),
    );
    let mut client = RawClient::connect(wire.address);
    let parts = client
        .exchange("GET /large.bin HTTP/1.1\r\nHost: x\r\nRange: bytes=0-0,70000-140000\r\n\r\n");
    assert_eq!(parts.status, 206);
    assert!(parts.content.windows(70_001).any(|part| part == &large[70_000..=140_000]));
    wire.stop();
}

#[test]
fn pipelined_requests_are_answered_in_order_whoever_works_on_them() {
    let tree = tree();
    let wire = start(&tree);
    let mut client = RawClient::connect(wire.address);
    let page = "GET /page.html HTTP/1.1\r\nHost: x\r\nAccept-Encoding: br\r\n\r\n";
    let listing = "GET /folder/?json HTTP/1.1\r\nHost: x\r\n\r\n";
    let small = "GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n";
    client.send(format!("{page}{small}{listing}{small}{page}"));
    let contents: Vec<_> = (0..5).map(|_| client.read_response().content).collect();
    assert_eq!(unpacked(&contents[0], "br"), text(20_000));
    assert_eq!(contents[1], b"hello");
    assert!(contents[2].starts_with(b"{\"path\":\"/folder/\""));
    assert_eq!(contents[3], b"hello");
    assert_eq!(contents[4], contents[0]);
    wire.stop();
}

#[test]
fn a_file_cut_while_it_is_sent_ends_the_connection() {
    let tree = tree();
    let wire = start(&tree);
    let mut client = RawClient::connect(wire.address);
    client.send("HEAD /large.bin HTTP/1.1\r\nHost: x\r\n\r\n");
    client.read_head_response();
    // The entry is still believed, the file is shorter: the length promised cannot be kept.
    OpenOptions::new().write(true).open(tree.join("large.bin")).unwrap().set_len(1000).unwrap();
    client.send("GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n");
    let rest = client.read_to_close();
    let end = rest.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    assert!(rest[..end].starts_with(b"HTTP/1.1 200"), "the head had been sent already");
    assert!(rest.len() - end <= 1000, "and then nothing that is not of the file");
    wire.stop();
}
