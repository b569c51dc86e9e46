//! `vervet run` with users that `vervet passwd` keeps, and what the status shows of who was
//! refused.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use vervet_testkit::{PATIENCE, RawClient, TempTree, Vervet, wait_until};

const DOCUMENT: &str = "\
[admin]
address = 'unix:admin.sock'

[[listen]]
address = '127.0.0.1:0'

[[site]]
root = 'www'
auth = 'users'
";

/// `open sesame`.
const OPEN: &str = "Authorization: Basic YW5uOm9wZW4gc2VzYW1l\r\n";
/// `open barley`.
const BARLEY: &str = "Authorization: Basic YW5uOm9wZW4gYmFybGV5\r\n";

fn vervet(tree: &TempTree, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vervet"));
    command.current_dir(tree.path()).args(arguments);
    command
}

/// Sets or removes users in the file of the tree.
#[track_caller]
fn passwd(tree: &TempTree, arguments: &[&str], input: &str) {
    let mut command = vervet(tree, &["passwd", "users"]);
    command.args(arguments).stdin(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "{arguments:?}");
}

fn status(server: &Vervet, field: &str) -> u16 {
    let request = format!("GET / HTTP/1.1\r\nHost: a\r\n{field}\r\n");
    server.connect().exchange(request).status
}

fn becomes(server: &Vervet, field: &str, expected: u16) -> bool {
    wait_until(PATIENCE, || status(server, field) == expected)
}

/// The number of a counter of refusals on the admin listener.
fn refused(socket: &Path, name: &str) -> u64 {
    let mut admin = RawClient::connect_unix(socket);
    let report = admin.exchange("GET /-/status HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let text = report.text();
    let found = text.split_once(&format!("\"{name}\": "));
    let (_, rest) = found.unwrap_or_else(|| panic!("no {name} in {text}"));
    let digits = rest.find(|byte: char| !byte.is_ascii_digit()).unwrap();
    rest[..digits].parse().unwrap()
}

/// Users come and go without a restart, and a broken file leaves them as they are.
#[test]
fn users_are_changed_while_the_server_runs() {
    let tree = TempTree::new().file("www/index.html", "hello").file("vervet.toml", DOCUMENT);
    passwd(&tree, &["ann"], "open sesame");
    let mut run = vervet(&tree, &["run"]);
    // Where tests run as root it has to be insisted on.
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        run.args(["--set", "user=root"]);
    }
    let mut server = Vervet::spawn(run);
    assert_eq!(
        [status(&server, ""), status(&server, BARLEY), status(&server, OPEN)],
        [401, 401, 200]
    );
    assert_eq!(refused(&tree.join("admin.sock"), "auth"), 1);

    passwd(&tree, &["ann", "--bcrypt", "--cost", "4"], "open barley");
    assert!(becomes(&server, BARLEY, 200));
    assert_eq!(status(&server, OPEN), 401);

    tree.write("users", "ann:open barley\n");
    let said = wait_until(PATIENCE, || {
        assert_eq!(status(&server, BARLEY), 200);
        let lines = server.child.lines();
        lines.iter().any(|line| line.text.contains("users, line 1: not an Argon2id"))
    });
    assert!(said, "{:#?}", server.child.lines());

    passwd(&tree, &["ann", "--remove"], "");
    assert!(becomes(&server, BARLEY, 401));
    server.child.signal(vervet_testkit::Signal::TERM);
    assert!(server.child.wait_exit(PATIENCE).success());
}

/// `vervet check` says what is wrong with filters, all at once and at its place.
#[test]
fn a_check_finds_what_is_wrong_with_filters() {
    let wrong = "[[site]]\nroot = 'www'\ndeny = [{ regex = '[' }]\ncors = { credentials = true }\nauth = 'none'\n";
    let tree = TempTree::new().dir("www").file("vervet.toml", wrong);
    let mut command = vervet(&tree, &["check"]);
    if crate::common::is_root() {
        command.env("VERVET_USER", "root");
    }
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    for (message, place) in [
        ("invalid regular expression: unclosed character class", "vervet.toml:3:19"),
        ("`credentials` with the origin `*` would let every site read", "vervet.toml:4:24"),
        ("cannot use the user file", "vervet.toml:5:8"),
    ] {
        let (_, after) =
            said.split_once(message).unwrap_or_else(|| panic!("no {message} in {said}"));
        let line = after.lines().nth(1).unwrap();
        assert!(line.ends_with(place), "{line} for {message}");
    }
}
