//! Bytes that the kernel drops for an outgoing connection: exactly as many as requested.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::{Duration, Instant};

use vervet_engine::reactor::{
    Accepted, Admission, Closing, Io, Outgoing, Protocol, Reactor, ReactorOptions, Reason,
};

/// Longest time that any of these takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Byte `at` of every stream here: its place can be told from its neighbours.
fn byte(at: usize) -> u8 {
    u8::try_from((at ^ (at >> 8)) & 0xff).unwrap()
}

fn stream(length: usize) -> Vec<u8> {
    (0..length).map(byte).collect()
}

/// How many bytes one connection drops: from its beginning, and from its first data.
#[derive(Clone, Copy)]
struct Asked {
    at_first: u64,
    behind_data: u64,
}

/// Compares received data with the stream that the peer sends.
#[derive(Default)]
struct Follower {
    at: usize,
    dropped: usize,
    data_begins_at: Option<usize>,
    ended: bool,
    closed: Option<Reason>,
}

impl Protocol for Follower {
    type Connection = Asked;
    type Message = ();

    fn on_accept(&mut self, _: &mut Io<'_>, _: &Accepted) -> Admission<Asked> {
        Admission::Drop
    }

    fn on_connect(&mut self, io: &mut Io<'_>, asked: &mut Asked) {
        io.out().push(b'!');
        if asked.at_first > 0 {
            io.discard(asked.at_first);
        }
    }

    fn on_data(&mut self, io: &mut Io<'_>, asked: &mut Asked, bytes: &[u8]) {
        for (index, found) in bytes.iter().enumerate() {
            assert_eq!(*found, byte(self.at + index), "at {}", self.at + index);
        }
        self.data_begins_at.get_or_insert(self.at);
        self.at += bytes.len();
        let behind = std::mem::take(&mut asked.behind_data);
        if behind > 0 {
            io.discard(behind);
        }
    }

    fn on_discarded(&mut self, _: &mut Io<'_>, _: &mut Asked, bytes: usize) {
        assert!(bytes > 0);
        self.at += bytes;
        self.dropped += bytes;
    }

    fn on_eof(&mut self, io: &mut Io<'_>, _: &mut Asked) {
        self.ended = true;
        io.close(Closing::AfterSent);
    }

    fn on_close(&mut self, _: Asked, reason: Reason) {
        self.closed = Some(reason);
    }

    fn on_deadline(&mut self, _: &mut Io<'_>, _: &mut Asked) {}
    fn on_sent(&mut self, _: &mut Io<'_>, _: &mut Asked) {}
    fn on_progress(&mut self, _: &mut Io<'_>, _: &mut Asked) {}
    fn on_message(&mut self, _: &mut Io<'_>, _: &mut Asked, (): ()) {}
    fn on_command(&mut self, (): ()) {}
    fn on_drain(&mut self, _: &mut Io<'_>, _: &mut Asked) {}
}

/// Has the peer send a stream of `length` bytes in writes of `piece`, and follows it to its end.
/// Both sides are counted.
fn follow<S: Read + Write + Send + 'static>(
    outgoing: &Outgoing,
    accept: impl FnOnce() -> S + Send + 'static,
    asked: Asked,
    (length, piece): (usize, usize),
) -> Follower {
    let options = ReactorOptions::uncapped();
    let counters = options.counters.clone();
    let mut reactor = Reactor::new(options, |_, _| Follower::default()).unwrap();
    reactor.connect(outgoing, asked).unwrap();
    let peer = thread::spawn(move || {
        let mut peer = accept();
        // What is sent when the other side has not yet asked could be read before.
        peer.read_exact(&mut [0]).unwrap();
        for piece in stream(length).chunks(piece) {
            peer.write_all(piece).unwrap();
        }
    });
    let begun = Instant::now();
    while reactor.protocol().closed.is_none() {
        assert!(begun.elapsed() < PATIENCE, "at {}", reactor.protocol().at);
        reactor.turn_within(Duration::from_millis(50)).unwrap();
    }
    peer.join().unwrap();
    let follower = std::mem::take(reactor.protocol_mut());
    assert_eq!(follower.closed, Some(Reason::Finished));
    assert!(follower.ended);
    assert_eq!(follower.at, length, "all of it came, one way or the other");
    assert_eq!(counters.received_bytes.get(), length as u64);
    follower
}

fn follow_tcp(asked: Asked, (length, piece): (usize, usize)) -> Follower {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let outgoing = Outgoing::tcp(listener.local_addr().unwrap());
    let accept = move || -> TcpStream { listener.accept().unwrap().0 };
    follow(&outgoing, accept, asked, (length, piece))
}

/// Requests to drop this many bytes of a stream, and expects this many to be dropped.
#[track_caller]
fn check(asked: u64, length: usize, dropped: usize) {
    for piece in [1 << 20, 1000] {
        let asked = Asked { at_first: asked, behind_data: 0 };
        let follower = follow_tcp(asked, (length, piece));
        assert_eq!(follower.dropped, dropped, "in writes of {piece}");
        let data_begins_at = (dropped < length).then_some(dropped);
        assert_eq!(follower.data_begins_at, data_begins_at);
    }
}

#[test]
fn the_end_of_the_stream_may_come_before() {
    check(100, 0, 0);
    check(100, 40, 40);
    check(300_000, 200_000, 200_000);
    // More than fits what is kept of it.
    check(u64::MAX, 1000, 1000);
}

#[test]
fn data_after_dropped_bytes_in_the_same_segment_is_kept() {
    check(1, 2, 1);
    check(5, 10, 5);
    check(5, 4200, 5);
    check(100_000, 200_000, 100_000);
}

#[test]
fn the_stream_may_end_with_the_dropped_bytes() {
    check(5, 5, 5);
    check(200_000, 200_000, 200_000);
}

/// More than one call drops, and more than one visit does.
#[test]
fn megabytes_are_dropped_in_several_calls() {
    check(12 << 20, (12 << 20) + 100_000, 12 << 20);
}

/// Dropping begins where the first data ends.
#[test]
fn data_before_and_after_dropped_bytes_is_received() {
    for (at_first, behind_data) in [(0, 1), (0, 150_000), (10, 20_000), (100_000, 100_000)] {
        let asked = Asked { at_first, behind_data };
        // The first data is 64 KiB at most.
        let length = usize::try_from(at_first + behind_data).unwrap() + (64 << 10) + 5000;
        let follower = follow_tcp(asked, (length, length));
        assert_eq!(follower.dropped as u64, at_first + behind_data);
        let begins_at = follower.data_begins_at.unwrap();
        assert_eq!(begins_at as u64, at_first);
    }
}

#[test]
fn over_a_unix_socket_everything_is_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let accept = move || -> UnixStream { listener.accept().unwrap().0 };
    let asked = Asked { at_first: 5000, behind_data: 5000 };
    let outgoing = Outgoing::unix(&path).unwrap();
    let follower = follow(&outgoing, accept, asked, (200_000, 200_000));
    assert_eq!((follower.dropped, follower.data_begins_at), (0, Some(0)));
}
