//! Files as content: every part byte for byte, at any offset, and a reset if the file is shorter
//! than announced.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use crate::common::{Server, get, noise, target_of};
use bytes::Bytes;
use vervet_engine::http::status::Status;
use vervet_engine::limits::Limits;
use vervet_engine::reactor::FileSlice;
use vervet_engine::{Content, Exchange, Outcome, Piece, Response};
use vervet_testkit::{PATIENCE, skip};

fn file_of(content: &[u8]) -> Arc<File> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    Arc::new(file)
}

/// `/OFFSET/LENGTH` of the file.
fn slices(file: Arc<File>) -> impl FnMut(Exchange<'_>) -> Outcome + Clone + Send + Sync + 'static {
    move |exchange| {
        let target = target_of(&exchange);
        let (offset, length) = target[1..].split_once('/').unwrap();
        let slice = FileSlice {
            file: Arc::clone(&file),
            offset: offset.parse().unwrap(),
            length: length.parse().unwrap(),
        };
        Response::new(Status::OK).content(Content::File(slice)).into()
    }
}

/// A file that is shorter than the announced length does not make a complete answer.
#[track_caller]
fn check_truncated(promised: usize, left: usize) {
    let file = file_of(&noise(promised));
    let server = Server::start(Limits::default(), slices(Arc::clone(&file)));
    let mut client = TcpStream::connect(server.address).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.write_all(get(&format!("/0/{promised}")).as_bytes()).unwrap();
    // The head is here, so the file is on its way, and blocked by a reader that does not read.
    client.peek(&mut [0]).unwrap();
    file.set_len(left as u64).unwrap();
    let mut received = Vec::new();
    assert!(client.read_to_end(&mut received).is_err(), "an end and no reset");
    assert!(received.len() < promised);
    server.wait_for_connections(0);
}

#[test]
fn a_file_that_is_truncated_while_it_is_sent_is_a_reset() {
    check_truncated(50_000_000, 1_000_000);
    check_truncated(50_000_000, 0);
}

#[test]
fn a_file_that_is_shorter_than_promised_is_a_reset() {
    let server = Server::start(Limits::default(), slices(file_of(b"hello")));
    for target in ["/0/6", "/5/1", "/9/1"] {
        let mut client = TcpStream::connect(server.address).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client.write_all(get(target).as_bytes()).unwrap();
        assert!(client.read_to_end(&mut Vec::new()).is_err(), "{target}");
    }
}

#[test]
fn every_offset_and_length_is_byte_for_byte() {
    let content = noise(300_000);
    let server = Server::start(Limits::default(), slices(file_of(&content)));
    let mut client = server.connect();
    let around = |page: usize| [(page * 4096).saturating_sub(1), page * 4096, page * 4096 + 1];
    let offsets = [0, 1, 2, 3, 16, 31].into_iter().flat_map(around);
    for offset in offsets.chain([5, 127, 2048, 12_345]) {
        for length in [0, 1, 4095, 4096, 4097, 8191, 16_384, 65_535, 65_536, 65_537] {
            let response = client.exchange(get(&format!("/{offset}/{length}")));
            assert_eq!(response.field("Content-Length"), Some(&*length.to_string()));
            let expected = &content[offset..offset + length];
            assert!(response.content == expected, "{length} bytes from {offset}");
        }
    }
}

#[test]
fn pipelined_parts_of_a_file_keep_their_order() {
    let content = noise(300_000);
    let server = Server::start(Limits::default(), slices(file_of(&content)));
    let mut client = server.connect();
    let requests: String = (0..200).map(|n| get(&format!("/{}/{}", n * 7, 100_000 - n))).collect();
    client.send(requests);
    for n in 0..200 {
        let response = client.read_response();
        assert!(response.content == content[n * 7..n * 7 + 100_000 - n], "answer {n}");
    }
}

#[test]
fn large_files_arrive_whole() {
    let content = noise(30_000_000);
    // Comparing takes its time on a busy machine, and the connections are to be there afterwards.
    let limits = Limits {
        keep_alive_idle_ms: 600_000,
        write_stall_timeout_ms: 600_000,
        ..Limits::default()
    };
    let server = Server::start(limits, slices(file_of(&content)));
    let mut clients: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.send(get(&format!("/0/{}", content.len())));
    }
    for client in &mut clients {
        assert!(client.read_response().content == content);
        assert_eq!(client.exchange(get("/0/1")).content, content[..1]);
    }
}

