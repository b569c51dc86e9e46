//! Ten seconds of misbehaving clients: afterwards all connections are closed, all counts are
//! balanced, and the engine answers.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Server, get, noise, post, post_chunked, target_of};
use bytes::Bytes;
use rustix::net::sockopt::set_socket_linger;
use vervet_engine::http::field::Known;
use vervet_engine::http::status::Status;
use vervet_engine::limits::Limits;
use vervet_engine::pipe::Read;
use vervet_engine::{Content, Engine, Exchange, Outcome, Response};
use vervet_testkit::{PATIENCE, open_fds, own_process, wait_until};

const LASTS: Duration = Duration::from_secs(10);
const CLIENTS: u64 = 8;
/// Fewer than there may be clients with what lingers of them, so that some are refused.
const CONNECTIONS_MAX: u32 = 12;

fn limits() -> Limits {
    Limits {
        connections_max: CONNECTIONS_MAX,
        head_timeout_ms: 200,
        proxy_header_timeout_ms: 200,
        content_idle_timeout_ms: 200,
        keep_alive_idle_ms: 200,
        write_stall_timeout_ms: 200,
        lingering_close_ms: 200,
        lingering_bytes_max: 100_000,
        content_bytes_max: 300_000,
        ..Limits::default()
    }
}

fn stream(exchange: &Exchange<'_>) -> Content {
    let (mut sender, reader) = exchange.stream();
    thread::spawn(move || {
        for _ in 0..100 {
            if sender.send_blocking(Bytes::from(vec![b's'; 20_000])).is_err() {
                return;
            }
        }
        sender.finish(None);
    });
    Content::Stream { length: None, reader }
}

fn handle(mut exchange: Exchange<'_>) -> Outcome {
    if let Some(mut tunnel) = exchange.tunnel() {
        let (mut sender, reader) = exchange.stream();
        thread::spawn(move || {
            while let Read::Data(bytes) = tunnel.read_blocking(PATIENCE) {
                if sender.send_blocking(bytes).is_err() {
                    return;
                }
            }
            sender.finish(None);
        });
        let response = Response::new(Status::SWITCHING_PROTOCOLS);
        let content = Content::Stream { length: None, reader };
        return response.field(Known::Upgrade, b"echo").unwrap().content(content).into();
    }
    match target_of(&exchange).as_str() {
        "/large" => Response::text(vec![b'l'; 3_000_000]).into(),
        "/stream" => Response::new(Status::OK).content(stream(&exchange)).into(),
        "/read" => {
            let content = exchange.content();
            let (responder, outcome) = exchange.later();
            thread::spawn(move || {
                let length = content.map(|mut content| content.read_all_blocking(usize::MAX));
                responder.send(Response::text(format!("{length:.20?}")));
            });
            outcome
        }
        "/future" => {
            let spawner = exchange.spawner().clone();
            let (responder, outcome) = exchange.later();
            spawner.spawn(async move { drop(responder) });
            outcome
        }
        target => Response::text(target.to_owned()).into(),
    }
}

/// xorshift64 (Marsaglia 2003): the same run each time, as far as the machine allows.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

fn request(dice: &mut Dice) -> Vec<u8> {
    let length = dice.roll(400_000) >> dice.roll(20);
    match dice.roll(12) {
        0 => get("/large").into_bytes(),
        1 => get("/stream").into_bytes(),
        2 => get("/future").into_bytes(),
        3 => post("/read", noise(length)),
        4 => post_chunked("/read", &noise(length), 1 + dice.roll(70_000)),
        5 => post("/unread", noise(length)),
        6 => post_chunked("/unread", &noise(length), 1 + dice.roll(70_000)),
        7 => noise(dice.roll(100)),
        8 => b"POST /read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab\r\n"
            .to_vec(),
        9 => b"GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nhello"
            .to_vec(),
        10 => {
            b"POST /read HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n"
                .to_vec()
        }
        _ => get("/small").into_bytes(),
    }
}

/// One connection of a client that may stop anywhere, in any way.
fn misbehave(address: SocketAddr, dice: &mut Dice) {
    let mut stream = TcpStream::connect(address).unwrap();
    let some = Duration::from_millis(1 + dice.roll(30) as u64);
    stream.set_read_timeout(Some(some)).unwrap();
    stream.set_write_timeout(Some(some)).unwrap();
    for _ in 0..=dice.roll(4) {
        let mut bytes: Vec<u8> = (0..=dice.roll(6)).flat_map(|_| request(dice)).collect();
        if dice.roll(2) == 0 {
            bytes.truncate(dice.roll(bytes.len() + 1));
        }
        let (first, second) = bytes.split_at(dice.roll(bytes.len() + 1));
        // Any reaction of the server to such a client is fine.
        let _ = stream.write_all(first).and_then(|()| stream.write_all(second));
        let mut buffer = vec![0; 1 << dice.roll(17)];
        for _ in 0..dice.roll(20) {
            if !matches!(stream.read(&mut buffer), Ok(1..)) {
                break;
            }
        }
    }
    match dice.roll(5) {
        0 => {
            let _ = stream.shutdown(Shutdown::Write);
            let _ = stream.read(&mut [0; 1000]);
        }
        1 => set_socket_linger(&stream, Some(Duration::ZERO)).unwrap(),
        2 => {
            // Until a timeout of the engine.
            stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
            let _ = stream.read_to_end(&mut Vec::new());
        }
        _ => {}
    }
}

#[test]
fn nothing_is_left_of_clients_that_misbehave() {
    own_process!();
    let descriptors = || open_fds(std::process::id()).unwrap();
    let builder = Engine::builder().limits(limits()).workers(2);
    let server = Server::with(builder, handle);
    let at_rest = descriptors();
    let address = server.address;
    let end = Instant::now() + LASTS;
    let clients: Vec<_> = (1..=CLIENTS)
        .map(|seed| {
            thread::spawn(move || {
                let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                while Instant::now() < end {
                    misbehave(address, &mut dice);
                }
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
    server.wait_for_connections(0);
    let opened = server.count(|counters| &counters.connections);
    server.wait_for_count(|counters| &counters.closed, opened);
    assert_eq!(server.count(|counters| &counters.closed), opened);
    assert!(opened > 100, "only {opened} connections");
    assert!(server.count(|counters| &counters.violations) > 10);
    assert!(server.timeouts() > 5);
    // Rejected connections linger for a while; then all descriptors must be closed.
    let back = wait_until(PATIENCE, || descriptors() <= at_rest);
    assert!(back, "{} descriptors instead of {at_rest}", descriptors());
    let mut client = server.connect();
    assert_eq!(client.exchange(get("/still")).text(), "/still");
    drop(client);
    server.running().control().drain(60_000);
    server.ended();
}
