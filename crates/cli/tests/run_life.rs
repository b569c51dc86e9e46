//! Who `vervet run` is and what it leaves behind (FEATURES Y3, Y4): privileges are dropped by every
//! thread, the file system is restricted, the pid file tells the truth.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::common;
use crate::common::{ADMIN, Run, get, is_root, run, vervet};
use vervet_testkit::{Child, PATIENCE, Signal, Stream, TempTree, skip, wait_until};

const FILES: &str = "
[[listen]]
address = '127.0.0.1:0'
name = 'main'
[[site]]
root = 'www'
";

fn files() -> TempTree {
    TempTree::new().file("www/a", "a file")
}

/// The command as root gives it who says nothing of a user.
fn run_plainly(folder: &Path) -> Command {
    let mut command = vervet(folder);
    command.args(["run", "vervet.toml"]);
    command
}

/// What a command says that ends at once, and its status.
#[track_caller]
fn outcome(command: Command) -> (Option<i32>, String) {
    let mut child = Child::spawn(command);
    let code = child.wait_exit(PATIENCE).code();
    (code, child.text(Stream::Stderr))
}

#[test]
fn root_is_refused_without_permission() {
    if !is_root() {
        skip!("needs root");
    }
    let tree = files().file("vervet.toml", FILES);
    let refusal = "refusing to serve as root: set user (or --user) to an account without privileges, or to \"root\"\n";
    let (code, said) = outcome(run_plainly(tree.path()));
    assert_eq!(code, Some(1));
    assert!(said.ends_with(refusal), "{said}");
    tree.write("vervet.toml", format!("user = 'no-such-user'\n{FILES}"));
    let (code, said) = outcome(run_plainly(tree.path()));
    assert_eq!(code, Some(1));
    assert!(said.contains("user no-such-user not found"), "{said}");
}

#[test]
fn other_users_than_root_need_no_user_directive() {
    let tree = files();
    if !is_root() {
        let command = run_plainly(tree.path());
        Run::spawn(tree, FILES, command).end();
        return;
    }
    let Some(setpriv) = vervet_testkit::find_program("setpriv") else {
        skip!("needs setpriv");
    };
    let plain = run_plainly(tree.path());
    let mut command = Command::new(setpriv);
    command
        .args(["--reuid=3999999", "--regid=3999999", "--clear-groups"])
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(tree.path());
    let mut server = Run::spawn(tree, FILES, command);
    assert_eq!(server.get("a", "/a").text(), "a file");
    server.end();
}

/// "then uid/gid/groups dropped, proved in /proc": by every thread, whatever it is for.
#[test]
fn every_thread_has_dropped_all_privileges() {
    if !is_root() {
        skip!("needs root");
    }
    let tree = files().dir("log");
    common::passwd(tree.path(), "users", "ann", "one");
    for path in ["log", "users"] {
        fs::set_permissions(tree.join(path), fs::Permissions::from_mode(0o777)).unwrap();
    }
    // A log, a password and a compressed file, so that their threads are there.
    let document = format!(
        "user = '3999999'\ngroup = '3999998'\nworkers = 2\n{ADMIN}{FILES}log = ['a']\n[[site.route]]\npath = '/door'\nauth = 'users'\n\
         status = 204\n[log.a]\nfile = 'log/access.log'\n"
    );
    tree.write("www/long.txt", "long ".repeat(10_000));
    let command = run_plainly(tree.path());
    let mut server = Run::spawn(tree, &document, command);
    let login =
        get("a", "/door").replace("\r\n\r\n", "\r\nAuthorization: Basic YW5uOm9uZQ==\r\n\r\n");
    let mut client = server.connect();
    assert_eq!(client.exchange(login).status, 204);
    let packed = get("a", "/long.txt").replace("\r\n\r\n", "\r\nAccept-Encoding: gzip\r\n\r\n");
    assert_eq!(client.exchange(packed).status, 200);
    assert!(wait_until(PATIENCE, || server.tree.join("log/access.log").exists()));
    let none = "0000000000000000";
    let pid = server.child.id();
    let threads: Vec<_> = fs::read_dir(format!("/proc/{pid}/task")).unwrap().collect();
    assert!(threads.len() >= 5, "{} threads", threads.len());
    for thread in threads {
        let status = fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
        for line in [
            "Uid:\t3999999\t3999999\t3999999\t3999999".to_owned(),
            "Gid:\t3999998\t3999998\t3999998\t3999998".to_owned(),
            "Groups:\t3999998 ".to_owned(),
            "NoNewPrivs:\t1".to_owned(),
            format!("CapPrm:\t{none}"),
            format!("CapEff:\t{none}"),
            format!("CapAmb:\t{none}"),
        ] {
            assert!(status.lines().any(|found| found == line), "{line} in {status}");
        }
    }
    assert!(server.said().contains("running as uid 3999999, gid 3999998"));
    server.end();
}

