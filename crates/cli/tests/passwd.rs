//! `vervet passwd`: users of basic authentication in a file.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use vervet_testkit::{TempTree, find_program, skip, skipped};

/// Runs the tool with this on its standard input.
fn run(file: &Path, arguments: &[&str], input: impl AsRef<[u8]>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vervet"));
    command.arg("passwd").arg(file).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may refuse before it has read.
    let _ = child.stdin.take().unwrap().write_all(input.as_ref());
    child.wait_with_output().unwrap()
}

/// The status, and what is said.
#[track_caller]
fn check(file: &Path, arguments: &[&str], input: impl AsRef<[u8]>, expected: (i32, &str)) {
    let output = run(file, arguments, input);
    let said = String::from_utf8(output.stderr).unwrap();
    let said = said.replace(&file.display().to_string(), "FILE");
    // Root also gets a note how others can read a new file.
    let lines = said.lines().filter(|line| !line.starts_with("vervet: note: "));
    let said = lines.collect::<Vec<_>>().join("\n");
    assert_eq!(
        (output.status.code(), said.trim_end()),
        (Some(expected.0), expected.1),
        "{arguments:?}"
    );
}

fn mode(file: &Path) -> u32 {
    fs::metadata(file).unwrap().permissions().mode() & 0o7777
}

fn line_of(file: &Path, user: &str) -> String {
    let text = fs::read_to_string(file).unwrap();
    let line = text.lines().find(|line| line.starts_with(&format!("{user}:")));
    line.unwrap_or_else(|| panic!("no {user} in {text}")).to_owned()
}

/// With these arguments and input nothing is changed, and this is said.
#[track_caller]
fn check_refused(arguments: &[&str], input: impl AsRef<[u8]>, said: &str) {
    let tree = TempTree::new().file("users", "bob:x\n");
    let file = tree.join("users");
    check(&file, arguments, input, (1, &format!("vervet: {said}")));
    assert_eq!(fs::read_to_string(&file).unwrap(), "bob:x\n");
}

#[test]
fn invalid_names_are_refused() {
    let colon = "the name contains a colon, which is not allowed";
    check_refused(&["a:b"], "x", &format!("invalid user name \"a:b\": {colon}"));
    check_refused(&[""], "x", "invalid user name \"\": the name is empty");
    check_refused(&["a\nb"], "x", "invalid user name \"a\\nb\": the name has a control character");
    check_refused(&["ann", "--remove"], "", "user ann not found in FILE");
}

#[test]
fn invalid_passwords_are_refused() {
    let empty = "the password is empty; nothing was changed";
    check_refused(&["ann"], "", empty);
    check_refused(&["ann"], "\n", empty);
    check_refused(&["ann"], b"\xff\n", "the password is not valid UTF-8");
    let control = "the password has a control character, which browsers cannot send";
    check_refused(&["ann"], "a\tb\n", control);
    check_refused(&["ann"], "x".repeat(1025), "the password is longer than 1024 bytes");
    let long = "the password is longer than the 72 bytes that bcrypt uses: choose a shorter one, or Argon2id";
    check_refused(&["ann", "--bcrypt", "--cost", "4"], "x".repeat(73), long);
}

#[test]
fn files_that_are_not_there_and_wrong_usage_are_refused() {
    let tree = TempTree::new();
    let missing = tree.join("no/users");
    let no = "No such file or directory (os error 2)";
    let said = format!("vervet: cannot open {}: {no}", tree.join("no").display());
    check(&missing, &["ann"], "x", (1, &said));
    let file = tree.join("users");
    check(&file, &["--list"], "", (1, &format!("vervet: cannot read FILE: {no}")));
    for wrong in [
        &["ann", "--list"][..],
        &["ann", "--remove", "--bcrypt"],
        &["ann", "--cost", "5"],
        &["ann", "--bcrypt", "--cost", "3"],
        &[],
    ] {
        assert_eq!(run(&file, wrong, "").status.code(), Some(2), "{wrong:?}");
    }
    assert!(!file.exists());
}

#[test]
fn root_is_told_how_others_can_read_a_new_file() {
    if !rustix::process::geteuid().is_root() {
        skip!("needs root");
    }
    let tree = TempTree::new();
    let file = tree.join("users");
    let arguments = ["ann", "--bcrypt", "--cost", "4"];
    let said = |output: Output| String::from_utf8(output.stderr).unwrap();
    let first = said(run(&file, &arguments, "x"));
    let note = format!(
        "vervet: note: only root can read {0}: for a server with user = \"www-data\", run `chgrp www-data {0}`\n",
        file.display()
    );
    assert!(first.ends_with(&note), "{first}");
    assert!(!said(run(&file, &arguments, "y")).contains("note"));
}

