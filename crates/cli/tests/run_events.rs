//! What the error log says of the server itself: its start, what a reload changed and what it could
//! not change, its end and what it leaves behind; and why a file was not served.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::common::{ADMIN, Run, get, is_root, run, vervet};
use vervet_testkit::{Child, PATIENCE, RawClient, Signal, Stream, TempTree, skip, wait_until};

const LISTEN: &str = "[[listen]]\naddress = '127.0.0.1:0'\nname = 'main'\n";
const SITE: &str = "[[site]]\nhosts = ['a.test']\n[[site.route]]\nstatus = 204\n";
const LOG: &str = "[error_log]\nlevel = 'info'\nfile = 'error.log'\n";

fn document(rest: &str) -> String {
    [ADMIN, rest, LISTEN, LOG, SITE].concat()
}

/// Waits until the error log has a line with this text.
#[track_caller]
fn check_logged(tree: &TempTree, expected: &str) {
    let log = || fs::read_to_string(tree.join("error.log")).unwrap_or_default();
    let has = || log().lines().any(|line| line.contains(expected));
    assert!(wait_until(PATIENCE, has), "{expected} in {}", log());
}

#[test]
fn start_reload_and_stop_have_lines() {
    let mut server = Run::start(TempTree::new(), &document(""));
    let address = server.address("main");
    let started = format!("process {}", server.child.id());
    for expected in [
        "notice server: started: vervet ",
        started.as_str(),
        "configuration vervet.toml",
        &format!("listening on {address}"),
    ] {
        check_logged(&server.tree, expected);
    }
    server.reload(&document(""));
    check_logged(
        &server.tree,
        "notice reload: the configuration was reloaded (the same listeners and sites)",
    );
    let more = "[[listen]]\naddress = '127.0.0.1:0'\nname = 'more'\n";
    let changed = document(more).replace("a.test", "b.test");
    server.reload(&changed);
    check_logged(
        &server.tree,
        "was reloaded (new listeners: more; new sites: b.test; removed sites: a.test)",
    );
    let tree = server.end();
    check_logged(&tree, "notice server: stopping: received SIGTERM");
    check_logged(&tree, "notice server: stopped");
}

#[test]
fn what_needs_a_restart_is_in_the_error_log() {
    let mut server = Run::start(TempTree::new(), &document(""));
    let changed = "pid_file = 'pid'\nworkers = 3\noverload = 'wait'\nserver = 'Other'\n\
                   group = '0'\nsandbox = false\n";
    let changed = document(changed).replace("unix:admin.sock", "unix:other.sock");
    server.reload(&changed);
    for name in ["pid_file", "workers", "overload", "server", "admin", "sandbox"] {
        let expected = format!("a change of `{name}` takes effect after a restart");
        check_logged(&server.tree, "warning reload: vervet.toml:");
        check_logged(&server.tree, &expected);
    }
    // It still does after another reload, and not when it is as at the start.
    server.reload(&document("workers = 3\n"));
    server.reload(&document(""));
    let tree = server.end();
    let log = fs::read_to_string(tree.join("error.log")).unwrap();
    let mut reloads = log.split("was reloaded").skip(1);
    let second = reloads.next().unwrap();
    assert!(second.contains("`workers`") && !second.contains("`overload`"), "{log}");
    assert!(!reloads.next().unwrap().contains("after a restart"), "{log}");
}

/// Warnings of a valid configuration, such as a route that no request reaches.
#[test]
fn warnings_of_a_start_and_a_reload_are_in_the_error_log() {
    let twice = "[[site.route]]\npath = '/a'\nstatus = 204\n";
    let mut server = Run::start(TempTree::new(), &[&document(""), twice].concat());
    check_logged(&server.tree, "warning server: vervet.toml:");
    check_logged(&server.tree, "no request reaches this route");
    server.reload(&[&document(""), twice].concat());
    check_logged(&server.tree, "warning reload: vervet.toml:");
    server.end();
}