#[test]
fn the_pid_file_is_there_while_it_runs() {
    let document = format!("pid_file = 'vervet.pid'\n{FILES}");
    let mut server = Run::start(files(), &document);
    let path = server.tree.join("vervet.pid");
    let expected = format!("{}\n", server.child.id());
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    let (code, said) = outcome(run(server.tree.path()));
    assert_eq!(code, Some(1));
    let refusal = format!(
        "belongs to running process {} (stop it, or choose another file)",
        server.child.id()
    );
    assert!(said.contains(&refusal), "{said}");
    assert_eq!(server.get("a", "/a").text(), "a file");
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    let tree = server.end();
    assert!(!tree.join("vervet.pid").exists());
}

#[test]
fn a_stale_pid_file_is_taken_over_and_nothing_else_is() {
    let document = format!("pid_file = 'vervet.pid'\n{FILES}");
    // What a process has left that was killed; by now another may have its number, even the first
    // of all.
    let tree = files().file("vervet.pid", "1\n");
    let mut server = Run::start(tree, &document);
    let path = server.tree.join("vervet.pid");
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", server.child.id()));
    server.child.signal(Signal::KILL);
    server.child.wait_exit(PATIENCE);
    assert!(path.exists());
    let command = run(server.tree.path());
    let server = Run::spawn(server.tree, &document, command);
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", server.child.id()));
    let tree = server.end();
    tree.write("vervet.pid", "my notes\n");
    let (code, said) = outcome(run(tree.path()));
    assert_eq!(code, Some(1));
    assert!(said.contains("exists and is not a pid file"), "{said}");
    assert_eq!(fs::read(&path).unwrap(), b"my notes\n");
}

/// With landlock the server sees what the configuration has named at the start, and nothing else:
/// not by a link, and not by a later configuration.
#[test]
fn a_sandbox_shows_only_served_files() {
    let outside = TempTree::new().file("secret", "a secret").dir("log");
    let tree = files()
        .symlink("www/in", "a")
        .symlink("www/out", outside.join("secret"))
        .symlink(
            "www/up",
            format!("../../{}/secret", outside.path().file_name().unwrap().display()),
        )
        .file("www/deep/b", "another file");
    let site = format!("{ADMIN}sandbox = true\n{FILES}")
        .replace("'www'", "{ root = 'www', symlinks = 'follow' }");
    let mut server = Run::start(tree, &site);
    let said = server.said();
    if said.contains("is not restricted") {
        skip!("needs landlock: {said}");
    }
    assert!(said.contains("file system access is restricted"), "{said}");
    for (target, status) in
        [("/a", 200), ("/in", 200), ("/deep/b", 200), ("/out", 404), ("/up", 404)]
    {
        assert_eq!(server.get("a", target).status, status, "{target}");
    }
    let secret = outside.path().display();
    let other = |action: &str| format!("{site}[[site]]\nhosts = ['b']\n{action}\n");
    for document in [
        other(&format!("root = '{secret}'")),
        other(&format!("[[site.route]]\npage = '{secret}/secret'")),
        format!("{site}[log.a]\nfile = '{secret}/log/a'\n"),
    ] {
        let refused = server.refused(&document);
        let reason = "outside the sandbox, which was set up at the start";
        assert!(refused.contains(reason), "{refused}");
        assert_eq!(server.get("a", "/a").text(), "a file");
    }
    // Beneath what it has seen at the start there may be more.
    server.reload(&other("root = 'www/deep'"));
    assert_eq!(server.get("b", "/b").text(), "another file");
    server.end();
}

/// Without a sandbox the same configuration is taken: what is refused above is refused by it alone.
#[test]
fn without_a_sandbox_a_later_configuration_may_name_other_folders() {
    let outside = TempTree::new().file("b", "outside");
    let site = format!("{ADMIN}{FILES}");
    let mut server = Run::start(files(), &site);
    let rest = format!("[[site]]\nhosts = ['b']\nroot = '{}'\n", outside.path().display());
    server.reload(&[site, rest].concat());
    assert_eq!(server.get("b", "/b").text(), "outside");
    server.end();
}
