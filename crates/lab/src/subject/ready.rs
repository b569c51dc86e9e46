//! Waits until a subject is ready.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fmt, fs, io};

use super::children::Children;
use crate::probe;

/// How long one try may take.
const TRY_MAX: Duration = Duration::from_secs(2);

/// Why a subject did not become ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotReady {
    /// It ended before it was ready.
    Ended(String),
    /// Another process has its port.
    Foreign(u16),
    /// It had its time.
    Late(Duration, String),
}

impl fmt::Display for NotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(status) => write!(f, "exited before it listened ({status})"),
            Self::Foreign(port) => write!(f, "another process listens on port {port}"),
            Self::Late(within, last) => {
                write!(f, "not ready within {within:?}: {last}")
            }
        }
    }
}

/// Waits until a process of the tree listens and `target`, if any, returns 200.
pub(super) fn wait(
    children: &mut Children,
    address: SocketAddr,
    target: Option<&str>,
    within: Duration,
) -> Result<(), NotReady> {
    let deadline = Instant::now() + within;
    loop {
        if let Some(status) = children.ended() {
            return Err(NotReady::Ended(status.to_string()));
        }
        let Some(last) = look(children, address, target)? else {
            return Ok(());
        };
        if Instant::now() >= deadline {
            return Err(NotReady::Late(within, last));
        }
        children.pause();
    }
}

/// Waits until a file is there that a process of the subject makes.
pub(super) fn wait_for(
    children: &mut Children,
    file: &Path,
    within: Duration,
) -> Result<(), NotReady> {
    let deadline = Instant::now() + within;
    while !file.exists() {
        if let Some(status) = children.ended() {
            return Err(NotReady::Ended(status.to_string()));
        }
        if Instant::now() >= deadline {
            let last = format!("{} does not exist", file.display());
            return Err(NotReady::Late(within, last));
        }
        children.pause();
    }
    Ok(())
}

/// What is still missing; nothing when it is ready.
fn look(
    children: &Children,
    address: SocketAddr,
    target: Option<&str>,
) -> Result<Option<String>, NotReady> {
    let is_ours = !children.pids().is_empty();
    if is_ours {
        let sockets = listeners(address.port());
        if sockets.is_empty() {
            return Ok(Some(format!("nothing listens on port {}", address.port())));
        }
        if !children.tree().iter().any(|pid| holds(*pid, &sockets)) {
            return Err(NotReady::Foreign(address.port()));
        }
    }
    if let Err(error) = TcpStream::connect_timeout(&address, TRY_MAX) {
        return Ok(Some(format!("cannot connect: {error}")));
    }
    let Some(target) = target else {
        return Ok(None);
    };
    let request = format!("GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    Ok(match probe::once(address, request.as_bytes(), TRY_MAX) {
        Ok(answer) if answer.status == 200 => None,
        Ok(answer) => Some(format!("{target} returns {}", answer.status)),
        Err(error) => Some(format!("no response to {target}: {error}")),
    })
}

/// A port of 127.0.0.1 that is free at this moment.
pub(crate) fn free_port() -> io::Result<u16> {
    TcpListener::bind(("127.0.0.1", 0))?.local_addr().map(|address| address.port())
}

/// The TCP sockets of this network namespace that listen on a port, by their numbers (inodes).
pub fn listeners(port: u16) -> BTreeSet<String> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let tables = tables.map(|table| fs::read_to_string(table).unwrap_or_default());
    tables.iter().flat_map(|table| parse(table, port)).collect()
}

/// Whether a process holds one of some sockets; `false` for one that is gone or another user's.
pub fn holds(pid: u32, sockets: &BTreeSet<String>) -> bool {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    let links = entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    links
        .filter_map(|link| {
            let link = link.to_string_lossy().into_owned();
            Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
        })
        .any(|inode| sockets.contains(&inode))
}

fn parse(table: &str, port: u16) -> Vec<String> {
    const LISTEN: &str = "0A";
    let suffix = format!(":{port:04X}");
    let rows = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.len() > 9 && row[1].ends_with(&suffix) && row[3] == LISTEN)
        .map(|row| row[9].to_owned())
        .collect()
}

#[cfg(test)]
mod ready_tests {
    use super::*;
    use crate::adapter::Process;
    use vervet_testkit::{PATIENCE, TempTree};

    /// What comes of waiting for the file `made` while a script runs.
    fn check(script: &str, within: Duration) -> Result<(), NotReady> {
        let folder = TempTree::new();
        let part = Process {
            command: ["sh", "-c", script].map(str::to_owned).to_vec(),
            ..Process::default()
        };
        let mut children = Children::default();
        let log = folder.path().join("log");
        children.start(&part, &[], folder.path(), &log).unwrap();
        wait_for(&mut children, &folder.path().join("made"), within)
    }

    #[test]
    fn what_comes_after_a_file_waits_for_it() {
        assert_eq!(check("echo >made; exec sleep 1000", PATIENCE), Ok(()));
        let ended = NotReady::Ended("exit status: 4".to_owned());
        assert_eq!(check("exit 4", PATIENCE), Err(ended));
        let late = check("exec sleep 1000", Duration::from_millis(20)).unwrap_err();
        assert!(late.to_string().ends_with("/made does not exist"), "{late}");
    }
}

#[cfg(test)]
mod listening_tests {
    use super::*;

    #[test]
    fn finds_listeners_only() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:2710 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 555 1\n\
            1: 0100007F:2710 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 556 1\n\
            2: 0100007F:2711 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 557 1\n";
        assert_eq!(parse(table, 10_000), ["555"]);
        assert!(parse(table, 50_000).is_empty());
    }

    #[test]
    fn this_process_holds_its_listener() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let sockets = listeners(listener.local_addr().unwrap().port());
        assert_eq!(sockets.len(), 1);
        assert!(holds(std::process::id(), &sockets));
        assert!(!holds(1, &BTreeSet::new()));
    }
}
