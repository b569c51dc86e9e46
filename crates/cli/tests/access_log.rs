//! The access log: its lines to the letter, and that each request has one whatever becomes of the
//! file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use vervet_testkit::{
    Child, PATIENCE, RawClient, Signal, Stream, TempTree, Vervet, free_port, wait_until,
};

const BINARY: &str = env!("CARGO_BIN_EXE_vervet");

fn site() -> TempTree {
    TempTree::new().file("site/a.txt", "13 bytes long")
}

fn serve(tree: &TempTree, arguments: &[&str]) -> Vervet {
    Vervet::serve(BINARY, tree.join("site"), arguments)
}

/// Whether a line fits: `#` stands for a digit, `~` for one or more, `^` for hexadecimal digits.
fn fits(pattern: &str, line: &str) -> bool {
    let mut rest = line;
    for expected in pattern.chars() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let hex_digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        let taken = match expected {
            '^' => hex_digits,
            '#' => digits.min(1),
            '~' => digits,
            _ if rest.starts_with(expected) => expected.len_utf8(),
            _ => 0,
        };
        if taken == 0 {
            return false;
        }
        rest = &rest[taken..];
    }
    rest.is_empty()
}

/// Sends a request and expects a line in a format.
#[track_caller]
fn check(format: &str, request: impl AsRef<[u8]>, pattern: &str) {
    let tree = site();
    let mut server = serve(&tree, &["--log", format]);
    let mut client = server.connect();
    client.send(request);
    client.read_to_close();
    server.child.signal(Signal::TERM);
    assert!(server.child.wait_exit(PATIENCE).success());
    let lines = server.child.text(Stream::Stdout);
    assert!(lines.bytes().all(|byte| byte == b'\n' || byte >= b' '), "{lines:?}");
    assert_eq!(lines.lines().count(), 1, "{lines}");
    assert!(fits(pattern, lines.trim_end()), "{lines}\ninstead of\n{pattern}");
}

const PLAIN: &str = "GET /a.txt?b=%20c HTTP/1.1\r\nHost: example.org\r\nReferer: http://a/\r\nUser-Agent: curl/8\r\nConnection: close\r\n\r\n";

/// Values that could forge lines and members: quotes, backslashes, invalid UTF-8, a tab.
const NASTY: &[u8] =
    b"GET /\"\\%0a HTTP/1.0\r\nReferer: \" 200 9\\\r\nUser-Agent: \xff\xc2\x9b\tx\"}\r\n\r\n";

/// What the engine refuses before anything else sees it.
const REFUSED: &str = "GET / HTTP/1.1\r\n\r\n";

#[test]
fn common_lines_are_those_of_ncsa() {
    let begin = format!("127.0.0.1 - - [##/{}/####:##:##:## +0000]", month());
    let line = |rest: &str| format!("{begin} {rest}");
    check("common", PLAIN, &line("\"GET /a.txt?b=%20c HTTP/1.1\" 200 13"));
    check("common", NASTY, &line("\"GET /\\x22\\x5C%0a HTTP/1.0\" 404 ~"));
    check("common", REFUSED, &line("\"-\" 400 ~"));
}

#[test]
fn combined_lines_have_referer_and_agent() {
    let begin = format!("127.0.0.1 - - [##/{}/####:##:##:## +0000]", month());
    let line = |rest: &str| format!("{begin} {rest}");
    let plain = "\"GET /a.txt?b=%20c HTTP/1.1\" 200 13 \"http://a/\" \"curl/8\"";
    check("combined", PLAIN, &line(plain));
    let nasty = "\"GET /\\x22\\x5C%0a HTTP/1.0\" 404 ~ \"\\x22 200 9\\x5C\" \"\\xFF\\xC2\\x9B\\x09x\\x22}\"";
    check("combined", NASTY, &line(nasty));
    check("combined", REFUSED, &line("\"-\" 400 ~ \"-\" \"-\""));
}

/// The site and the route that answer every request of `vervet serve`.
const SITE: &str = r#","site":"default","route":"root""#;

#[test]
fn json_lines_are_one_object_each() {
    let line = |request: &str, answer: &str, rest: &str| {
        format!(
            "{{\"time\":\"####-##-##T##:##:##.###Z\",\"client\":\"127.0.0.1\"{request},{answer},\"duration_ms\":~{rest}}}"
        )
    };
    let plain = line(
        concat!(
            r#","method":"GET","target":"/a.txt?b=%20c","version":"HTTP/1.1""#,
            r#","host":"example.org","referer":"http://a/","user_agent":"curl/8","request_id":"^""#
        ),
        r#""status":200,"bytes":13"#,
        SITE,
    );
    check("json", PLAIN, &plain);
    let nasty = line(
        concat!(
            r#","method":"GET","target":"/\"\\%0a","version":"HTTP/1.0""#,
            ",\"referer\":\"\\\" 200 9\\\\\",\"user_agent\":\"\u{fffd}\\u009B\\u0009x\\\"}\",\"request_id\":\"^\""
        ),
        r#""status":404,"bytes":~"#,
        SITE,
    );
    check("json", NASTY, &nasty);
    let refused = line(
        "",
        r#""status":400,"bytes":~"#,
        ",\"fault\":\"peer sent no Host in an HTTP/~.~ request (RFC ~ §~.~)\"",
    );
    check("json", REFUSED, &refused);
}

