//! Listeners that come and go two hundred times under load: no request is lost and no descriptor is
//! left.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::common::{Server, get};
use vervet_engine::limits::Limits;
use vervet_engine::listener::{ListenAddress, ListenOptions, ListenerKey};
use vervet_engine::{Engine, Exchange, Outcome, Response};
use vervet_testkit::{PATIENCE, RawClient, TempTree, open_fds, own_process, wait_until};

const ROUNDS: u32 = 200;
/// Listeners that go at one time.
const GOING_MAX: usize = 8;

/// Answers with the key of the listener.
#[allow(clippy::needless_pass_by_value, reason = "what a handler is")]
fn echo_key(exchange: Exchange<'_>) -> Outcome {
    Response::text(exchange.listener().key().0.to_string()).into()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Alive,
    Never,
}

/// Clients that ask again and again, on one connection or on one each, and count the answers.
struct Load {
    stop: Arc<AtomicBool>,
    clients: Vec<JoinHandle<u64>>,
}

impl Load {
    fn start(address: SocketAddr) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let clients = [Keep::Alive, Keep::Alive, Keep::Never].map(|keep| {
            let stop = Arc::clone(&stop);
            thread::spawn(move || ask(address, keep, &stop))
        });
        Self { stop, clients: clients.into() }
    }

    /// The least of their answers.
    fn end(self) -> u64 {
        self.stop.store(true, Ordering::SeqCst);
        let clients = self.clients.into_iter();
        clients.map(|client| client.join().unwrap()).min().unwrap()
    }
}

fn ask(address: SocketAddr, keep: Keep, stop: &AtomicBool) -> u64 {
    let mut kept = RawClient::connect(address);
    let mut answers = 0;
    while !stop.load(Ordering::SeqCst) {
        if keep == Keep::Alive {
            assert_eq!(kept.exchange(get("/")).text(), "0");
        } else {
            let mut stream = TcpStream::connect(address).unwrap();
            let request = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
            stream.write_all(request).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.ends_with("\r\n\r\n0"), "{answer:?}");
        }
        answers += 1;
    }
    answers
}

#[test]
fn two_hundred_rounds_leave_nothing_behind() {
    own_process!();
    let limits = Limits {
        requests_per_connection_max: 0,
        connections_per_address_max: 0,
        keep_alive_idle_ms: 600_000,
        ..Limits::default()
    };
    let server = Server::with(Engine::builder().workers(2).limits(limits.clone()), echo_key);
    let control = server.running().control();
    let load = Load::start(server.address);
    let tree = TempTree::new();
    let addresses: [ListenAddress; 2] =
        ["127.0.0.1:0".parse().unwrap(), ListenAddress::Unix(tree.join("socket"))];
    let me = std::process::id();
    let mut settled = None;
    let mut going = VecDeque::new();
    for round in 1..=ROUNDS {
        let options = ListenOptions {
            key: ListenerKey(round),
            reuse_port: round % 3 == 0,
            ..ListenOptions::default()
        };
        let address = &addresses[usize::from(round % 4 == 0)];
        let endpoint = control.listen(address, &options).unwrap();
        let mut client = match endpoint.local_address() {
            Some(address) => RawClient::connect(address),
            None => RawClient::connect_unix(tree.join("socket")),
        };
        assert_eq!(client.exchange(get("/")).text(), round.to_string());
        let begun = control.unlisten(&endpoint);
        control.refresh().wait().unwrap();
        control.set_limits(limits.clone()).unwrap().wait().unwrap();
        assert_eq!(client.exchange(get("/")).text(), round.to_string());
        // The next come while the last ones go, except on the path of a unix socket.
        going.push_back(begun);
        let left = match endpoint.local_address() {
            Some(_) => GOING_MAX,
            None => 0,
        };
        while going.len() > left {
            going.pop_front().unwrap().wait().unwrap();
        }
        if round == ROUNDS / 10 {
            settled = open_fds(me);
        }
    }
    for going in going {
        going.wait().unwrap();
    }
    let settled = settled.unwrap();
    let few = settled + GOING_MAX;
    assert!(
        wait_until(PATIENCE, || open_fds(me).unwrap() <= few),
        "{settled} descriptors after the first rounds, {} now",
        open_fds(me).unwrap()
    );
    assert!(load.end() > u64::from(ROUNDS));
    assert_eq!(server.count(|counters| &counters.violations), 0);
    assert_eq!(server.running().listeners().len(), 1);
}
