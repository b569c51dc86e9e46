//! The account that a server runs as: `vervet check` finds what `vervet run` refuses, names the
//! account that lacks access, and says what would give it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::common::{self, is_root, vervet};
use vervet_testkit::{Child, PATIENCE, Stream, TempTree, skip};

const SITE: &str = "[[site]]\n[[site.route]]\nstatus = 204\n";

/// A command as root gives it who says nothing of a user, with its status and what it says.
#[track_caller]
fn outcome(folder: &Path, command: &str) -> (Option<i32>, String) {
    let mut child = Child::spawn(plain(folder, command));
    let code = child.wait_exit(PATIENCE).code();
    (code, child.text(Stream::Stderr))
}

fn plain(folder: &Path, command: &str) -> Command {
    let mut plain = vervet(folder);
    plain.args([command, "vervet.toml"]);
    plain
}

/// What a check and a start say of a document for root; both refuse it.
#[track_caller]
fn check_refused(document: &str, expected: &str) {
    let tree = TempTree::new().file("vervet.toml", [document, SITE].concat());
    for command in ["check", "run"] {
        let (code, said) = outcome(tree.path(), command);
        assert_eq!(code, Some(1), "{command} {document}: {said}");
        assert!(said.contains(expected), "{command}: {expected} in {said}");
    }
}

#[test]
fn what_a_start_refuses_is_found_by_a_check() {
    if !is_root() {
        skip!("needs root");
    }
    let root = "user = 'root'\n";
    check_refused("", "refusing to serve as root");
    check_refused("user = 'no-such-user'\n", "user no-such-user not found");
    check_refused(&format!("{root}group = 'no-such-group'\n"), "group no-such-group not found");
    check_refused("group = '0'\n", "refusing to serve as root");
    check_refused("user = '3999999'\n", "has no account with a group (set group, too)");
    check_refused(&format!("{root}pid_file = 'none/pid'\n"), "cannot write the pid file none/pid");
    check_refused(&format!("{root}pid_file = '.'\n"), "exists and is not a pid file");
    let socket = "the folder none of the socket does not exist";
    check_refused(&format!("{root}admin = 'unix:none/sock'\n"), socket);
    check_refused(&format!("{root}listen = 'unix:none/sock'\n"), socket);
}

/// One mistake of the account, one of reading and one of opening: all are reported.
#[test]
fn mistakes_of_the_account_are_reported_with_all_others() {
    if !is_root() {
        skip!("needs root");
    }
    let tree = TempTree::new().file(
        "vervet.toml",
        "user = 'no-such-user'\ninclude = 'none.toml'\n[[site]]\nroot = 'nowhere'\n",
    );
    for command in ["check", "run"] {
        let (code, said) = outcome(tree.path(), command);
        assert_eq!(code, Some(1), "{said}");
        for expected in
            ["user no-such-user not found", "cannot include", "cannot serve nowhere: not found"]
        {
            assert!(said.contains(expected), "{command}: {expected} in {said}");
        }
    }
}

const ACCOUNT: &str = "user = '3999999'\ngroup = '3999998'\n";

/// A folder in which that account can do nothing but enter.
fn roots() -> TempTree {
    let tree = TempTree::new().dir("log").dir("secret").file("www/a", "a").file("page.html", "");
    common::passwd(tree.path(), "users", "ann", "one");
    for (path, mode) in [("log", 0o755), ("secret", 0o700), ("users", 0o640), ("page.html", 0o600)]
    {
        fs::set_permissions(tree.join(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    tree
}

#[test]
fn the_account_that_lacks_access_is_named() {
    if !is_root() {
        skip!("needs root");
    }
    let tree = roots();
    tree.write(
        "vervet.toml",
        format!(
            "{ACCOUNT}[log.a]\nfile = 'log/a.log'\n[error_log]\nfile = 'log/e.log'\n\
             [[site]]\nroot = 'secret'\nlog = 'a'\nauth = 'users'\n\
             [[site.route]]\npath = '/p'\npage = 'page.html'\n"
        ),
    );
    let place = |name: &str| tree.join(name).display().to_string();
    let (log, secret) = (place("log"), place("secret"));
    let (users, page) = (place("users"), place("page.html"));
    let (code, said) = outcome(tree.path(), "check");
    assert_eq!(code, Some(1), "{said}");
    for expected in [
        format!("3999999 cannot write to {log}: chown 3999999 {log}"),
        format!("3999999 cannot enter the folder {secret}: chmod o+x {secret}"),
        format!("3999999 cannot read {users}: chgrp 3999998 {users} && chmod g+r {users}"),
        format!("3999999 cannot read {page}: chgrp 3999998 {page} && chmod g+r {page}"),
        "vervet.toml has 5 errors".to_owned(),
    ] {
        assert!(said.contains(&expected), "{expected} in {said}");
    }
    // A start has opened the error log, and then says the same of the others.
    let (code, said) = outcome(tree.path(), "run");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("cannot open") && said.contains("3999999"), "{said}");
    // The commands that it gives are those that help.
    for command in [
        format!("chown 3999999 {log}"),
        format!("chmod o+x {secret}"),
        format!("chgrp 3999998 {users}"),
        format!("chgrp 3999998 {page} && chmod g+r {page}"),
    ] {
        assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success());
    }
    let (code, said) = outcome(tree.path(), "check");
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn what_the_account_cannot_remove_or_read_again_is_warned_of() {
    if !is_root() {
        skip!("needs root");
    }
    let tree = TempTree::new();
    let file = tree.write(
        "vervet.toml",
        format!("{ACCOUNT}pid_file = 'pid'\nadmin = 'unix:admin.sock'\n{SITE}"),
    );
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let (code, said) = outcome(tree.path(), "check");
    assert_eq!(code, Some(0), "{said}");
    for expected in [
        "warning: the pid file cannot be removed when the server ends",
        "warning: the socket cannot be removed when the server ends",
        "warning: a reload cannot read vervet.toml",
        "3999999 cannot write to ",
    ] {
        assert!(said.contains(expected), "{expected} in {said}");
    }
}
