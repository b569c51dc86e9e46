//! Outgoing connections: each outcome reaches the protocol once, and connection limits do not count
//! them.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use vervet_engine::reactor::{
    Accepted, Admission, Closing, ConnectFailure, Io, Outgoing, Protocol, Reactor, ReactorOptions,
    Reason, Token, Turn,
};

/// Longest time that any of these takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug, PartialEq, Eq)]
enum LoggedEvent {
    Connected(u32),
    Data(Vec<u8>),
    Eof,
    Closed(u32, Reason),
}

/// Records its events.
#[derive(Default)]
struct EventLog(Vec<LoggedEvent>);

impl Protocol for EventLog {
    type Connection = u32;
    type Message = ();

    fn on_accept(&mut self, _: &mut Io<'_>, _: &Accepted) -> Admission<u32> {
        Admission::Drop
    }

    fn on_connect(&mut self, io: &mut Io<'_>, connection: &mut u32) {
        io.out().extend_from_slice(b"ping");
        self.0.push(LoggedEvent::Connected(*connection));
    }

    fn on_data(&mut self, _: &mut Io<'_>, _: &mut u32, bytes: &[u8]) {
        self.0.push(LoggedEvent::Data(bytes.to_vec()));
    }

    fn on_eof(&mut self, io: &mut Io<'_>, _: &mut u32) {
        self.0.push(LoggedEvent::Eof);
        io.close(Closing::AfterSent);
    }

    fn on_deadline(&mut self, io: &mut Io<'_>, _: &mut u32) {
        io.close(Closing::Abort);
    }

    fn on_close(&mut self, connection: u32, reason: Reason) {
        self.0.push(LoggedEvent::Closed(connection, reason));
    }

