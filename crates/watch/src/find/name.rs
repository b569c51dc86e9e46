//! Processes by name: what the kernel calls them, the first word of their command line, or the script that an
//! interpreter runs.

use std::path::Path;

use super::processes::{Passing, all_processes, topmost};
use crate::kept::{Reader, Shape};

/// Programs whose next word names what runs.
const INTERPRETERS: &[&str] = &[
    "python", "perl", "ruby", "node", "php", "bash", "sh", "dash",
];

/// The topmost processes of that name, except this process and its ancestors.
pub(super) fn named(proc: &Path, name: &str, reader: &mut Reader) -> Vec<u32> {
    let all = all_processes(proc, reader);
    let asking = line_of(std::process::id(), &all);
    let mut chosen = Vec::new();
    for process in &all {
        if !asking.contains(&process.pid) && is_named(proc, process, name, reader) {
            chosen.push(process.pid);
        }
    }
    topmost(&chosen, &all)
}

fn line_of(pid: u32, all: &[Passing]) -> Vec<u32> {
    let above = |pid: &u32| {
        let process = all.iter().find(|process| process.pid == *pid)?;
        Some(process.parent)
    };
    std::iter::successors(Some(pid), above)
        .take(all.len() + 1)
        .collect()
}

fn is_named(proc: &Path, process: &Passing, name: &str, reader: &mut Reader) -> bool {
    if process.name == name.as_bytes() {
        return true;
    }
    let path = proc.join(format!("{}/cmdline", process.pid));
    let Ok(line) = reader.read_once(&path, Shape::List) else {
        return false;
    };
    let mut words = line.split(|byte| *byte == 0);
    let program = base(words.next().unwrap_or_default());
    if program == name.as_bytes() {
        return true;
    }
    let interprets = INTERPRETERS.iter().any(|one| {
        // `python3.11` is python.
        let version = program.strip_prefix(one.as_bytes());
        version.is_some_and(|rest| {
            rest.iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b'.')
        })
    });
    let mut script = words.filter(|word| !word.starts_with(b"-"));
    interprets && base(script.next().unwrap_or_default()) == name.as_bytes()
}

/// The part after the last slash.
fn base(word: &[u8]) -> &[u8] {
    word.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}
