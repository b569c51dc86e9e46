//! Signals, the service manager and its sockets in `vervet run` (FEATURES A12, Y4, Y5, G3).

use std::fs;
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use crate::common::load::{Stopping, short_connections};
use crate::common::{ADMIN, Run, get, run};
use vervet_testkit::{PATIENCE, RawClient, Signal, TempTree, skip, wait_until};

const SITE: &str = "
[[listen]]
address = '127.0.0.1:0'
name = 'main'
[[site]]
[[site.route]]
path = '/big'
files = 'big'
[[site.route]]
respond = 'same'
";

fn start(rest: &str) -> Run {
    let tree = TempTree::new().sparse("big", 1 << 30);
    Run::start(tree, &[rest, SITE].concat())
}

/// "TERM under load without keep-alive: no accepted request lost; exits 0 within the limit".
#[test]
fn term_under_load_loses_no_accepted_request() {
    for workers in [1, 2] {
        let mut server = start(&format!("workers = {workers}\n"));
        let address = server.address("main");
        let (stop, answered) = (AtomicBool::new(false), AtomicU64::new(0));
        thread::scope(|scope| {
            let client = || short_connections(|| TcpStream::connect(address), &stop, &answered);
            let clients: Vec<_> = (0..6).map(|_| scope.spawn(client)).collect();
            let _stopping = Stopping(&stop);
            let enough = || answered.load(Ordering::Relaxed) >= 300;
            assert!(wait_until(PATIENCE, enough), "{answered:?}");
            server.child.signal(Signal::TERM);
            let exit = server.child.wait_exit(PATIENCE);
            assert_eq!(exit.code(), Some(0), "{}", server.said());
            for client in clients {
                let seen = client.join().unwrap();
                assert!(seen.lost.is_empty(), "{seen:?}");
            }
        });
    }
}

/// A download that its client does not read: the drain has something to wait for.
fn stuck(server: &mut Run) -> RawClient {
    let mut client = server.connect();
    client.send(get("a", "/big"));
    client.read_exact(1);
    client
}

/// "second TERM exits at once". The pid file goes with it.
#[test]
fn a_second_signal_ends_at_once() {
    for (first, second, code) in [
        (Signal::TERM, Signal::TERM, 143),
        (Signal::INT, Signal::INT, 130),
        (Signal::QUIT, Signal::TERM, 143),
    ] {
        let mut server = start("pid_file = 'vervet.pid'\n");
        let _client = stuck(&mut server);
        server.child.signal(first);
        let stopping = "vervet: stopping: waiting up to 30 s for requests to end (send the signal again to stop at once)";
        server.child.wait_for_line(|line| line == stopping);
        assert!(server.tree.join("vervet.pid").exists());
        server.child.signal(second);
        assert_eq!(server.child.wait_exit(PATIENCE).code(), Some(code));
        assert!(!server.tree.join("vervet.pid").exists());
    }
}

#[test]
fn a_drain_ends_at_the_limit_of_the_document() {
    let mut server = start("[limits]\ndrain_timeout_ms = '300ms'\n");
    let _client = stuck(&mut server);
    server.child.signal(Signal::TERM);
    server.child.wait_for_line(|line| line.contains("up to 300 ms"));
    assert_eq!(server.child.wait_exit(PATIENCE).code(), Some(0));
}

/// While it drains it answers probes, and takes no other configuration.
#[test]
fn a_draining_server_reports_it_and_ignores_reloads() {
    let mut server = start(ADMIN);
    let client = stuck(&mut server);
    assert_eq!(server.admin("/-/ready").status, 200);
    server.child.signal(Signal::TERM);
    assert!(wait_until(PATIENCE, || server.admin("/-/ready").status == 503));
    assert_eq!(server.admin("/-/ready").text(), "draining\n");
    assert_eq!(server.admin("/-/live").status, 200);
    assert_eq!(server.admin("/-/startup").status, 200);
    server.child.signal(Signal::HUP);
    assert_eq!(server.status()["phase"], "draining");
    drop(client);
    assert_eq!(server.child.wait_exit(PATIENCE).code(), Some(0));
    assert!(!server.said().contains("reload"), "{}", server.said());
}

fn count(server: &Run, file: &str) -> usize {
    let text = fs::read_to_string(server.tree.join(file)).unwrap_or_default();
    text.lines().count()
}

/// Both signals that people use, and a file that was renamed away meanwhile: every request has its
/// line, in one of them.
#[test]
fn logs_are_reopened() {
    let log = "log = ['a']\n[[site.route]]\npath = '/big'";
    let document =
        [SITE.replace("[[site.route]]\npath = '/big'", log).as_str(), "[log.a]\nfile = 'a.log'\n"]
            .concat();
    let mut server = Run::start(TempTree::new().sparse("big", 1), &document);
    let mut client = server.connect();
    let mut ask = || {
        for _ in 0..50 {
            assert_eq!(client.exchange(get("a", "/")).status, 200);
        }
    };
    for (signal, file) in [(Signal::USR1, "first"), (Signal::HUP, "second")] {
        ask();
        assert!(wait_until(PATIENCE, || count(&server, "a.log") == 50));
        fs::rename(server.tree.join("a.log"), server.tree.join(file)).unwrap();
        server.child.signal(signal);
        assert!(wait_until(PATIENCE, || server.tree.join("a.log").exists()), "{signal:?}");
        assert_eq!(count(&server, file), 50);
    }
    ask();
    let tree = server.end();
    let last = fs::read_to_string(tree.join("a.log")).unwrap();
    assert_eq!(last.lines().count(), 50);
}

