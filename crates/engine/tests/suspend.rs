//! Suspended exchanges: the service is called again with the same head, once or never.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::common::{Server, get, noise, post, post_chunked, target_of};
use vervet_engine::exchange::Finished;
use vervet_engine::http::status::Status;
use vervet_engine::limits::Limits;
use vervet_engine::{Engine, Exchange, Outcome, Response, Resume, Service};
use vervet_testkit::{PATIENCE, sha256_hex, wait_until};

/// Tag, status and fault.
type Ended = (Option<u32>, Status, Option<String>);

/// Targets with `now` are answered at once; others suspend `times` times, then answer with target,
/// values and content.
#[derive(Clone)]
struct Suspending {
    times: u64,
    resumes: SyncSender<(String, Resume)>,
    calls: Arc<AtomicUsize>,
    ended: Arc<Mutex<Vec<Ended>>>,
}

impl Suspending {
    fn new(times: u64) -> (Self, Receiver<(String, Resume)>) {
        let (resumes, receiver) = mpsc::sync_channel(1024);
        let gatekeeper = Self { times, resumes, calls: Arc::default(), ended: Arc::default() };
        (gatekeeper, receiver)
    }

    fn server(&self, limits: Limits) -> Server {
        let service = self.clone();
        let builder = Engine::builder().limits(limits).listen("127.0.0.1:0").unwrap();
        Server::new(builder.start(move |_| service.clone()).unwrap())
    }
}

impl Service for Suspending {
    fn call(&mut self, mut exchange: Exchange<'_>) -> Outcome {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let target = target_of(&exchange);
        if target.contains("now") {
            return Response::text(target).into();
        }
        let before = exchange.tag().unwrap_or(0);
        assert_eq!(exchange.resumed().is_some(), before > 0);
        exchange.set_tag(before + 1);
        if u64::from(before) < self.times {
            // A suspended exchange must not take the content: it cannot be taken twice.
            drop(exchange.content());
            let (resume, outcome) = exchange.suspend();
            self.resumes.send((target, resume)).unwrap();
            return outcome;
        }
        let fields: Vec<_> = exchange
            .head()
            .fields
            .named("X-Y")
            .map(|value| String::from_utf8_lossy(value).into_owned())
            .collect();
        let value = exchange.resumed().unwrap();
        let method = exchange.head().method_token.to_owned();
        let content = exchange.content();
        let (responder, outcome) = exchange.later();
        thread::spawn(move || {
            let content = content.map(|mut content| content.read_all_blocking(usize::MAX));
            let content = match content {
                None => String::new(),
                Some(Ok(bytes)) => sha256_hex(bytes),
                Some(Err(error)) => error.to_string(),
            };
            let fields = fields.join("+");
            responder.send(Response::text(format!("{method} {target} {fields} {value} {content}")));
        });
        outcome
    }

    fn finished(&mut self, finished: &Finished<'_>) {
        let fault = finished.fault.map(str::to_owned);
        let end = (finished.tag, finished.status, fault);
        self.ended.lock().unwrap().push(end);
    }
}

#[track_caller]
fn next(resumes: &Receiver<(String, Resume)>) -> Resume {
    resumes.recv_timeout(PATIENCE).unwrap().1
}

#[test]
fn a_resume_that_is_dropped_answers_500() {
    let (gatekeeper, resumes) = Suspending::new(1);
    let server = gatekeeper.server(Limits::default());
    let mut client = server.connect();
    for _ in 0..2 {
        client.send(get("/"));
        drop(next(&resumes));
        let answer = client.read_response();
        assert_eq!((answer.status, answer.field("Connection")), (500, None));
    }
    assert_eq!(client.exchange(get("/now")).text(), "/now");
}

#[test]
fn a_resume_after_the_client_has_left_does_nothing() {
    let (gatekeeper, resumes) = Suspending::new(1);
    let server = gatekeeper.server(Limits::default());
    let client = server.connect();
    let stream = std::net::TcpStream::connect(server.address).unwrap();
    std::io::Write::write_all(&mut &stream, get("/gone").as_bytes()).unwrap();
    let resume = next(&resumes);
    // A reset, which the engine sees at once.
    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    drop((stream, client));
    server.wait_for_connections(0);
    resume.run(1);
    let mut other = server.connect();
    other.send(get("/other"));
    next(&resumes).run(2);
    assert_eq!(other.read_response().text(), "GET /other  2 ");
    // Twice for the one that was answered, once for the one that was not.
    assert_eq!(gatekeeper.calls.load(Ordering::SeqCst), 3);
    let gone = |ended: &Ended| {
        ended.0 == Some(1) && ended.2.as_ref().is_some_and(|fault| fault.contains("reset"))
    };
    assert!(gatekeeper.ended.lock().unwrap().iter().any(gone));
}

