//! The server of a task: prepared, started, waited for, and ended with its value.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use super::adapter::TaskLaunch;
use crate::adapter::Process;
use crate::subject::{Children, NotReady, end_of};

/// Time in which a server must become ready.
const READY_MAX: Duration = Duration::from_secs(30);
/// How long what is run before may take.
const PREPARE_MAX: Duration = Duration::from_mins(2);
/// Runs preparations and starts the server, if any.
pub(super) fn start(
    launch: &TaskLaunch,
    cores: &[u32],
    folder: &Path,
    socket: &Path,
) -> Result<Children, String> {
    for part in &launch.prepare {
        prepare(part, folder)?;
    }
    let mut children = Children::default();
    let Some(part) = &launch.server else {
        return Ok(children);
    };
    let log = folder.join("server.log");
    let started = children.start(part, cores, folder, &log);
    started.map_err(|error| format!("cannot start its server: {error}"))?;
    match wait(&mut children, socket) {
        Ok(()) => Ok(children),
        Err(why) => Err(match end_of(&log) {
            said if said.is_empty() => format!("{why}; no output"),
            said => format!("{why}; output: {said}"),
        }),
    }
}

/// Waits until a server listens.
fn wait(children: &mut Children, socket: &Path) -> Result<(), NotReady> {
    let deadline = Instant::now() + READY_MAX;
    loop {
        if let Some(status) = children.ended() {
            return Err(NotReady::Ended(status.to_string()));
        }
        match UnixStream::connect(socket) {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() >= deadline => {
                return Err(NotReady::Late(READY_MAX, error.to_string()));
            }
            Err(_) => children.pause(),
        }
    }
}

/// Runs something to its end.
fn prepare(part: &Process, folder: &Path) -> Result<(), String> {
    let log = folder.join("prepare.log");
    let name = part.command.first().map_or("", String::as_str);
    let mut children = Children::default();
    let started = children.start(part, &[], folder, &log);
    started.map_err(|error| format!("cannot run {name}: {error}"))?;
    match children.wait_until(Instant::now() + PREPARE_MAX, || false) {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(format!("{name} failed ({status}): {}", end_of(&log))),
        None => Err(format!("{name} did not exit within {PREPARE_MAX:?}")),
    }
}
