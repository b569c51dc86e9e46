//! Shared by the socket tests of the engine: an engine of each test on a free port, and one turned
//! by hand.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(unreachable_pub, reason = "a module of several test programs")]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, setrlimit};
use vervet_engine::connection::{Http, HttpOptions};
use vervet_engine::counters::{Counter, Counters};
use vervet_engine::gate::Gate;
use vervet_engine::limits::Limits;
use vervet_engine::listener::{ListenOptions, Listener};
use vervet_engine::reactor::{Overload, Reactor, ReactorOptions, Tuning};
use vervet_engine::{Builder, Engine, Exchange, Outcome, Response, Running, Service};
use vervet_testkit::{Child, PATIENCE, RawClient, wait_until};

/// How late a time limit may act: one tick of the wheel, and a machine that has other things to do.
pub const LATE: Duration = Duration::from_secs(3);

/// An engine that ends with its test.
pub struct Server {
    running: Option<Running>,
    pub address: SocketAddr,
}

impl Server {
    /// One worker on a free port of 127.0.0.1.
    pub fn start<H>(limits: Limits, handler: H) -> Self
    where
        H: FnMut(Exchange<'_>) -> Outcome + Clone + Send + Sync + 'static,
    {
        Self::with(Engine::builder().limits(limits), handler)
    }

    /// What was built so far, on a free port of 127.0.0.1.
    pub fn with<H>(builder: Builder, handler: H) -> Self
    where
        H: FnMut(Exchange<'_>) -> Outcome + Clone + Send + Sync + 'static,
    {
        let builder = builder.listen("127.0.0.1:0").unwrap();
        Self::new(builder.serve(handler).unwrap())
    }

    /// A free port of 127.0.0.1 with options of the listener.
    pub fn listening<H>(builder: Builder, options: &ListenOptions, handler: H) -> Self
    where
        H: FnMut(Exchange<'_>) -> Outcome + Clone + Send + Sync + 'static,
    {
        let address = "127.0.0.1:0".parse().unwrap();
        let builder = builder.listen_with(&address, options).unwrap();
        Self::new(builder.serve(handler).unwrap())
    }

    pub fn new(running: Running) -> Self {
        let address = running.address().unwrap();
        Self { running: Some(running), address }
    }

    pub fn running(&self) -> &Running {
        self.running.as_ref().unwrap()
    }

    #[track_caller]
    pub fn connect(&self) -> RawClient {
        RawClient::connect(self.address)
    }

    /// A count, over all workers.
    pub fn count(&self, which: fn(&Counters) -> &Counter) -> u64 {
        let counters = self.running().counters();
        counters.map(|counters| which(counters).get()).sum()
    }

    /// Connections cut by whatever limit in time.
    pub fn timeouts(&self) -> u64 {
        self.running().control().totals().timeouts.all()
    }

    /// Waits until a count has reached a value.
    #[track_caller]
    pub fn wait_for_count(&self, which: fn(&Counters) -> &Counter, value: u64) {
        let reached = wait_until(PATIENCE, || self.count(which) >= value);
        assert!(reached, "{} of {value} were counted", self.count(which));
    }

    /// Waits until so many connections are open.
    #[track_caller]
    pub fn wait_for_connections(&self, open: usize) {
        let reached = wait_until(PATIENCE, || self.running().connections() == open);
        let now = self.running().connections();
        assert!(reached, "{now} connections are open and not {open}");
    }

    /// Waits for an engine that was told to end.
    #[track_caller]
    pub fn ended(mut self) {
        self.running.take().unwrap().wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else {
            return;
        };
        running.control().stop();
        let ended = running.wait();
        if !std::thread::panicking() {
            ended.unwrap();
        }
    }
}

/// A reactor that this thread turns, so that a test decides what arrives in which turn.
pub struct ByHand<S: Service> {
    pub reactor: Reactor<Http<S>>,
    pub address: SocketAddr,
    pub counters: Arc<Counters>,
}

impl<S: Service> ByHand<S> {
    pub fn new(limits: Limits, service: S) -> Self {
        let counters = Arc::new(Counters::default());
        let options = ReactorOptions {
            gate: Arc::new(Gate::new(0, 0)),
            overload: Overload::Reject,
            tuning: Tuning::from(&limits),
            counters: Arc::clone(&counters),
        };
        let http = Arc::new(HttpOptions { limits, ..HttpOptions::default() });
        let its = Arc::clone(&counters);
        let mut reactor = Reactor::new(options, |mailbox, spawner| {
            Http::new(service, http, its, mailbox, spawner)
        })
        .unwrap();
        let address = "127.0.0.1:0".parse().unwrap();
        let listener = Listener::bind(&address, &ListenOptions::default()).unwrap();
        let address = listener.local_address().unwrap();
        reactor.listen(Arc::new(listener)).unwrap();
        Self { reactor, address, counters }
    }

    /// Waits until the reactor's descriptor is readable, and takes one turn.
    #[track_caller]
    pub fn turn(&mut self) {
        assert!(self.is_ready(PATIENCE), "nothing came to the reactor");
        self.reactor.turn().unwrap();
    }

    /// Turns until nothing is ready.
    pub fn settle(&mut self) {
        while self.is_ready(Duration::ZERO) {
            self.reactor.turn().unwrap();
        }
    }

    /// Turns until the condition holds.
    #[track_caller]
    pub fn turn_until(&mut self, condition: impl Fn(&Counters) -> bool) {
        while !condition(&self.counters) {
            self.turn();
        }
    }

    fn is_ready(&self, patience: Duration) -> bool {
        let timeout = Timespec::try_from(patience).unwrap();
        let mut watched = [PollFd::from_borrowed_fd(self.reactor.as_fd(), PollFlags::IN)];
        poll(&mut watched, Some(&timeout)).unwrap() > 0
    }
}

/// Set for a process that is to be the server of a test: the open files that it may have once it
/// has started, or nothing.
const CHILD: &str = "VERVET_TEST_CHILD";

/// The whole life of such a process.
#[test]
#[ignore = "run by start_child as its server"]
fn child() {
    let Ok(files) = std::env::var(CHILD) else {
        return;
    };
    let builder = Engine::builder().listen("127.0.0.1:0").unwrap();
    let limits =
        Limits { connections_per_address_max: 0, keep_alive_idle_ms: 600_000, ..Limits::default() };
    let running = builder.limits(limits).serve(echo_target).unwrap();
    if let Ok(files) = files.parse() {
        let limit = Rlimit { current: Some(files), maximum: Some(files) };
        setrlimit(Resource::Nofile, limit).unwrap();
    }
    println!("listening on http://{}", running.address().unwrap());
    running.wait().unwrap();
}

/// An engine in a process of its own, which may have so many open files.
#[track_caller]
pub fn start_child(files: u32) -> (Child, SocketAddr) {
    spawn_child(&files.to_string(), "")
}

/// An engine in a process of its own, which may have so many open files and does not know it.
#[track_caller]
pub fn start_child_short_of(files: u32) -> (Child, SocketAddr) {
    spawn_child("1024", &files.to_string())
}

#[track_caller]
fn spawn_child(files: &str, files_later: &str) -> (Child, SocketAddr) {
    let script =
        format!("ulimit -n {files}; exec \"$0\" --ignored --exact common::child --nocapture");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(std::env::current_exe().unwrap());
    command.env(CHILD, files_later);
    let mut child = Child::spawn(command);
    let address = child.wait_for_address();
    (child, address)
}

/// A request without content.
pub fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n")
}

/// A request with content by length.
pub fn post(target: &str, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    let length = content.len();
    let head = format!("POST {target} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n");
    [head.as_bytes(), content].concat()
}

/// A request with chunked content, in chunks of so many bytes.
pub fn post_chunked(target: &str, content: &[u8], chunk_bytes: usize) -> Vec<u8> {
    let mut request =
        format!("POST {target} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            .into_bytes();
    for chunk in content.chunks(chunk_bytes) {
        request.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        request.extend_from_slice(chunk);
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"0\r\n\r\n");
    request
}

/// Answers with the request's target.
#[allow(clippy::needless_pass_by_value, reason = "what a handler is")]
pub fn echo_target(exchange: Exchange<'_>) -> Outcome {
    Response::text(target_of(&exchange)).into()
}

pub fn target_of(exchange: &Exchange<'_>) -> String {
    String::from_utf8_lossy(exchange.head().target).into_owned()
}

/// Bytes that repeat nowhere soon: a piece that is lost, doubled or moved changes the hash.
pub fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        // xorshift64 (Marsaglia 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// Sends requests, each on a new connection, until connecting fails. Each answer is complete, has
/// status 200 and ends in `end`. Returns their number.
pub fn load(address: SocketAddr, target: &str, end: &str) -> u64 {
    let request = format!("GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    let mut answers = 0;
    loop {
        // The handshake is what a drain may refuse. It is deaf to it first, so that this waits for
        // a retry.
        let Ok(mut stream) = TcpStream::connect_timeout(&address, LATE) else {
            return answers;
        };
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with(end), "{answer:?}");
        answers += 1;
    }
}
