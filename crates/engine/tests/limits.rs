//! Limits in size and number, each at its edge. Those in time stand in `slow.rs`, those of content
//! in `content.rs`, those of kept connections in `pipelining.rs`.

use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::common::{
    ByHand, LATE, Server, echo_target, get, start_child, start_child_short_of, target_of,
};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use vervet_engine::capacity::Capacity;
use vervet_engine::limits::Limits;
use vervet_engine::reactor::Overload;
use vervet_engine::{Engine, EngineError, Exchange, Outcome, Response};
use vervet_testkit::{PATIENCE, RawClient, skip, wait_until};

/// Reads content, so that trailers are met before the answer.
fn read_all(mut exchange: Exchange<'_>) -> Outcome {
    let Some(mut content) = exchange.content() else {
        return echo_target(exchange);
    };
    let target = target_of(&exchange);
    let spawner = exchange.spawner().clone();
    let (responder, outcome) = exchange.later();
    spawner.spawn(async move {
        while let Some(Ok(_)) = content.read().await {}
        responder.send(Response::text(target));
    });
    outcome
}

/// The first request keeps the limits, the second exceeds them.
#[track_caller]
fn check(limits: &Limits, within: &str, beyond: &str, status: u16) {
    let server = Server::start(limits.clone(), read_all);
    let mut client = server.connect();
    assert_eq!(client.exchange(within).status, 200, "{within}");
    let refusal = client.exchange(beyond);
    assert_eq!((refusal.status, refusal.field("Connection")), (status, Some("close")));
    client.finish();
    client.expect_close();
}

#[test]
fn the_head_and_its_parts_hold_at_their_edges() {
    let limits = Limits {
        head_bytes_max: 512,
        target_bytes_max: 64,
        fields_max: 8,
        trailer_bytes_max: 64,
        ..Limits::default()
    };
    let sized = |bytes: usize| {
        let request = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n";
        request.replace("X: ", &format!("X: {}", "x".repeat(bytes - request.len())))
    };
    assert_eq!(sized(512).len(), 512);
    check(&limits, &sized(512), &sized(513), 431);
    let target = |bytes: usize| get(&format!("/{}", "x".repeat(bytes - 1)));
    check(&limits, &target(64), &target(65), 414);
    let fields =
        |count: usize| format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(count - 1));
    check(&limits, &fields(8), &fields(9), 431);
    let trailers = |bytes: usize| {
        // With its line end and the empty line that ends the section.
        let value = "y".repeat(bytes - "X: \r\n\r\n".len());
        format!(
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: {value}\r\n\r\n"
        )
    };
    check(&limits, &trailers(64), &trailers(65), 431);
}

#[test]
fn limits_that_are_out_of_bounds_start_nothing() {
    let limits = Limits { fields_max: 7, ..Limits::default() };
    let result = Engine::builder().limits(limits).listen("127.0.0.1:0").unwrap().serve(echo_target);
    assert!(matches!(result, Err(EngineError::Limit(_))));
}

#[test]
fn connections_are_accepted_so_many_in_a_turn() {
    let limits = Limits { accept_per_turn_max: 3, ..Limits::default() };
    let mut server = ByHand::new(limits, echo_target);
    let mut clients: Vec<_> = (0..7).map(|_| RawClient::connect(server.address)).collect();
    for client in &mut clients {
        client.send(get("/"));
    }
    let mut accepted = Vec::new();
    while accepted.last() != Some(&7) {
        server.turn();
        accepted.push(server.counters.connections.get());
    }
    accepted.dedup();
    assert_eq!(accepted, [3, 6, 7]);
    for client in &mut clients {
        assert_eq!(client.read_response().text(), "/");
    }
}

fn capped(overload: Overload) -> Server {
    let limits = Limits { connections_max: 2, ..Limits::default() };
    let builder = Engine::builder().limits(limits);
    Server::with(builder.own_answers(Vec::new(), overload), echo_target)
}

/// FEATURES A6: "extra clients get 503+Retry-After, held clients go on, capacity comes back within
/// 1 s of release".
#[test]
fn a_connection_above_the_cap_is_told_to_come_again() {
    let server = capped(Overload::Reject);
    let mut held = [server.connect(), server.connect()];
    for client in &mut held {
        client.exchange(get("/"));
    }
    for _ in 0..100 {
        let mut extra = server.connect();
        let answer = extra.exchange(get("/"));
        assert_eq!((answer.status, answer.field("Connection")), (503, Some("close")));
        let seconds: u32 = answer.field("Retry-After").unwrap().parse().unwrap();
        assert!(seconds >= 1, "Retry-After: {seconds} brings no relief");
        assert!(answer.field("Date").is_some());
        extra.finish();
        extra.expect_close();
    }
    for client in &mut held {
        assert_eq!(client.exchange(get("/held")).text(), "/held");
    }
    let [released, _held] = held;
    drop(released);
    let begin = Instant::now();
    let back = wait_until(PATIENCE, || server.connect().exchange(get("/")).status == 200);
    assert!(back && begin.elapsed() < Duration::from_secs(1));
    assert!(server.count(|counters| &counters.refused) >= 100);
}

