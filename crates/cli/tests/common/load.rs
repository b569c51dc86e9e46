//! Clients that keep asking: each on a connection that stays, or each time on a new one. Whatever
//! is not the answer that was expected fails the test.

#![allow(dead_code, unreachable_pub)]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use vervet_testkit::{PATIENCE, RawClient, wait_until};

use super::get;

/// Each drives its clients in turn: all ask, then all read.
const THREADS: usize = 3;

/// A host, and the beginning of the body of its responses.
pub type HostAndContent = (&'static str, &'static str);

/// Clients on connections that stay.
pub struct Load {
    stop: Arc<AtomicBool>,
    rounds: Arc<[AtomicU64; THREADS]>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// So many clients, over the hosts in turn.
    #[track_caller]
    pub fn start(address: SocketAddr, clients: usize, hosts: &[HostAndContent]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let rounds: Arc<[AtomicU64; THREADS]> = Arc::default();
        let spawn = |number: usize| {
            let (stop, rounds) = (Arc::clone(&stop), Arc::clone(&rounds));
            let hosts = hosts.to_vec();
            thread::spawn(move || {
                let of_mine = (number..clients).step_by(THREADS);
                let mut clients: Vec<_> = of_mine
                    .map(|client| (RawClient::connect(address), hosts[client % hosts.len()]))
                    .collect();
                while !stop.load(Ordering::Relaxed) {
                    ask_all(&mut clients);
                    rounds[number].fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        let threads = (0..THREADS).map(spawn).collect();
        let load = Self { stop, rounds, threads };
        load.go_on();
        load
    }

    /// Waits until every client has asked and been answered from now on.
    #[track_caller]
    pub fn go_on(&self) {
        let count = || self.rounds.each_ref().map(|rounds| rounds.load(Ordering::Relaxed));
        let before = count();
        let went_on = || {
            let is_broken = self.threads.iter().any(JoinHandle::is_finished);
            // The round that ends next may have begun before.
            is_broken || count().iter().zip(before).all(|(now, before)| *now >= before + 2)
        };
        assert!(wait_until(PATIENCE, went_on), "the clients stand still");
    }

    /// Stops asking. No client may have failed.
    #[track_caller]
    pub fn end(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in std::mem::take(&mut self.threads) {
            thread.join().unwrap();
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Says stop when it is dropped, also by a test that fails.
pub struct Stopping<'a>(pub &'a AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[track_caller]
fn ask_all(clients: &mut [(RawClient, HostAndContent)]) {
    for (client, (host, _)) in &mut *clients {
        client.send(get(host, "/"));
    }
    for (client, (host, begin)) in clients {
        let response = client.read_response();
        let text = response.text();
        assert!(
            response.status == 200 && text.starts_with(*begin),
            "{host}: {} {text}",
            response.status
        );
    }
}

/// A request on a connection of its own.
pub const SHORT: &str = "GET / HTTP/1.1\r\nHost: stay.test\r\nConnection: close\r\n\r\n";

/// What short connections came to.
#[derive(Debug, Default)]
pub struct Short {
    pub answered: u64,
    pub lost: Vec<String>,
}

/// One connection a request, until a connection is refused or `stop` says so. `count` counts
/// answers of all clients.
pub fn short_connections(
    connect: impl Fn() -> std::io::Result<TcpStream>,
    stop: &AtomicBool,
    count: &AtomicU64,
) -> Short {
    let mut seen = Short::default();
    while !stop.load(Ordering::Relaxed) {
        let Ok(mut stream) = connect() else {
            break;
        };
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut answer = String::new();
        let result =
            stream.write_all(SHORT.as_bytes()).and_then(|()| stream.read_to_string(&mut answer));
        if answer.starts_with("HTTP/1.1 200") && answer.ends_with("\r\n\r\nsame") {
            seen.answered += 1;
            count.fetch_add(1, Ordering::Relaxed);
        } else {
            seen.lost.push(format!("{result:?}: {answer}"));
        }
    }
    seen
}