#[test]
fn a_port_that_needs_privileges_needs_a_restart() {
    if !is_root() {
        skip!("needs root");
    }
    if fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start")
        .is_ok_and(|port| port.trim() == "0")
    {
        skip!("needs ports for privileged processes alone");
    }
    let account = "user = '3999999'\ngroup = '3999998'\n";
    let tree = TempTree::new();
    fs::set_permissions(tree.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = vervet(tree.path());
    command.args(["run", "vervet.toml"]);
    let mut server = Run::spawn(tree, &document(account), command);
    let low = "[[listen]]\naddress = '127.0.0.1:81'\nname = 'low'\n";
    let reason = server.refused(&document(&format!("{account}{low}")));
    let expected = "cannot bind 127.0.0.1:81: permission denied (restart the server: it had the \
                    privileges for this only at its start)";
    assert!(reason.contains(expected), "{reason}");
    check_logged(&server.tree, expected);
    server.end();
}

#[test]
fn files_that_stay_are_reported() {
    if !is_root() {
        skip!("needs root");
    }
    let tree = TempTree::new().dir("run").dir("log").dir("pid");
    fs::set_permissions(tree.join("log"), fs::Permissions::from_mode(0o777)).unwrap();
    let text = document("user = '3999999'\ngroup = '3999998'\npid_file = 'pid/vervet.pid'\n")
        .replace("unix:admin.sock", "unix:run/admin.sock")
        .replace("'error.log'", "'log/error.log'");
    let mut command = vervet(tree.path());
    command.args(["run", "vervet.toml"]);
    let server = Run::spawn(tree, &text, command);
    let tree = server.end();
    let log = fs::read_to_string(tree.join("log/error.log")).unwrap();
    for (what, folder) in [("pid file", "pid"), ("socket", "run")] {
        let folder = tree.join(folder);
        let folder = folder.display();
        let reason = format!("stays: 3999999 cannot write to {folder}: chown 3999999 {folder}");
        let is_there = |line: &str| line.contains(what) && line.contains(&reason);
        assert!(log.lines().any(is_there), "{what} {reason} in {log}");
    }
    // Nothing that can be removed stays, and nothing is said of it.
    let server = Run::start(TempTree::new(), &document("pid_file = 'vervet.pid'\n"));
    let tree = server.end();
    assert!(!tree.join("vervet.pid").exists() && !tree.join("admin.sock").exists());
    let log = fs::read_to_string(tree.join("error.log")).unwrap();
    assert!(!log.contains("stays"), "{log}");
}

#[test]
fn a_sandbox_lets_a_log_be_in_the_current_folder() {
    let text = format!(
        "sandbox = true\n{}",
        document("[log.a]\nfile = 'a.log'\n")
            .replace("[[site.route]]", "log = 'a'\n[[site.route]]")
    );
    let mut server = Run::start(TempTree::new(), &text);
    assert_eq!(server.get("a.test", "/").status, 204);
    let has_line = || fs::read_to_string(server.tree.join("a.log")).is_ok_and(|log| log.len() > 1);
    assert!(wait_until(PATIENCE, has_line), "{}", server.said());
    server.end();
}

/// The reason for 403 and 404 is in the error log at `info` and in a trace, not in the response.
#[test]
fn a_file_that_is_not_served_has_its_reason() {
    let tree = TempTree::new()
        .file("www/.secret", "s")
        .file("www/a", "a")
        .symlink("www/link", "a")
        .symlink("www/out", "/etc/hostname")
        .dir("www/folder")
        .file("www/private", "p");
    fs::set_permissions(tree.join("www/private"), fs::Permissions::from_mode(0o600)).unwrap();
    let account = if is_root() { "user = '3999999'\ngroup = '3999998'\n" } else { "" };
    let text = document(account)
        .replace("[[site.route]]\nstatus = 204\n", "root = 'www'\n[[site.route]]\npath = '/in/*'\nfiles = { root = 'www', symlinks = 'follow' }\n");
    fs::set_permissions(tree.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = vervet(tree.path());
    command.args(["run", "vervet.toml", "--trace=/none"]);
    let mut server = Run::spawn(tree, &text, command);
    let www = server.tree.join("www").display().to_string();
    let mut rows = vec![
        ("/none", 404, format!("{www}/none: not found")),
        ("/.secret", 404, format!("{www}: a name begins with a dot, and `hidden` is off")),
        ("/link", 404, format!("{www}/link: the path contains a symbolic link")),
        ("/in/out", 404, format!("{www}/out: the path leads outside the root folder")),
        (
            "/folder/",
            403,
            format!("{www}/folder: a folder without an index file, and `listing` is off"),
        ),
        ("/a/", 404, format!("{www}/a: a file, not a folder")),
    ];
    if is_root() {
        rows.push(("/private", 403, format!("{www}/private: permission denied")));
    }
    for (target, status, reason) in rows {
        let response = server.get("a.test", target);
        assert_eq!(response.status, status, "{target}");
        assert!(!response.text().contains(&www));
        let path = target.strip_prefix("/in").unwrap_or(target);
        check_logged(&server.tree, &format!("info file: {status} for {path}: {reason}"));
    }
    let tree = server.end();
    let log = fs::read_to_string(tree.join("error.log")).unwrap();
    let traced = |line: &str| line.contains("debug trace: ") && line.contains("/none: not found");
    assert!(log.lines().any(traced), "{log}");
}

/// A configuration that is a pipe or a device is refused at once, and TERM works.
#[test]
fn special_files_are_no_configuration() {
    let tree = TempTree::new();
    let text = document("");
    let mut server = Run::start(tree, &text);
    let refused = server.refused(&format!("include = '/dev/zero'\n{text}"));
    assert!(refused.contains("/dev/zero: not a regular file"), "{refused}");
    let file = server.tree.join("vervet.toml");
    fs::remove_file(&file).unwrap();
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    server.child.signal(Signal::HUP);
    check_logged(&server.tree, "cannot read vervet.toml: not a regular file");
    let tree = server.end();
    for command in ["check", "run"] {
        let mut child = match command {
            "run" => Child::spawn(run(tree.path())),
            _ => Child::spawn({
                let mut check = vervet(tree.path());
                check.args([command, "vervet.toml"]);
                check
            }),
        };
        assert_eq!(child.wait_exit(PATIENCE).code(), Some(1));
        let said = child.text(Stream::Stderr);
        assert!(said.contains("cannot read vervet.toml: not a regular file"), "{said}");
    }
}

/// No browser reaches a unix socket: any Host is fine there.
#[test]
fn the_admin_socket_accepts_any_host() {
    let server = Run::start(TempTree::new(), &document(""));
    let mut client = RawClient::connect_unix(server.tree.join("admin.sock"));
    assert_eq!(client.exchange(get("x", "/metrics")).status, 200);
    server.end();
}
