//! Targets that misbehave: each has its class, none stops or grows the generator.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::common::{GOOD, answering, plan, request, requests, run, server};
use vervet_report::{Ended, ErrorClass, Run};

/// The number of requests for each hostile server; a retry of a failed connection takes 10 ms or
/// more.
const REQUESTS: u64 = 6;

#[track_caller]
fn check(run: &Run, class: ErrorClass) {
    assert_eq!(run.errors.count(class), run.errors.total(), "{:?}", run.errors);
    assert_eq!(run.errors.total(), REQUESTS);
    assert_eq!(run.achieved.done, 0);
    assert!(run.timings.response.is_empty(), "failures have no time");
}

#[track_caller]
fn check_answer(answer: &[u8], class: ErrorClass) {
    let answer = answer.to_vec();
    let address = server(move |mut stream| {
        if request(&mut stream).is_some() {
            let _ = stream.write_all(&answer);
        }
    });
    check(&run(requests(plan(address), REQUESTS)), class);
}

#[test]
fn a_server_that_refuses() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = gone.local_addr().unwrap();
    drop(gone);
    let run = run(requests(plan(address), REQUESTS));
    check(&run, ErrorClass::Refused);
    assert_eq!(run.achieved.ended, Ended::TargetFailed);
}

#[test]
fn a_server_that_never_answers() {
    let address = server(|mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let mut plan = requests(plan(address), REQUESTS);
    plan.connections = 3;
    plan.response_timeout = Duration::from_millis(200);
    let begun = Instant::now();
    check(&run(plan), ErrorClass::Timeout);
    assert!(begun.elapsed() >= Duration::from_millis(400), "twice each");
}

#[test]
fn a_server_that_does_not_accept() {
    use rustix::net::{AddressFamily, SocketType, bind, listen, socket};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap()).unwrap();
    listen(&socket, 1).unwrap();
    let listener = TcpListener::from(socket);
    let address = listener.local_addr().unwrap();
    // Fills the queue.
    let _waiting: Vec<_> =
        (0..4).map(|_| TcpStream::connect_timeout(&address, Duration::from_millis(100))).collect();
    let mut plan = requests(plan(address), REQUESTS);
    plan.connections = 3;
    plan.connect_timeout = Duration::from_millis(200);
    plan.response_timeout = Duration::from_millis(200);
    check(&run(plan), ErrorClass::Timeout);
}

#[test]
fn a_server_that_sends_less_than_announced() {
    check_answer(b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello", ErrorClass::ClosedEarly);
    check_answer(b"HTTP/1.1 200 OK\r\nContent-Le", ErrorClass::ClosedEarly);
    check_answer(b"", ErrorClass::ClosedEarly);
    let chunk = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n";
    check_answer(chunk, ErrorClass::ClosedEarly);
}

#[test]
fn a_server_with_a_wrong_length() {
    check_answer(
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello, world\n",
        ErrorClass::Malformed,
    );
    let two = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nHello";
    check_answer(two, ErrorClass::Malformed);
    let both =
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    check_answer(both, ErrorClass::Malformed);
}

#[test]
fn a_server_that_answers_twice() {
    check_answer(&GOOD.repeat(2), ErrorClass::Malformed);
}

#[test]
fn a_server_without_http() {
    check_answer(b"SSH-2.0-OpenSSH_9.2\r\n\r\n", ErrorClass::Malformed);
    check_answer(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", ErrorClass::Malformed);
    let chunk = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello\r\n";
    check_answer(chunk, ErrorClass::Malformed);
    check_answer(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", ErrorClass::Malformed);
}

#[test]
fn a_server_with_a_megabyte_of_fields() {
    let fields = b"X-Filler: 0123456789abcdef0123456789abcdef\r\n".repeat(25_000);
    check_answer(&[b"HTTP/1.1 200 OK\r\n", &fields[..]].concat(), ErrorClass::Malformed);
    // In one field, without an end.
    let endless = [b"HTTP/1.1 200 OK\r\nX: ", &b"y".repeat(1 << 20)[..]].concat();
    check_answer(&endless, ErrorClass::Malformed);
}

#[test]
fn a_server_that_resets() {
    let address = server(|mut stream| {
        request(&mut stream);
        // Unread bytes, or this option, make the close a reset.
        let zero = Some(Duration::ZERO);
        rustix::net::sockopt::set_socket_linger(&stream, zero).unwrap();
    });
    check(&run(requests(plan(address), REQUESTS)), ErrorClass::Reset);
}

/// An answer that trickles in byte by byte, without an end, ends at the time limit and holds no
/// memory.
#[test]
fn a_server_with_an_endless_answer() {
    let address = server(|mut stream| {
        request(&mut stream);
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let _ = stream.write_all(head);
        let chunk = [&b"10000\r\n"[..], &b"z".repeat(0x10000), b"\r\n"].concat();
        while stream.write_all(&chunk).is_ok() {}
        let _ = stream.shutdown(Shutdown::Both);
    });
    let mut plan = requests(plan(address), REQUESTS);
    plan.connections = 3;
    plan.response_timeout = Duration::from_millis(200);
    check(&run(plan), ErrorClass::Timeout);
}

/// Half of the answers are good, and only they count.
#[test]
fn a_server_that_fails_every_other_time() {
    let address = server(|mut stream| {
        if request(&mut stream).is_some() && stream.write_all(GOOD).is_ok() {
            request(&mut stream);
        }
    });
    let run = run(requests(plan(address), REQUESTS));
    assert_eq!((run.achieved.done, run.errors.closed_early), (3, 3));
    assert_eq!(run.timings.response.count(), 3);
    assert_eq!(run.achieved.connections_opened, 3);
}

/// A target that was good and then fails is asked again, on new connections, until the end.
#[test]
fn a_wrong_answer_does_not_end_the_connection() {
    let run = run(requests(
        plan(answering(&b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"[..])),
        REQUESTS,
    ));
    check(&run, ErrorClass::WrongStatus);
    assert_eq!(run.achieved.connections_opened, 1);
    assert_eq!(run.statuses.get(&500), Some(&REQUESTS));
}
