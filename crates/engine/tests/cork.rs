//! The first large file of a connection is sent corked, and nothing is held back after the call
//! that sent it.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt::tcp_cork;
use vervet_engine::listener::{ListenAddress, ListenOptions, Listener};
use vervet_engine::reactor::{
    Accepted, Admission, Closing, FileSlice, Io, Protocol, Reactor, ReactorOptions, Reason,
};

/// Longest time that any of these takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sends a file for each byte, and notes whether the socket was corked before and after it.
struct Sender {
    file: Arc<File>,
    length: u64,
    corked: Vec<(bool, bool)>,
    closed: bool,
}

impl Protocol for Sender {
    type Connection = ();
    type Message = ();

    fn on_accept(&mut self, _: &mut Io<'_>, _: &Accepted) -> Admission<()> {
        Admission::Admit(())
    }

    fn on_data(&mut self, io: &mut Io<'_>, (): &mut (), _: &[u8]) {
        let before = tcp_cork(io.as_fd()).unwrap();
        io.send_file(FileSlice { file: Arc::clone(&self.file), offset: 1, length: self.length });
        self.corked.push((before, tcp_cork(io.as_fd()).unwrap()));
    }

    fn on_eof(&mut self, io: &mut Io<'_>, (): &mut ()) {
        io.close(Closing::AfterSent);
    }

    fn on_close(&mut self, (): (), _: Reason) {
        self.closed = true;
    }

    fn on_deadline(&mut self, _: &mut Io<'_>, (): &mut ()) {}
    fn on_sent(&mut self, _: &mut Io<'_>, (): &mut ()) {}
    fn on_progress(&mut self, _: &mut Io<'_>, (): &mut ()) {}
    fn on_message(&mut self, _: &mut Io<'_>, (): &mut (), (): ()) {}
    fn on_command(&mut self, (): ()) {}
    fn on_drain(&mut self, _: &mut Io<'_>, (): &mut ()) {}
}

/// Asks three times on one connection for a part of so many bytes.
fn requested_three_times(length: u64) -> Vec<(bool, bool)> {
    let mut file = tempfile::tempfile().unwrap();
    let content: Vec<u8> = (0..=length).map(|at| (at % 251) as u8).collect();
    file.write_all(&content).unwrap();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let options = ListenOptions::default();
    let listener = Listener::bind(&ListenAddress::Tcp(address), &options).unwrap();
    let address = listener.local_address().unwrap();
    let sender = Sender { file: Arc::new(file), length, corked: Vec::new(), closed: false };
    let mut reactor = Reactor::new(ReactorOptions::uncapped(), |_, _| sender).unwrap();
    reactor.listen(Arc::new(listener)).unwrap();
    let peer = thread::spawn(move || {
        let mut peer = TcpStream::connect(address).unwrap();
        let mut received = vec![0; content.len() - 1];
        for _ in 0..3 {
            peer.write_all(b"?").unwrap();
            peer.read_exact(&mut received).unwrap();
            assert!(received == content[1..]);
        }
    });
    let begun = Instant::now();
    while !reactor.protocol().closed {
        assert!(begun.elapsed() < PATIENCE);
        reactor.turn_within(Duration::from_millis(50)).unwrap();
    }
    peer.join().unwrap();
    std::mem::take(&mut reactor.protocol_mut().corked)
}

/// The first of three is corked while it is sent.
const FIRST: [(bool, bool); 3] = [(false, true), (false, false), (false, false)];

#[test]
fn the_first_file_of_several_pieces_is_corked_while_it_is_sent() {
    assert_eq!(requested_three_times(65_537), FIRST);
    assert_eq!(requested_three_times(200_000), FIRST);
}

/// More than a socket holds goes in several visits.
#[test]
fn a_file_that_blocks_is_uncorked() {
    assert_eq!(requested_three_times(20_000_000), FIRST);
}

#[test]
fn a_small_file_needs_no_cork() {
    assert_eq!(requested_three_times(65_536), [(false, false); 3]);
}
