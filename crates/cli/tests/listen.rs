//! Listeners of the command: options that the kernel shows, inherited sockets, and what becomes of
//! too many.

use std::process::Command;
use std::time::Duration;

use vervet_testkit::{
    Child, PATIENCE, RawClient, Signal, Stream, TempTree, Vervet, find_program, skipped, wait_until,
};

const BINARY: &str = env!("CARGO_BIN_EXE_vervet");
const REQUEST: &str = "GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n";

fn site() -> TempTree {
    TempTree::new().file("a.txt", "13 bytes long")
}

/// The lines that `ss` has for the listeners of a server.
fn sockets(server: &Vervet) -> Vec<String> {
    let filter = format!("sport = :{}", server.address.port());
    let mut child = Child::start("ss", ["-ltniH", "-O", &filter]);
    assert!(child.wait_exit(PATIENCE).success());
    child.text(Stream::Stdout).lines().map(str::to_owned).collect()
}

#[test]
fn options_of_the_sockets_are_visible() {
    if find_program("ss").is_none() {
        return skipped("ss is not installed (package iproute2)");
    }
    let tree = site();
    let serve = |arguments: &[&str]| Vervet::serve(BINARY, tree.path(), arguments);
    let backlog = |line: &str| line.split_whitespace().nth(2).unwrap().to_owned();

    let one = sockets(&serve(&["--backlog", "77", "--workers", "2"]));
    assert_eq!(one.len(), 1, "{one:?}");
    assert_eq!(backlog(&one[0]), "77");

    let each = sockets(&serve(&[
        "--reuse-port",
        "--workers",
        "3",
        "--backlog",
        "78",
        "--congestion",
        "reno",
    ]));
    assert_eq!(each.len(), 3, "{each:?}");
    for line in &each {
        assert_eq!(backlog(line), "78");
        assert!(line.split_whitespace().any(|word| word == "reno"), "{line}");
    }
}

#[test]
fn requests_in_the_first_packet_are_taken_when_asked_for() {
    let tree = site();
    let server = Vervet::serve(BINARY, tree.path(), ["--fastopen", "16", "--no-defer-accept"]);
    assert_eq!(server.connect().exchange(REQUEST).text(), "13 bytes long");
}

/// Two listening sockets, handed over as a service manager does.
const PARENT: &str = "
import os, socket, sys
sockets = [socket.create_server(('127.0.0.1', 0)) for _ in range(2)]
print(*(s.getsockname()[1] for s in sockets), flush=True)
copies = [os.dup(s.fileno()) for s in sockets]
copies = [os.fdopen(os.dup2(c, 20 + n), 'rb', buffering=0) for n, c in enumerate(copies)]
for n in range(2):
    os.dup2(20 + n, 3 + n, inheritable=True)
os.environ.update(LISTEN_FDS='2', LISTEN_PID=str(os.getpid()), LISTEN_FDNAMES='web:admin')
os.execv(sys.argv[1], sys.argv[1:])
";

fn start_with_sockets(arguments: &[&str]) -> Child {
    let tree_less = ["-c", PARENT, BINARY, "serve", "--log", "none"];
    let mut command = Command::new("python3");
    command.args(tree_less).args(arguments);
    if crate::common::is_root() {
        command.env("VERVET_USER", "root");
    }
    Child::spawn(command)
}

#[test]
fn inherited_sockets_are_used_and_named() {
    let tree = site();
    let mut child = start_with_sockets(&[tree.path().to_str().unwrap()]);
    let ports = child.wait_for_line(|line| line.split(' ').count() == 2);
    for (port, name) in ports.split(' ').zip(["web", "admin"]) {
        let ending = format!(" at http://127.0.0.1:{port}/ (inherited as {name})");
        child.wait_for_line(|line| line.ends_with(&ending));
        let address = format!("127.0.0.1:{port}").parse().unwrap();
        assert_eq!(RawClient::connect(address).exchange(REQUEST).text(), "13 bytes long");
    }
    child.signal(Signal::TERM);
    assert_eq!(child.wait_exit(PATIENCE).code(), Some(0));
}

#[test]
fn requested_inherited_sockets_are_used() {
    let tree = site();
    let mut child = start_with_sockets(&[tree.path().to_str().unwrap(), "--listen", "fd:admin"]);
    let ports = child.wait_for_line(|line| line.split(' ').count() == 2);
    let (_, admin) = ports.split_once(' ').unwrap();
    let ending = format!(" at http://127.0.0.1:{admin}/");
    child.wait_for_line(|line| line.ends_with(&ending));
    assert_eq!(child.lines().iter().filter(|line| line.text.contains("serving")).count(), 1);
}

/// As many held connections as are allowed.
fn full(policy: &str) -> (TempTree, Vervet, Vec<RawClient>) {
    let tree = site();
    let arguments = [
        "--limit",
        "connections_max=4",
        "--limit",
        "keep_alive_idle_ms=1m",
        "--overload",
        policy,
        "--log",
        "none",
    ];
    let server = Vervet::serve(BINARY, tree.path(), arguments);
    let mut held: Vec<_> = (0..4).map(|_| server.connect()).collect();
    for client in &mut held {
        assert_eq!(client.exchange(REQUEST).status, 200);
    }
    (tree, server, held)
}

#[test]
fn above_the_connection_limit_clients_get_retry_after_and_then_a_slot_within_a_second() {
    let (_tree, server, mut held) = full("reject");
    for _ in 0..3 {
        let mut client = server.connect();
        let answer = client.exchange(REQUEST);
        assert_eq!(answer.status, 503);
        let seconds: u32 = answer.field("Retry-After").unwrap().parse().unwrap();
        assert!(seconds >= 1);
        client.expect_close();
    }
    for client in &mut held {
        assert_eq!(client.exchange(REQUEST).status, 200);
    }
    held.pop();
    let room = || server.connect().exchange(REQUEST).status == 200;
    assert!(wait_until(Duration::from_secs(1), room));
}

#[test]
fn above_the_cap_clients_wait_when_asked_for_and_are_served_within_a_second() {
    let (_tree, server, mut held) = full("wait");
    let mut waiting = server.connect();
    waiting.send(REQUEST);
    assert!(waiting.is_silent_for(Duration::from_millis(300)));
    for client in &mut held {
        assert_eq!(client.exchange(REQUEST).status, 200);
    }
    held.pop();
    waiting.patience(Duration::from_secs(1));
    assert_eq!(waiting.read_response().status, 200);
}