    fn on_sent(&mut self, _: &mut Io<'_>, _: &mut u32) {}
    fn on_progress(&mut self, _: &mut Io<'_>, _: &mut u32) {}
    fn on_message(&mut self, _: &mut Io<'_>, _: &mut u32, (): ()) {}
    fn on_command(&mut self, (): ()) {}
    fn on_drain(&mut self, _: &mut Io<'_>, _: &mut u32) {}
}

struct Bench(Reactor<EventLog>);

impl Bench {
    fn new() -> Self {
        let options = ReactorOptions::uncapped();
        Self(Reactor::new(options, |_, _| EventLog::default()).unwrap())
    }

    fn turn_until(&mut self, enough: impl Fn(&[LoggedEvent]) -> bool) -> &[LoggedEvent] {
        let begun = Instant::now();
        while !enough(&self.0.protocol().0) {
            assert!(begun.elapsed() < PATIENCE, "saw {:?}", self.0.protocol().0);
            self.0.turn_within(Duration::from_millis(50)).unwrap();
        }
        &self.0.protocol().0
    }

    fn connect(&mut self, to: SocketAddr) -> Token {
        self.0.connect(&Outgoing::tcp(to), 7).unwrap()
    }
}

fn closed(seen: &[LoggedEvent]) -> bool {
    seen.iter().any(|seen| matches!(seen, LoggedEvent::Closed(..)))
}

#[test]
fn a_closed_port_refuses_connections() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = gone.local_addr().unwrap();
    drop(gone);
    let mut bench = Bench::new();
    bench.connect(address);
    let seen = bench.turn_until(closed);
    let [LoggedEvent::Closed(7, Reason::Failed(errno))] = seen else {
        panic!("{seen:?}");
    };
    assert_eq!(ConnectFailure::from_errno(*errno), ConnectFailure::Refused);
}

/// The queue of a listener that does not accept is full after a few connections; the next one waits
/// for an answer.
#[test]
fn a_connection_that_is_not_answered_ends_by_its_deadline() {
    let mut bench = Bench::new();
    let listener = rustix_listener_with_queue_of_one();
    let address = listener.local_addr().unwrap();
    let mut tokens = Vec::new();
    for _ in 0..8 {
        tokens.push(bench.connect(address));
    }
    for token in tokens {
        bench.0.visit(token, |_, io, _| io.set_deadline(300));
    }
    let seen = bench.turn_until(|seen| {
        let ended = seen.iter().filter(|seen| matches!(seen, LoggedEvent::Closed(..)));
        ended.count() == 8
    });
    let connected = seen.iter().filter(|seen| matches!(seen, LoggedEvent::Connected(_)));
    assert!(connected.count() < 8, "the queue was not full: {seen:?}");
    let aborted = LoggedEvent::Closed(7, Reason::Aborted);
    assert!(seen.iter().filter(|seen| **seen == aborted).count() == 8);
}

fn rustix_listener_with_queue_of_one() -> TcpListener {
    use rustix::net::{AddressFamily, SocketType, bind, listen, socket};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    listen(&socket, 1).unwrap();
    TcpListener::from(socket)
}

#[test]
fn errors_of_the_system_are_returned_at_once() {
    let mut bench = Bench::new();
    // 192.0.2.0/24 is for documentation (RFC 5737): no machine has such an address.
    let foreign = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
    let refused = bench.0.connect(&Outgoing::tcp(peer).from(foreign), 7);
    let class = refused.map_err(ConnectFailure::from_errno);
    assert_eq!(class.unwrap_err(), ConnectFailure::Exhausted);
    let missing = Outgoing::unix("/nowhere/at/all".as_ref()).unwrap();
    let refused = bench.0.connect(&missing, 7);
    let class = refused.map_err(ConnectFailure::from_errno);
    assert_eq!(class.unwrap_err(), ConnectFailure::Unreachable);
    assert!(Outgoing::unix("x".repeat(200).as_ref()).is_err());
    assert!(bench.0.protocol().0.is_empty());
}

fn check_talk(bench: &mut Bench, mut peer: impl Read + Write) {
    let mut ping = [0; 4];
    peer.read_exact(&mut ping).unwrap();
    assert_eq!(&ping, b"ping");
    peer.write_all(b"pong").unwrap();
    drop(peer);
    let seen = bench.turn_until(closed);
    let expected = [
        LoggedEvent::Connected(7),
        LoggedEvent::Data(b"pong".to_vec()),
        LoggedEvent::Eof,
        LoggedEvent::Closed(7, Reason::Finished),
    ];
    assert_eq!(seen, expected);
}

fn connected(seen: &[LoggedEvent]) -> bool {
    seen.contains(&LoggedEvent::Connected(7))
}

#[test]
fn talks_over_both_families_and_from_a_source() {
    for (listen, source) in [
        ("127.0.0.1:0", None),
        ("127.0.0.1:0", Some(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 9)))),
        ("[::1]:0", None),
    ] {
        let Ok(listener) = TcpListener::bind(listen) else {
            vervet_testkit::skip!("needs {listen}");
        };
        let mut bench = Bench::new();
        let mut outgoing = Outgoing::tcp(listener.local_addr().unwrap());
        if let Some(source) = source {
            outgoing = outgoing.from(source);
        }
        bench.0.connect(&outgoing, 7).unwrap();
        bench.turn_until(connected);
        let (peer, from) = listener.accept().unwrap();
        assert!(source.is_none_or(|source| source == from.ip()), "{from}");
        check_talk(&mut bench, peer);
    }
}

#[test]
fn talks_over_a_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let mut bench = Bench::new();
    let outgoing = Outgoing::unix(&path).unwrap();
    assert_eq!(outgoing.to_string(), format!("unix:{}", path.display()));
    bench.0.connect(&outgoing, 7).unwrap();
    assert!(bench.0.protocol().0.is_empty(), "told in a turn, not before");
    bench.turn_until(connected);
    check_talk(&mut bench, listener.accept().unwrap().0);
}

