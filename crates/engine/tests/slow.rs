//! Timeouts: a client that is slow on purpose is closed in time, in each phase, and others are not
//! affected.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::common::{LATE, Server, echo_target, get, target_of};
use rustix::net::sockopt::set_socket_recv_buffer_size;
use rustix::net::{AddressFamily, SocketType, connect, socket};
use vervet_engine::limits::Limits;
use vervet_engine::listener::ListenOptions;
use vervet_engine::{Engine, Exchange, Outcome, Response};
use vervet_testkit::{PATIENCE, RawClient, wait_until};

const LIMIT: Duration = Duration::from_millis(500);

/// Limits with one short timeout.
fn limits() -> Limits {
    Limits { requests_per_connection_max: 0, rate_grace_ms: 1_000, ..Limits::default() }
}

/// The first byte of a request comes late, or never: the kernel must hand the connection over
/// without it.
fn at_once() -> ListenOptions {
    ListenOptions { defer_accept: Duration::ZERO, ..ListenOptions::default() }
}

/// `/SIZE` answers so many bytes, after reading the content if there is some.
fn sized(mut exchange: Exchange<'_>) -> Outcome {
    let size = target_of(&exchange)[1..].parse().unwrap_or(1);
    let response = Response::text(vec![b'x'; size]);
    let Some(mut content) = exchange.content() else {
        return response.into();
    };
    let spawner = exchange.spawner().clone();
    let (responder, outcome) = exchange.later();
    spawner.spawn(async move {
        while let Some(Ok(_)) = content.read().await {}
        responder.send(response);
    });
    outcome
}

fn start(limits: Limits, options: &ListenOptions) -> Server {
    Server::listening(Engine::builder().limits(limits), options, sized)
}

/// Fifty clients that receive every answer, until they are stopped.
struct Others {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<usize>>,
}

impl Others {
    /// `preface` goes before the first request.
    fn start(address: SocketAddr, preface: &'static str) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let threads = (0..5).map(|_| {
            let stop = Arc::clone(&stop);
            thread::spawn(move || {
                let mut clients: Vec<_> = (0..10).map(|_| RawClient::connect(address)).collect();
                for client in &mut clients {
                    client.send(preface);
                }
                let mut answers = 0;
                while !stop.load(Ordering::Relaxed) {
                    for client in &mut clients {
                        assert_eq!(client.exchange(get("/10")).content.len(), 10);
                        answers += 1;
                    }
                }
                answers
            })
        });
        let threads = threads.collect();
        Self { stop, threads }
    }

    fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            assert!(thread.join().unwrap() > 0);
        }
    }
}

/// Runs the slow client `dawdle`, which returns when the connection is closed.
#[track_caller]
fn check(
    (limits, options, preface): (Limits, &ListenOptions, &'static str),
    limit: Duration,
    dawdle: impl FnOnce(&mut TcpStream, &Server),
) {
    let server = start(limits, options);
    let others = Others::start(server.address, preface);
    let begin = Instant::now();
    let mut slow = TcpStream::connect(server.address).unwrap();
    slow.set_read_timeout(Some(PATIENCE)).unwrap();
    dawdle(&mut slow, &server);
    let cut = begin.elapsed();
    assert!(cut + Duration::from_millis(20) > limit, "cut after {cut:?}");
    assert!(cut < limit + LATE, "cut after {cut:?}");
    others.stop();
}

/// The pace of a slow client.
const PACE: Duration = Duration::from_millis(20);

fn cut_within(time: Duration, server: &Server) -> bool {
    wait_until(time, || server.timeouts() > 0)
}

/// Sends a byte at a time until the server answers or closes, and returns what came.
fn send_slowly(slow: &mut TcpStream, bytes: impl IntoIterator<Item = u8>) -> Vec<u8> {
    slow.set_read_timeout(Some(PACE)).unwrap();
    let mut received = Vec::new();
    for byte in bytes {
        if slow.write_all(&[byte]).is_err() {
            break;
        }
        let mut buffer = [0; 4096];
        match slow.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                received.extend_from_slice(&buffer[..count]);
                break;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => break,
        }
    }
    received
}

