//! What the tests of the generator share: plans, servers that answer as told, and the canned-answer
//! server.
#![allow(dead_code, reason = "each test uses a part")]
#![allow(unreachable_pub)] // allowed in tests, and these helpers are parts of them

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use vervet_engine::reactor::Outgoing;
use vervet_load::canned::{Canned, CannedAnswer};
use vervet_load::script::{ContentOfAnswer, Request};
use vervet_load::{Fixed, Plan};
use vervet_report::Run;

/// A successful response.
pub const GOOD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, world\n";

/// The canned-answer server on a free port of loopback.
pub fn canned(answer: &CannedAnswer) -> (Canned, SocketAddr) {
    let canned = Canned::start(&"127.0.0.1:0".parse().unwrap(), answer).unwrap();
    let address = canned.address().unwrap();
    (canned, address)
}

/// GET of `/`, closed load on one connection, for one second.
pub fn plan(address: SocketAddr) -> Plan {
    plan_of(Outgoing::tcp(address), &format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n"))
}

/// A plan with a custom request.
pub fn plan_of(outgoing: Outgoing, request: &str) -> Plan {
    let content = if request.starts_with("HEAD") {
        ContentOfAnswer::Never
    } else {
        ContentOfAnswer::AsFramed
    };
    let kind = Request { check: 0, step: 0, content, due: None };
    let script = Fixed::new("/", request.as_bytes(), kind);
    let mut plan = Plan::new("test", outgoing, Arc::new(script));
    plan.duration = Some(Duration::from_secs(1));
    plan.response_timeout = Duration::from_secs(10);
    plan
}

/// Ends by a count instead of a duration.
pub fn requests(mut plan: Plan, requests: u64) -> Plan {
    plan.duration = None;
    plan.requests = Some(requests);
    plan
}

pub fn run(plan: Plan) -> Run {
    vervet_load::run(plan).unwrap()
}

/// A server with a thread for each connection, for as long as the test's process lives.
pub fn server(talk: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let talk = Arc::new(talk);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let talk = Arc::clone(&talk);
            let _ = stream.set_nodelay(true);
            thread::spawn(move || talk(stream));
        }
    });
    address
}

/// Reads a request without content; `None` at the end of the stream.
pub fn request(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => request.push(byte[0]),
            _ => return None,
        }
    }
    Some(request)
}

/// A server that answers every request on a connection by the same bytes.
pub fn answering(answer: impl Into<Vec<u8>>) -> SocketAddr {
    let answer = answer.into();
    server(move |mut stream| {
        while request(&mut stream).is_some() {
            if stream.write_all(&answer).is_err() {
                return;
            }
        }
    })
}

/// What a server does that takes its time. Nobody sends: the wait ends by its limit.
pub fn take(time: Duration) {
    let (_sender, nobody) = std::sync::mpsc::channel::<()>();
    let _ = nobody.recv_timeout(time);
}