#[test]
fn pretty_lines_are_aligned_and_without_colours_in_a_pipe() {
    let plain = "##:##:##  200  GET        13  B      ~ ms  127.0.0.1     /a.txt?b=%20c";
    check("pretty", PLAIN, plain);
    let nasty = "##:##:##  404  GET       ~  B      ~ ms  127.0.0.1     /\\x22\\x5C%0a";
    check("pretty", NASTY, nasty);
}

/// The month now in UTC, as `date` of the system says.
fn month() -> String {
    let mut child = Child::start("env", ["LC_ALL=C", "date", "-u", "+%b"]);
    child.wait_exit(PATIENCE);
    child.text(Stream::Stdout).trim_end().to_owned()
}

#[test]
fn without_a_log_nothing_is_written() {
    let tree = site();
    let mut server = serve(&tree, &["--log", "none"]);
    server.connect().exchange(PLAIN);
    server.child.signal(Signal::TERM);
    server.child.wait_exit(PATIENCE);
    assert_eq!(server.child.text(Stream::Stdout), "");
}

/// Requests on one connection, one after another.
fn requests(client: &mut RawClient, target: &str, count: usize) {
    for _ in 0..count {
        let answer = client.exchange(format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n"));
        assert!([200, 404].contains(&answer.status), "{}", answer.status);
    }
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).unwrap_or_default().lines().count()
}

#[test]
fn as_many_requests_as_lines_kept_pipelined_and_over_all_workers() {
    let tree = site();
    let log = tree.join("log");
    let mut server = serve(&tree, &["--workers", "2", "--log-file", log.to_str().unwrap()]);
    for _ in 0..8 {
        requests(&mut server.connect(), "/a.txt", 20);
    }
    let mut client = server.connect();
    client.send("GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100));
    for _ in 0..100 {
        assert_eq!(client.read_response().status, 200);
    }
    let before = wait_until(PATIENCE, || lines(&log) == 260);
    assert!(before, "{} lines while it runs", lines(&log));
    requests(&mut client, "/a.txt", 1);
    server.child.signal(Signal::TERM);
    assert!(server.child.wait_exit(PATIENCE).success());
    assert_eq!(lines(&log), 261);
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.lines().all(|line| line.ends_with("\"GET /a.txt HTTP/1.1\" 200 13 \"-\" \"-\"")));
}

#[test]
fn a_log_file_is_for_its_owner_and_group_at_most() {
    let tree = site();
    for (umask, mode) in [("000", 0o640), ("022", 0o640), ("077", 0o600)] {
        let log = tree.join(umask);
        let mut command = Command::new("sh");
        command
            .args([
                "-c",
                &format!("umask {umask}; exec \"$@\""),
                "sh",
                BINARY,
                "serve",
                "--listen",
                "127.0.0.1:0",
            ])
            .arg("--log-file")
            .arg(&log)
            .arg(tree.join("site"));
        let _server = Vervet::spawn(command);
        assert_eq!(log.metadata().unwrap().permissions().mode() & 0o777, mode, "{umask}");
    }
}

/// Requests whose lines are so long that few of them fill every buffer on the way.
fn fill(server: &Vervet, count: usize) {
    let target = format!("/{}", "x".repeat(8000));
    requests(&mut server.connect(), &target, count);
}

const MANY: &str = "requests_per_connection_max=0";

#[test]
fn an_unread_pipe_delays_no_answer_and_drops_are_counted() {
    let tree = site();
    let pipe = tree.join("pipe");
    assert!(Child::start("mkfifo", [&pipe]).wait_exit(PATIENCE).success());
    let arguments = ["--limit", MANY, "--workers", "1", "--log-file", pipe.to_str().unwrap()];
    let mut server = serve(&tree, &arguments);
    fill(&server, 300);
    server.child.wait_for_line(|line| {
        line.starts_with("vervet: log to ")
            && line.contains(" lines dropped so far: the target is too slow")
    });

    // A reader that opens the pipe later gets whole lines, and those of later requests.
    let mut reader = Child::start("cat", [&pipe]);
    reader.wait_for_line(|line| line.contains(" 404 "));
    requests(&mut server.connect(), "/later", 1);
    reader.wait_for_line(|line| line.contains("\"GET /later HTTP/1.1\" 404"));
    server.child.signal(Signal::TERM);
    assert!(server.child.wait_exit(PATIENCE).success());
    reader.wait_exit(PATIENCE);
    let read = reader.lines();
    assert!(read.iter().all(
        |line| line.text.starts_with("127.0.0.1 - - [") && line.text.ends_with(" \"-\" \"-\"")
    ));
    let dropped = dropped(&server.child);
    assert!(dropped > 0);
    assert_eq!(read.len() + dropped, 301);
}

