//! `vervet serve` as a newcomer types it: what is said, what is served, and how mistakes are
//! answered.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use vervet_testkit::{Child, PATIENCE, Signal, Stream, TempTree, Vervet, free_port};

const BINARY: &str = env!("CARGO_BIN_EXE_vervet");

/// Every option of `serve`; a new one is added here and in the help.
const OPTIONS: &[&str] = &[
    "--listen",
    "--unix-mode",
    "--proxy-protocol",
    "--index",
    "--spa",
    "--no-listing",
    "--hidden",
    "--follow-symlinks",
    "--max-age",
    "--no-compression",
    "--log",
    "--log-file",
    "--workers",
    "--limit",
    "--overload",
    "--drain-timeout",
    "--backlog",
    "--reuse-port",
    "--no-defer-accept",
    "--fastopen",
    "--congestion",
    "--user",
    "--group",
];

/// The command without the environment variables of the user who runs the tests.
fn vervet(arguments: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    for name in ["PORT", "WEB_CONCURRENCY", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"] {
        command.env_remove(name);
    }
    if rustix::process::geteuid().is_root() {
        command.env("VERVET_USER", "root");
    }
    command.args(arguments);
    command
}

/// Runs a command that is to fail: its status, and what of it its message has to hold.
#[track_caller]
fn check_failure(command: Command, code: i32, said: &str) {
    let mut child = Child::spawn(command);
    let exit = child.wait_exit(PATIENCE);
    let talk = child.text(Stream::Stderr);
    assert_eq!(exit.code(), Some(code), "{talk}");
    assert!(talk.contains(said), "{talk}");
    assert_eq!(child.text(Stream::Stdout), "");
}

#[test]
fn mistakes_of_usage_end_with_2_and_name_the_thing() {
    let check = |arguments: &[&str], said: &str| check_failure(vervet(arguments), 2, said);
    check(&["serve", "--lissen", ":80"], "--listen");
    check(&["server"], "serve");
    check(&["serve", "--listen", "nowhere"], "invalid listen address \"nowhere\"");
    check(&["serve", "--listen", "127.0.0.1:70000"], "invalid port \"70000\"");
    check(&["serve", "--workers", "0"], "is not a valid number of workers");
    check(&["serve", "--workers", "1025"], "from 1 to 1024");
    check(&["serve", "--log", "apache"], "[possible values: pretty, common, combined, json, none]");
    check(&["serve", "--limit", "head_byte_max=1k"], "did you mean `head_bytes_max`?");
    check(&["serve", "--limit", "fields_max=7"], "`fields_max` is out of bounds");
    check(&["serve", "--limit", "fields_max"], "NAME=VALUE");
    check(&["serve", "--max-age", "soon"], "--> --max-age");
    check(&["serve", "--unix-mode", "999"], "cannot be `999`");
    check(&["serve", "--proxy-protocol", "10.0.0.0/33"], "cannot be `10.0.0.0/33`");
    check(&["serve", "--overload", "panic"], "reject, wait");
    check(&["serve", "one", "two"], "two");
    let mut command = vervet(&["serve"]);
    command.env("VERVET_LOG", "apache");
    check_failure(command, 2, "--log");
}

