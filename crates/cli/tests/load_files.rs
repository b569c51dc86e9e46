//! Files that `vervet load` reads: the largest that it takes, and one byte more.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use vervet_testkit::{Child, TempTree};

const BINARY: &str = env!("CARGO_BIN_EXE_vervet");

/// The limits by the options that name a file.
const LIMITS: [(&str, u64); 7] = [
    ("--stages", 1 << 20),
    ("--targets", 64 << 20),
    ("--scenario", 64 << 20),
    ("--har", 256 << 20),
    ("--feed", 256 << 20),
    ("--data-file", 1 << 30),
    ("--put", 1 << 30),
];

/// A file of this text and nothing more, up to a length. It takes no room on the disk.
fn sparse(path: &Path, text: &str, bytes: u64) {
    let mut file = File::create(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.set_len(bytes).unwrap();
}

/// The status, and what is said.
fn load(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(BINARY);
    command.current_dir(folder).arg("load").args(arguments);
    let output = command.output().unwrap();
    let talk = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), talk)
}

#[test]
fn one_byte_more_is_refused() {
    let tree = TempTree::new();
    for (option, most) in LIMITS {
        sparse(&tree.join("file"), "", most + 1);
        let (status, talk) = load(tree.path(), &["http://127.0.0.1:9/", option, "file"]);
        let expected = format!("vervet: cannot read file: more than {most} bytes\n");
        assert_eq!((status, talk), (Some(2), expected), "{option}");
    }
}

/// A file that a list names has the same limit as one that is typed.
#[test]
fn content_that_a_list_names_is_bounded() {
    let tree = TempTree::new().file("list", "POST /\n@content\n");
    sparse(&tree.join("content"), "", (1 << 30) + 1);
    let (status, talk) = load(tree.path(), &["http://127.0.0.1:9/", "--targets", "list"]);
    let expected = "vervet: list:2:1: cannot read content: more than 1073741824 bytes\n".to_owned();
    assert_eq!((status, talk), (Some(2), expected));
}

/// A list of 64 MiB, nearly all of it one comment, is read and asked.
#[test]
fn the_largest_list_is_asked() {
    let mut canned = Child::start(BINARY, ["load", "--canned", "127.0.0.1:0"]);
    let tree = TempTree::new();
    let text = format!("http://{}/\n#", canned.wait_for_address());
    sparse(&tree.join("list"), &text, 64 << 20);
    let (status, talk) = load(tree.path(), &["--targets", "list", "-n", "10", "-q"]);
    assert_eq!(status, Some(0), "{talk}");
}
