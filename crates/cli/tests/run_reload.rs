//! Another configuration while the server runs (FEATURES C4): "Changed host, route, user or
//! certificate is live with 0 failed requests under 300 clients; a bad file is refused, old one
//! stays, error shown".

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use crate::common::load::{Load, Stopping, short_connections};
use crate::common::{ADMIN, Run, get, passwd};
use vervet_testkit::{PATIENCE, RawClient, TempTree, wait_until};

const CLIENTS: usize = 300;

/// A site that stays as it is, on a listener that does.
const STAYS: &str = r#"
[[listen]]
address = "127.0.0.1:0"
name = "main"

[[site]]
hosts = ["stay.test"]
[[site.route]]
respond = "same"
"#;

const LIMITS: &str = "
[limits]
requests_per_connection_max = 0
keep_alive_idle_ms = '10m'
";

/// A document with what stays, and this.
fn with(rest: &str) -> String {
    [ADMIN, LIMITS, STAYS, rest].concat()
}

/// A site whose answer begins with `turn`.
fn turn(rest: &str) -> String {
    with(&format!("[[site]]\nhosts = ['turn.test']\n{rest}"))
}

/// Lets three hundred clients ask a site that stays and one that turns, on connections that must
/// stay, while something happens.
#[track_caller]
fn under_load(tree: TempTree, document: &str, happens: impl FnOnce(&mut Run, &Load)) {
    let mut server = Run::start(tree, document);
    let address = server.address("main");
    let load = Load::start(address, CLIENTS, &[("stay.test", "same"), ("turn.test", "turn")]);
    happens(&mut server, &load);
    load.go_on();
    load.end();
    let status = server.status();
    let responses = &status["requests"]["responses"];
    assert_eq!(responses["5xx"], 0, "{responses}");
    server.end();
}

const TURN: &str = "[[site.route]]\nrespond = 'turn'\n";

#[test]
fn a_changed_site_is_live_and_others_keep_their_connections() {
    let first = turn("[[site.route]]\nrespond = 'turn one'");
    under_load(TempTree::new(), &first, |server, load| {
        let mut kept = server.connect();
        assert_eq!(kept.exchange(get("turn.test", "/")).text(), "turn one");
        assert_eq!(kept.exchange(get("new.test", "/")).text(), "same");
        let second = turn(
            "[[site.route]]\nrespond = 'turn two'\n[[site]]\nhosts = ['new.test']\n[[site.route]]\nrespond = 'new'",
        );
        server.reload(&second);
        // The same connection: a change of another site does not close it.
        assert_eq!(kept.exchange(get("turn.test", "/")).text(), "turn two");
        assert_eq!(kept.exchange(get("new.test", "/")).text(), "new");
        load.go_on();
        server.reload(&first);
        assert_eq!(kept.exchange(get("turn.test", "/")).text(), "turn one");
        assert_eq!(kept.exchange(get("new.test", "/")).text(), "same");
    });
}

#[test]
fn a_route_comes_moves_and_goes() {
    let first = turn(TURN);
    let files = TempTree::new().file("www/a", "a file").file("other/a", "another");
    under_load(files, &first, |server, load| {
        let mut kept = server.connect();
        let mut check = |target: &str, status: u16, text: &str| {
            let response = kept.exchange(get("turn.test", target));
            assert_eq!((response.status, response.text()), (status, text), "{target}");
        };
        check("/files/a", 200, "turn");
        for (folder, content) in [("www", "a file"), ("other", "another")] {
            let route = format!("[[site.route]]\npath = '/files/*'\nfiles = '{folder}'\n{TURN}");
            server.reload(&turn(&route));
            check("/files/a", 200, content);
            load.go_on();
        }
        server.reload(&first);
        check("/files/a", 200, "turn");
    });
}

/// The answer to a user with a password.
fn login(client: &mut RawClient, token: &str) -> u16 {
    let request = get("turn.test", "/door");
    let end = format!("\r\nAuthorization: Basic {token}\r\n\r\n");
    client.exchange(request.replacen("\r\n\r\n", &end, 1)).status
}

/// `ann:one` and `bob:two` as a browser sends them.
const ANN: &str = "YW5uOm9uZQ==";
const BOB: &str = "Ym9iOnR3bw==";

#[test]
fn a_user_comes_and_goes() {
    let tree = TempTree::new();
    passwd(tree.path(), "first", "ann", "one");
    passwd(tree.path(), "second", "bob", "two");
    let door = |file: &str| {
        turn(&format!("[[site.route]]\npath = '/door'\nauth = '{file}'\nstatus = 204\n{TURN}"))
    };
    under_load(tree, &door("first"), |server, load| {
        let mut kept = server.connect();
        let mut who = || (login(&mut kept, ANN), login(&mut kept, BOB));
        assert_eq!(who(), (204, 401));
        server.reload(&door("second"));
        assert_eq!(who(), (401, 204));
        load.go_on();
        // The file itself changes, without a reload.
        passwd(server.tree.path(), "second", "ann", "one");
        assert!(wait_until(PATIENCE, || who() == (204, 204)));
    });
}

