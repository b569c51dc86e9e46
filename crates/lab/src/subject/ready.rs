//! Whether a subject answers yet.

use std::fmt;
use std::net::{SocketAddr, TcpStream};
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