#[test]
fn the_service_is_called_again_with_the_same_head() {
    let (gatekeeper, resumes) = Suspending::new(3);
    let server = gatekeeper.server(Limits::default());
    let mut client = server.connect();
    for method in ["GET", "OPTIONS", "M-SEARCH"] {
        client.send(format!("\r\n{method} /a?b HTTP/1.1\r\nHost: a\r\nx-y: 1\r\nX-Y: 2\r\n\r\n"));
        for value in [7, 8, u64::MAX] {
            let (target, resume) = resumes.recv_timeout(PATIENCE).unwrap();
            assert_eq!(target, "/a?b");
            thread::spawn(move || resume.run(value)).join().unwrap();
        }
        let expected = format!("{method} /a?b 1+2 {} ", u64::MAX);
        assert_eq!(client.read_response().text(), expected);
    }
    assert_eq!(server.count(|counters| &counters.requests), 3);
}

/// The kept head was within the limits and is not checked again.
#[test]
fn a_head_of_the_maximum_size_is_resumed() {
    let limits = Limits {
        head_bytes_max: 512,
        target_bytes_max: 64,
        trailer_bytes_max: 64,
        ..Limits::default()
    };
    let (gatekeeper, resumes) = Suspending::new(1);
    let server = gatekeeper.server(limits);
    let target = format!("/{}", "t".repeat(63));
    let head = format!("GET {target} HTTP/1.1\r\nHost: a\r\nX-Y: \r\n\r\n");
    let value = "v".repeat(512 - head.len());
    let mut client = server.connect();
    client.send(head.replace("X-Y: ", &format!("X-Y: {value}")));
    next(&resumes).run(0);
    let expected = format!("GET {target} {value} 0 ");
    assert_eq!(client.read_response().text(), expected);
}

