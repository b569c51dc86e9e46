//! The client alone: what a store gives that was not put is found, and one that is gone is named.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Output};

use vervet_testkit::TempTree;

fn client(store: &str, at: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vervet-stores"));
    command.arg(store).arg("--at").arg(at).args(more);
    command.output().unwrap()
}

/// What a store answers to a get: what was put of which it is given the value.
type Answer = fn(&[u8]) -> Option<Vec<u8>>;

/// A memcached that lies: it keeps the last value that was put, and answers with what is made of it. After so many
/// puts it is gone.
fn lying(folder: &TempTree, answer: Answer, puts_max: usize) -> std::path::PathBuf {
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        let mut left = puts_max;
        for stream in listener.incoming().flatten() {
            if converse(stream, answer, &mut left).is_none() {
                return;
            }
        }
    });
    path
}

/// One connection; none when it is to be the last.
fn converse(stream: UnixStream, answer: Answer, left: &mut usize) -> Option<()> {
    let mut write = stream.try_clone().unwrap();
    let mut read = BufReader::new(stream);
    let mut value = Vec::new();
    let mut line = String::new();
    while read.read_line(&mut line).unwrap_or(0) > 0 {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[0] {
            "flush_all" => write.write_all(b"OK\r\n").unwrap(),
            "set" => {
                *left = left.checked_sub(1)?;
                let mut bytes = vec![0; words[4].parse::<usize>().unwrap() + 2];
                read.read_exact(&mut bytes).unwrap();
                bytes.truncate(bytes.len() - 2);
                value = bytes;
                write.write_all(b"STORED\r\n").unwrap();
            }
            "get" => {
                let found = answer(&value).map_or(Vec::new(), |found| {
                    let head = format!("VALUE {} 0 {}\r\n", words[1], found.len());
                    [head.as_bytes(), &found, b"\r\n"].concat()
                });
                write.write_all(&[&found[..], b"END\r\n"].concat()).unwrap();
            }
            _ => return Some(()),
        }
        line.clear();
    }
    Some(())
}

/// One value each way to a memcached that lies: how the client ends and what it says begins with.
#[track_caller]
fn check(answer: Answer, status: i32, said: &str) {
    let folder = TempTree::new();
    let socket = lying(&folder, answer, usize::MAX);
    let output = client("memcached", &socket, &["--count", "1"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{text}");
    assert!(text.starts_with(said), "{text}");
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(told.contains("phase get"), status == 0, "{told}");
}

#[test]
fn another_value_is_found() {
    let changed = |value: &[u8]| {
        let mut value = value.to_vec();
        value[0] ^= 1;
        Some(value)
    };
    check(changed, 3, "wrong answer: key-00000000 has the value `");
    let shorter = |value: &[u8]| Some(value[1..].to_vec());
    check(shorter, 3, "wrong answer: key-00000000 has the value `");
    let lost = |_: &[u8]| None;
    check(lost, 3, "wrong answer: key-00000000 was put and is not there");
    check(|value| Some(value.to_vec()), 0, "");
}

#[test]
fn the_value_of_another_key_is_found() {
    let folder = TempTree::new();
    let socket = lying(&folder, |value| Some(value.to_vec()), usize::MAX);
    let output = client("memcached", &socket, &["--count", "2"]);
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_store_that_is_gone_half_way_is_named() {
    let folder = TempTree::new();
    let socket = lying(&folder, |value| Some(value.to_vec()), 7);
    let output = client("memcached", &socket, &["--count", "10"]);
    let (told, said) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1));
    assert!(said.starts_with("cannot put key-00000007: "), "{said}");
    assert!(told.contains("phase connect 1 ") && !told.contains("phase put"), "{told}");
}

#[test]
fn what_cannot_be_begun_is_named() {
    let nowhere = Path::new("/no-such-folder/place");
    for (store, said) in [
        ("memcached", "cannot connect to memcached: "),
        ("redis", "cannot connect to the store: "),
        ("mariadb", "cannot make the table: "),
        ("sqlite", "cannot make the file: "),
        ("redb", "cannot make the file: "),
    ] {
        let output = client(store, nowhere, &[]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{store}: {text}");
        assert!(text.starts_with(said), "{store}: {text}");
    }
    let output = client("mongo", nowhere, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "there is no store mongo: one of memcached, redis, redb, sqlite, mariadb\n"
    );
}