#[test]
fn a_connection_above_the_cap_waits_where_that_is_asked_for() {
    let server = capped(Overload::Wait);
    let mut held = vec![server.connect(), server.connect()];
    for client in &mut held {
        client.exchange(get("/"));
    }
    let mut extra = server.connect();
    extra.send(get("/extra"));
    assert!(extra.is_silent_for(Duration::from_millis(300)));
    for client in &mut held {
        assert_eq!(client.exchange(get("/held")).text(), "/held");
    }
    held.pop();
    let begin = Instant::now();
    assert_eq!(extra.read_response().text(), "/extra");
    assert!(begin.elapsed() < Duration::from_secs(1));
    assert_eq!(server.count(|counters| &counters.refused), 0);
}

/// A connection from an address of this machine of one's choice.
fn connect_from(from: SocketAddr, to: SocketAddr) -> TcpStream {
    let family = if from.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket(family, SocketType::STREAM, None).unwrap();
    bind(&socket, &from).unwrap();
    connect(&socket, &to).unwrap();
    TcpStream::from(socket)
}

fn status_of(mut stream: &TcpStream) -> String {
    use std::io::{BufRead, BufReader, Write};
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(get("/").as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line.split(' ').nth(1).unwrap_or_default().to_owned()
}

/// So many of one address are served, and another address is not concerned.
#[track_caller]
fn check_per_address(listen: &str, from: &str, other: Option<&str>) {
    let limits = Limits { connections_per_address_max: 2, ..Limits::default() };
    let running = Engine::builder().limits(limits).listen(listen);
    let server = Server::new(running.unwrap().serve(echo_target).unwrap());
    let to = |from: &str| connect_from(from.parse().unwrap(), server.address);
    let held = [to(from), to(from)];
    assert_eq!(held.each_ref().map(status_of), ["200", "200"]);
    assert_eq!(status_of(&to(from)), "503");
    if let Some(other) = other {
        assert_eq!(status_of(&to(other)), "200");
    }
    drop(held);
    assert!(wait_until(LATE, || status_of(&to(from)) == "200"));
}

#[test]
fn one_address_has_a_cap_of_its_own() {
    check_per_address("127.0.0.1:0", "127.0.0.2:0", Some("127.0.0.3:0"));
    // A dual-stack listener counts an IPv4 peer as one.
    if TcpStream::connect("[::1]:9")
        .is_err_and(|error| error.kind() != std::io::ErrorKind::ConnectionRefused)
    {
        skip!("needs ::1");
    }
    check_per_address("[::1]:0", "[::1]:0", None);
}

/// Half-open connections take what the open files allow: others are answered, whether there are
/// some that do not read their answer or not.
#[test]
fn connections_above_what_the_open_files_allow_are_refused() {
    const FILES: u32 = 128;
    let (_child, address) = start_child(FILES);
    let mut clients: Vec<_> = (0..200).map(|_| RawClient::connect(address)).collect();
    for client in &mut clients {
        client.send("G");
    }
    for _ in 0..20 {
        let refusal = RawClient::connect(address).exchange(get("/"));
        assert_eq!(refusal.status, 503);
        assert!(refusal.field("Retry-After").is_some());
    }
    let capacity = Capacity::new(FILES.into(), 1).connections_max as usize;
    let (held, refused) = clients.split_at_mut(capacity);
    for client in held {
        assert_eq!(client.exchange("ET / HTTP/1.1\r\nHost: a\r\n\r\n").text(), "/");
    }
    for client in refused {
        assert_eq!(client.read_response().status, 503);
    }
    drop(clients);
    assert!(wait_until(LATE, || RawClient::connect(address).exchange(get("/")).status == 200));
}

/// An engine that has no descriptors left neither fails nor spins, and goes on when there are some
/// again.
#[test]
fn descriptors_that_run_out_make_connections_wait() {
    let (child, address) = start_child_short_of(20);
    let mut clients: Vec<_> = (0..40).map(|_| RawClient::connect(address)).collect();
    for client in &mut clients {
        client.send(get("/"));
    }
    let mut served = 0;
    let before = child.cpu_time();
    while !clients[served].is_silent_for(Duration::from_millis(500)) {
        served += 1;
    }
    assert!((5..20).contains(&served), "{served} were served at a time");
    let spent = child.cpu_time().saturating_sub(before);
    assert!(spent < Duration::from_millis(200), "{spent:?} were spent on waiting");
    for mut client in clients {
        assert_eq!(client.read_response().text(), "/");
    }
}