#[test]
fn content_waits_and_is_whole() {
    let limits = Limits { content_bytes_max: 0, ..Limits::default() };
    let (gatekeeper, resumes) = Suspending::new(2);
    let server = gatekeeper.server(limits);
    // More than all buffers on the way.
    let content = noise(24 << 20);
    for request in [post("/", &content), post_chunked("/", &content, 10_000)] {
        let mut client = server.connect();
        let mut writer = std::net::TcpStream::connect(server.address).unwrap();
        let sent = Arc::new(AtomicUsize::new(0));
        let its = Arc::clone(&sent);
        let sender = thread::spawn(move || {
            for piece in request.chunks(64 << 10) {
                std::io::Write::write_all(&mut writer, piece).unwrap();
                its.fetch_add(piece.len(), Ordering::SeqCst);
            }
            writer
        });
        let first = next(&resumes);
        // Others are served, and the sender comes to a stand.
        client.exchange(get("/now"));
        assert!(!wait_until(Duration::from_millis(300), || {
            sent.load(Ordering::SeqCst) > content.len()
        }));
        first.run(1);
        next(&resumes).run(2);
        let mut writer = sender.join().unwrap();
        let expected = format!("POST /  2 {}", sha256_hex(&content));
        let mut answer = Vec::new();
        while !String::from_utf8_lossy(&answer).ends_with(&expected) {
            let mut buffer = [0; 4096];
            let count = std::io::Read::read(&mut writer, &mut buffer).unwrap();
            assert!(count > 0, "{}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&buffer[..count]);
        }
    }
}

/// RFC 9110 §10.1.1: a waiting client receives 100 Continue when the content is taken.
#[test]
fn continue_is_sent_only_when_content_is_taken() {
    let (gatekeeper, resumes) = Suspending::new(1);
    let server = gatekeeper.server(Limits::default());
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    let resume = next(&resumes);
    assert!(client.is_silent_for(Duration::from_millis(50)));
    resume.run(1);
    assert_eq!(client.read_exact(25), b"HTTP/1.1 100 Continue\r\n\r\n");
    let answer = client.exchange("hello");
    assert_eq!(answer.text(), format!("POST /  1 {}", sha256_hex("hello")));
}

#[test]
fn requests_behind_it_wait_for_their_turn() {
    let (gatekeeper, resumes) = Suspending::new(1);
    let server = gatekeeper.server(Limits::default());
    let mut client = server.connect();
    let requests = ["/now/1", "/2", "/now/3", "/4", "/now/5"].map(get);
    client.send(requests.concat());
    assert_eq!(client.read_response().text(), "/now/1");
    let resume = next(&resumes);
    assert!(client.is_silent_for(Duration::from_millis(50)));
    assert_eq!(gatekeeper.calls.load(Ordering::SeqCst), 2);
    resume.run(0);
    assert_eq!(client.read_response().text(), "GET /2  0 ");
    assert_eq!(client.read_response().text(), "/now/3");
    next(&resumes).run(1);
    assert_eq!(client.read_response().text(), "GET /4  1 ");
    assert_eq!(client.read_response().text(), "/now/5");
}

/// No timeout of the client runs while the exchange is suspended; content timeouts run as soon as
/// content is taken.
#[test]
fn timeouts_apply_to_the_client_only() {
    let limits = Limits {
        content_idle_timeout_ms: 100,
        head_timeout_ms: 100,
        proxy_header_timeout_ms: 100,
        keep_alive_idle_ms: 100,
        rate_grace_ms: 1000,
        content_rate_min: 1_000_000,
        ..Limits::default()
    };
    let (gatekeeper, resumes) = Suspending::new(1);
    let server = gatekeeper.server(limits);
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell");
    let resume = next(&resumes);
    assert!(client.is_silent_for(Duration::from_millis(1300)));
    resume.run(1);
    let begin = std::time::Instant::now();
    let answer = client.read_response();
    assert_eq!(answer.status, 408);
    assert!(begin.elapsed() >= Duration::from_millis(100));
    let mut client = server.connect();
    client.send(post("/", "hello"));
    let resume = next(&resumes);
    assert!(client.is_silent_for(Duration::from_millis(1300)));
    resume.run(1);
    let answer = client.read_response();
    assert_eq!(answer.text(), format!("POST /  1 {}", sha256_hex("hello")));
}

/// A drain waits for a suspended exchange, a stop does not.
#[test]
fn a_drain_waits_for_suspended_exchanges() {
    let (gatekeeper, resumes) = Suspending::new(1);
    let server = gatekeeper.server(Limits::default());
    let mut client = server.connect();
    client.send(get("/"));
    let resume = next(&resumes);
    let mut idle = server.connect();
    idle.exchange(get("/now"));
    server.running().control().drain(60_000);
    idle.expect_close();
    resume.run(1);
    let answer = client.read_response();
    assert_eq!((answer.text(), answer.field("Connection")), ("GET /  1 ", Some("close")));
    client.finish();
    client.expect_close();
    server.ended();

    let server = gatekeeper.server(Limits::default());
    let mut client = server.connect();
    client.send(get("/"));
    let resume = next(&resumes);
    server.running().control().stop();
    server.ended();
    resume.run(1);
    assert_eq!(client.read_to_close(), b"");
}

/// Password checks take their time on another thread.
#[test]
fn many_wait_while_others_are_answered() {
    let (gatekeeper, resumes) = Suspending::new(1);
    let server = gatekeeper.server(Limits::default());
    let mut waiting: Vec<_> = (0..200).map(|_| server.connect()).collect();
    for (number, client) in waiting.iter_mut().enumerate() {
        client.send(get(&format!("/{number}")));
    }
    let mut resumes: Vec<_> = (0..200).map(|_| resumes.recv_timeout(PATIENCE).unwrap()).collect();
    assert_eq!(server.connect().exchange(get("/now")).text(), "/now");
    // Neither the order of the requests nor its reverse: 77 and 200 have no common factor.
    let number = |target: &str| target[1..].parse::<u64>().unwrap();
    resumes.sort_by_key(|(target, _)| number(target) * 77 % 200);
    for (target, resume) in resumes {
        let value = number(&target);
        resume.run(value);
    }
    for (number, client) in waiting.iter_mut().enumerate() {
        let expected = format!("GET /{number}  {number} ");
        assert_eq!(client.read_response().text(), expected);
    }
}