#[test]
fn a_visit_sends_and_does_nothing_for_a_stale_token() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut bench = Bench::new();
    let token = bench.connect(listener.local_addr().unwrap());
    bench.turn_until(connected);
    let (mut peer, _) = listener.accept().unwrap();
    let visited = bench.0.visit(token, |_, io, connection| {
        io.out().extend_from_slice(b", again");
        *connection
    });
    assert_eq!(visited, Some(7));
    let mut text = [0; 11];
    peer.read_exact(&mut text).unwrap();
    assert_eq!(&text, b"ping, again");
    drop(peer);
    bench.turn_until(closed);
    assert_eq!(bench.0.visit(token, |_, _, _| ()), None);
}

/// The peer of an aborted connection sees a reset. The next connection reuses the socket and
/// nothing else.
#[test]
fn the_socket_of_an_aborted_connection_is_reused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut bench = Bench::new();
    let mut fds = Vec::new();
    for _ in 0..3 {
        bench.0.protocol_mut().0.clear();
        let token = bench.connect(address);
        bench.turn_until(connected);
        let (mut peer, _) = listener.accept().unwrap();
        peer.write_all(b"unread").unwrap();
        fds.extend(bench.0.visit(token, |_, io, _| {
            io.close(Closing::Abort);
            io.as_fd().as_raw_fd()
        }));
        let seen = bench.turn_until(closed);
        let [LoggedEvent::Connected(7), .., LoggedEvent::Closed(7, Reason::Aborted)] = seen else {
            panic!("{seen:?}");
        };
        assert_eq!(bench.0.visit(token, |_, _, _| ()), None);
        let mut text = Vec::new();
        let reset = peer.read_to_end(&mut text).unwrap_err();
        assert_eq!(reset.kind(), ErrorKind::ConnectionReset);
    }
    let [fd, ..] = fds[..] else { panic!("{fds:?}") };
    assert_eq!(fds, [fd; 3]);

    bench.0.protocol_mut().0.clear();
    bench.connect(address);
    bench.turn_until(connected);
    check_talk(&mut bench, listener.accept().unwrap().0);
}

#[test]
fn a_socket_that_is_used_again_can_be_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut bench = Bench::new();
    let token = bench.connect(address);
    bench.turn_until(connected);
    bench.0.visit(token, |_, io, _| io.close(Closing::Abort)).unwrap();
    drop(listener);
    bench.0.protocol_mut().0.clear();
    bench.connect(address);
    let seen = bench.turn_until(closed);
    let [LoggedEvent::Closed(7, Reason::Failed(errno))] = seen else {
        panic!("{seen:?}");
    };
    assert_eq!(ConnectFailure::from_errno(*errno), ConnectFailure::Refused);
}

/// Output that is written before the connection is established is sent then.
#[test]
fn output_before_the_connection_is_not_lost() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut bench = Bench::new();
    let token = bench.connect(listener.local_addr().unwrap());
    bench.0.visit(token, |_, io, _| io.out().push(b'!'));
    bench.turn_until(connected);
    let (mut peer, _) = listener.accept().unwrap();
    let mut text = [0; 5];
    let begun = Instant::now();
    peer.set_nonblocking(true).unwrap();
    let mut filled = 0;
    while filled < text.len() {
        assert!(begun.elapsed() < PATIENCE);
        bench.0.turn_within(Duration::from_millis(5)).unwrap();
        filled += peer.read(&mut text[filled..]).unwrap_or(0);
    }
    assert_eq!(&text, b"!ping");
}

#[test]
fn a_turn_waits_no_longer_than_requested() {
    let mut bench = Bench::new();
    let begun = Instant::now();
    let turn = bench.0.turn_within(Duration::from_micros(300)).unwrap();
    let Turn { events, done, .. } = turn;
    assert_eq!((events, done), (0, false));
    assert!(begun.elapsed() >= Duration::from_micros(300));
}

#[test]
fn a_drain_is_over_when_the_last_has_ended() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut bench = Bench::new();
    bench.connect(listener.local_addr().unwrap());
    bench.turn_until(connected);
    bench.0.handle().drain(60_000);
    assert!(!bench.0.turn_within(Duration::from_secs(1)).unwrap().done);
    drop(listener.accept().unwrap());
    bench.turn_until(closed);
    assert!(bench.0.turn().unwrap().done);
}