#[test]
fn a_limit_holds_for_the_next_request_of_a_connection() {
    let document = turn(TURN);
    let long = format!("GET / HTTP/1.1\r\nHost: turn.test\r\nX: {}\r\n\r\n", "a".repeat(20_000));
    under_load(TempTree::new(), &document, |server, load| {
        let mut kept = server.connect();
        assert_eq!(kept.exchange(&long).status, 200);
        server.reload(&document.replace("[limits]", "[limits]\nhead_bytes_max = '16KiB'"));
        assert_eq!(kept.exchange(&long).status, 431);
        load.go_on();
        server.reload(&document);
        assert_eq!(server.connect().exchange(&long).status, 200);
    });
}

/// The lines of a log that have this text.
fn lines(server: &Run, log: &str, text: &str) -> usize {
    let log = fs::read_to_string(server.tree.join(log)).unwrap_or_default();
    log.lines().filter(|line| line.contains(text)).count()
}

#[test]
fn a_log_comes_and_goes_and_has_every_line_in_between() {
    let to = |log: &str| {
        let logs = "[log.first]\nfile = 'first.log'\n[log.second]\nfile = 'second.log'\n";
        [&turn(&format!("log = ['{log}']\n{TURN}")), logs].concat()
    };
    under_load(TempTree::new(), &to("first"), |server, load| {
        let mut kept = server.connect();
        let mut ask = |target: &str, times: usize| {
            for _ in 0..times {
                assert_eq!(kept.exchange(get("turn.test", target)).status, 200);
            }
        };
        ask("/before", 50);
        server.reload(&to("second"));
        ask("/after", 50);
        load.go_on();
        server.reload(&to("first"));
        ask("/again", 50);
        for (log, text) in
            [("first.log", "/before"), ("second.log", "/after"), ("first.log", "/again")]
        {
            assert!(wait_until(PATIENCE, || lines(server, log, text) == 50), "{log} {text}");
            let other = if log == "first.log" { "second.log" } else { "first.log" };
            assert_eq!(lines(server, other, text), 0, "{other} {text}");
        }
    });
}

const SECOND: &str = "[[listen]]\naddress = '127.0.0.1:0'\nname = 'second'\n";

#[test]
fn a_listener_comes_and_goes_and_its_connections_stay() {
    let document = turn(TURN);
    let two = [&document, SECOND].concat();
    under_load(TempTree::new(), &document, |server, load| {
        for _ in 0..3 {
            server.reload(&two);
            let status = server.status();
            let listener = &status["listeners"][1];
            assert_eq!(listener["name"], "second");
            let address: SocketAddr = listener["address"].as_str().unwrap().parse().unwrap();
            let mut client = RawClient::connect(address);
            assert_eq!(client.exchange(get("turn.test", "/")).text(), "turn");
            load.go_on();
            server.reload(&document);
            // Open connections stay, and are served by the new sites.
            assert_eq!(client.exchange(get("turn.test", "/")).text(), "turn");
            assert!(wait_until(PATIENCE, || TcpStream::connect(address).is_err()));
            assert_eq!(client.exchange(get("stay.test", "/")).text(), "same");
        }
    });
}

/// Who has been let into the queue of a listener is answered, however shortly before it was taken
/// out.
#[test]
fn a_listener_that_goes_serves_its_queue() {
    let document = with("");
    let two = [&document, SECOND].concat();
    let mut server = Run::start(TempTree::new(), &document);
    for _ in 0..5 {
        server.reload(&two);
        let status = server.status();
        let address = status["listeners"][1]["address"].as_str().unwrap();
        let address: SocketAddr = address.parse().unwrap();
        let (stop, answered) = (AtomicBool::new(false), AtomicU64::new(0));
        let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(200));
        thread::scope(|scope| {
            let client = || short_connections(connect, &stop, &answered);
            let clients: Vec<_> = (0..6).map(|_| scope.spawn(client)).collect();
            let stopping = Stopping(&stop);
            let enough = || answered.load(Ordering::Relaxed) >= 200;
            assert!(wait_until(PATIENCE, enough), "{answered:?}");
            server.reload(&document);
            // Without it a listener that stays would be asked for ever.
            assert!(wait_until(PATIENCE, || clients.iter().all(ScopedJoinHandle::is_finished)));
            drop(stopping);
            for client in clients {
                let seen = client.join().unwrap();
                assert!(seen.lost.is_empty(), "{seen:?}");
            }
        });
    }
    server.end();
}

/// Two listeners at port 0 are two, and a reload takes neither for the other.
#[test]
fn listeners_at_chosen_ports_keep_them() {
    let document = [&with(""), SECOND].concat();
    let mut server = Run::start(TempTree::new(), &document);
    let before = server.status()["listeners"].clone();
    server.reload(&document);
    assert_eq!(server.status()["listeners"], before);
    let address = server.address("second");
    assert_eq!(RawClient::connect(address).exchange(get("stay.test", "/")).text(), "same");
    server.end();
}
