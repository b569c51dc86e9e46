//! Content that the client role skips: RFC 9112 §6.3 still determines its length.

use vervet_http::field::FieldSlots;
use vervet_http::h1::state::State;
use vervet_http::h1::{Client, HeadLimits, Next, Received, SkipError, StreamEnd, Violation};
use vervet_http::method::Method;

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
const CONTENT: &[u8] = b"0123456789";

#[derive(Debug, PartialEq, Eq)]
enum Found {
    NeedMore,
    Head,
    Content(Vec<u8>),
    End,
    Paused,
    Broken(Violation),
}

fn asked(method: Method) -> Client {
    let mut client = Client::new();
    client.sent_whole(method).unwrap();
    client
}

/// Takes one event, and what it consumed, off the input.
fn receive(client: &mut Client, input: &mut &[u8]) -> Found {
    let mut slots = FieldSlots::new();
    let (found, consumed) = match client.receive(input, &mut slots, &HeadLimits::DEFAULT) {
        Ok(Received::Head { consumed, .. }) => (Found::Head, consumed),
        Ok(Received::Content { bytes, consumed }) => (Found::Content(bytes.to_vec()), consumed),
        Ok(Received::End { consumed, .. }) => (Found::End, consumed),
        Ok(Received::NeedMore) => (Found::NeedMore, 0),
        Ok(Received::Paused) => (Found::Paused, 0),
        Ok(other) => panic!("not expected here: {other:?}"),
        Err(violation) => (Found::Broken(violation), 0),
    };
    *input = &input[consumed..];
    found
}

/// A client that has read the head.
fn after_head() -> Client {
    let mut client = asked(Method::Get);
    assert_eq!(receive(&mut client, &mut { HEAD }), Found::Head);
    client
}

fn refused(client: &mut Client, bytes: u64, left: u64) {
    assert_eq!(client.skip(bytes), Err(SkipError { left }), "{client:?}");
    assert_eq!(client.content_left(), left, "nothing was skipped");
}

/// The second answer is read from its first byte on.
fn next_answer(mut client: Client) {
    assert_eq!(client.start_next(), Next::Request);
    assert_eq!(client.content_left(), 0);
    client.sent_whole(Method::Get).unwrap();
    let mut input = &[HEAD, CONTENT].concat()[..];
    assert_eq!(receive(&mut client, &mut input), Found::Head);
    let found = receive(&mut client, &mut input);
    assert_eq!(found, Found::Content(CONTENT.to_vec()));
    assert_eq!(receive(&mut client, &mut input), Found::End);
}

#[test]
fn never_skips_more_than_is_left() {
    let mut client = after_head();
    refused(&mut client, 11, 10);
    refused(&mut client, u64::MAX, 10);
    client.skip(9).unwrap();
    refused(&mut client, 2, 1);
    client.skip(1).unwrap();
    refused(&mut client, 1, 0);
    assert_eq!(receive(&mut client, &mut &b"HTTP"[..]), Found::End);
    refused(&mut client, 1, 0);
    assert_eq!(receive(&mut client, &mut &b"HTTP"[..]), Found::Paused);
}

/// Where the framing has bytes of its own, or may not even be known, only reading tells what
/// follows.
#[test]
fn skips_nothing_without_a_length() {
    refused(&mut Client::new(), 1, 0);
    refused(&mut asked(Method::Get), 1, 0);
    for (method, head) in [
        (Method::Get, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        (Method::Get, "HTTP/1.1 200 OK\r\n\r\n"),
        (Method::Get, "HTTP/1.1 103 Early Hints\r\n\r\n"),
        (Method::Get, "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"),
        (Method::Head, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
    ] {
        let mut client = asked(method);
        assert_eq!(receive(&mut client, &mut head.as_bytes()), Found::Head);
        refused(&mut client, 1, 0);
    }
    let mut client = asked(Method::Get);
    let chunk = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab";
    let mut input = &chunk[..];
    assert_eq!(receive(&mut client, &mut input), Found::Head);
    let found = receive(&mut client, &mut input);
    assert_eq!(found, Found::Content(b"ab".to_vec()));
    refused(&mut client, 1, 0);
}

#[test]
fn nothing_follows_a_violation() {
    let mut client = asked(Method::Get);
    let broken = receive(&mut client, &mut &b"SSH-2.0\r\n\r\n"[..]);
    assert!(matches!(broken, Found::Broken(_)), "{broken:?}");
    refused(&mut client, 1, 0);
}

#[test]
fn knows_content_that_was_cut_short() {
    for skipped in 0..10 {
        let mut client = after_head();
        client.skip(skipped).unwrap();
        assert_eq!(client.end_of_stream(b""), Err(Violation::Truncated));
        assert_eq!(client.receiving(), State::Error);
        refused(&mut client, 1, 0);
    }
    let mut client = after_head();
    client.skip(10).unwrap();
    assert_eq!(receive(&mut client, &mut &b""[..]), Found::End);
    assert_eq!(client.end_of_stream(b""), Ok(StreamEnd::BetweenMessages));
}

/// Whatever is skipped, from any byte to any other, the rest is read as it stands and the end is
/// where it was.
#[test]
fn the_end_is_where_it_was() {
    for from in 0..=CONTENT.len() {
        for to in from..=CONTENT.len() {
            let mut client = after_head();
            if from > 0 {
                let mut piece = &CONTENT[..from];
                let found = receive(&mut client, &mut piece);
                assert_eq!(found, Found::Content(CONTENT[..from].to_vec()));
            }
            assert_eq!(client.content_left(), (CONTENT.len() - from) as u64);
            client.skip((to - from) as u64).unwrap();
            assert_eq!(client.content_left(), (CONTENT.len() - to) as u64);
            // The next answer follows in the same piece.
            let rest = [&CONTENT[to..], HEAD].concat();
            let mut input = &rest[..];
            if to < CONTENT.len() {
                let found = receive(&mut client, &mut input);
                assert_eq!(found, Found::Content(CONTENT[to..].to_vec()));
            }
            assert_eq!(receive(&mut client, &mut input), Found::End);
            assert_eq!(input, HEAD);
            next_answer(client);
        }
    }
}

#[test]
fn skips_byte_by_byte() {
    let mut client = after_head();
    for left in (0..10).rev() {
        assert_eq!(receive(&mut client, &mut &b""[..]), Found::NeedMore);
        client.skip(0).unwrap();
        client.skip(1).unwrap();
        assert_eq!(client.content_left(), left);
    }
    assert_eq!(receive(&mut client, &mut &b""[..]), Found::End);
    next_answer(client);
}