#[track_caller]
fn starts_with(received: &[u8], expected: &str) {
    let shown = String::from_utf8_lossy(received);
    assert!(shown.starts_with(expected), "{shown:?}");
}

#[test]
fn no_bytes_after_the_accept() {
    let limits = Limits { head_timeout_ms: 500, proxy_header_timeout_ms: 500, ..limits() };
    check((limits, &at_once(), ""), LIMIT, |slow, _| {
        assert_eq!(slow.read(&mut [0]).unwrap(), 0);
    });
}

#[test]
fn a_head_byte_by_byte() {
    let limits = Limits { head_timeout_ms: 500, proxy_header_timeout_ms: 500, ..limits() };
    check((limits, &at_once(), ""), LIMIT, |slow, _| {
        let head = "GET / HTTP/1.1\r\nHost: a\r\nX: ".bytes().chain([b'x'; 10_000]);
        starts_with(&send_slowly(slow, head), "HTTP/1.1 408 Request Timeout\r\n");
    });
}

/// The time of a further head runs from its own first byte.
#[test]
fn a_second_head_byte_by_byte() {
    let limits = Limits { head_timeout_ms: 500, proxy_header_timeout_ms: 500, ..limits() };
    check((limits, &at_once(), ""), LIMIT, |slow, _| {
        slow.write_all(get("/").as_bytes()).unwrap();
        assert!(slow.read(&mut [0; 4096]).unwrap() > 0);
        let head = "GET / HTTP/1.1\r\nHost: a\r\nX: ".bytes().chain([b'x'; 10_000]);
        starts_with(&send_slowly(slow, head), "HTTP/1.1 408 Request Timeout\r\n");
    });
}

