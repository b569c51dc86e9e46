//! The server of a task: prepared, started, waited for, and ended with its value.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use super::adapter::TaskLaunch;
use crate::adapter::Process;
use crate::subject::{Children, NotReady};

/// How long a server may take until it answers.
const READY_MAX: Duration = Duration::from_secs(30);
/// How long what is run before may take.
const PREPARE_MAX: Duration = Duration::from_mins(2);
/// How much of what a program has said is repeated, in bytes.
const SAID_BYTES_MAX: usize = 1000;

/// A server that runs, until it is dropped.
#[derive(Debug, Default)]
pub(super) struct Server {
    children: Children,
    log: PathBuf,
}

impl Server {
    /// Runs what is to be run before, and starts the server, if there is one; why there is none, in
    /// words.
    pub(super) fn start(
        launch: &TaskLaunch,
        cores: &[u32],
        folder: &Path,
        socket: &Path,
    ) -> Result<Self, String> {
        let mut server = Self { children: Children::default(), log: folder.join("server.log") };
        for part in &launch.prepare {
            prepare(part, folder)?;
        }
        let Some(part) = &launch.server else {
            return Ok(server);
        };
        let started = server.children.start(part, cores, folder, &server.log);
        started.map_err(|error| format!("cannot start its server: {error}"))?;
        match server.wait(socket) {
            Ok(()) => Ok(server),
            Err(why) => Err(match server.said() {
                said if said.is_empty() => format!("{why}; it said nothing"),
                said => format!("{why}; it said: {said}"),
            }),
        }
    }

    fn wait(&mut self, socket: &Path) -> Result<(), NotReady> {
        let deadline = Instant::now() + READY_MAX;
        loop {
            if let Some(status) = self.children.ended() {
                return Err(NotReady::Ended(status.to_string()));
            }
            match UnixStream::connect(socket) {
                Ok(_) => return Ok(()),
                Err(error) if Instant::now() >= deadline => {
                    return Err(NotReady::Late(READY_MAX, error.to_string()));
                }
                Err(_) => self.children.pause(),
            }
        }
    }

    /// How it ended, if it has by itself.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.children.ended()
    }

    /// Waits a moment, or until it has ended.
    pub(super) fn pause(&self) {
        self.children.pause();
    }

    /// The end of what it has said.
    fn said(&self) -> String {
        end_of(&self.log)
    }
}

/// Runs something to its end.
fn prepare(part: &Process, folder: &Path) -> Result<(), String> {
    let log = folder.join("prepare.log");
    let name = part.command.first().map_or("", String::as_str);
    let mut children = Children::default();
    let started = children.start(part, &[], folder, &log);
    started.map_err(|error| format!("cannot run {name}: {error}"))?;
    let deadline = Instant::now() + PREPARE_MAX;
    loop {
        match children.ended() {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("{name} failed ({status}): {}", end_of(&log))),
            None if Instant::now() >= deadline => {
                return Err(format!("{name} did not end within {PREPARE_MAX:?}"));
            }
            None => children.pause(),
        }
    }
}

/// The end of a file of what was said.
fn end_of(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let from = bytes.len().saturating_sub(SAID_BYTES_MAX);
    String::from_utf8_lossy(&bytes[from..]).trim().to_owned()
}