#[test]
fn errors_of_the_system_end_with_1_and_name_the_cause() {
    let tree = TempTree::new();
    let check = |arguments: &[&str], said: &str| {
        let mut command = vervet(&["serve"]);
        command.args(arguments).current_dir(tree.path());
        check_failure(command, 1, said);
    };
    check(&["gone"], "cannot serve");
    check(
        &["--listen", "192.0.2.1:80"],
        "cannot bind 192.0.2.1:80: no interface of this machine has the address",
    );
    check(&["--log-file", "gone/access.log"], "--log-file: cannot open ");
    check(
        &["--listen", "127.0.0.1:0", "--congestion", "none"],
        "cannot set congestion of 127.0.0.1:0",
    );
    check(&["--limit", "target_bytes_max=64k"], "target_bytes_max exceeds head_bytes_max");
    check(&["--listen", "fd:web"], "the parent process left no such socket");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    check(&["--listen", &address], "address in use (stop the program that listens there");
    let mut command = vervet(&["serve"]);
    command.env("PORT", "eighty");
    check_failure(command, 1, "PORT=eighty");
    let mut command = vervet(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("WEB_CONCURRENCY", "many");
    check_failure(command, 1, "WEB_CONCURRENCY");
}

#[test]
fn the_help_names_each_option() {
    let mut child = Child::spawn(vervet(&["serve", "--help"]));
    assert!(child.wait_exit(PATIENCE).success());
    let help = child.text(Stream::Stdout);
    for option in OPTIONS {
        assert!(help.contains(&format!(" {option}")), "{option}");
    }
    let named = help.lines().filter(|line| line.trim_start().starts_with("--"));
    assert_eq!(named.count(), OPTIONS.len(), "{help}");
    for heading in [
        "Listening:",
        "Files:",
        "Access log:",
        "Workers and limits:",
        "Socket options:",
        "Account:",
        "Examples:",
        "Environment:",
    ] {
        assert!(help.lines().any(|line| line == heading), "{heading}");
    }
    assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
}

#[test]
fn the_version_says_how_it_was_built() {
    let output = |arguments: &[&str]| {
        let mut child = Child::spawn(vervet(arguments));
        assert!(child.wait_exit(PATIENCE).success());
        child.text(Stream::Stdout)
    };
    let version = format!("vervet {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(output(&["version"]), version);
    let build = output(&["version", "--build"]);
    assert!(build.starts_with(&version), "{build}");
    let json = output(&["version", "--json"]);
    let names = "commit target profile recording rustc allocator zstd";
    for name in names.split(' ') {
        assert!(build.lines().any(|line| line.starts_with(name)), "{build}");
        assert!(json.contains(&format!("\"{name}\":\"")), "{json}");
    }
    let limits = output(&["limits"]);
    assert!(limits.lines().any(|line| line.starts_with("head_bytes_max ")), "{limits}");
}

#[test]
fn a_single_file_is_served_at_the_root_and_at_its_name() {
    let tree = TempTree::new().file("page.html", "<p>one").file("other.html", "<p>two");
    let server = Vervet::serve(BINARY, tree.join("page.html"), ["--log", "none"]);
    for (target, status) in [("/", 200), ("/page.html", 200), ("/other.html", 404)] {
        let answer = server.connect().exchange(format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n"));
        assert_eq!(answer.status, status, "{target}");
        assert!(status != 200 || answer.text() == "<p>one", "{target}");
    }
}

#[test]
fn an_empty_folder_is_served_and_ctrl_c_ends_it() {
    let tree = TempTree::new();
    let mut server = Vervet::serve(BINARY, tree.path(), [""; 0]);
    let said = format!("vervet: serving {} at http://{}/", tree.path().display(), server.address);
    server.child.wait_for_line(|line| line == said);
    let answer =
        server.connect().exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assert_eq!(answer.status, 200);
    server.child.signal(Signal::INT);
    assert_eq!(server.child.wait_exit(PATIENCE).code(), Some(0));
}

#[test]
fn options_reach_the_handler() {
    let tree = TempTree::new()
        .file("a/home.htm", "home")
        .file(".hidden", "dot")
        .file("index.html", "root")
        .dir("b");
    let check = |options: &[&str], target: &str, expected: (u16, Option<&str>)| {
        let server = Vervet::serve(BINARY, tree.path(), [options, &["--log", "none"]].concat());
        let answer = server.connect().exchange(format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n"));
        assert_eq!(answer.status, expected.0, "{options:?} {target}");
        assert_eq!(answer.field("Cache-Control"), expected.1, "{options:?} {target}");
    };
    check(&[], "/.hidden", (404, None));
    check(&["--hidden"], "/.hidden", (200, Some("no-cache")));
    check(&["--no-listing"], "/b/", (403, None));
    check(&["--index", "none,home.htm", "--max-age", "1h"], "/a/", (200, Some("max-age=3600")));
    check(&["--spa"], "/no/such/page", (200, Some("no-cache")));
}

#[test]
fn flags_override_the_environment() {
    let tree = TempTree::new().file("index.html", "root");
    let start = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = vervet(&["serve", "--log", "none"]);
        command.args(arguments).envs(variables.iter().copied()).current_dir(tree.path());
        Vervet::spawn(command)
    };
    let (port, other) = (free_port(), free_port());
    let listen = format!("127.0.0.1:{port}");
    let typed = format!("127.0.0.1:{other}");
    let variables = [("VERVET_LISTEN", listen.as_str()), ("PORT", "1")];
    assert_eq!(start(&["--listen", &typed], &variables).address.port(), other);
    assert_eq!(start(&[], &variables).address.port(), port);
    let everyone = start(&[], &[("PORT", &port.to_string())]);
    assert!(everyone.address.ip().is_unspecified());
    assert_eq!(everyone.address.port(), port);
}

#[test]
fn without_an_address_a_taken_default_gives_way_to_a_free_port() {
    let tree = TempTree::new();
    // The port may be in use already: at least one of the two servers below cannot bind it.
    let start = || {
        let mut command = vervet(&["serve", "--log", "none"]);
        command.current_dir(tree.path());
        Vervet::spawn(command)
    };
    let (_first, mut second) = (start(), start());
    assert_ne!(second.address.port(), 8080);
    let said = format!("vervet: serving . at http://{}/ (port 8080 is in use)", second.address);
    second.child.wait_for_line(|line| line == said);
}

#[test]
fn workers_follow_the_option_and_the_environment() {
    let tree = TempTree::new();
    let workers = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = vervet(&["serve", "--listen", "127.0.0.1:0", "--log", "none"]);
        command.args(arguments).envs(variables.iter().copied()).current_dir(tree.path());
        let server = Vervet::spawn(command);
        let tasks = std::fs::read_dir(format!("/proc/{}/task", server.child.id())).unwrap();
        let names =
            tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap());
        names.filter(|name| name.starts_with("reactor-")).count()
    };
    assert_eq!(workers(&["--workers", "3"], &[("WEB_CONCURRENCY", "2")]), 3);
    assert_eq!(workers(&[], &[("WEB_CONCURRENCY", "2")]), 2);
    assert_eq!(
        workers(&["--carrier", "tokio"], &[("VERVET_WORKERS", "4"), ("WEB_CONCURRENCY", "2")]),
        4
    );
    let processors = std::thread::available_parallelism().unwrap().get();
    assert_eq!(workers(&[], &[]), processors);
}

#[test]
fn a_unix_socket_has_its_mode_and_is_removed() {
    let tree = TempTree::new().file("site/index.html", "over unix");
    let socket = tree.join("socket");
    let mut command = vervet(&["serve", "--log", "common", "--unix-mode", "620", "--listen"]);
    command.arg(format!("unix:{}", socket.display())).arg(tree.join("site"));
    let mut child = Child::spawn(command);
    let ending = format!(" at unix:{}", socket.display());
    child.wait_for_line(|line| line.ends_with(&ending));
    assert_eq!(socket.metadata().unwrap().permissions().mode() & 0o777, 0o620);
    let mut client = vervet_testkit::RawClient::connect_unix(&socket);
    let answer = client.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assert_eq!(answer.text(), "over unix");
    child.wait_for_line(|line| {
        line.starts_with("unix: - - [") && line.ends_with("\"GET / HTTP/1.1\" 200 9")
    });
    child.signal(Signal::TERM);
    assert_eq!(child.wait_exit(PATIENCE).code(), Some(0));
    assert!(!socket.exists());
}
