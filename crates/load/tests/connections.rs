//! Connections: how long they are used, how fast they begin, where from and where to.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::common;
use crate::common::{GOOD, answering, canned, plan, plan_of, request, requests, run, server, take};
use vervet_engine::reactor::Outgoing;
use vervet_load::canned::{Canned, CannedAnswer};
use vervet_report::{ErrorClass, Reuse};

/// Long enough to see that nothing comes, and far below the time that a target has to end a
/// connection.
const SHORT: Duration = Duration::from_millis(20);

const CLOSE: &str = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

#[test]
fn a_connection_for_each_request() {
    let (_canned, address) = canned(&CannedAnswer::default());
    let mut plan = requests(plan_of(Outgoing::tcp(address), CLOSE), 300);
    plan.reuse = Reuse::Close;
    plan.connections = 5;
    let run = run(plan);
    assert_eq!((run.achieved.done, run.errors.total()), (300, 0), "{:?}", run.errors);
    // Four may have begun one when the fifth made the last request.
    let opened = run.achieved.connections_opened;
    assert!((300..=304).contains(&opened), "{opened}");
    assert_eq!(run.timings.connect.count(), opened);
}

/// The canned server accepts every connection: a limit would lower the measured ceiling.
#[test]
fn many_connections_at_once() {
    let (_canned, address) = canned(&CannedAnswer::default());
    let mut plan = requests(plan(address), 3000);
    plan.connections = 300;
    let run = run(plan);
    assert_eq!((run.achieved.done, run.errors.total()), (3000, 0), "{:?}", run.errors);
    assert_eq!(run.achieved.connections_opened, 300);
}

/// An answer after the end of the run is not an error, in whichever order a turn finds both.
#[test]
fn the_end_makes_no_errors() {
    let (_canned, address) = canned(&CannedAnswer::default());
    for _ in 0..10 {
        let mut plan = plan_of(Outgoing::tcp(address), CLOSE);
        plan.reuse = Reuse::Close;
        plan.connections = 64;
        plan.duration = Some(Duration::from_millis(50));
        let run = run(plan);
        assert_eq!(run.errors.total(), 0, "{:?}", run.errors);
    }
}

#[test]
fn so_many_requests_on_each_connection() {
    let (_canned, address) = canned(&CannedAnswer::default());
    let mut plan = requests(plan(address), 100);
    plan.reuse = Reuse::Requests { requests: 25 };
    let run = run(plan);
    assert_eq!((run.achieved.done, run.achieved.connections_opened), (100, 4));
}

/// The target says that it closes, or does so without a word: the user goes on with a new
/// connection.
#[test]
fn a_connection_that_the_target_ends_is_followed_by_another() {
    let announced = &b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"[..];
    let old = &b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"[..];
    let until_close = &b"HTTP/1.1 200 OK\r\n\r\nok"[..];
    for answer in [announced, old, until_close] {
        let address = server(move |mut stream| {
            if request(&mut stream).is_some() {
                let _ = stream.write_all(answer);
            }
        });
        let run = run(requests(plan(address), 10));
        let counts = (run.achieved.done, run.errors.total(), run.achieved.connections_opened);
        assert_eq!(counts, (10, 0, 10), "{:?}", run.errors);
        assert_eq!(run.achieved.content_bytes, 20);
    }
}

/// Reset before, a target would see a client that went away; closed by farewells, its port would
/// wait for a minute.
#[test]
fn a_connection_is_reset_when_the_target_has_ended_it_and_not_before() {
    let ends = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&ends);
    let address = server(move |mut stream| {
        if request(&mut stream).is_none() {
            return;
        }
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
        let end = |mut stream: &TcpStream| stream.read(&mut [0]).map_err(|error| error.kind());
        stream.set_read_timeout(Some(SHORT)).unwrap();
        let before = end(&stream);
        stream.shutdown(Shutdown::Write).unwrap();
        stream.set_read_timeout(None).unwrap();
        let after = end(&stream);
        seen.lock().unwrap().push((before, after));
    });
    let mut plan = plan_of(Outgoing::tcp(address), CLOSE);
    plan.reuse = Reuse::Close;
    plan.connect_rate = Some(20.0);
    assert_eq!(run(plan).errors.total(), 0);
    let ended = (Err(ErrorKind::WouldBlock), Err(ErrorKind::ConnectionReset));
    // The last may end with the run.
    let ends = ends.lock().unwrap();
    assert!(ends.len() >= 2, "{ends:?}");
    assert_eq!(ends[..2], [ended, ended]);
}

