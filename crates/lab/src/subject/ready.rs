//! Whether a subject answers yet.

use std::fmt;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use super::children::Children;
use super::listening::{holds, listeners};
use crate::probe;

/// How long one try may take.
const TRY_MAX: Duration = Duration::from_secs(2);

/// Why a subject did not become ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotReady {
    /// It ended before.
    Ended(String),
    /// Another process has its port.
    Foreign(u16),
    /// It had its time.
    Late(Duration, String),
}

impl fmt::Display for NotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(status) => write!(f, "it ended before it listened ({status})"),
            Self::Foreign(port) => write!(f, "another process listens on its port {port}"),
            Self::Late(within, last) => {
                write!(f, "it did not become ready within {within:?}: {last}")
            }
        }
    }
}

/// Waits until a process of the tree listens, and `target`, if there is one, is answered with 200.
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
            let last = format!("there is no {}", file.display());
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
            return Ok(Some(format!("nobody listens on port {}", address.port())));
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
        Ok(answer) => Some(format!("{target} is answered with {}", answer.status)),
        Err(error) => Some(format!("{target} is not answered: {error}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::Part;
    use vervet_testkit::{PATIENCE, TempTree};

    /// What comes of waiting for the file `made` while a script runs.
    fn check(script: &str, within: Duration) -> Result<(), NotReady> {
        let folder = TempTree::new();
        let part = Part {
            command: ["sh", "-c", script].map(str::to_owned).to_vec(),
            ..Part::default()
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
        assert!(late.to_string().ends_with("/made"), "{late}");
    }
}