/// The messages of a server to its manager, as they come.
fn messages(socket: &UnixDatagram, until: &str) -> Vec<String> {
    let mut messages = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let length = socket.recv(&mut buffer).unwrap();
        let message = String::from_utf8(buffer[..length].to_vec()).unwrap();
        let is_last = message.contains(until);
        messages.push(message);
        if is_last {
            return messages;
        }
    }
}

#[test]
fn the_service_manager_is_notified() {
    let tree = TempTree::new().sparse("big", 1);
    let socket = UnixDatagram::bind(tree.join("notify")).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut command = run(tree.path());
    command.env("NOTIFY_SOCKET", tree.join("notify"));
    let document = [ADMIN, SITE].concat();
    let mut server = Run::spawn(tree, &document, command);
    assert_eq!(messages(&socket, "READY=1"), ["READY=1\nSTATUS=serving\n"]);
    for document in [document.as_str(), "[[site"] {
        server.tree.write("vervet.toml", document);
        server.child.signal(Signal::HUP);
        let told = messages(&socket, "READY=1");
        let [reloading, ready] = told.as_slice() else {
            panic!("{told:?}");
        };
        // systemd holds the time against that of its own request.
        let time = reloading.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").unwrap();
        let (time, status) = time.split_once('\n').unwrap();
        assert!(time.parse::<u64>().is_ok(), "{reloading}");
        assert_eq!(status, "STATUS=reading the configuration\n");
        assert!(ready.starts_with("READY=1\n"), "{ready}");
    }
    server.child.signal(Signal::TERM);
    let stopping = "STOPPING=1\nSTATUS=waiting for requests to end\n";
    assert_eq!(messages(&socket, "STOPPING=1"), [stopping]);
    assert_eq!(server.child.wait_exit(PATIENCE).code(), Some(0));
}

/// A reload that was refused stands in `systemctl status`.
#[test]
fn the_service_manager_sees_that_a_reload_was_refused() {
    let tree = TempTree::new().sparse("big", 1);
    let socket = UnixDatagram::bind(tree.join("notify")).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut command = run(tree.path());
    command.env("NOTIFY_SOCKET", tree.join("notify"));
    let mut server = Run::spawn(tree, SITE, command);
    messages(&socket, "READY=1");
    server.tree.write("vervet.toml", "[[site");
    server.child.signal(Signal::HUP);
    let told = messages(&socket, "READY=1");
    let status = "STATUS=reload failed, the running configuration stays in effect: cannot serve vervet.toml: vervet.toml:1:";
    assert!(told[1].contains(status), "{told:?}");
    server.tree.write("vervet.toml", SITE);
    server.child.signal(Signal::HUP);
    assert_eq!(messages(&socket, "READY=1")[1], "READY=1\nSTATUS=serving\n");
}

#[test]
fn a_watchdog_hears_that_the_server_is_alive() {
    let tree = TempTree::new().sparse("big", 1);
    let socket = UnixDatagram::bind(tree.join("notify")).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut command = run(tree.path());
    command.env("NOTIFY_SOCKET", tree.join("notify")).env("WATCHDOG_USEC", "100000");
    let _server = Run::spawn(tree, SITE, command);
    for _ in 0..5 {
        messages(&socket, "WATCHDOG=1");
    }
}

/// Hands over two listening sockets, as a service manager does, and becomes the server.
const MANAGER: &str = "
import os, socket, sys
sockets = [socket.create_server(('127.0.0.1', 0)) for _ in range(2)]
print(*(s.getsockname()[1] for s in sockets), flush=True)
for number, one in enumerate(sockets):
    os.dup2(one.fileno(), 20 + number)
for number in range(2):
    os.dup2(20 + number, 3 + number, inheritable=True)
os.environ.update(LISTEN_FDS='2', LISTEN_PID=str(os.getpid()), LISTEN_FDNAMES='http:other')
os.execv(sys.argv[1], sys.argv[1:])
";

fn with_sockets(tree: TempTree, document: &str) -> (Run, Vec<u16>) {
    let plain = run(tree.path());
    let mut command = Command::new(vervet_testkit::find_program("python3").unwrap());
    command
        .args(["-c", MANAGER])
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(tree.path());
    let mut server = Run::spawn(tree, document, command);
    let ports = server.child.wait_for_line(|line| line.split(' ').count() == 2);
    let ports = ports.split(' ').map(|port| port.parse().unwrap());
    (server, ports.collect())
}

#[test]
fn sockets_of_the_manager_are_taken_by_name_and_stay_through_reloads() {
    if vervet_testkit::find_program("python3").is_none() {
        skip!("needs python3");
    }
    let rest = SITE.replace("'127.0.0.1:0'", "'fd:http'");
    let tree = TempTree::new().sparse("big", 1);
    let (mut server, ports) = with_sockets(tree, &[ADMIN, &rest].concat());
    let connect = || RawClient::connect(([127, 0, 0, 1], ports[0]).into());
    let mut kept = connect();
    assert_eq!(kept.exchange(get("a", "/")).text(), "same");
    server.reload(&[ADMIN, &rest.replace("same", "other")].concat());
    assert_eq!(kept.exchange(get("a", "/")).text(), "other");
    assert_eq!(connect().exchange(get("a", "/")).text(), "other");
    server.end();
}

#[test]
fn sockets_of_the_manager_are_taken_where_the_document_names_none() {
    if vervet_testkit::find_program("python3").is_none() {
        skip!("needs python3");
    }
    let document = [ADMIN, "[[site]]\n[[site.route]]\nrespond = 'one'\n"].concat();
    let (mut server, ports) = with_sockets(TempTree::new(), &document);
    for text in ["one", "two"] {
        for port in &ports {
            let mut client = RawClient::connect(([127, 0, 0, 1], *port).into());
            assert_eq!(client.exchange(get("a", "/")).text(), text);
        }
        server.reload(&document.replace("one", "two"));
    }
    server.end();
}