#[test]
fn content_byte_by_byte() {
    let limits = Limits { content_rate_min: 1_000, ..limits() };
    check((limits, &at_once(), ""), Duration::from_secs(1), |slow, _| {
        slow.write_all(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000\r\n\r\n").unwrap();
        starts_with(&send_slowly(slow, [b'x'; 10_000]), "HTTP/1.1 408 Request Timeout\r\n");
    });
}

#[test]
fn content_that_stops() {
    let limits = Limits { content_idle_timeout_ms: 500, ..limits() };
    check((limits, &at_once(), ""), LIMIT, |slow, _| {
        slow.write_all(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        slow.read_to_end(&mut answer).unwrap();
        starts_with(&answer, "HTTP/1.1 408 Request Timeout\r\n");
    });
}

#[test]
fn a_proxy_header_byte_by_byte() {
    let limits = Limits { proxy_header_timeout_ms: 500, ..limits() };
    let options =
        ListenOptions { proxy_protocol_from: vec!["127.0.0.0/8".parse().unwrap()], ..at_once() };
    let preface = "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n";
    check((limits, &options, preface), LIMIT, |slow, _| {
        let header = "PROXY TCP4 192.0.2.1".bytes().chain([b'1'; 80]);
        assert_eq!(send_slowly(slow, header), b"");
    });
}

#[test]
fn an_answer_byte_by_byte() {
    let limits = Limits { write_stall_timeout_ms: 500, ..limits() };
    check((limits, &at_once(), ""), LIMIT, |slow, server| {
        slow.write_all(get("/30000000").as_bytes()).unwrap();
        // What the kernel has taken over stays to be read after the cut: only the engine knows when
        // that was.
        while !cut_within(PACE, server) {
            assert_eq!(slow.read(&mut [0]).unwrap(), 1);
        }
    });
}

#[test]
fn an_answer_that_is_read_steadily_and_too_slowly() {
    let limits = Limits { write_rate_min: 200_000_000, ..limits() };
    check((limits, &at_once(), ""), Duration::from_secs(1), |slow, server| {
        slow.write_all(get("/300000000").as_bytes()).unwrap();
        let mut buffer = vec![0; 500_000];
        while !cut_within(PACE, server) {
            assert!(slow.read(&mut buffer).unwrap() > 0);
        }
        assert_eq!(server.count(|counters| &counters.timeouts.write_rate), 1);
    });
}

/// A client whose receive buffer holds a few KB.
fn narrow(address: SocketAddr) -> TcpStream {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    set_socket_recv_buffer_size(&socket, 1).unwrap();
    connect(&socket, &address).unwrap();
    TcpStream::from(socket)
}

fn narrow_listener() -> ListenOptions {
    ListenOptions { send_buffer: Some(4_096), ..ListenOptions::default() }
}

/// All timeouts are long except that for the client to read the answer.
#[track_caller]
fn check_stalled(request: &str) {
    let limits = Limits {
        write_stall_timeout_ms: 500,
        keep_alive_idle_ms: 3_600_000,
        head_timeout_ms: 3_600_000,
        content_idle_timeout_ms: 3_600_000,
        ..limits()
    };
    let server = start(limits, &narrow_listener());
    let mut client = narrow(server.address);
    // A first answer, not read, fills what the client's end takes: of the next one not a byte will
    // be taken.
    client.write_all(get("/3000").as_bytes()).unwrap();
    client.peek(&mut [0]).unwrap();
    let begin = Instant::now();
    client.write_all(request.as_bytes()).unwrap();
    server.wait_for_count(|counters| &counters.requests, 2);
    let cut = wait_until(LIMIT + LATE, || server.running().connections() == 0);
    assert!(cut, "never cut: {request}");
    assert!(begin.elapsed() + Duration::from_millis(20) > LIMIT);
    assert_eq!(server.timeouts(), 1);
    assert_eq!(server.count(|counters| &counters.timeouts.write_stall), 1);
}

#[test]
fn small_answers_that_are_not_read() {
    let close = "GET /16000 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    check_stalled(&get("/16000"));
    check_stalled(&get("/16000").repeat(100));
    check_stalled(close);
    check_stalled(
        &close.replace("Host", "Content-Length: 1\r\nHost").replace("\r\n\r\n", "\r\n\r\nx"),
    );
    check_stalled("POST /16000 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx");
    check_stalled("POST /16000 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nxGET");
}

/// A client that reads slowly, within the limit for answers, is not idle.
#[test]
fn small_answers_that_are_read_late() {
    let limits = Limits {
        keep_alive_idle_ms: 100,
        head_timeout_ms: 100,
        proxy_header_timeout_ms: 100,
        content_idle_timeout_ms: 100,
        ..limits()
    };
    let server = start(limits, &narrow_listener());
    let mut client = narrow(server.address);
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    for requests in [1, 100] {
        client.write_all(get("/16000").repeat(requests).as_bytes()).unwrap();
        server.wait_for_count(|counters| &counters.requests, 1);
        let before = Instant::now();
        assert!(!wait_until(Duration::from_millis(500), || server.running().connections() == 0));
        assert!(before.elapsed() >= Duration::from_millis(500));
        let mut received = 0;
        while received < 16_000 * requests {
            let count = client.read(&mut vec![0; 100_000]).unwrap();
            assert!(count > 0, "cut after {received} bytes");
            received += count;
        }
    }
}

/// A rejected client that continues to send.
#[test]
fn lingering_ends_by_time_and_by_bytes() {
    for (limits, least) in [
        (Limits { lingering_close_ms: 500, lingering_bytes_max: 1_073_741_824, ..limits() }, LIMIT),
        (
            Limits { lingering_close_ms: 60_000, lingering_bytes_max: 100_000, ..limits() },
            Duration::ZERO,
        ),
        (Limits { lingering_close_ms: 0, ..limits() }, Duration::ZERO),
    ] {
        let server = Server::start(limits, echo_target);
        let mut client = TcpStream::connect(server.address).unwrap();
        client.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let begin = Instant::now();
        while client.write_all(&[b'x'; 1_000]).is_ok() {
            wait_until(Duration::from_millis(1), || server.running().connections() == 0);
            assert!(begin.elapsed() < LATE, "lingers");
        }
        assert!(begin.elapsed() + Duration::from_millis(20) > least);
        server.wait_for_connections(0);
    }
}
