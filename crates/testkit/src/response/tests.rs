//! Rows for the test parser: it must refuse what no server may send, and lose nothing of what
//! follows a response.

use std::panic::catch_unwind;

use super::*;

/// Hands out the bytes in pieces of one size.
struct Pieces<'a> {
    bytes: &'a [u8],
    size: usize,
}

impl Source for Pieces<'_> {
    fn more(&mut self) -> Option<Vec<u8>> {
        let (piece, rest) = self.bytes.split_at(self.size.min(self.bytes.len()));
        self.bytes = rest;
        (!piece.is_empty()).then(|| piece.to_vec())
    }
}

/// The response and what follows it, the same for every size of pieces.
fn parse(bytes: &str, method: Method) -> Option<(Response, String)> {
    let results = [1, 2, 7, 100_000].map(|size| {
        let mut left = Vec::new();
        let mut source = Pieces { bytes: bytes.as_bytes(), size };
        let response = read(&mut left, &mut source, method)?;
        left.extend_from_slice(source.bytes);
        Some((response, String::from_utf8(left).unwrap()))
    });
    assert!(results.iter().all(|result| *result == results[0]), "pieces matter: {bytes:?}");
    results.into_iter().next().unwrap()
}

fn refuses(bytes: &str) {
    assert!(catch_unwind(|| parse(bytes, Method::Other)).is_err(), "taken: {bytes:?}");
}

/// `expected`: status, framing, content, what follows.
fn check(bytes: &str, expected: (u16, Framing, &str, &str)) {
    let (response, after) = parse(bytes, Method::Other).unwrap();
    assert_eq!(
        (response.status, response.framing, response.text(), after.as_str()),
        expected,
        "{bytes:?}"
    );
}

#[test]
fn refuses_heads_that_no_server_may_send() {
    refuses("HTTP/2 200 OK\r\n\r\n");
    refuses("HTTP/1.1 200\r\n\r\n");
    refuses("HTTP/1.1 20 OK\r\n\r\n");
    refuses("HTTP/1.1 200 OK\r\nno colon\r\n\r\n");
    refuses("HTTP/1.1 200 OK\r\nName : value\r\n\r\n");
    refuses("HTTP/1.1 200 OK\r\nA: 1\r\n folded: 2\r\n\r\n");
    refuses("HTTP/1.1 200 OK\r\nA: 1\n\r\n\r\n");
    refuses("HTTP/1.1 200 OK\r\nA: 1\r\n");
}

#[test]
fn refuses_framing_that_no_server_may_send() {
    refuses("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx");
    refuses("HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx");
    refuses("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx");
    refuses(
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    );
    refuses("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    refuses("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n");
    refuses("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n");
    refuses("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ng\r\n");
    refuses("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n");
}

#[test]
fn finds_the_end_of_the_content() {
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP",
        (200, Framing::Length(2), "hi", "HTTP"),
    );
    check("HTTP/1.1 200 \r\n\r\nall of it", (200, Framing::UntilClose, "all of it", ""));
    check(
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\nnext",
        (304, Framing::NoContent, "", "next"),
    );
    check(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n",
        (100, Framing::NoContent, "", "HTTP/1.1 200 OK\r\n"),
    );
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhi\r\nA\r\n0123456789\r\n0\r\n\r\nnext",
        (200, Framing::Chunked, "hi0123456789", "next"),
    );
}

#[test]
fn the_answer_to_head_has_no_content() {
    let (response, after) =
        parse("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHTTP", Method::Head).unwrap();
    assert_eq!((response.framing, after.as_str()), (Framing::NoContent, "HTTP"));
    assert_eq!(response.field("content-length"), Some("5"));
}

#[test]
fn keeps_fields_and_trailers_in_their_order() {
    let bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: 1\r\na:\t2 \r\n\r\n0\r\nT: end\r\n\r\n";
    let (response, _) = parse(bytes, Method::Other).unwrap();
    assert_eq!(response.field_values("a"), ["1", "2"]);
    assert_eq!(response.trailers, [("T".to_owned(), "end".to_owned())]);
    assert_eq!((response.version_minor, response.reason.as_str()), (1, "OK"));
}

#[test]
fn the_end_before_the_first_byte_is_no_response() {
    assert_eq!(parse("", Method::Other), None);
}