#[test]
fn an_empty_file_is_an_empty_answer() {
    let server = Server::start(Limits::default(), slices(file_of(b"")));
    let mut client = server.connect();
    for _ in 0..2 {
        let response = client.exchange(get("/0/0"));
        assert_eq!((response.status, response.field("Content-Length")), (200, Some("0")));
    }
    client.send("HEAD /0/0 HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(client.read_head_response().field("Content-Length"), Some("0"));
}

#[test]
fn head_sends_the_length_and_no_file() {
    let server = Server::start(Limits::default(), slices(file_of(&noise(100_000))));
    let mut client = server.connect();
    for _ in 0..2 {
        client.send("HEAD /0/100000 HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(client.read_head_response().field("Content-Length"), Some("100000"));
    }
    assert_eq!(client.exchange(get("/0/2")).content.len(), 2);
}

#[test]
fn a_file_beyond_4_gb_is_sent_from_its_end() {
    const SIZE: u64 = (5 << 30) + 1;
    let mut file = tempfile::tempfile().unwrap();
    if file.set_len(SIZE).is_err() {
        skip!("needs a file system with sparse files of 5 GB");
    }
    let tail = noise(70_000);
    file.seek(SeekFrom::Start(SIZE - 70_000)).unwrap();
    file.write_all(&tail).unwrap();
    let server = Server::start(Limits::default(), slices(Arc::new(file)));
    let mut client = server.connect();
    let response = client.exchange(get(&format!("/{}/70000", SIZE - 70_000)));
    assert!(response.content == tail);
    client.send(format!("HEAD /0/{SIZE} HTTP/1.1\r\nHost: a\r\n\r\n"));
    let length = client.read_head_response();
    assert_eq!(length.field("Content-Length"), Some("5368709121"));
    let across = client.exchange(get(&format!("/{}/10", (4_u64 << 30) - 5)));
    assert_eq!(across.content, [0; 10]);
}

/// As `multipart/byteranges` are put together: bytes and parts of files in turn.
#[test]
fn pieces_follow_one_another() {
    let content = noise(9_000_000);
    let file = file_of(&content);
    let whole = Bytes::from(content.clone());
    let server = Server::start(Limits::default(), move |_: Exchange<'_>| {
        let slice =
            |offset, length| Piece::File(FileSlice { file: Arc::clone(&file), offset, length });
        let bytes = |from: usize, to: usize| Piece::Bytes(whole.slice(from..to));
        let pieces = [
            bytes(0, 3),
            slice(5, 10_001),
            bytes(7, 7),
            bytes(0, 16_384),
            bytes(1, 16_386),
            slice(0, 0),
            slice(4_095, 8_500_000),
            bytes(0, 1),
            bytes(0, 9_000_000),
            slice(8_999_999, 1),
            bytes(5, 7),
        ];
        Response::new(Status::OK).content(Content::Pieces(pieces.into())).into()
    });
    let part = |from: usize, length: usize| &content[from..from + length];
    let expected = [
        part(0, 3),
        part(5, 10_001),
        part(0, 16_384),
        part(1, 16_385),
        part(4_095, 8_500_000),
        part(0, 1),
        part(0, 9_000_000),
        part(8_999_999, 1),
        part(5, 2),
    ]
    .concat();
    let mut client = server.connect();
    for _ in 0..2 {
        let response = client.exchange(get("/"));
        assert_eq!(response.content.len(), expected.len());
        assert!(response.content == expected);
    }
}