#[test]
fn users_are_added_changed_listed_and_removed() {
    let tree = TempTree::new();
    let file = tree.join("users");
    check(&file, &["ann"], "open sesame\nsecond line", (0, "vervet: added ann to FILE"));
    let first = line_of(&file, "ann");
    assert!(first.starts_with("ann:$argon2id$v=19$m=19456,t=2,p=1$"), "{first}");
    check(&file, &["bob", "--bcrypt", "--cost", "4"], "x\r\n", (0, "vervet: added bob to FILE"));
    assert!(line_of(&file, "bob").starts_with("bob:$2y$04$"));
    check(&file, &["ann"], "open sesame", (0, "vervet: changed the password of ann in FILE"));
    assert_ne!(line_of(&file, "ann"), first, "the salt is another");
    let listed = run(&file, &["--list"], "");
    assert_eq!(String::from_utf8(listed.stdout).unwrap(), "ann\nbob\n");
    check(&file, &["ann", "--remove"], "", (0, "vervet: removed ann from FILE"));
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 1);
    assert_eq!(fs::read_dir(tree.path()).unwrap().count(), 1, "no other file is left");
}

#[test]
fn other_lines_are_kept() {
    let tree = TempTree::new().file("users", "# staff\nann:old:since May\n\nbob:{SHA}x\nrubbish");
    let file = tree.join("users");
    check(&file, &["ann"], "x", (0, "vervet: changed the password of ann in FILE"));
    let line = line_of(&file, "ann");
    assert!(line.ends_with(":since May"), "{line}");
    let expected = format!("# staff\n{line}\n\nbob:{{SHA}}x\nrubbish");
    assert_eq!(fs::read_to_string(&file).unwrap(), expected);
}

/// No more people may read the file than before, and never the world.
#[test]
fn permissions_are_tight_and_stay_tighter() {
    let tree = TempTree::new();
    let file = tree.join("users");
    for (before, after) in [
        (None, 0o640),
        (Some(0o666), 0o640),
        (Some(0o644), 0o640),
        (Some(0o600), 0o600),
        (Some(0o4755), 0o640),
    ] {
        if let Some(before) = before {
            fs::set_permissions(&file, fs::Permissions::from_mode(before)).unwrap();
        }
        assert_eq!(run(&file, &["ann", "--bcrypt", "--cost", "4"], "x").status.code(), Some(0));
        assert_eq!(mode(&file), after, "from {before:?}");
    }
}

/// A symbolic link stays, and its target is replaced.
#[test]
fn a_link_is_followed() {
    let tree = TempTree::new().file("real/users", "").dir("etc");
    symlink(tree.join("real/users"), tree.join("etc/users")).unwrap();
    let before = fs::metadata(tree.join("real/users")).unwrap().ino();
    assert_eq!(
        run(&tree.join("etc/users"), &["ann", "--bcrypt", "--cost", "4"], "x").status.code(),
        Some(0)
    );
    assert!(fs::symlink_metadata(tree.join("etc/users")).unwrap().is_symlink());
    assert!(line_of(&tree.join("real/users"), "ann").starts_with("ann:$2y$"));
    assert_ne!(
        fs::metadata(tree.join("real/users")).unwrap().ino(),
        before,
        "replaced in one step"
    );
}

#[test]
fn two_changes_at_once_lose_no_user() {
    let tree = TempTree::new();
    let file = tree.join("users");
    std::thread::scope(|scope| {
        for number in 0..12 {
            let file = &file;
            scope.spawn(move || {
                let user = format!("user{number}");
                let output = run(file, &[&user, "--bcrypt", "--cost", "4"], "x");
                assert_eq!(output.status.code(), Some(0), "{output:?}");
            });
        }
    });
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 12);
}

/// On a terminal it is asked for twice, and nothing of it is shown.
#[test]
fn a_terminal_shows_nothing_of_the_password() {
    const TYPIST: &str = r#"
import os, pty, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:4] + ["ann", "--bcrypt", "--cost", "4"])
shown = b""
for prompt, typed in ((b"password for ann: ", sys.argv[4]), (b"Repeat the password: ", sys.argv[5])):
    while not shown.endswith(prompt):
        shown += os.read(terminal, 1)
    # The prompt comes first; a person is slower than what follows it.
    while termios.tcgetattr(terminal)[3] & termios.ECHO:
        pass
    os.write(terminal, typed.encode() + b"\n")
try:
    while more := os.read(terminal, 1024):
        shown += more
except OSError:
    pass
sys.stdout.write(shown.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;
    let Some(python) = find_program("python3") else {
        skipped("python3 is missing: nothing types a password on a terminal");
        return;
    };
    let tree = TempTree::new();
    let file = tree.join("users");
    let typed = |first: &str, second: &str| {
        let mut command = Command::new(&python);
        command
            .args(["-c", TYPIST, env!("CARGO_BIN_EXE_vervet"), "passwd"])
            .arg(&file)
            .args([first, second]);
        let output = command.output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(!shown.contains("sesame"), "{shown}");
        (output.status.code(), shown)
    };
    let (status, shown) = typed("open sesame", "open sesam?");
    assert_eq!(status, Some(1), "{shown}");
    assert!(shown.contains("the two passwords differ; nothing was changed"), "{shown}");
    assert!(!file.exists());
    assert_eq!(typed("open sesame", "open sesame").0, Some(0));
    assert!(line_of(&file, "ann").starts_with("ann:$2y$04$"));
}