/// The number in the last report of dropped lines.
fn dropped(child: &Child) -> usize {
    let talk = child.text(Stream::Stderr);
    let report = talk.lines().rfind(|line| line.contains("lines dropped"));
    let number =
        report.and_then(|line| line.split(" lines dropped").next()?.split(' ').next_back());
    number.map_or(0, |number| number.parse().unwrap())
}

#[test]
fn a_blocked_pipe_does_not_hold_up_the_end() {
    let tree = site();
    let pipe = tree.join("pipe");
    assert!(Child::start("mkfifo", [&pipe]).wait_exit(PATIENCE).success());
    let mut server = serve(&tree, &["--limit", MANY, "--log-file", pipe.to_str().unwrap()]);
    fill(&server, 20);
    server.child.signal(Signal::TERM);
    assert_eq!(server.child.wait_exit(Duration::from_secs(8)).code(), Some(0));
    assert!(dropped(&server.child) > 0);
}

#[test]
fn a_full_disk_delays_no_answer_and_drops_are_counted() {
    let tree = site();
    let mut server = serve(&tree, &["--log-file", "/dev/full"]);
    requests(&mut server.connect(), "/a.txt", 50);
    server.child.signal(Signal::TERM);
    assert!(server.child.wait_exit(PATIENCE).success());
    assert_eq!(dropped(&server.child), 50);
    let talk = server.child.text(Stream::Stderr);
    assert!(
        talk.contains("log to /dev/full: 50 lines dropped so far: No space left on device"),
        "{talk}"
    );
}

#[test]
fn closed_streams_do_not_end_the_server() {
    let tree = site();
    let port = free_port();
    // The readers of both streams are gone before the first byte.
    let mut child = Child::start(
        "bash",
        [
            "-c",
            &format!(
                "exec '{BINARY}' serve '{}' --listen 127.0.0.1:{port} {} > >(:) 2> >(:)",
                tree.join("site").display(),
                if crate::common::is_root() { "--user root" } else { "" }
            ),
        ],
    );
    let address = ([127, 0, 0, 1], port).into();
    assert!(wait_until(PATIENCE, || std::net::TcpStream::connect(address).is_ok()));
    for _ in 0..3 {
        requests(&mut RawClient::connect(address), "/a.txt", 20);
    }
    child.signal(Signal::USR1);
    requests(&mut RawClient::connect(address), "/a.txt", 20);
    child.signal(Signal::TERM);
    assert_eq!(child.wait_exit(PATIENCE).code(), Some(0));
}

#[test]
fn reopening_the_log_loses_no_line() {
    let tree = site();
    let log = tree.join("log");
    let mut server = serve(&tree, &["--limit", MANY, "--log-file", log.to_str().unwrap()]);
    let address = server.address;
    let end = AtomicBool::new(false);
    let sent: usize = std::thread::scope(|scope| {
        let load = || {
            let mut client = RawClient::connect(address);
            let mut sent = 0;
            while !end.load(Ordering::Relaxed) && sent < 200_000 {
                requests(&mut client, "/a.txt", 10);
                sent += 10;
            }
            sent
        };
        let clients = [scope.spawn(load), scope.spawn(load)];
        for number in 0..10 {
            assert!(wait_until(PATIENCE, || lines(&log) > 0));
            fs::rename(&log, tree.join(format!("log.{number}"))).unwrap();
            server.child.signal(if number % 2 == 0 { Signal::USR1 } else { Signal::HUP });
            assert!(wait_until(PATIENCE, || log.exists()), "no new file after rotation {number}");
        }
        end.store(true, Ordering::Relaxed);
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    server.child.signal(Signal::TERM);
    assert!(server.child.wait_exit(PATIENCE).success());
    let old: usize = (0..10).map(|number| lines(&tree.join(format!("log.{number}")))).sum();
    assert_eq!(old + lines(&log), sent);
    assert_eq!(dropped(&server.child), 0);
}

#[test]
fn a_log_that_cannot_be_reopened_is_reported_and_the_old_file_stays_in_use() {
    let tree = site().dir("logs");
    let log = tree.join("logs/log");
    let mut server = serve(&tree, &["--log-file", log.to_str().unwrap()]);
    fs::rename(tree.join("logs"), tree.join("old")).unwrap();
    server.child.signal(Signal::USR1);
    server.child.wait_for_line(|line| {
        line.contains("cannot reopen the log file, still writing to the old one: No such file")
    });
    requests(&mut server.connect(), "/a.txt", 3);
    assert!(wait_until(PATIENCE, || lines(&tree.join("old/log")) == 3));
}