#[test]
fn pipelined_requests_leave_together() {
    let (_canned, address) = canned(&CannedAnswer::default());
    let mut plan = requests(plan(address), 1000);
    plan.connections = 2;
    plan.pipelining = 16;
    let run = run(plan);
    assert_eq!((run.achieved.done, run.errors.total()), (1000, 0), "{:?}", run.errors);

    let seen = Arc::new(Mutex::new(0));
    let most = Arc::clone(&seen);
    let address = server(move |mut stream| {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            let blank = buffer[..count].windows(4).filter(|it| it == b"\r\n\r\n");
            let requests = blank.count();
            let mut most = most.lock().unwrap();
            *most = requests.max(*most);
            let _ = stream.write_all(&GOOD.repeat(requests));
        }
    });
    let mut plan = requests(common::plan(address), 8);
    plan.pipelining = 8;
    assert_eq!(common::run(plan).achieved.done, 8);
    assert_eq!(*seen.lock().unwrap(), 8);
}

/// Pipelined requests after an announced close were not processed: they are sent again, and do not
/// count as failures.
#[test]
fn a_close_amid_pipelined_requests_loses_none() {
    let address = server(|mut stream| {
        if request(&mut stream).is_some() {
            let close = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
            let _ = stream.write_all(close);
            take(Duration::from_millis(20));
        }
    });
    let mut plan = requests(plan(address), 12);
    plan.pipelining = 4;
    let run = run(plan);
    assert_eq!((run.achieved.done, run.errors.total()), (12, 0), "{:?}", run.errors);
}

#[test]
fn begins_no_more_connections_than_asked() {
    let (_canned, address) = canned(&CannedAnswer::default());
    let mut plan = plan_of(Outgoing::tcp(address), CLOSE);
    plan.reuse = Reuse::Close;
    plan.connections = 20;
    plan.threads = 2;
    plan.connect_rate = Some(50.0);
    let run = run(plan);
    let opened = run.achieved.connections_opened;
    assert!((5..=52).contains(&opened), "{opened} in a second");
}

#[test]
fn takes_its_sources_in_turn() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let from = Arc::clone(&seen);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            from.lock().unwrap().push(stream.peer_addr().unwrap().ip());
            thread::spawn(move || {
                while request(&mut stream).is_some() {
                    let _ = stream.write_all(GOOD);
                }
            });
        }
    });
    let sources = [2, 3].map(|last| IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)));
    let mut plan = requests(plan(address), 40);
    plan.connections = 4;
    plan.outgoing = sources.map(|source| Outgoing::tcp(address).from(source)).to_vec();
    assert_eq!(run(plan).achieved.done, 40);
    let mut seen = seen.lock().unwrap().clone();
    seen.sort();
    let [two, three] = sources;
    assert_eq!(seen, [two, two, three, three]);
}

#[test]
fn a_foreign_source_address_is_a_local_error() {
    let address = answering(GOOD);
    let mut plan = requests(plan(address), 3);
    // 192.0.2.0/24 is for documentation (RFC 5737).
    let foreign = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    plan.outgoing = vec![Outgoing::tcp(address).from(foreign)];
    let run = run(plan);
    assert_eq!(run.errors.count(ErrorClass::Local), 3, "{:?}", run.errors);
}

#[test]
fn speaks_over_unix_sockets_and_ipv6() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listen = format!("unix:{}", path.display()).parse().unwrap();
    let answer = CannedAnswer::default();
    let _canned = Canned::start(&listen, &answer).unwrap();
    let outgoing = Outgoing::unix(&path).unwrap();
    let mut plan = requests(plan_of(outgoing, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 500);
    plan.connections = 8;
    let by_unix = run(plan);
    let counts = (by_unix.achieved.done, by_unix.errors.total());
    assert_eq!(counts, (500, 0), "{:?}", by_unix.errors);

    let Ok(canned) = Canned::start(&"[::1]:0".parse().unwrap(), &answer) else {
        vervet_testkit::skip!("needs IPv6");
    };
    let plan = requests(common::plan(canned.address().unwrap()), 50);
    assert_eq!(run(plan).achieved.done, 50);
}
